"""The platform files that are shipped: each can be used, each fact has a source, and widths come out as by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.elaborate.short import faults, module

FOLDER = Path(__file__).parents[2] / "platforms"
FILES = sorted(FOLDER.glob("*.cachet"))


def named(path: Path) -> str:
    found = re.search(r"^impl Platform for (\w+) where$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def head(path: Path) -> str:
    return f'module (platform = {named(path)})\nimport "cachet:platforms/{path.stem}"\n'


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_fact_stands_under_its_source(path: Path) -> None:
    body = path.read_text(encoding="utf-8").partition(" where\n")[2]
    for group in (part for part in body.strip("\n").split("\n\n") if part.startswith("  ")):
        comment = [line for line in group.splitlines() if line.strip().startswith("//")]
        assert any("Source: " in line for line in comment), group


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_platform_can_be_named(path: Path) -> None:
    platform = module(head(path)).platform
    assert platform is not None
    assert platform.name == named(path)
    assert {"DRAM"} <= set(platform.levels)


WIDTH = """\
synth const NR : Nat =
  minimize n in (n): n where
    n > 0, n <= 256, n % platform.lanes @Vec @f32 == 0,
    4 * ceil (n / platform.lanes @Vec @f32) >= platform.fma_pipes @Vec * platform.fma_latency @Vec
"""


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("apple-silicon", 16),  # 16 chains: 4 vectors of 4 in each of 4 rows
        ("neoverse-v2", 16),  # the same
        ("x86-64-v3", 24),  # 10 chains: 3 vectors of 8
        ("x86-64-v4", 32),  # 8 chains: 2 vectors of 16
    ],
)
def test_the_width_that_fills_the_pipes_of_each_processor(name: str, width: int) -> None:
    assert module(head(FOLDER / f"{name}.cachet") + WIDTH).constants["NR"] == width


def test_a_fact_that_a_platform_does_not_state_is_named() -> None:
    assert faults(head(FOLDER / "nvidia-h100.cachet") + WIDTH)[0] == ("elaborate.platform.fact", 5)


def test_a_platform_of_ones_own_may_stand_beside_its_use() -> None:
    text = "module (platform = Mine)\nimpl Platform for Mine where\n  const lanes = Vec { f32 = 2 }\nconst W : Nat = 3 * platform.lanes @Vec @f32\n"
    assert module(text).constants["W"] == 6
