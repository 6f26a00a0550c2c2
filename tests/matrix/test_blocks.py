"""matmul at arrays: runs against chains by hand and against the plain matmul on the whole matrices, word for word; what is refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

import cachet_verify
from cachet_verify.core.ir import Program
from cachet_verify.core.meaning import run
from cachet_verify.core.numeral import word_of_float
from cachet_verify.core.word import function_of
from cachet_verify.judge.file import open_file
from cachet_verify.resource_path import shipped_root

TEXT = """import "cachet:matrix"

contraction matmul {{S : Semiring}} (reads a: [S.Value; M, K]) (reads b: [S.Value; K, N]) -> out c: [S.Value; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]

schedule s of matmul @(S = {instance}) =
  order (i, j)

fn f (mut c: [f32; N, 2, 2]) =
  squares @(S = Matrix (PlusTimes f32) 2) c

fn squares {{S : Semiring}} (mut c: [S.Value; N]) =
  for i in 0 .. N do
    store c[i] = S.mul (load c[i]) (load c[i])

fn products {{S : Semiring}} (reads a: [S.Value; N]) (mut c: [S.Value; 1]) =
  var t: S.Value = S.one ()
  for k in 0 .. N do
    t = S.mul t (load a[k])
  store c[0] = t

fn g (reads a: [i32; N, 2, 2]) (mut c: [i32; 1, 2, 2]) =
  products @(S = Matrix (PlusTimes i32) 2) a c
"""
Block = tuple[tuple[int, ...], ...]


@cache
def program(instance: str, name: str = "s") -> Program:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blocks.cachet"
        path.write_text(TEXT.format(instance=instance))
        made = open_file(path).program(name)
    assert made is not None
    return made


def computed(made: Program, sizes: dict[str, int], result: str, count: int, **given: list[int]) -> list[int]:
    cells: dict[str, list[int | None]] = {name: list(value) for name, value in given.items()}
    cells.setdefault(result, [None] * count)
    run(made, sizes, cells)
    return [word for word in cells[result] if word is not None]


def in_blocks(words: list[int], rows: int, cols: int, size: int) -> list[int]:
    """The words of a matrix, row by row, as those of its blocks."""
    starts = [(i, j) for i in range(0, rows, size) for j in range(0, cols, size)]
    return [words[(i + r) * cols + j + c] for i, j in starts for r in range(size) for c in range(size)]


def some_words(random: Random, elem: str, count: int) -> list[int]:
    if elem == "f32":
        return [word_of_float(random.choice([random.gauss(0, 1), random.gauss(0, 1e6), -0.0]), "f32") for _ in range(count)]
    return [random.getrandbits(1 if elem == "bool" else 32) for _ in range(count)]


@pytest.mark.parametrize(
    ("base", "elem", "size"),
    [("PlusTimes f32", "f32", 2), ("PlusTimes f32", "f32", 8), ("MinPlus f32", "f32", 4), ("PlusTimes i32", "i32", 2), ("Boolean", "bool", 4)],
)
def test_blocks_have_the_words_of_the_whole(base: str, elem: str, size: int) -> None:
    random = Random(size)
    m, k, n = 2, 1, 1
    rows, depth, cols = m * size, k * size, n * size
    a, b = some_words(random, elem, rows * depth), some_words(random, elem, depth * cols)
    plain = computed(program(base), {"M": rows, "K": depth, "N": cols}, "c", rows * cols, a=a, b=b)
    given = {"a": in_blocks(a, rows, depth, size), "b": in_blocks(b, depth, cols, size)}
    found = computed(program(f"Matrix ({base}) {size}"), {"M": m, "K": k, "N": n}, "c", rows * cols, **given)
    assert found == in_blocks(plain, rows, cols, size)


def test_a_block_adds_its_products_in_ascending_order_to_what_is_there() -> None:
    """Every cell is one chain of multiply-adds over all blocks, from the zero of a sum on."""
    random = Random(1)
    a, b = some_words(random, "f32", 3 * 4), some_words(random, "f32", 3 * 4)
    found = computed(program("Matrix (PlusTimes f32) 2"), {"M": 1, "K": 3, "N": 1}, "c", 4, a=a, b=b)
    fma, expected = function_of("fma", "f32"), []
    for r in range(2):
        for c in range(2):
            total = word_of_float(-0.0, "f32")
            for block in range(3):
                for k in range(2):
                    total = fma(a[4 * block + 2 * r + k], b[4 * block + 2 * k + c], total)
            expected.append(total)
    assert found == expected


def test_matrices_of_matrices() -> None:
    random = Random(7)
    a, b = some_words(random, "i32", 16), some_words(random, "i32", 16)
    plain = computed(program("PlusTimes i32"), {"M": 4, "K": 4, "N": 4}, "c", 16, a=a, b=b)
    given = {"a": in_blocks(a, 4, 4, 2), "b": in_blocks(b, 4, 4, 2)}
    found = computed(program("Matrix (Matrix (PlusTimes i32) 2) 2"), {"M": 1, "K": 1, "N": 1}, "c", 16, **given)
    assert found == in_blocks(plain, 4, 4, 2)


def test_an_array_that_is_computed_from_itself_is_read_before_it_is_written() -> None:
    words = [word_of_float(x, "f32") for x in (1.0, 2.0, 3.0, 4.0)]
    assert computed(program("PlusTimes f32", "f"), {"N": 1}, "c", 4, c=words) == [word_of_float(x, "f32") for x in (7.0, 10.0, 15.0, 22.0)]


def test_products_of_a_row_of_matrices() -> None:
    """The Fibonacci numbers, as powers of a matrix; an empty product is the matrix that changes nothing."""
    made = program("PlusTimes i32", "g")
    assert computed(made, {"N": 6}, "c", 4, a=[1, 1, 1, 0] * 6) == [13, 8, 8, 5]
    assert computed(made, {"N": 0}, "c", 4, a=[]) == [1, 0, 0, 1]


def test_an_array_of_arrays_has_the_dimensions_of_both(tmp_path: Path) -> None:
    path = tmp_path / "nested.cachet"
    path.write_text(
        "contraction sums (reads a: [[[i32; 2]; 3]; M]) -> out c: [i32; M] =\n  c[i] = sum (j, k). a[i, j, k]\n\n"
        "fn last (mut c: [i32; 2]) =\n  var t: [[i32; 3]; 2] = repeat 7\n  for i in 0 .. 2 do\n    store c[i] = t[i, 2]\n"
    )
    opened = open_file(path)
    made, last = opened.program("sums"), opened.program("last")
    assert made is not None
    assert last is not None
    assert computed(made, {"M": 2}, "c", 2, a=list(range(12))) == [15, 51]
    assert computed(last, {}, "c", 2) == [7, 7]


def codes(text: str, folder: Path) -> list[str]:
    path = folder / "wrong.cachet"
    path.write_text(text)
    return [found.code for found in cachet_verify.check([path]).files[0].diagnostics]


def test_what_names_no_implementation(tmp_path: Path) -> None:
    for instance in ("Matrix (PlusTimes f32) 3", "Matrix (PlusTimes f31) 2", "Matrix PlusTimes 2", "Matrix (Online) 2", "Matrix"):
        assert codes(TEXT.format(instance=instance), tmp_path) == ["elaborate.generic.missing"], instance


def test_a_function_of_arrays_is_an_equation(tmp_path: Path) -> None:
    text = "impl {S : Semiring} Semiring for Two S where\n  const Value = [S.Value; 2]\n  fn zero () = S.zero ()\n"
    assert "elaborate.equation.missing" in codes(text, tmp_path)


def test_a_total_whose_cells_need_each_other_is_not_taken_apart(tmp_path: Path) -> None:
    """t * a at one cell needs other cells of t: as a fold of words it would read the wrong ones."""
    path = tmp_path / "powers.cachet"
    path.write_text(
        'import "cachet:matrix"\n\nfn powers {S : Semiring} (reads a: [S.Value; N]) (mut c: [S.Value; 1]) =\n'
        "  store c[0] = fold k in 0 .. N from S.one () as t: S.Value do S.mul t (load a[k])\n\n"
        "fn use (reads a: [f32; N, 2, 2]) (mut c: [f32; 1, 2, 2]) =\n  powers @(S = Matrix (PlusTimes f32) 2) a c\n"
    )
    found = {item.name: item.verdict.value for item in cachet_verify.check([path]).files[0].items}
    assert found["use"] == "undecided"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("[S.Value; 2, 2]", "[S.Value; 20, 20]"),  # more cells than laws are read of
        ("[S.Value; 2, 2]", "[S.Value; 2, n]"),
        ("[S.Value; 2, 2]", "[S.Value; 0, 0]"),
        ("if i == j then", "if i / 2 == j then"),  # exact under a condition alone
        ("fold k in 0 .. 2 from", "fold k in blocks (0 .. 2) 1 from"),
        ("(b[k, j]) t", "(b[k + 1, j]) t"),  # outside of b
        ("0 .. 2 from", "0 .. 3 from"),
    ],
)
def test_what_is_not_written_out_has_no_law(old: str, new: str, tmp_path: Path) -> None:
    """Neither proved nor a fault of ours, nor of any law that needs it."""
    shipped = (shipped_root() / "stdlib" / "matrix.cachet").read_text()
    first = shipped[shipped.index("impl") : shipped.index("impl", shipped.index("impl") + 4)].replace("Matrix", "Odd")
    assert first.count(old) == 1
    path = tmp_path / "odd.cachet"
    path.write_text(first.replace(old, new))
    items = {item.name: item.verdict.value for item in cachet_verify.check([path]).files[0].items}
    assert items["Odd S 2: mul_add over S"] == "undecided"
    assert set(items.values()) <= {"undecided", "proved"}
