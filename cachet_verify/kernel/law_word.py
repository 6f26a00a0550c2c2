"""Laws over words: two expressions that give the same word for all words, under IEEE 754.

Takes the two sides; gives the goal that they agree. Three kinds of expressions are read, and no mixtures.
Sums and products of integer words are residues: what holds for all integers holds for them. Maxima and
minima are those of the order of the words. Bit operations act on each bit by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from cachet_verify.core.element import ELEMENTS, Element
from cachet_verify.core.family import UnmodelledError
from cachet_verify.core.index import FALSE, ONE, TRUE, Const, Formula, Index, Var, add, eq, le, maximum, minimum, mod, mul, negate, sub, variables
from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.core.ir import values as parts
from cachet_verify.kernel.claim import Goal, LawHolds, LawVariable, RuleError, issue
from cachet_verify.kernel.obligation import Obligation

RULE = "law-over-words"
_RING = frozenset(("add", "sub", "mul", "neg", "fma"))
_ORDER = frozenset(("max", "min"))
_BITS = frozenset(("and_", "or_", "xor", "not_"))
_TWO = Const(2)


@dataclass(frozen=True, slots=True)
class NotANumber:
    """A NaN: the canonical one, or that of a variable."""

    of: str = ""


Read = Index | NotANumber


def law_over_words(variables: tuple[LawVariable, ...], left: tuple[Value, ...], right: tuple[Value, ...]) -> Goal:
    """Conclude that the sides agree, part by part. Raises RuleError, and UnmodelledError for what is not read here."""
    if len(left) != len(right) or not left:
        raise RuleError(RULE, "the two sides have as many parts, one at least")
    types = [field for variable in variables for field in variable.fields]
    names = dict(types)
    if len(names) != len(types) or not all(elem in ELEMENTS for elem in names.values()):
        raise RuleError(RULE, "the variables have names and element types of their own")
    found: list[Obligation] = []
    for ours, theirs in zip(left, right, strict=True):
        found.extend(_asked(names, ours, theirs))
    return issue(RULE, LawHolds("words", variables, left, right), dict.fromkeys(found))


def _asked(names: Mapping[str, str], left: Value, right: Value) -> Iterator[Obligation]:
    """The obligations of one part, by the kind of its operations."""
    for part in chain(parts(left), parts(right)):
        if isinstance(part, Op) and part.name not in _RING | _ORDER | _BITS:
            raise UnmodelledError(f"{part.name} in a law over words")
    element = _element(names, left, right)
    used = {part.name for side in (left, right) for part in parts(side) if isinstance(part, Op)}
    if used <= _ORDER:
        yield from _ordered(element, names, left, right)
    elif used <= _BITS and element.kind != "float":
        yield from _by_bit(element, left, right)
    elif used <= _RING and element.kind in ("signed", "unsigned"):
        yield Obligation("the two sides are equal as integers", (), eq(_ring(element, left), _ring(element, right)), can_refute=False)
    else:
        raise UnmodelledError(f"{', '.join(sorted(used))} together, in a law over words of {element.name},")


def _element(names: Mapping[str, str], left: Value, right: Value) -> Element:
    """The one element type of everything in both sides."""
    found: set[str] = set()
    for side in (left, right):
        for part in parts(side):
            if isinstance(part, Load) and not part.index:
                if part.buffer not in names:
                    raise RuleError(RULE, f"{part.buffer} is no variable of the law", part)
                found.add(names[part.buffer])
            elif isinstance(part, (Word, Op)):
                found.add(part.elem)
            else:
                raise UnmodelledError(f"{type(part).__name__} in a law")
    if len(found) != 1 or not found <= ELEMENTS.keys():
        raise UnmodelledError("more than one element type in a law over words")
    return ELEMENTS[found.pop()]


def _ring(element: Element, value: Value) -> Index:
    """A residue's representative: the map from integers to residues keeps sums and products."""
    if isinstance(value, Load):
        return Var(value.buffer)
    if isinstance(value, Word):
        return Const(element.integer(value.bits))
    if not isinstance(value, Op):
        raise UnmodelledError(f"{type(value).__name__} in a law")
    args = [_ring(element, arg) for arg in value.args]
    if value.name == "neg":
        return negate(args[0])
    if value.name == "fma":
        return add(mul(args[0], args[1]), args[2])
    if value.name == "add":
        return add(args[0], args[1])
    return mul(args[0], args[1]) if value.name == "mul" else sub(args[0], args[1])


# --- maxima and minima ---


def _ordered(element: Element, names: Mapping[str, str], left: Value, right: Value) -> Iterator[Obligation]:
    """The sides as maxima and minima of places in the order of the words; each variable a NaN or a number."""
    used = sorted({part.buffer for side in (left, right) for part in parts(side) if isinstance(part, Load)})
    kinds: Sequence[bool] = (False, True) if element.kind == "float" else (False,)
    for chosen in product(kinds, repeat=len(used)):
        case: dict[str, Read] = {name: NotANumber(name) if is_nan else Var(name) for name, is_nan in zip(used, chosen, strict=True)}
        nans = [name for name, is_nan in zip(used, chosen, strict=True) if is_nan]
        says = "the two sides are the same word" + (f", where {' and '.join(nans)} {'is a NaN' if len(nans) == 1 else 'are NaNs'}" if nans else "")
        low, high = _range(element)
        first, second = _rank(element, left, case), _rank(element, right, case)
        goal = _same(first, second)
        yield Obligation(says, tuple(part for name in sorted(variables(goal)) for part in (le(low, Var(name)), le(Var(name), high))), goal)


def _range(element: Element) -> tuple[Index, Index]:
    """The least and the greatest place of a word in the order of its type."""
    if element.kind == "float":
        return Const(-element.infinity - 1), Const(element.infinity)
    if element.kind == "signed":
        return Const(-element.sign), Const(element.sign - 1)
    return Const(0), Const(element.mask)


def _rank(element: Element, value: Value, case: Mapping[str, Read]) -> Read:
    """A value's place in the order of words, which is one to one on all that are not NaNs; -0.0 is right below +0.0."""
    if isinstance(value, Load):
        return case[value.buffer]
    if isinstance(value, Word):
        if element.kind != "float":
            return Const(element.integer(value.bits))
        if element.is_nan(value.bits):
            return NotANumber() if value.bits == element.nan else NotANumber(str(value.bits))
        size = value.bits & (element.sign - 1)
        return Const(-size - 1 if value.bits & element.sign else size)
    if not isinstance(value, Op) or value.name not in _ORDER or len(value.args) != 2:
        raise UnmodelledError(f"{type(value).__name__} in a law")
    first, second = (_rank(element, arg, case) for arg in value.args)
    if isinstance(first, NotANumber) or isinstance(second, NotANumber):
        return NotANumber()
    return maximum(first, second) if value.name == "max" else minimum(first, second)


def _same(first: Read, second: Read) -> Formula:
    """That two readings are one word; two NaNs are where they are the same one."""
    if isinstance(first, NotANumber) or isinstance(second, NotANumber):
        return TRUE if first == second else FALSE
    return eq(first, second)


# --- bits ---


def _by_bit(element: Element, left: Value, right: Value) -> Iterator[Obligation]:
    """The sides, one bit of every word at a time; positions where the literals have the same bits ask the same."""
    for place in range(element.width):
        goal = eq(_bit(left, place), _bit(right, place))
        bounds = tuple(part for name in sorted(variables(goal)) for part in (le(Const(0), Var(name)), le(Var(name), ONE)))
        yield Obligation("the two sides have the same bit at every place", bounds, goal)


def _bit(value: Value, place: int) -> Index:
    """One bit of a value, as 0 or 1."""
    if isinstance(value, Load):
        return Var(value.buffer)
    if isinstance(value, Word):
        return Const(value.bits >> place & 1)
    if not isinstance(value, Op):
        raise UnmodelledError(f"{type(value).__name__} in a law")
    args = [_bit(arg, place) for arg in value.args]
    if value.name == "not_":
        return sub(ONE, args[0])
    if value.name == "xor":
        return mod(add(args[0], args[1]), _TWO)
    return minimum(args[0], args[1]) if value.name == "and_" else maximum(args[0], args[1])
