"""Short ways to write core programs by hand in tests.

Takes names, integers and texts; gives core nodes. Must not compute expected results.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Formula, Index, Var
from cachet_verify.core.ir import Block, Blocks, Declare, Fold, For, If, Load, Op, Param, Program, Range, Require, Stmt, Store, Value, Word
from cachet_verify.core.word import word_of_decimal

Term = Index | str | int


def term(value: Term) -> Index:
    """A term: a name is a variable, an int a constant."""
    if isinstance(value, str):
        return Var(value)
    return Const(value) if isinstance(value, int) else value


def load(buffer: str, *index: Term) -> Load:
    return Load(buffer, tuple(map(term, index)))


def store(buffer: str, index: tuple[Term, ...], value: Value) -> Store:
    return Store(buffer, tuple(map(term, index)), value)


def block(*body: Stmt) -> Block:
    return Block(body)


def loop(counter: str, low: Term, high: Term, *body: Stmt) -> For:
    return For(counter, Range(term(low), term(high)), Block(body))


def blocks(counter: str, low: Term, high: Term, size: Term, *body: Stmt) -> For:
    return For(counter, Blocks(term(low), term(high), term(size)), Block(body))


def fold(counter: str, low: Term, high: Term, init: Value, step: Value, elem: str = "f32", acc: str = "acc") -> Fold:
    return Fold(counter, Range(term(low), term(high)), init, acc, elem, step)


def var(name: str, elem: str, init: Value | None = None, *shape: Term) -> Declare:
    return Declare(name, elem, tuple(map(term, shape)), init=init, mutable=True)


def guard(condition: Formula, *then: Stmt, orelse: tuple[Stmt, ...] = ()) -> If:
    return If(condition, Block(then), Block(orelse))


def lit(text: str, elem: str = "f32") -> Word:
    return Word(elem, word_of_decimal(text, elem))


def words(elem: str, *texts: str) -> list[int | None]:
    return [word_of_decimal(text, elem) for text in texts]


def add(a: Value, b: Value, elem: str = "f32") -> Op:
    return Op("add", elem, (a, b))


def mul(a: Value, b: Value, elem: str = "f32") -> Op:
    return Op("mul", elem, (a, b))


def fma(a: Value, b: Value, c: Value, elem: str = "f32") -> Op:
    return Op("fma", elem, (a, b, c))


def param(name: str, mode: str, elem: str, *shape: Term, scratch: bool = False) -> Param:
    return Param(name, mode, elem, tuple(map(term, shape)), scratch=scratch)


def program(name: str, sizes: str, params: tuple[Param, ...], *body: Stmt, needs: tuple[Formula, ...] = ()) -> Program:
    """A program; `sizes` are separated by spaces."""
    requires = tuple(Require(need, "written in the test") for need in needs)
    return Program(name, tuple(sizes.split()), params, Block(body), requires)


def matmul(elem: str = "f32", zero: str = "-0.0") -> Program:
    """`c[i, j] = sum k. a[i, k] * b[k, j]`, a chain from zero in ascending k."""
    total = fold("k", 0, "K", lit(zero, elem), fma(load("a", "i", "k"), load("b", "k", "j"), load("acc"), elem), elem)
    return program(
        "matmul",
        "M K N",
        (param("a", "reads", elem, "M", "K"), param("b", "reads", elem, "K", "N"), param("c", "out", elem, "M", "N")),
        loop("i", 0, "M", loop("j", 0, "N", store("c", ("i", "j"), total))),
    )


def generic_matmul() -> Program:
    """The same over any semiring `S`."""
    value = "S.Value"
    step = Op("S.mul_add", value, (load("a", "i", "k"), load("b", "k", "j"), load("acc")))
    total = fold("k", 0, "K", Op("S.zero", value), step, value)
    params = (param("a", "reads", value, "M", "K"), param("b", "reads", value, "K", "N"), param("c", "out", value, "M", "N"))
    nest = loop("i", 0, "M", loop("j", 0, "N", store("c", ("i", "j"), total)))
    return Program("matmul", ("M", "K", "N"), params, Block((nest,)), generics=(("S", "Semiring"),))
