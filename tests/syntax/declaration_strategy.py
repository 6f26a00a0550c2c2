"""Random declarations for hypothesis, of every class."""

from __future__ import annotations

from hypothesis import strategies as st

from cachet_verify.syntax import ast
from tests.syntax.strategy import BODIES, LEVELS, LINES, NAMES, PATHS, REASONS, SMALL, SOME_NAMES, STORAGE, TEXTS, VALUES, tuples

GENERICS = tuples(st.builds(ast.Generic, NAMES, SMALL), 0, 2)
PARAMS = tuples(
    st.one_of(
        st.builds(ast.Param, NAMES, st.just(""), st.none() | STORAGE),
        st.builds(ast.Param, NAMES, st.sampled_from(["reads", "mut"]), STORAGE),
    )
)
APPLICABLE = st.one_of(PATHS, st.builds(lambda f, a: ast.Apply(f, (), a), PATHS, tuples(SMALL, 1)))
RESULTS = st.builds(ast.Result, st.none() | NAMES, STORAGE)
NAMED_RESULTS = st.builds(ast.Result, NAMES, STORAGE)
INVARIANTS = st.builds(ast.Invariant, NAMES, tuples(SMALL, 1))
LISTED = st.lists(st.tuples(NAMES, tuples(SMALL, 1)), min_size=1, max_size=2).map(
    lambda pairs: ast.Family(tuple(name for name, _ in pairs), tuple(choice for _, choice in pairs), ())
)
FAMILIES = st.one_of(LISTED, st.builds(lambda conditions: ast.Family((), (), conditions), tuples(SMALL, 1)))
ROWS = st.builds(ast.WorkingSetRow, LEVELS, tuples(st.builds(ast.Keep, NAMES, SMALL), 1, 2))
TRAFFIC = st.builds(ast.Traffic, st.none() | NAMES, SMALL, LEVELS, LEVELS, st.booleans())
CONTRACTS = st.one_of(
    st.just(ast.NO_CONTRACT),
    st.builds(
        ast.Contract,
        tuples(SMALL, 0, 2),
        tuples(SMALL, 0, 1),
        tuples(NAMES, 0, 2),
        tuples(ROWS, 0, 2),
        tuples(TRAFFIC, 0, 2),
        tuples(INVARIANTS, 0, 1),
        tuples(FAMILIES, 0, 1),
    ),
)
EQUATIONS = st.builds(ast.Assign, st.builds(ast.Index, NAMES.map(ast.Name), tuples(SMALL, 1)), VALUES)
PATTERNS = st.one_of(NAMES.map(ast.Name), tuples(NAMES.map(ast.Name), 2).map(ast.Tuple))
PATTERN_CLAUSES = tuples(st.builds(ast.Clause, st.sampled_from(ast.CLAUSE_WORDS), tuples(PATTERNS)), 0, 2)
RECIPES = tuples(
    st.one_of(
        st.lists(st.sampled_from(["per", "cell", "fold", "S.k", "T.k", "interchange", "2"]), min_size=1, max_size=4).map(
            lambda words: ast.RecipeLine(tuple(words))
        ),
        st.builds(ast.Admit, REASONS),
    )
)
LAWS = st.builds(
    ast.Law,
    tuples(NAMES, 1),
    tuples(st.builds(ast.Param, NAMES, st.just(""), STORAGE), 0, 2),
    st.none() | st.sampled_from(["reals", "words"]),
    st.none() | SMALL,
    st.none() | TEXTS,
)
CONSTS = st.builds(ast.Const, NAMES, st.none() | SMALL, VALUES)
FNS = st.builds(ast.Fn, NAMES, GENERICS, PARAMS, st.none() | RESULTS, CONTRACTS, BODIES)
TEMPLATES = tuples(st.builds(ast.Template, NAMES, TEXTS), 1, 2)
SIGNATURES = st.builds(ast.Fn, NAMES, GENERICS, PARAMS, st.none() | RESULTS, CONTRACTS, st.none())
MEMBERS = tuples(st.one_of(CONSTS, FNS, LAWS), 1, 2)
DECLARED_MEMBERS = tuples(st.one_of(st.builds(ast.Const, NAMES, st.none() | SMALL, st.none()), SIGNATURES, LAWS), 1, 2)
LAYOUTS = st.builds(
    lambda name, params, pairs, needs, size, address: ast.Layout(
        name, params, tuple(dim for _, dim in pairs), tuple(index for index, _ in pairs), needs, size, address
    ),
    NAMES,
    tuples(NAMES),
    st.lists(st.tuples(NAMES, SMALL), min_size=1, max_size=2),
    tuples(SMALL, 0, 2),
    st.none() | SMALL,
    VALUES,
)
PROOFS = st.one_of(
    SMALL.map(ast.AssertProof),
    st.builds(ast.RelateProof, APPLICABLE, APPLICABLE),
    REASONS.map(ast.AdmitProof),
    st.builds(ast.FamilyProof, FAMILIES, APPLICABLE),
    st.builds(ast.InvariantProof, INVARIANTS, APPLICABLE),
)
DECLARATIONS = st.one_of(
    tuples(st.builds(ast.Setting, NAMES, SMALL)).map(ast.ModuleHeader),
    TEXTS.map(ast.Import),
    st.builds(ast.Contraction, NAMES, GENERICS, PARAMS, NAMED_RESULTS, CONTRACTS, tuples(EQUATIONS, 1)),
    FNS,
    st.builds(ast.Fn, NAMES, GENERICS, PARAMS, RESULTS, CONTRACTS, BODIES, st.just(True), TEMPLATES),
    st.builds(
        ast.Schedule,
        NAMES,
        PATHS,
        tuples(st.builds(ast.ImplicitArg, NAMES, SMALL), 0, 2),
        st.none() | NAMES,
        PARAMS,
        CONTRACTS,
        tuples(LINES, 1),
    ),
    st.builds(ast.ScheduleFn, NAMES, tuples(PATTERNS), tuples(LINES, 1)),
    st.builds(ast.StepFn, NAMES, tuples(PATTERNS), PATTERN_CLAUSES, BODIES, BODIES, RECIPES),
    CONSTS,
    st.builds(ast.SynthConst, SOME_NAMES, SMALL, SMALL, SOME_NAMES, SMALL, tuples(SMALL)),
    st.builds(ast.Proof, NAMES, PROOFS),
    st.builds(
        ast.Proof,
        NAMES,
        SMALL.map(ast.AssertProof),
        tuples(NAMES.map(lambda name: ast.Param(name, "", ast.Storage(ast.Name("Nat"), None, None))), 0, 2),
        tuples(SMALL, 0, 2),
    ),
    st.builds(ast.Record, NAMES, tuples(st.builds(ast.RecordField, NAMES, SMALL), 1)),
    LAYOUTS,
    LAWS,
    st.builds(ast.Interface, NAMES, GENERICS, DECLARED_MEMBERS),
    st.builds(ast.Impl, GENERICS, PATHS, APPLICABLE, MEMBERS),
)
FILES = tuples(DECLARATIONS).map(ast.File)
