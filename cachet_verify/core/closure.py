"""Integer terms and formulas as functions of the counters in force, for the interpreter.

Takes core terms, the names in scope and the dictionary that will hold their values; gives
functions without arguments. Must not fold or reorder: they compute what the term says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from cachet_verify.core.index import And, Compare, Const, Div, Formula, Index, Max, Min, Mod, Not, Product, Sum, Truth, Var
from cachet_verify.core.memory import MeaningError
from cachet_verify.source import Span

Integer = Callable[[], int]
Indices = Callable[[], tuple[int, ...]]
Condition = Callable[[], bool]
Ints = Mapping[str, int]


class Integers:
    """Compiles terms over the counters in `scope`, whose values `ints` holds when they are called."""

    def __init__(self, ints: Ints, scope: frozenset[str], span: Span | None) -> None:
        self.ints = ints
        self.scope = scope
        self.span = span

    def term(self, term: Index) -> Integer:
        """The value of a term. Raises MeaningError for a name out of scope; the function, for a zero divisor."""
        if isinstance(term, Const):
            value = term.value
            return lambda: value
        if isinstance(term, Var):
            return self._variable(term.name)
        if isinstance(term, Sum):
            return _sum([self.term(part) for part in term.terms])
        left, right = self.term(term.left), self.term(term.right)
        if isinstance(term, Product):
            return lambda: left() * right()
        if isinstance(term, Min):
            return lambda: min(left(), right())
        if isinstance(term, Max):
            return lambda: max(left(), right())
        return self._division(term, left, right)

    def _variable(self, name: str) -> Integer:
        if name not in self.scope:
            raise MeaningError("scope", f"`{name}` is not in scope here", self.span)
        ints = self.ints
        return lambda: ints[name]

    def _division(self, term: Div | Mod, left: Integer, right: Integer) -> Integer:
        span, is_quotient = self.span, isinstance(term, Div)

        def divide() -> int:
            divisor = right()
            if divisor == 0:
                raise MeaningError("division", "an index is divided by 0", span)
            return left() // divisor if is_quotient else left() % divisor

        return divide

    def indices(self, terms: Sequence[Index]) -> Indices:
        """The values of several terms."""
        made = [self.term(term) for term in terms]
        if not made:
            return tuple
        if len(made) == 1:
            (only,) = made
            return lambda: (only(),)
        if len(made) == 2:
            first, second = made
            return lambda: (first(), second())
        return lambda: tuple([function() for function in made])

    def formula(self, formula: Formula) -> Condition:
        """The truth of a formula; a part is evaluated only where those before it leave it open."""
        if isinstance(formula, Truth):
            value = formula.value
            return lambda: value
        if isinstance(formula, Compare):
            return self._comparison(formula)
        if isinstance(formula, Not):
            body = self.formula(formula.body)
            return lambda: not body()
        parts = [self.formula(part) for part in formula.parts]
        if isinstance(formula, And):
            return lambda: all(part() for part in parts)
        return lambda: any(part() for part in parts)

    def _comparison(self, formula: Compare) -> Condition:
        left, right = self.term(formula.left), self.term(formula.right)
        if formula.relation == "==":
            return lambda: left() == right()
        if formula.relation == "!=":
            return lambda: left() != right()
        if formula.relation == "<":
            return lambda: left() < right()
        return lambda: left() <= right()


def _sum(parts: list[Integer]) -> Integer:
    if len(parts) == 2:
        first, second = parts
        return lambda: first() + second()
    return lambda: sum([part() for part in parts])
