"""What single forms mean as trees: precedence, application, blocks, layout, words that are names too."""

from __future__ import annotations

import pytest

from cachet_verify.source import SourceFile
from cachet_verify.syntax import ast
from cachet_verify.syntax.ast import Apply, Binary, Cast, ExprStatement, Field, FloatLit, If, Index, IntLit, Load, Name, Tuple, Unary
from cachet_verify.syntax.parse import parse, parse_expression, parse_statements, parse_steps, parse_text


def expr(text: str) -> ast.Expr:
    return parse_expression(SourceFile("e", text))


def body(text: str) -> ast.Body:
    return parse_statements(SourceFile("s", text))


A, B, C = Name("a"), Name("b"), Name("c")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("a * b % c", Binary("%", Binary("*", A, B), C)),
        ("a or b and not c", Binary("or", A, Binary("and", B, Unary("not", C)))),
        ("a == b && b < c", Binary("and", Binary("==", A, B), Binary("<", B, C))),
        ("-a * b", Binary("*", Unary("-", A), B)),
        ("-Num.infinity ()", Unary("-", Apply(Field(Name("Num"), "infinity"), (), (Tuple(()),)))),
        ("a - 0.0", Binary("-", A, FloatLit("0.0"))),
        ("f (-0.0)", Apply(Name("f"), (), (Unary("-", FloatLit("0.0")),))),
        ("f a[b] c", Apply(Name("f"), (), (Index(A, (B,)), C))),
        ("f a [b]", Apply(Name("f"), (), (A, ast.ListExpr((B,))))),
        ("load a[b] + c", Binary("+", Load(Index(A, (B,))), C)),
        ("a * b as u32", Binary("*", A, Cast(B, Name("u32")))),
        ("0x1F", IntLit(31)),
        ("a[b .. c, 1]", Index(A, (ast.Slice(B, C), IntLit(1)))),
        ("$step[$acc][k := b]", ast.Substitute(Index(ast.PatternVar("step"), (ast.PatternVar("acc"),)), (ast.Rebinding("k", B),))),
        ("sum k. a + b", ast.Sum(("k",), Binary("+", A, B))),
        ("sum k. sum l. a", ast.Sum(("k",), ast.Sum(("l",), A))),
        ("sum (k, l). a", ast.Sum(("k", "l"), A)),
        ("sum k where k <= a. b", ast.Sum(("k",), B, bounds=(Binary("<=", Name("k"), A),))),
        ("reduce Max f32 j where a. b", ast.Reduce(Apply(Name("Max"), (), (Name("f32"),)), ("j",), B, bounds=(A,))),
        ("reduce M (where) where a, b. c", ast.Reduce(Name("M"), ("where",), C, bounds=(A, B))),
        ("c + sum k. a", Binary("+", C, ast.Sum(("k",), A))),
        ("reduce[reassoc] Online j. a", ast.Reduce(Name("Online"), ("j",), A, True)),
        ("reduce Max f32 j. a", ast.Reduce(Apply(Name("Max"), (), (Name("f32"),)), ("j",), A)),
        ("f @(S = a, T = b) c", Apply(Name("f"), (ast.ImplicitArg("S", A), ast.ImplicitArg("T", B)), (C,))),
        ("p.lanes @Vec @f32", Apply(Field(Name("p"), "lanes"), (ast.ImplicitArg(None, Name("Vec")), ast.ImplicitArg(None, Name("f32"))), ())),
        ("(a)", A),
        ("[Vec f32 8; 4]", ast.ArrayType(Apply(Name("Vec"), (), (Name("f32"), IntLit(8))), (IntLit(4),))),
    ],
)
def test_expressions(text: str, tree: ast.Expr) -> None:
    assert expr(text) == tree


def test_words_of_the_grammar_are_names_where_no_keyword_can_stand() -> None:
    for word in ("rows", "lanes", "by", "over", "from", "to", "order", "step", "view", "size", "parts", "module", "law"):
        assert expr(f"f {word} + 1") == Binary("+", Apply(Name("f"), (), (Name(word),)), IntLit(1))


def test_two_loops_on_one_line_are_two_loops() -> None:
    inner = "  store c[zi, zj] = 0.0\n"
    nested = body("for zi in 0 .. M do for zj in 0 .. N do\n" + inner)
    assert nested == body("for zi in 0 .. M do\n  for zj in 0 .. N do\n  " + inner)


def test_a_deeper_line_goes_on_with_the_one_above() -> None:
    assert body("let x =\n  max\n    a\n    (f\n       b)\nlet y =\n  a +\n    b\nx = a +\n  b") == body(
        "let x = max a (f b)\nlet y = a + b\nx = a + b"
    )


def test_an_if_alone_is_a_statement_and_elsewhere_a_value() -> None:
    (alone,) = body("if a then b else c")
    assert alone == If(A, (ExprStatement(B),), (ExprStatement(C),))
    (let,) = body("let x = if a then b else c")
    assert isinstance(let, ast.Let)
    assert let.value == ast.IfExpr(A, B, C)
    assert body("let x =\n  if a then\n    b\n  else\n    c") == (let,)


def test_an_else_belongs_to_the_innermost_if() -> None:
    (outer,) = body("if a then\n  if b then\n    x\n  else\n    y")
    assert isinstance(outer, If)
    assert outer.otherwise == ()


def test_a_block_can_be_a_value() -> None:
    (store,) = body("store c[i] = fold k in 0 .. K from a as acc: f32 do\n    let m = b\n    f acc m")
    assert isinstance(store, ast.Store)
    assert isinstance(store.value, ast.Fold)
    assert store.value.body == ast.LetExpr("m", None, B, Apply(Name("f"), (), (Name("acc"), Name("m"))))


def test_steps_keep_their_words() -> None:
    (step,) = parse_steps(SourceFile("s", "registers (i, j) into c rows 4 lanes 8 through fma"))
    words = [(clause.word, clause.args) for clause in step.clauses] if isinstance(step, ast.Step) else []
    assert words == [("into", (C,)), ("rows", (IntLit(4),)), ("lanes", (IntLit(8),)), ("through", (Name("fma"),))]


def test_a_split_keeps_its_parts_and_factors() -> None:
    several, parts = parse_steps(SourceFile("s", "split i by 16 as gi, 4 as ui ragged\nsplit i by 32, j by 8"))
    i, j = Name("i"), Name("j")
    assert several == ast.Split((ast.SplitPart(i, (ast.Factor(IntLit(16), "gi"), ast.Factor(IntLit(4), "ui"))),), True)
    assert parts == ast.Split((ast.SplitPart(i, (ast.Factor(IntLit(32), None),)), ast.SplitPart(j, (ast.Factor(IntLit(8), None),))), False)


def test_the_equals_sign_of_a_header_may_stand_on_its_own_line() -> None:
    one = parse_text("fn f (mut c: f32)\n  requires K > 0\n  produces Init c =\n  x")
    assert one == parse_text("fn f (mut c: f32)\nrequires K > 0\nproduces Init c\n=\n  x")


def test_spans_cover_the_text_of_each_part() -> None:
    text = "// remark\nconst size : Nat = 3 + four\n"
    file = parse(SourceFile("p", text)).file
    (const,) = file.declarations
    assert isinstance(const, ast.Const)
    assert const.span is not None
    assert const.value is not None
    assert const.value.span is not None
    assert const.span.text == "const size : Nat = 3 + four"
    assert const.value.span.text == "3 + four"
    assert (const.value.span.line, const.value.span.column) == (2, 20)
    assert [comment.text for comment in file.comments] == ["remark"]


def test_places_are_no_part_of_equality() -> None:
    assert parse_text("const x = 1") == parse_text("\n\nconst   x  =  1")
