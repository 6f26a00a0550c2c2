"""Random terms and formulas, raw: not folded by the constructors of the core."""

from __future__ import annotations

from hypothesis import strategies as st

from cachet_verify.core import index
from cachet_verify.core.index import Formula, Index

NAMES = ("M", "k'0", "i", "abs")
INTEGERS = st.one_of(st.integers(-7, 7), st.integers(-(2**64), 2**64))


def _bigger(terms: st.SearchStrategy[Index]) -> st.SearchStrategy[Index]:
    binary = st.sampled_from((index.Product, index.Div, index.Mod, index.Min, index.Max))
    return st.one_of(
        st.lists(terms, min_size=2, max_size=3).map(lambda parts: index.Sum(tuple(parts))),
        st.tuples(binary, terms, terms).map(lambda made: made[0](made[1], made[2])),
    )


TERMS: st.SearchStrategy[Index] = st.recursive(st.one_of(st.sampled_from(NAMES).map(index.Var), INTEGERS.map(index.Const)), _bigger, max_leaves=6)
COMPARISONS = st.builds(index.Compare, st.sampled_from(("==", "!=", "<=", "<")), TERMS, TERMS)


def _joined(formulas: st.SearchStrategy[Formula]) -> st.SearchStrategy[Formula]:
    several = st.lists(formulas, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(index.Not, formulas), st.builds(index.And, several), st.builds(index.Or, several))


FORMULAS: st.SearchStrategy[Formula] = st.recursive(st.one_of(COMPARISONS, COMPARISONS, st.booleans().map(index.Truth)), _joined, max_leaves=4)
VALUATIONS = st.fixed_dictionaries(dict.fromkeys(NAMES, INTEGERS))


def divides_by_zero(formula: Formula, at: dict[str, int]) -> bool:
    """Whether some division of a formula, wherever it stands, has a divisor of zero."""
    try:
        return any(index.evaluate(term, at) is None for term in index.subterms(formula))
    except ZeroDivisionError:
        return True
