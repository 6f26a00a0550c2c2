"""Laws over a semiring that is not known: two expressions of its operations that agree whatever it is.

Takes the two sides, over the operations `S.add`, `S.mul`, `S.mul_add`, `S.zero` and `S.one`; gives the goal that they agree for every
semiring S. The laws of a semiring are what may be used of it, and no more: its product need not commute.

Each side is multiplied out: a sum of products of variables, in the order in which they stand, each as often as it occurs. Sums commute
and associate, products associate and distribute on both sides, zero and one do nothing and zero takes all: sides with one such
form are equal in every semiring.
"""

from __future__ import annotations

from collections.abc import Mapping

from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.ir import Load, Op, Value
from cachet_verify.kernel.claim import Goal, LawHolds, LawVariable, RuleError, issue

RULE = "law-over-semiring"
LAWS = ("add associative", "add commutative", "add identity", "mul associative", "mul identity", "mul annihilates", "distributive", "mul_add")
"""What a semiring is: the laws that S has to meet where a law over it is used."""
MOST_PRODUCTS = 200_000
"""Products that one side may come to."""
Products = Mapping[tuple[str, ...], int]


def law_over_semiring(generic: str, variables: tuple[LawVariable, ...], left: tuple[Value, ...], right: tuple[Value, ...]) -> Goal:
    """Conclude that the sides agree, part by part. Raises RuleError where they do not come to one form, UnmodelledError for what is not read here."""
    if len(left) != len(right) or not left:
        raise RuleError(RULE, "the two sides have as many parts, one at least")
    fields = [field for variable in variables for field in variable.fields]
    names = frozenset(name for name, _ in fields)
    if len(names) != len(fields) or any(elem != f"{generic}.Value" for _, elem in fields) or not generic:
        raise RuleError(RULE, f"the variables have names of their own, and are values of {generic}")
    if any(variable.points for variable in variables):
        raise RuleError(RULE, "a value of a semiring is none of its points by name")
    for place, (ours, theirs) in enumerate(zip(left, right, strict=True), 1):
        if _products(generic, names, ours) != _products(generic, names, theirs):
            raise RuleError(RULE, f"part {place} of the sides does not follow from the laws of a semiring")
    return issue(RULE, LawHolds(f"semiring {generic}", variables, left, right), ())


def _products(generic: str, names: frozenset[str], value: Value) -> Products:
    """A side multiplied out; no product is listed 0 times."""
    if isinstance(value, Load) and not value.index:
        if value.buffer not in names:
            raise RuleError(RULE, f"{value.buffer} is no variable of the law", value)
        return {(value.buffer,): 1}
    if not isinstance(value, Op) or value.elem != f"{generic}.Value":
        raise UnmodelledError(f"{type(value).__name__} in a law over a semiring")
    args = [_products(generic, names, arg) for arg in value.args]
    name = value.name.removeprefix(f"{generic}.") if value.name.startswith(f"{generic}.") else ""
    if (name, len(args)) == ("zero", 0):
        return {}
    if (name, len(args)) == ("one", 0):
        return {(): 1}
    if (name, len(args)) == ("add", 2):
        return _sum(args[0], args[1])
    if (name, len(args)) == ("mul", 2):
        return _product(args[0], args[1])
    if (name, len(args)) == ("mul_add", 3):
        return _sum(args[2], _product(args[0], args[1]))
    raise UnmodelledError(f"{value.name} in a law over a semiring")


def _sum(left: Products, right: Products) -> Products:
    total = dict(left)
    for word, count in right.items():
        total[word] = total.get(word, 0) + count
    return total


def _product(left: Products, right: Products) -> Products:
    if len(left) * len(right) > MOST_PRODUCTS:
        raise UnmodelledError(f"a law that comes to more than {MOST_PRODUCTS} products")
    total: dict[tuple[str, ...], int] = {}
    for first, count in left.items():
        for second, times in right.items():
            word = (*first, *second)
            total[word] = total.get(word, 0) + count * times
    return total
