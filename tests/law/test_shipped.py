"""Every law that is shipped is proved, on nothing but what it says itself; none is left to a reason."""

from __future__ import annotations

import pytest

import cachet_verify
from cachet_verify.resource_path import list_sources, shipped_root

SHIPPED = {path.stem: path for folder in ("stdlib", "laws") for path in list_sources([shipped_root() / folder]) if "law " in path.read_text()}
COUNTS = {"attention": 5, "elementary": 3, "logsum": 6, "matrix": 24, "monoid": 12, "rows": 8, "semiring": 153}
"""The laws of each file, counted by hand, so that none goes unasked; a file that gains one states it here."""


def test_every_file_with_laws_is_listed() -> None:
    assert set(SHIPPED) == set(COUNTS)


@pytest.mark.parametrize("name", sorted(COUNTS))
def test_the_laws_of_a_file_are_proved_with_nothing_trusted(name: str) -> None:
    report = cachet_verify.check([SHIPPED[name]])
    laws = [item for file in report.files for item in file.items if item.kind == "law"]
    assert len(laws) == COUNTS[name]
    assert {item.name for item in laws if item.verdict.value != "proved"} == set()
    assert {item.name for item in laws if item.claim is not None and item.claim.trusted} == set()
