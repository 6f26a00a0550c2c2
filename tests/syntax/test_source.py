"""Lines and columns of offsets, against counting by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cachet_verify.diagnostic import Diagnostic, Note, render
from cachet_verify.source import SourceFile


@given(st.text(alphabet="ab\n\r×", max_size=30), st.data())
def test_lines_and_columns_count_from_one(text: str, data: st.DataObject) -> None:
    source = SourceFile("p", text)
    offset = data.draw(st.integers(0, len(text)))
    before = text[:offset]
    assert source.line_of(offset) == before.count("\n") + 1
    assert source.column_of(offset) == len(before) - (before.rfind("\n") + 1) + 1
    assert source.line_text(source.line_of(offset)) == text.split("\n")[before.count("\n")].rstrip("\r")


def test_spans_join_and_name_their_place() -> None:
    source = SourceFile("dir/p", "ab\ncd ef\n")
    joined = source.span(6, 8).to(source.span(3, 5))
    assert (joined.text, str(joined), joined.end_line) == ("cd ef", "dir/p:2:1", 2)


def test_notes_show_their_own_place() -> None:
    source = SourceFile("p", "ab\ncd\n")
    item = Diagnostic("a.b", "no", source.span(0, 1), "yes", (Note("there", source.span(3, 5)), Note("and so on")))
    assert render(item) == (
        "p:1:1: error[a.b]: no\n  1 | ab\n    | ^\n  note: p:2:1: there\n  2 | cd\n    | ^^\n  note: and so on\n  try: yes"
    )


def test_a_span_over_several_lines_is_marked_on_its_first() -> None:
    source = SourceFile("p", "x ab\ncd\n")
    assert render(Diagnostic("a.b", "no", source.span(2, 7))) == "p:1:3: error[a.b]: no\n  1 | x ab\n    |   ^^"
