"""`fit`: the table, the document, the exit codes, and the platforms that can be named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cachet_verify.cli import main

ARTICLE = Path(__file__).parents[2] / "proofs" / "accept" / "packed-larger.cachet"

OWN = """\
module (platform = Tiny)
import "cachet:steps"
impl Platform for Tiny where
  const L1 = Level { capacity = 1024, line = 64, sharers = 1 }
  const DRAM = Level { line = 64 }
  const lanes = Vec { f32 = 2 }
"""
KEEPS = """\
const WIDTH : Nat = 60 * platform.lanes @Vec @f32

fn keeps (reads a: [f32; WIDTH]) (mut c: [f32; WIDTH])
produces Init c
=
  lease near = a at L1
  for i in 0 .. WIDTH do
    store c[i] = load near[i]
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    code = main(["fit", *map(str, arguments)])
    return code, capsys.readouterr().out


def written(folder: Path, text: str) -> Path:
    path = folder / "main.cachet"
    path.write_text(text)
    return path


def document(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, dict[str, dict[str, object]]]:
    """The document's cells by item and platform."""
    _, text = run(capsys, *arguments, "--format", "json")
    (file,) = json.loads(text)["files"]
    return {item["name"]: {cell["platform"]: cell for cell in item["platforms"]} for item in file["items"]}


def test_the_article_fits_the_machine_it_was_written_for(capsys: pytest.CaptureFixture[str]) -> None:
    """By hand: 512 x 256 x 4 bytes are 4096 lines and one; a sixth of 16 MiB is 2796202 bytes."""
    code, text = run(capsys, ARTICLE)
    assert code == 0
    assert "larger on AppleSilicon: fits" in text.splitlines()
    assert "  L2: 524416 of 2796202 bytes (packA)" in text.splitlines()
    assert "  the vector registers: 16 of 32 (acc'0)" in text.splitlines()


def test_what_is_over_is_named_with_how_far(capsys: pytest.CaptureFixture[str]) -> None:
    cells = document(capsys, ARTICLE, "--platforms", "x86-64-v3,AppleSilicon")
    small, large = cells["larger"]["X86V3"], cells["larger"]["AppleSilicon"]
    assert (small["verdict"], large["verdict"]) == ("over", "fits")
    row = {"place": "L2", "unit": "bytes", "used": 524352, "available": 262144, "buffers": ["packA"]}
    assert row in small["rows"]  # type: ignore[operator]
    # 255 rows would do, but rows come in groups of four: 252
    assert {"buffer": "packA", "extent": 1, "now": 512, "largest": 252} in small["extents"]  # type: ignore[operator]


def test_a_platform_without_the_level_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = run(capsys, ARTICLE, "--platforms", "NvidiaH100")
    assert code == 1
    assert "larger on NvidiaH100: over, there is no memory level L1" in text.splitlines()


def test_constants_are_those_of_each_platform(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cells = document(capsys, written(tmp_path, OWN + KEEPS), "--platforms", "Tiny,SapphireRapids")
    # 120 words are 480 bytes: 8 lines and one; 960 words are 3840: 60 lines and one
    assert [row["used"] for row in cells["keeps"]["Tiny"]["rows"]] == [576]  # type: ignore[attr-defined]
    assert [row["used"] for row in cells["keeps"]["SapphireRapids"]["rows"] if row["unit"] == "bytes"] == [3904]  # type: ignore[attr-defined]


def test_what_depends_on_sizes_is_no_finding(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = OWN + KEEPS.replace("WIDTH]", "N]").replace("0 .. WIDTH", "0 .. N")
    code, shown = run(capsys, written(tmp_path, text))
    assert code == 0
    assert "  L1: 64 * (ceil (4 * N / 64) + 1) of 1024 bytes (a)" in shown.splitlines()


def test_what_could_not_be_told_is_undecided(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, shown = run(capsys, written(tmp_path, OWN + KEEPS), "--platforms", "NvidiaH100")
    assert code == 3
    assert "keeps on NvidiaH100: unknown, " in shown
    assert "`platform.lanes @Vec @f32`, which NvidiaH100 does not state" in shown


def test_nothing_kept_is_nothing_to_tell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "fn plain (mut c: [f32; 4]) =\n  store c[0] = 1.0\n"
    assert run(capsys, written(tmp_path, text), "--platforms", "AppleSilicon")[0] == 8


def test_an_unknown_platform_is_bad_input(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = written(tmp_path, OWN + KEEPS)
    assert main(["fit", str(path), "--platforms", "X86"]) == 2
    assert "no platform is called `X86`" in capsys.readouterr().err
