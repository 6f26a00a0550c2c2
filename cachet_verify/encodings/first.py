"""Key one: an obligation as pySMT terms, printed to SMT-LIB 2 by pySMT's own printer.

Takes obligations; gives scripts. Must not use pySMT's `simplify`, `substitute` or integer division
(each is wrong on integers: see tests/encodings), nor share code with the second encoder.

`Div` and `Mod` become a fresh quotient q and remainder r for each distinct pair (x, c), with
`c != 0 => x = c*q + r and (0 <= r < c or c < r <= 0)`. Every assignment of the obligation's
variables extends to q and r, and only to floor division's values where c is not 0; where c is 0
they are free. So the definitions are asserted at the top, and remove no assignment.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from cachet_verify.core.index import (
    And,
    Compare,
    Const,
    Div,
    Formula,
    Index,
    Max,
    Min,
    Mod,
    Not,
    Or,
    Product,
    Sum,
    Truth,
    Var,
)
from cachet_verify.encodings.script import EncodingError, Script
from cachet_verify.kernel.obligation import Obligation

Node = Any  # a pySMT FNode: the library carries no types

# Symbols that a solver may already know, so that a variable of that name gets another symbol.
_TAKEN = frozenset(
    "_ ! abs and as assert bag bv2nat check-sat concat const declare-fun define-fun distinct div divisible else "
    "exists exp extract false forall if iff implies int2bv ite iand is is_int let map match mod nand nor not "
    "or par pi pow pow2 push pop rem real rel repeat seq select set store str sub then to_int to_real true "
    "tuple update xor zero_extend sign_extend Array Bool Int List Real Seq Set String Bag Tuple".split()
)


class FirstEncoder:
    """Encodes a batch of obligations; holds one pySMT environment, which is dropped with it.

    No name and no number is carried from one script to the next: a script depends on its obligation
    alone.
    """

    def __init__(self) -> None:
        """Make an environment of its own (importing pySMT takes about 0.1 s)."""
        from pysmt.environment import Environment
        from pysmt.smtlib.printers import SmtPrinter
        from pysmt.typing import INT
        from pysmt.utils import quote

        self.manager = Environment().formula_manager
        self.printer = SmtPrinter
        self.quote: Callable[[str], str] = quote
        self.sort = INT
        self.texts: dict[Node, str] = {}

    def encode(self, obligation: Obligation) -> Script:
        """The script asking for `premises and not goal`. Raises EncodingError."""
        return _Translation(self).script(obligation)

    def text(self, assertion: Node) -> str:
        """A term as pySMT prints it; equal terms are one node, and premises come again with every obligation."""
        found = self.texts.get(assertion)
        if found is None:
            stream = StringIO()
            self.printer(stream).printer(assertion)
            found = self.texts[assertion] = stream.getvalue()
        return found


class _Translation:
    """One obligation on its way to text: its symbols, its divisions, its assertions so far."""

    def __init__(self, encoder: FirstEncoder) -> None:
        self.encoder = encoder
        self.manager = encoder.manager
        self.variables: dict[str, Node] = {}
        self.fresh: list[str] = []
        self.divisions: dict[tuple[Node, Node], tuple[Node, Node]] = {}
        self.assertions: list[Node] = []
        self.linear = True

    def script(self, obligation: Obligation) -> Script:
        for premise in obligation.premises:
            self.assertions.append(self.formula(premise))
        self.assertions.append(self.manager.Not(self.formula(obligation.goal)))
        symbols = tuple((name, _symbol(name)) for name in sorted(self.variables))
        quote = self.encoder.quote
        stream = StringIO()
        stream.write(f"(set-logic {'QF_LIA' if self.linear else 'QF_NIA'})\n")
        for symbol in sorted(symbol for _, symbol in symbols) + self.fresh:
            stream.write(f"(declare-fun {quote(symbol)} () Int)\n")
        for assertion in self.assertions:
            stream.write(f"(assert {self.encoder.text(assertion)})\n")
        stream.write("(check-sat)\n")
        return Script(stream.getvalue(), symbols)

    def formula(self, formula: Formula) -> Node:
        make = self.manager
        if isinstance(formula, Truth):
            return make.Bool(formula.value)
        if isinstance(formula, Compare):
            left, right = self.term(formula.left), self.term(formula.right)
            if formula.relation == "==":
                return make.Equals(left, right)
            if formula.relation == "!=":
                return make.Not(make.Equals(left, right))
            return make.LE(left, right) if formula.relation == "<=" else make.LT(left, right)
        if isinstance(formula, Not):
            return make.Not(self.formula(formula.body))
        if isinstance(formula, And):
            return make.And([self.formula(part) for part in formula.parts])
        if isinstance(formula, Or):
            return make.Or([self.formula(part) for part in formula.parts])
        raise EncodingError(f"not a formula: {formula!r}")

    def term(self, term: Index) -> Node:
        translate = _CASES.get(type(term))
        if translate is None:
            raise EncodingError(f"not an integer term: {term!r}")
        return translate(self, term)

    def constant(self, term: Const) -> Node:
        return self.manager.Int(int(term.value))

    def variable(self, term: Var) -> Node:
        node = self.variables.get(term.name)
        if node is None:
            node = self.manager.Symbol(_symbol(term.name), self.encoder.sort)
            self.variables[term.name] = node
        return node

    def sum(self, term: Sum) -> Node:
        parts = [self.term(part) for part in term.terms]
        if not parts:
            return self.manager.Int(0)
        if all(part.is_int_constant() for part in parts):
            return self.manager.Int(sum(int(part.constant_value()) for part in parts))
        return self.manager.Plus(parts)

    def product(self, term: Product) -> Node:
        return self.times(self.term(term.left), self.term(term.right))

    def times(self, left: Node, right: Node) -> Node:
        if left.is_int_constant() and right.is_int_constant():
            return self.manager.Int(int(left.constant_value()) * int(right.constant_value()))
        if not (left.is_int_constant() or right.is_int_constant()):
            self.linear = False
        return self.manager.Times(left, right)

    def minimum(self, term: Min) -> Node:
        left, right = self.term(term.left), self.term(term.right)
        return self.choice(self.manager.LE(left, right), left, right)

    def maximum(self, term: Max) -> Node:
        left, right = self.term(term.left), self.term(term.right)
        return self.choice(self.manager.LE(left, right), right, left)

    def choice(self, condition: Node, then: Node, otherwise: Node) -> Node:
        """An if-then-else, named when an operand holds another: text must not double per level."""
        node = self.manager.Ite(condition, then, otherwise)
        if not any(_holds_choice(part) for part in (then, otherwise)):
            return node
        name = self.new("choice")
        self.assertions.append(self.manager.Equals(name, node))
        return name

    def quotient(self, term: Div) -> Node:
        return self.division(self.term(term.left), self.term(term.right))[0]

    def remainder(self, term: Mod) -> Node:
        return self.division(self.term(term.left), self.term(term.right))[1]

    def division(self, dividend: Node, divisor: Node) -> tuple[Node, Node]:
        """The quotient and remainder of a pair: literals by exact arithmetic, else fresh symbols."""
        known = self.divisions.get((dividend, divisor))
        if known is not None:
            return known
        if divisor.is_int_constant() and dividend.is_int_constant() and divisor.constant_value() != 0:
            pair = divmod(int(dividend.constant_value()), int(divisor.constant_value()))
            result = (self.manager.Int(pair[0]), self.manager.Int(pair[1]))
        else:
            number = len(self.divisions)
            result = (self.new(f"quotient {number}"), self.new(f"remainder {number}"))
            self.define(dividend, divisor, *result)
        self.divisions[dividend, divisor] = result
        return result

    def define(self, dividend: Node, divisor: Node, quotient: Node, remainder: Node) -> None:
        """Assert what a quotient and a remainder are, where the divisor is not zero."""
        make, zero = self.manager, self.manager.Int(0)
        whole = make.Equals(dividend, make.Plus(self.times(divisor, quotient), remainder))
        above = make.And(make.LE(zero, remainder), make.LT(remainder, divisor))
        below = make.And(make.LT(divisor, remainder), make.LE(remainder, zero))
        if not divisor.is_int_constant():
            meaning = make.And(whole, make.Or(above, below))
            self.assertions.append(make.Implies(make.Not(make.Equals(divisor, zero)), meaning))
        elif divisor.constant_value() != 0:
            self.assertions.append(make.And(whole, above if divisor.constant_value() > 0 else below))

    def new(self, name: str) -> Node:
        """A symbol of our own: it holds a space, so that no variable is called so."""
        self.fresh.append(f"{name} of {len(self.fresh)}" if name == "choice" else name)
        return self.manager.Symbol(self.fresh[-1], self.encoder.sort)


_CASES: dict[type, Callable[[_Translation, Any], Node]] = {
    Const: _Translation.constant,
    Var: _Translation.variable,
    Sum: _Translation.sum,
    Product: _Translation.product,
    Div: _Translation.quotient,
    Mod: _Translation.remainder,
    Min: _Translation.minimum,
    Max: _Translation.maximum,
}


def _symbol(name: str) -> str:
    """The symbol of a variable: its own name, unless a solver may know that one already."""
    if not (name[:1].isalpha() or name[:1] in ("_", "'")) or not all("!" <= char <= "~" and char not in '|\\"' for char in name):
        raise EncodingError(f"not a name that SMT-LIB can quote: {name!r}")
    if name in _TAKEN or (name[0].islower() and "." in name):
        return f"{name} variable"
    return name


def _holds_choice(node: Node) -> bool:
    """Whether a term holds an if-then-else (terms are small: names cut them off)."""
    stack = [node]
    while stack:
        item = stack.pop()
        if item.is_ite():
            return True
        stack.extend(item.args())
    return False
