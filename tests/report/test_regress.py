"""Verdict files and the rules of the corpus: every kind of change fails, and only a blessing its folder allows mends it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cachet_verify.report.record import FileReport, ItemReport, Report, Verdict
from cachet_verify.report.regress import bless, compare, verdict_path
from cachet_verify.report.verdict_file import entries_of, parse, render
from tests.report import sample_report as sample

PACKED_TEXT = """\
schedule packed: proved
  bits of matmul_PlusTimes_f32
  requires K > 0
  strength solvers z3 cvc5, routes A B
"""
BACKWARDS_TEXT = """\
schedule backwards: refused
  code schedule.words-differ
  says could not prove relation swapped'1_backwards: the two runs hold the same words in parameter 3 after each iteration of the loops at S.j and T.j
  replay confirmed
"""
SLOW_TEXT = """\
proof slow: undecided
  reason single-solver
"""


def corpus(root: Path, folder: str, *items: ItemReport, name: str = "x", text: str | None = None) -> FileReport:
    """Make a `.cachet` file in a folder of a corpus, with a verdict file when `text` is given; give the report on it."""
    place = root / folder
    place.mkdir(parents=True, exist_ok=True)
    source = place / f"{name}.cachet"
    source.write_text("// stands in for a kernel\n")
    if text is not None:
        verdict_path(source).write_text(text)
    return FileReport(str(source), (), items)


def sentences(root: Path, *files: FileReport) -> list[str]:
    found = compare(Report(files), [root]).differences
    return [difference.sentence.replace(f"{root}/", "") for difference in found]


@pytest.mark.parametrize(
    ("item", "text"), [(sample.PACKED, PACKED_TEXT), (sample.BACKWARDS, BACKWARDS_TEXT), (sample.SLOW, SLOW_TEXT)]
)
def test_the_text_of_an_entry(item: ItemReport, text: str) -> None:
    entries = entries_of(FileReport("x.cachet", (), (item,)))
    assert render(entries) == text
    assert parse(text) == entries


def test_every_kind_of_line_reads_back() -> None:
    entries = entries_of(sample.GOOD_FILE) + entries_of(sample.BAD_FILE)
    assert parse(render(entries)) == entries
    assert parse("// a note\n\n" + render(entries)) == entries


def test_a_name_may_hold_spaces_and_colons() -> None:
    item = ItemReport("(A : Nat, B)", "synth const", Verdict.PROVED, 1, 1)
    entries = entries_of(FileReport("x.cachet", (), (item,)))
    assert render(entries) == "synth const (A : Nat, B): proved\n"
    assert parse(render(entries)) == entries


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("  code x\n", "line 1: an indented line before the first item"),
        ("schedule x: proven\n", "line 1: expected `KIND NAME: VERDICT`, found `schedule x: proven`"),
        ("\nkernel x: proved\n", "line 2: expected `KIND NAME: VERDICT`, found `kernel x: proved`"),
        ("schedule : proved\n", "line 1: expected `KIND NAME: VERDICT`, found `schedule : proved`"),
    ],
)
def test_what_is_no_verdict_file(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ValueError, match=r"^line \d") as caught:
        parse(text)
    assert str(caught.value) == says
    file = corpus(tmp_path, "accept", sample.PACKED, text=text)
    assert sentences(tmp_path, file) == [f"accept/x.verdict.txt: not a verdict file: {says}"]


def test_as_blessed(tmp_path: Path) -> None:
    files = (
        corpus(tmp_path, "accept", sample.PACKED, text=PACKED_TEXT),
        corpus(tmp_path, "refuse", sample.BACKWARDS, text=BACKWARDS_TEXT),
        corpus(tmp_path, "open", sample.SLOW, text=SLOW_TEXT),
    )
    assert sentences(tmp_path, *files) == []


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    "text",
    [
        changed(PACKED_TEXT, "K > 0", "K > 1"),
        changed(PACKED_TEXT, "  requires K > 0\n", ""),
        changed(PACKED_TEXT, "_f32", "_f64"),
        changed(PACKED_TEXT, "z3 cvc5", "z3"),
        changed(PACKED_TEXT, "packed", "larger"),
        changed(PACKED_TEXT, "proved", "unused"),
        PACKED_TEXT + "  trusted law exp.sum\n",
        PACKED_TEXT + "schedule other: proved\n",
        "",
    ],
)
def test_any_change_is_a_difference_with_a_diff(tmp_path: Path, text: str) -> None:
    file = corpus(tmp_path, "accept", sample.PACKED, text=text)
    (difference,) = compare(Report((file,)), [tmp_path]).differences
    says = "what is taken on trust is not as blessed" if "trusted" in text else "not as blessed"
    assert difference.sentence == f"{file.path}: {says}"
    assert difference.is_trust == ("trusted" in text)
    assert difference.diff.splitlines()[0].endswith("x.verdict.txt (blessed)")
    assert any(line[:1] in "+-" for line in difference.diff.splitlines()[2:])


@pytest.mark.parametrize("old", ["schedule.words-differ", "swapped'1_backwards", "  replay confirmed\n"])
def test_a_refusal_changes_by_code_sentence_or_replay(tmp_path: Path, old: str) -> None:
    file = corpus(tmp_path, "refuse", sample.BACKWARDS, text=changed(BACKWARDS_TEXT, old, ""))
    assert len(compare(Report((file,)), [tmp_path]).differences) == 1


def test_places_times_and_solver_counts_do_not_show(tmp_path: Path) -> None:
    moved = replace(sample.PACKED, line=99, column=7, obligations=())
    assert sentences(tmp_path, corpus(tmp_path, "accept", moved, text=PACKED_TEXT)) == []


def test_a_file_without_verdict_and_a_verdict_without_file(tmp_path: Path) -> None:
    file = corpus(tmp_path, "accept", sample.PACKED)
    (tmp_path / "accept" / "gone.verdict.txt").write_text(PACKED_TEXT)
    assert sentences(tmp_path, file) == [
        "accept/x.cachet: no verdict file x.verdict.txt beside it; --bless writes one",
        "accept/gone.verdict.txt: a verdict without its file gone.cachet",
    ]


FAULTY = replace(sample.BROKEN, refusal=None)


@pytest.mark.parametrize(
    ("folder", "item", "says"),
    [
        ("accept", sample.BACKWARDS, "refused: backwards; that may not be blessed under accept"),
        ("accept", sample.SLOW, "undecided or admitted: slow; that may be blessed only under open"),
        ("accept", sample.ADMITTING, "undecided or admitted: hoped; that may be blessed only under open"),
        ("refuse", sample.SLOW, "undecided or admitted: slow; that may be blessed only under open"),
        ("refuse", sample.PACKED, "nothing in it is refused; move it to accept"),
        ("open", sample.PACKED, "nothing in it is undecided or admitted; move it to accept"),
        ("open", sample.BACKWARDS, "nothing in it is undecided or admitted; move it to refuse"),
        ("issue", sample.SLOW, "undecided or admitted: slow; that may be blessed only under open"),
        ("accept", FAULTY, "our own fault in broken; that is never blessed"),
    ],
)
def test_what_a_folder_forbids_is_neither_accepted_nor_blessed(tmp_path: Path, folder: str, item: ItemReport, says: str) -> None:
    text = render(entries_of(FileReport("x.cachet", (), (item,))))
    file = corpus(tmp_path, folder, item, text=text)
    assert sentences(tmp_path, file) == [f"{folder}/x.cachet: {says}"]
    verdict_path(Path(file.path)).unlink()
    result = bless(Report((file,)), [tmp_path])
    assert [difference.sentence.replace(f"{tmp_path}/", "") for difference in result.differences] == [f"{folder}/x.cachet: {says}"]
    assert not verdict_path(Path(file.path)).exists()


def test_what_becomes_provable_has_to_move(tmp_path: Path) -> None:
    solved = replace(sample.SLOW, verdict=Verdict.PROVED, obligations=())
    file = corpus(tmp_path, "open", solved, text=SLOW_TEXT)
    assert sentences(tmp_path, file) == [
        "open/x.cachet: nothing in it is undecided or admitted; move it to accept",
        "open/x.cachet: not as blessed: slow is proved now; move it to accept",
    ]


def test_bad_input_may_be_blessed_under_refuse_only(tmp_path: Path) -> None:
    text = "input syntax.expected: refused\n  says expected `do`\n"
    for folder, expected in (("refuse", []), ("accept", ["accept/x.cachet: refused: syntax.expected; that may not be blessed under accept"])):
        file = replace(corpus(tmp_path / folder, folder, text=text), diagnostics=(sample.DIAGNOSTIC,))
        assert sentences(tmp_path / folder, file) == expected


def test_a_file_with_nothing_in_it_is_a_difference(tmp_path: Path) -> None:
    assert sentences(tmp_path, corpus(tmp_path, "accept", text="")) == ["accept/x.cachet: no item to check"]


def test_blessing_writes_what_changed_and_only_that(tmp_path: Path) -> None:
    same = corpus(tmp_path, "accept", sample.PACKED, name="same", text=PACKED_TEXT)
    new = corpus(tmp_path, "accept", sample.PACKED, name="new")
    result = bless(Report((same, new)), [tmp_path])
    assert result.differences == ()
    assert result.written == (str(tmp_path / "accept" / "new.verdict.txt"),)
    assert (tmp_path / "accept" / "new.verdict.txt").read_text() == PACKED_TEXT
    assert sentences(tmp_path, same, new) == []
