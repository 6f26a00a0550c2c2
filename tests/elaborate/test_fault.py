"""Faults: the exact code and line of each, and that one run reports all of them."""

from __future__ import annotations

import pytest

from tests.elaborate.short import MATMUL, faults, messages

HEAD = "fn f (reads a: [f32; M, K]) (reads d: [f64; M]) (mut c: [f32; M]) (mut p: [f32; 16, 8]) =\n"
SEMIRING = (
    "impl Semiring for {} where\n  const Value = f32\n  fn zero () = {}\n  fn one () = 1.0\n  fn add a b = a + b\n"
    "  fn mul a b = a * b\n  fn mul_add {} = {}\n"
)
CONTRACTION = "contraction f (reads a: [f32; M, K]) (reads b: [f32; L]) -> out c: [f32; M] =\n"

BODIES = [
    ("  store c[i] = 0.0", "elaborate.name.unknown", 2),
    ("  store e[0] = 0.0", "elaborate.name.unknown", 2),
    ("  store a[0, 0] = 0.0", "elaborate.assign", 2),
    ("  c[0] = 1.0", "elaborate.assign", 2),
    ("  let x: f32 = 0.0\n  x = 1.0", "elaborate.assign", 3),
    ("  store c[0, 0] = 0.0", "elaborate.index.rank", 2),
    ("  store c[0] = load a[0]", "elaborate.index.rank", 2),
    ("  store c[0] = a[0, 0]", "elaborate.type.load", 2),
    ("  store c[0] = load d[0]", "elaborate.type.mismatch", 2),
    ("  store c[0] = fma (load a[0, 0]) (load d[0]) 0.0", "elaborate.type.mismatch", 2),
    ("  store c[0] = 1", "elaborate.type.literal", 2),
    ("  for i in 0 .. M do\n    store c[i] = i", "elaborate.type.mismatch", 3),
    ("  let x = 0.0", "elaborate.type.unknown", 2),
    ("  var x", "elaborate.type.unknown", 2),
    ("  let x: f31 = 0.0", "elaborate.type.unknown", 2),
    ("  let x: i8 = 128", "elaborate.type.literal", 2),
    ("  let x: i8 = 1.0", "elaborate.type.literal", 2),
    ("  store c[load a[0, 0]] = 0.0", "elaborate.index.kind", 2),
    ("  for g in blocks (0 .. M) 4 do\n    store c[g] = 0.0", "elaborate.index.kind", 3),
    ("  for g in blocks (0 .. M) 4 do\n    store c[g.high] = 0.0", "elaborate.index.kind", 3),
    ("  for i in 0 .. M / 0 do\n    store c[i] = 0.0", "elaborate.index.zero-divisor", 2),
    ("  for i in 0 .. (load c[0]) do\n    store c[i] = 0.0", "elaborate.index.kind", 2),
    ("  store c[0] = fma (load a[0, 0]) 1.0", "elaborate.call.arity", 2),
    ("  store c[0] = sum k. load a[0, k]", "elaborate.equation.sum", 2),
    ("  let v: Vec f32 8 = load c[0 .. 8]\n  store c[0] = v", "elaborate.type.mismatch", 3),
    ("  let v: Vec f32 8 = 0.0", "elaborate.type.mismatch", 2),
    ("  let v: Vec f32 M = splat 0.0", "elaborate.vector.width", 2),
    ("  let x: f32 = load c[0 .. 8]", "elaborate.vector.slice", 2),
    ("  lease mut x = p at L2\n  store p[0, 0] = 0.0", "elaborate.lease.root", 3),
    ("  view v[i] : [M] = c[M - 1 - i]\n  lease mut x = c at L2\n  store v[0] = 0.0", "elaborate.lease.root", 4),
    ("  view v[i] : [M] = c[M - 1 - i]\n  lease mut x = v at L2\n  store c[0] = 0.0", "elaborate.lease.root", 4),
    ("  lease mut x = a at L2", "elaborate.call.mode", 2),
    ("  grid i in 0 .. M writes a[i, 0] do\n    store c[i] = 0.0", "elaborate.grid.window", 2),
    ("  load c[0]", "elaborate.statement", 2),
    ("  store c[0] = max true 0.0", "elaborate.type.mismatch", 2),
    ("  store c[0] = xor (load c[0]) (load c[0])", "elaborate.type.operation", 2),
    ("  store c[0] = (load c[0]) % (load c[0])", "elaborate.type.operation", 2),
    ("  store c[0] = frobnicate (load c[0])", "elaborate.name.unknown", 2),
]


@pytest.mark.parametrize(("body", "code", "line"), BODIES)
def test_a_fault_in_a_function(body: str, code: str, line: int) -> None:
    assert (code, line) in faults(f"{HEAD}{body}\n")


@pytest.mark.parametrize(("body", "code", "line"), BODIES)
def test_a_fault_is_reported_once(body: str, code: str, line: int) -> None:
    assert faults(f"{HEAD}{body}\n").count((code, line)) == 1


EQUATIONS = [
    ("  s[i] = a[i, 0]", "elaborate.equation.missing", 1),
    ("  c[i] = a[i, 0]\n  c[i] = a[i, 1]", "elaborate.equation.twice", 3),
    ("  b[i] = 0.0\n  c[i] = b[i]", "elaborate.equation.target", 2),
    ("  c[0] = a[0, 0]", "elaborate.equation.target", 2),
    ("  c[i] = sum k. a[i, k] * b[k]", "elaborate.range.disagree", 2),
    ("  c[i] = sum r. a[i, r + 1]", "elaborate.range.unknown", 2),
    ("  s[i] = s[i] + a[i, 0]\n  c[i] = s[i]", "elaborate.equation.cycle", 2),
    ("  s[i] = t[i]\n  t[i] = s[i] + 1.0\n  c[i] = t[i]", "elaborate.equation.cycle", 2),
    ("  c[i] = c[i] + a[i, 0]", "elaborate.equation.cycle", 2),
    ("  s[i, j] = a[i, j]\n  c[i] = s[i]", "elaborate.index.rank", 3),
    ("  c[i, j] = a[i, j]", "elaborate.index.rank", 2),
    ("  c[i] = a[q, 0]", "elaborate.name.unknown", 2),
]


@pytest.mark.parametrize(("body", "code", "line"), EQUATIONS)
def test_a_fault_in_a_contraction(body: str, code: str, line: int) -> None:
    assert faults(f"{CONTRACTION}{body}\n") == [(code, line)]


FILES = [
    ("fn f x = x\nfn f y = y\n", "elaborate.name.duplicate", 2),
    ("fn fma x = x\n", "elaborate.name.reserved", 1),
    ("const A : Nat = B\nconst B : Nat = A\n", "elaborate.constant.cycle", 1),
    ("const A : Nat = 3 - 4\n", "elaborate.constant", 1),
    ("const A : Nat = 7 / 2\n", "elaborate.constant", 1),
    ("schedule s of nothing =\n  zero (i) c\n", "elaborate.name.unknown", 1),
    (f"{MATMUL}schedule s of matmul @(T = PlusTimes f32) =\n  zero (i, j) c\n", "elaborate.generic.parameter", 6),
    (f"{MATMUL}schedule s of matmul @(S = PlusTimes f31) =\n  zero (i, j) c\n", "elaborate.generic.missing", 6),
    (f"{MATMUL}schedule s of matmul\n    (mut p: [f32; Q]) =\n  zero (i, j) c\n", "elaborate.size.unbound", 6),
    (f"{MATMUL}schedule s of matmul\n    (mut a: [f32; 4]) =\n  zero (i, j) c\n", "elaborate.name.duplicate", 7),
    (f"{MATMUL}schedule s of matmul\n    (mut p: [f32; 4] in Odd 2) =\n  zero (i, j) c\n", "elaborate.name.unknown", 7),
    ("fn f (reads x: [f32; N + R]) (mut y: [f32; N]) =\n  store y[0] = 0.0\n", "elaborate.size.unbound", 1),
    ("fn f (a: [f32; N]) =\n  store a[0] = 0.0\n", "elaborate.call.mode", 1),
    ("fn f (mut a: [f32; N])\nproduces Init b\n=\n  store a[0] = 0.0\n", "elaborate.contract", 2),
    ("fn f (mut a: [f32; N])\nworking_set\n  @L1 { keep b = descriptor b }\n=\n  store a[0] = 0.0\n", "elaborate.contract", 3),
    ("fn f (mut a: [f32; N])\nrequires N\n=\n  store a[0] = 0.0\n", "elaborate.condition", 2),
    ("proof p = assert platform.lanes @Vec @f32 > 1\n", "elaborate.platform.missing", 1),
    ("module (platform = AppleSilicon)\nproof p = assert 1 > 0\n", "elaborate.platform.missing", 1),
    (
        'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\nproof p = assert platform.lanes @Vec @f31 > 1\n',
        "elaborate.platform.fact",
        3,
    ),
    (
        'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\nfn f (mut a: [f32; 4] at L9) =\n  store a[0] = 0.0\n',
        "elaborate.platform.level",
        3,
    ),
    ('import "cachet:nothing"\n', "elaborate.import.missing", 1),
    (f"{SEMIRING.format('PlusTimes f32', '0.0', 'a b acc', 'acc')}", "elaborate.name.duplicate", 1),
    (f"{SEMIRING.format('Odd f32', '0', 'a b acc', 'acc')}", "elaborate.type.literal", 3),
    (f"{SEMIRING.format('Odd f32', '0.0', 'a b', 'a')}", "elaborate.call.arity", 7),
    (f"{SEMIRING.format('Odd f32', '0.0', 'a b acc', 'd')}", "elaborate.name.unknown", 7),
    ("impl Monoid for Odd f32 where\n  const Value = f32\n", "elaborate.name.unknown", 1),
    ("impl Semiring for Odd f32 where\n  fn zero () = 0.0\n  fn one () = 0.0\n", "elaborate.generic.member", 1),
    ("fn unused x = max x y\n", "elaborate.name.unknown", 1),
    ("fn unused (x: f32) -> f64 = x\n", "elaborate.type.mismatch", 1),
    ("fn turns x = turns x\n", "elaborate.call.recursion", 1),
    ("layout L n : [R, R] (i, j) = i\n", "elaborate.layout", 1),
    ("fn g x = g x\nfn f (mut a: [f32; N]) =\n  store a[0] = g (load a[0])\n", "elaborate.call.recursion", 1),
    ("fn f (mut a: [f32; N]) = f a\n", "elaborate.call.recursion", 1),
]


@pytest.mark.parametrize(("text", "code", "line"), FILES)
def test_a_fault_in_a_file(text: str, code: str, line: int) -> None:
    assert set(faults(text)) == {(code, line)}


CALLS = [
    ("  matmul @(S = PlusTimes f32) a b", "elaborate.call.arity"),
    ("  matmul a b c", "elaborate.generic.unbound"),
    ("  matmul @(S = PlusTimes f64) a b c", "elaborate.type.mismatch"),
    ("  matmul @(S = PlusTimes f32) a b v", "elaborate.call.shape"),
    ("  matmul @(S = PlusTimes f32) a b a", "elaborate.call.mode"),
    ("  matmul @(S = PlusTimes f32) a b (load c[0, 0])", "elaborate.call.argument"),
    ("  small a", "elaborate.call.shape"),
    ("  PlusTimes a", "elaborate.name.kind"),
    ("  matmul2 a b c", "elaborate.name.unknown"),
]


@pytest.mark.parametrize(("body", "code"), CALLS)
def test_a_fault_in_a_call(body: str, code: str) -> None:
    small = "fn small (reads a: [f32; 3, 4]) = \n  let x = load a[0, 0]\n"
    head = "fn f (reads a: [f32; 4, 4]) (reads b: [f32; 4, 4]) (mut c: [f32; 4, 4]) (mut v: [f32; 4]) =\n"
    assert faults(f"{MATMUL}{small}{head}{body}\n") == [(code, 9)]


def test_one_run_reports_the_faults_of_every_declaration_in_order() -> None:
    text = f"{HEAD}  store c[i] = 0.0\n  store c[0] = load d[0]\n{CONTRACTION}  c[i] = sum k. a[i, k] * b[k]\nconst A : Nat = 1 - 2\n"
    assert faults(text.replace("contraction f", "contraction g")) == [
        ("elaborate.name.unknown", 2),
        ("elaborate.type.mismatch", 3),
        ("elaborate.range.disagree", 5),
        ("elaborate.constant", 6),
    ]


def test_a_name_that_could_not_be_defined_is_not_reported_again_at_its_uses() -> None:
    assert faults(f"{HEAD}  let x: f32 = load e[0]\n  store c[0] = x\n  store c[1] = x + x\n") == [("elaborate.name.unknown", 2)]


def test_a_missing_name_says_which_import_brings_it() -> None:
    text = f"{MATMUL}schedule s of matmul\n    (mut p: [f32; 16, 16] in PanelMajor 4) =\n  zero (i, j) c\n"
    assert messages(text) == ['`PanelMajor` is not defined | import "cachet:layouts"']


def test_a_misspelt_name_says_what_is_close() -> None:
    assert messages(f"{HEAD}  for index in 0 .. M do\n    store c[indx] = 0.0\n") == ["`indx` is not defined | did you mean `index`?"]


def test_mixed_widths_say_to_convert() -> None:
    assert messages(f"{HEAD}  store c[0] = load d[0]\n") == ["this is `f64`, and `f32` is wanted here | convert it: `d[0] as f32`"]
