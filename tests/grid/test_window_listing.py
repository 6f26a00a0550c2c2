"""The windows that a listing prints are what the iterations write: read again, they are proved."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cachet_verify.session import scheduled
from tests.grid.test_device import HEADER
from tests.judge.asking import items

SCHEDULES = {
    "threads": ("@(S = PlusTimes f32) on M4Gpu", "grid over (i, j)", "grid on M4Gpu i in 0 .. M, j in 0 .. N writes c[i, j] as ct do"),
    "columns": ("@(S = PlusTimes f32)", "grid over j", "grid j in 0 .. N writes c[i, j] as ct do"),
    "rows": ("@(S = PlusTimes f32) on M4Gpu", "grid over i", "grid on M4Gpu i in 0 .. M writes c[i, 0 .. N] do"),
    "turned": ("@(S = PlusTimes f32)", "grid over (j, i)", "grid j in 0 .. N, i in 0 .. M writes c[i, j] as ct do"),
    "bands": (
        "@(S = PlusTimes f32)",
        "zero (i, j) c\nsplit k by 8 as gk ragged\nsplit j by 16 as gj ragged\nsplit i by 64 as gi, 4 as ui\n"
        "order (gk, gj, gi, ui, i, j)\nparallel gi",
        "grid gi in 0 .. M / 64 writes c[64 * gi .. 64 * gi + 64, gj.lo .. gj.lo + gj.len] do",
    ),
    "ragged": (
        "@(S = PlusTimes f32)",
        "split i by 64 as gi, 4 as ui ragged\nparallel gi",
        "grid gi in blocks (0 .. M) 64 writes c[gi.lo .. gi.lo + gi.len, 0 .. N] do",
    ),
    "in_tiles": (
        "@(S = PlusTimes f32)",
        "split i by 16 as gi ragged\nsplit j by 8 as gj ragged\norder (gi, gj, i, j)\ngrid over (gi, gj)",
        "grid gi in blocks (0 .. M) 16, gj in blocks (0 .. N) 8 writes c[gi.lo .. gi.lo + gi.len, gj.lo .. gj.lo + gj.len] do",
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_windows_are_printed_and_proved_again(name: str, tmp_path: Path) -> None:
    header, steps, window = SCHEDULES[name]
    text = f"{HEADER}\nschedule {name} of matmul {header} =\n" + "".join(f"  {step}\n" for step in steps.split("\n"))
    path = tmp_path / "kernels.cachet"
    path.write_text(text)
    listing = scheduled(path, name, None, False, False, False)
    assert window in " ".join(listing.split())
    (nest,) = re.findall(rf"^fn {name} .*?\n\n", listing, flags=re.MULTILINE | re.DOTALL)
    again = items(tmp_path, f"{HEADER}\n{nest}\nproof again = relate {name} to matmul @(S = PlusTimes f32)\n")
    assert {item: again[item].verdict.value for item in (name, "again")} == {name: "proved", "again": "proved"}


def test_an_iteration_that_writes_several_parts_has_a_window_for_each(tmp_path: Path) -> None:
    path = tmp_path / "kernels.cachet"
    path.write_text("""
fn f (mut c: [f32; 2 * N, M]) (mut d: [f32; N]) =
  grid i in 0 .. N do
    for j in 0 .. M do
      store c[2 * i, j] = 1.0
    for j in 2 .. M do
      store c[2 * i + 1, M - 1 - j] = 1.0
    var t: [f32; 4]
    store d[N - 1 - i] = 1.0
    t[0] = 2.0
""")
    listing = scheduled(path, "f", None, False, False, False)
    assert "writes c[2 * i, 0 .. M], c[2 * i + 1, 0 .. M - 2], d[N - i - 1] do" in " ".join(listing.split())


@pytest.mark.parametrize("cell", ["c[(i + k) % N]", "c[i + min k 0]"])
def test_where_no_interval_is_told_no_window_is_printed(cell: str, tmp_path: Path) -> None:
    path = tmp_path / "kernels.cachet"
    path.write_text(f"fn f (mut c: [f32; N]) =\n  grid i in 0 .. N do\n    for k in 0 .. 1 do\n      store {cell} = 1.0\n")
    assert "grid i in 0 .. N do" in scheduled(path, "f", None, True, False, False)


def test_a_grid_inside_a_grid_on_a_device_names_the_device_once(tmp_path: Path) -> None:
    path = tmp_path / "kernels.cachet"
    path.write_text(f"{HEADER}\nschedule s of matmul on M4Gpu =\n  split i by 8 as gi ragged\n  grid over gi\n  grid over i\n  parallel j\n")
    listing = scheduled(path, "s", None, False, False, False)
    assert [line.split(" in ")[0].strip() for line in listing.splitlines() if "grid" in line] == ["grid on M4Gpu gi", "grid i", "grid j"]
    assert "arithmetic: M4Gpu" in listing
