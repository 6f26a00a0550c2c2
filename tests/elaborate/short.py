"""Short ways to elaborate a text in tests, and to write core terms by hand.

Takes texts; gives modules, programs and the codes of faults. Must not compute expected results.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Index, Var, add
from cachet_verify.core.ir import Block, Fold, For, Load, Op, Program, Range, Stmt, Store, Value
from cachet_verify.diagnostic import CachetError
from cachet_verify.elaborate.load import load_text
from cachet_verify.elaborate.module import Module, elaborate
from cachet_verify.syntax.print import print_declaration

Term = Index | str | int

MATMUL = """\
contraction matmul {S : Semiring}
    (reads a: [S.Value; M, K])
    (reads b: [S.Value; K, N])
    -> out c: [S.Value; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]
"""


def module(text: str) -> Module:
    return elaborate(load_text(text, "test.cachet"))


def program(text: str, name: str) -> Program:
    found = module(text).programs[name].program
    assert found is not None
    return found


def faults(text: str) -> list[tuple[str, int]]:
    """The code and the line of every diagnostic, in order."""
    try:
        module(text)
    except CachetError as error:
        return [(item.code, item.span.line if item.span is not None else 0) for item in error.diagnostics]
    return []


def messages(text: str) -> list[str]:
    try:
        module(text)
    except CachetError as error:
        return [f"{item.message} | {item.hint}" for item in error.diagnostics]
    return []


def term(value: Term) -> Index:
    if isinstance(value, str):
        return Var(value)
    return Const(value) if isinstance(value, int) else value


def plus(*values: Term) -> Index:
    return add(*map(term, values))


def load(buffer: str, *index: Term) -> Load:
    return Load(buffer, tuple(map(term, index)))


def store(buffer: str, index: tuple[Term, ...], value: Value) -> Store:
    return Store(buffer, tuple(map(term, index)), value)


def loop(counter: str, high: Term, *body: Stmt) -> For:
    return For(counter, Range(Const(0), term(high)), Block(body))


def fold(counter: str, high: Term, init: Value, acc: str, elem: str, step: Value) -> Fold:
    return Fold(counter, Range(Const(0), term(high)), init, acc, elem, step)


def op(name: str, elem: str, *args: Value) -> Op:
    return Op(name, elem, args)


def printed(value: Program) -> str:
    from cachet_verify.elaborate.lift import lift

    return print_declaration(lift(value))
