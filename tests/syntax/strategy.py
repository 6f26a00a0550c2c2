"""Random syntax trees for hypothesis, of every class and only trees that a text can stand for."""

from __future__ import annotations

from hypothesis import strategies as st

from cachet_verify.syntax import ast

NAMES = st.sampled_from(["a", "b2", "acc'0", "gi", "k", "packA_L2", "S", "Weights", "rows", "lanes", "order"])
USES = st.one_of(NAMES, st.sampled_from(["over", "at", "from", "to", "by", "of", "where", "family", "into", "ragged"]))
BINDERS = st.one_of(NAMES, st.sampled_from(["$acc", "$step"]))
SOME_NAMES = st.lists(NAMES, min_size=1, max_size=3).map(tuple)
TEXTS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=8)
LEVELS = st.sampled_from(["L1", "DRAM"])


def tuples(items: st.SearchStrategy, least: int = 0, most: int = 3) -> st.SearchStrategy:
    """Tuples of items."""
    return st.lists(items, min_size=least, max_size=most).map(tuple)


def _several(items: st.SearchStrategy) -> st.SearchStrategy:
    """A tuple expression: none, or two and more."""
    return st.one_of(st.just(()), tuples(items, 2, 3)).map(ast.Tuple)


ATOMS = st.one_of(
    USES.map(ast.Name),
    NAMES.map(ast.PatternVar),
    st.integers(0, 2**70).map(ast.IntLit),
    st.sampled_from(["0.0", "1.5e-3", "2e10", "3.25"]).map(ast.FloatLit),
    st.booleans().map(ast.BoolLit),
    TEXTS.map(ast.StringLit),
)
PATHS = st.one_of(NAMES.map(ast.Name), st.builds(ast.Field, NAMES.map(ast.Name), NAMES))


def _forms(inner: st.SearchStrategy) -> st.SearchStrategy:
    """Expressions one level above `inner`."""
    items = st.one_of(inner, st.builds(ast.Slice, inner, inner))
    fields = tuples(st.builds(ast.FieldInit, NAMES, st.none() | inner), 1)
    bindings = tuples(st.builds(ast.Rebinding, NAMES, inner), 1)
    implicit = tuples(st.one_of(st.builds(ast.ImplicitArg, NAMES, inner), st.builds(ast.ImplicitArg, st.none(), NAMES.map(ast.Name))), 1)
    monoids = st.one_of(PATHS, st.builds(lambda f, a: ast.Apply(f, (), a), PATHS, tuples(inner, 1)))
    blocks = st.one_of(inner, st.builds(ast.LetExpr, BINDERS, st.none() | inner, inner, inner))
    return st.one_of(
        _several(inner),
        tuples(inner, 1).map(ast.ListExpr),
        st.builds(ast.ArrayType, inner, tuples(inner, 1)),
        st.builds(ast.RecordLit, PATHS, fields),
        st.builds(ast.Field, inner, NAMES),
        st.builds(ast.Index, inner, tuples(items, 1)),
        st.builds(ast.Substitute, inner, bindings),
        st.builds(lambda f, a: ast.Apply(f, (), a), inner, tuples(inner, 1)),
        st.builds(ast.Apply, inner, implicit, tuples(inner)),
        st.builds(ast.Load, inner),
        st.builds(ast.Unary, st.sampled_from(ast.UNARY_OPERATORS), inner),
        st.builds(ast.Binary, st.sampled_from(ast.BINARY_OPERATORS), inner, inner),
        st.builds(ast.Cast, inner, inner),
        st.builds(ast.IfExpr, inner, blocks, blocks),
        st.builds(ast.Sum, SOME_NAMES, inner, st.booleans(), tuples(inner)),
        st.builds(ast.Reduce, monoids, SOME_NAMES, inner, st.booleans(), tuples(inner)),
        st.builds(ast.TileReduce, monoids, NAMES, NAMES, blocks),
        st.builds(ast.Fold, BINDERS, _domains(inner), inner, BINDERS, inner, blocks),
    )


def _domains(inner: st.SearchStrategy) -> st.SearchStrategy:
    return st.one_of(st.builds(ast.Range, inner, inner), st.builds(ast.Blocks, inner, inner, inner), NAMES.map(ast.PatternVar))


EXPRESSIONS = st.recursive(ATOMS, _forms, max_leaves=12)
SMALL = st.recursive(ATOMS, _forms, max_leaves=4)
DOMAINS = _domains(SMALL)
STORAGE = st.builds(ast.Storage, SMALL, st.none() | SMALL, st.none() | LEVELS)
VALUES = st.one_of(SMALL, st.builds(ast.LetExpr, BINDERS, st.none() | SMALL, SMALL, SMALL))
TARGETS = st.one_of(NAMES.map(ast.Name), st.builds(ast.Index, PATHS, tuples(SMALL, 1)))
PLAIN = SMALL.filter(lambda node: not isinstance(node, ast.IfExpr))


def _statements(inner: st.SearchStrategy) -> st.SearchStrategy:
    """Statements that hold blocks of `inner`."""
    bodies = tuples(inner, 1)
    indices = tuples(st.builds(ast.GridIndex, BINDERS, DOMAINS), 1, 2)
    tiles = st.lists(st.tuples(NAMES, SMALL), min_size=1, max_size=2).map(
        lambda pairs: ast.TileClause(tuple(name for name, _ in pairs), tuple(part for _, part in pairs))
    )
    windows = tuples(st.builds(ast.Window, SMALL, st.none() | NAMES), 0, 2)
    return st.one_of(
        st.builds(ast.For, BINDERS, DOMAINS, bodies),
        st.builds(ast.If, SMALL, bodies, st.just(()) | bodies),
        st.builds(ast.Grid, st.none() | NAMES, indices, st.none() | tiles, windows, bodies),
    )


def _views() -> st.SearchStrategy:
    extents = st.lists(st.tuples(NAMES, SMALL), min_size=1, max_size=2)
    return st.builds(
        lambda name, pairs, known, place: ast.View(
            name, tuple(index for index, _ in pairs), tuple(dim for _, dim in pairs) if known else (), place
        ),
        NAMES,
        extents,
        st.booleans(),
        SMALL,
    )


SIMPLE_STATEMENTS = st.one_of(
    st.builds(ast.Let, BINDERS, st.none() | STORAGE, VALUES),
    st.builds(ast.Var, BINDERS, st.none() | STORAGE, st.none() | VALUES),
    st.builds(ast.Assign, TARGETS, VALUES),
    st.builds(ast.Store, SMALL, VALUES),
    st.builds(ast.ExprStatement, PLAIN),
    st.builds(ast.Lease, NAMES, st.booleans(), SMALL, LEVELS),
    _views(),
    st.just(ast.Barrier()),
)
STATEMENTS = st.recursive(SIMPLE_STATEMENTS, _statements, max_leaves=5)
BODIES = tuples(STATEMENTS, 1)

# --- schedules ---------------------------------------------------------------------------------

STEP_ARGS = st.one_of(SMALL, tuples(st.builds(ast.Label, NAMES, SMALL), 1).map(ast.Labelled))
CLAUSES = tuples(st.builds(ast.Clause, st.sampled_from(ast.CLAUSE_WORDS), tuples(STEP_ARGS)), 0, 2)
STEP_NAMES = st.sampled_from(["zero", "hoist", "reduce", "grid", "parts", "pack_lanes"])
SPLIT_PARTS = st.builds(ast.SplitPart, SMALL, tuples(st.builds(ast.Factor, SMALL, st.none() | NAMES), 1))
REASONS = TEXTS
LINES = st.one_of(
    st.builds(ast.Step, STEP_NAMES, tuples(STEP_ARGS), CLAUSES),
    st.builds(ast.Split, tuples(SPLIT_PARTS, 1), st.booleans()),
    st.builds(ast.Admit, REASONS),
)
