"""Blocks that a split does not name: their names, and what later lines call them."""

from __future__ import annotations

import pytest

from cachet_verify.core.ir import For, Grid
from cachet_verify.rewrite.block_name import name_blocks
from cachet_verify.rewrite.place import counters
from cachet_verify.source import SourceFile
from cachet_verify.syntax.parse import parse_steps
from cachet_verify.syntax.print import print_steps
from tests.rewrite.drive import apply, lines, refusal
from tests.rewrite.nest import MATMUL


def named(text: str, *used: str) -> str:
    return print_steps(name_blocks(lines(text), frozenset(used)))


@pytest.mark.parametrize(
    ("text", "used", "wanted"),
    [
        ("split i by 32, j by 8, c by 16", (), "split i by 32 as gi, j by 8 as gj, c by 16 as gc\n"),
        ("split i by 32\ngrid over i.outer", (), "split i by 32 as gi\ngrid over gi\n"),
        ("split i by 32\nsplit i.inner by 4 as ui", (), "split i by 32 as gi\nsplit i by 4 as ui\n"),
        ("split i by 32\norder (i.outer, j, i.inner)", ("gi",), "split i by 32 as gi'1\norder (gi'1, j, i)\n"),
        ("split i by 32\nsplit i by 4\norder (i.outer, i)", (), "split i by 32 as gi\nsplit i by 4 as gi'1\norder (gi'1, i)\n"),
        ("split i by 32\nsplit j by 4 as gi", (), "split i by 32 as gi'1\nsplit j by 4 as gi\n"),
        ("split i by 32 as b\norder (i.outer, i)", (), "split i by 32 as b\norder (i.outer, i)\n"),
        ("order (i.outer, i)\nsplit i by 32", (), "order (i.outer, i)\nsplit i by 32 as gi\n"),
        ("split i by 32\npack a into gi along i.outer over (a0, a1)", (), "split i by 32 as gi'1\npack a into gi along gi'1 over (a0, a1)\n"),
    ],
)
def test_names(text: str, used: tuple[str, ...], wanted: str) -> None:
    assert named(text, *used) == wanted
    assert parse_steps(SourceFile("again", wanted)) == lines(wanted)


def test_two_splits_in_one_line_make_the_loops_that_later_lines_name() -> None:
    done = apply("split i by 2, j by 3\norder (i.outer, j.outer, i.inner, j)\ngrid over (i.outer, j.outer)", MATMUL)
    (grid,) = done.after.body.body
    assert isinstance(grid, Grid)
    assert [axis.counter for axis in grid.axes] == ["gi", "gj"]
    assert isinstance(grid.body.body[0], For)
    assert counters(done.after.body)[:4] == ("gi", "gj", "i", "j")


def test_a_block_of_another_index_is_not_known() -> None:
    _, message, _ = refusal("split i by 2\norder (j.outer, i)", MATMUL)
    assert "j.outer" in message
