"""A value with a block inside, which must break lines, prints and parses back in every place of every declaration."""

from __future__ import annotations

import pytest

from cachet_verify.syntax import ast
from cachet_verify.syntax.parse import parse_text
from cachet_verify.syntax.print import print_file

A = ast.Name("a")
V = ast.IfExpr(A, A, ast.LetExpr("a", None, A, A))
CONTRACT = ast.Contract(
    (V,),
    (V,),
    (),
    (ast.WorkingSetRow("L1", (ast.Keep("a", V),)),),
    (ast.Traffic(None, V, "L1", "L2", True),),
    (ast.Invariant("a", (V, V)),),
    (ast.Family((), (), (V, V)), ast.Family(("a",), ((V, V),), ())),
)
DECLARATIONS = [
    ast.ModuleHeader((ast.Setting("p", V),)),
    ast.SynthConst(("a",), V, V, ("a",), V, (V, V)),
    ast.Proof("p", ast.AssertProof(V)),
    ast.Proof("p", ast.FamilyProof(ast.Family((), (), (V, V)), A)),
    ast.Fn("f", (), (ast.Param("a", "mut", ast.Storage(V, V, "L1")),), ast.Result("c", ast.Storage(V)), CONTRACT, (ast.ExprStatement(A),)),
    ast.Interface("I", (ast.Generic("S", V),), (ast.Fn("f", (), (), ast.Result(None, ast.Storage(V)), CONTRACT, None), ast.Const("a", V, None))),
    ast.Impl((), A, ast.Apply(A, (), (V,)), (ast.Fn("f", (), (), None, CONTRACT, (ast.ExprStatement(ast.Sum(("k",), V)),)),)),
    ast.Law(("a",), (), "reals", V, "x"),
    ast.Schedule(
        "s",
        A,
        (ast.ImplicitArg("S", V),),
        None,
        (),
        CONTRACT,
        (ast.Step("zero", (V,), (ast.Clause("by", (V,)),)), ast.Split((ast.SplitPart(V, (ast.Factor(V, "k"),)),), True)),
    ),
    ast.Layout("L", (), (V,), ("i",), (), V, ast.LetExpr("x", V, V, V)),
    ast.Record("R", (ast.RecordField("m", V),)),
]


@pytest.mark.parametrize("declaration", DECLARATIONS, ids=lambda node: type(node).__name__)
def test_a_block_inside_a_value(declaration: ast.Declaration) -> None:
    tree = ast.File((declaration,))
    assert parse_text(print_file(tree)) == tree
