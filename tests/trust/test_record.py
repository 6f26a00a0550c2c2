"""Records of evidence: what is one, and what a changed instruction makes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cachet_verify.core.identity import reference_digest, template_digest
from cachet_verify.core.index import Const, Var, eq
from cachet_verify.core.ir import Block, Instruction, Store, Word
from cachet_verify.diagnostic import CachetError
from cachet_verify.ledger.record import from_text, to_text
from cachet_verify.ledger.store import known_of, read_folders, says
from cachet_verify.resource_path import shipped_root
from cachet_verify.session import check
from cachet_verify.source import SourceFile
from tests.trust.made import BODY, RIGHT, WRONG, measure, project, record

ZERO = Block((Store("result", (), Word("f32", 0)),))
ONE = Block((Store("result", (), Word("f32", 0x3F800000)),))
OWN = Instruction("twice4", (("host", "f"), ("metal", "g")), ZERO, ("x",))


def about(instruction: Instruction, **changes: object) -> object:
    digests = {"template_digest": template_digest(instruction, "host"), "reference_digest": reference_digest(instruction)}
    return record(**{**digests, **changes})


def test_a_record_is_read_as_it_was_written() -> None:
    whole = record()
    assert from_text(to_text(whole)) == whole
    assert (whole.words, whole.mismatches) == (8, 1)
    assert whole.says == "host on some machine, 2026-01-31: 1 of 8 words differ"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 3),
        ("mismatches", 0),
        ("words", 80),
        ("day", "31.1.2026"),
        ("device", ""),
        ("arithmetic", "fast"),
        ("inputs", []),
        ("inputs", [{"kind": "random", "uses": 1, "words": 8, "mismatches": 9}]),
        ("inputs", [{"kind": "random", "uses": 1, "words": -8, "mismatches": 0}]),
        ("colour", "red"),
    ],
)
def test_what_is_no_record_is_refused(tmp_path: Path, key: str, value: object) -> None:
    row = {**json.loads(to_text(record())), key: value}
    with pytest.raises(ValueError, match=r"."):
        from_text(json.dumps(row))
    (tmp_path / "twice4.host.made.json").write_text(json.dumps(row))
    with pytest.raises(CachetError) as caught:
        read_folders((tmp_path,))
    assert caught.value.diagnostics[0].code == "trust.bad-record"


def test_only_a_record_of_this_very_text_and_body_counts() -> None:
    host, metal = known_of(OWN, (about(OWN),))  # type: ignore[arg-type]
    assert (len(host.records), metal.records, metal.is_stale) == (1, (), False)
    for other in (
        Instruction("twice4", (("host", "f "), ("metal", "g")), ZERO, ("x",)),
        Instruction("twice4", (("host", "f"),), ONE, ("x",)),
        Instruction("twice4", (("host", "f"),), ZERO, ("y",)),
        Instruction("twice4", (("host", "f"),), ZERO, ("x",), ("Vec f64 4", "Vec f64 4")),
        Instruction("twice4", (("host", "f"),), ZERO, ("x",), requires=(eq(Var("active"), Const(4)),)),
    ):
        stale = known_of(other, (about(OWN),))[0]  # type: ignore[arg-type]
        assert (stale.records, stale.is_stale) == ((), True)
        assert says((stale,)) == "host: stale"
    elsewhere = Instruction("thrice4", (("host", "f"),), ZERO, ("x",))
    assert says(known_of(elsewhere, (about(OWN),))) == "none"  # type: ignore[arg-type]


def test_a_record_of_another_arithmetic_or_target_does_not_count() -> None:
    assert says(known_of(OWN, (about(OWN),), flushes=True)) == "none"  # type: ignore[arg-type]
    assert says(known_of(OWN, (about(OWN, arithmetic="flush"),))) == "none"  # type: ignore[arg-type]
    both = known_of(OWN, (about(OWN, target="metal"),))  # type: ignore[arg-type]
    assert says(both) == "metal: stale" or both[0].records == ()


def test_a_record_from_before_types_counted_is_stale() -> None:
    row = {**json.loads(to_text(about(OWN))), "version": 1}  # type: ignore[arg-type]
    old = from_text(json.dumps(row))
    assert known_of(OWN, (old,))[0].records == ()
    assert known_of(OWN, (old,))[0].is_stale


def test_places_in_a_file_do_not_count() -> None:
    file = SourceFile("a", "text")
    moved = Block((Store("result", (), Word("f32", 0), span=file.span(1, 2)),))
    assert reference_digest(OWN) == reference_digest(Instruction("twice4", OWN.templates, moved, ("x",)))


def evidence(path: Path) -> list[str | None]:
    report = check((path,))
    assert [item.verdict.value for item in report.items] == ["proved", "proved"]
    return [entry.evidence for entry in report.trusted]


def test_a_measurement_shows_in_claims_and_goes_stale(tmp_path: Path) -> None:
    path = project(tmp_path)
    assert evidence(path) == ["none"]
    (kept,) = measure(path)
    assert kept.path.parent == tmp_path / "evidence"
    assert kept.record.words == 7 * 400
    assert evidence(path) == [kept.record.says]
    path.write_text(f"// a comment moves everything\n\n{path.read_text()}")
    assert evidence(path) == [kept.record.says]
    project(tmp_path, text=RIGHT.replace(";", " ;"))
    assert evidence(path) == ["host: stale"]
    project(tmp_path, body="x + x + x")
    assert evidence(path) == ["host: stale"]
    project(tmp_path)
    path.write_text(path.read_text().replace("f32", "f64"))
    assert evidence(path) == ["host: stale"]
    project(tmp_path)
    assert evidence(path) == [kept.record.says]


def test_a_wrong_template_shows_as_such(tmp_path: Path) -> None:
    path = project(tmp_path, text=WRONG)
    (kept,) = measure(path)
    assert kept.record.mismatches > 400
    assert kept.record.first is not None
    (shown,) = evidence(path)
    assert shown is not None
    assert f"{kept.record.mismatches} of 2800 words differ" in shown
    assert BODY in path.read_text()


def test_a_record_in_two_folders_is_one_record(tmp_path: Path) -> None:
    """A checkout has what an installed package ships as well."""
    shipped = shipped_root() / "evidence"
    other = tmp_path / "evidence"
    other.mkdir()
    for path in shipped.glob("*.json"):
        (other / path.name).write_text(path.read_text())
    assert len(read_folders((shipped,))) == len(list(shipped.glob("*.json")))
    assert read_folders((shipped, other)) == read_folders((shipped,))
