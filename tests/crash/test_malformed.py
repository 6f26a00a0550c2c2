"""Malformed texts: each is parsed or answered with a located diagnostic, quickly, and nothing else is raised."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError, Diagnostic, render
from cachet_verify.source import SourceFile
from cachet_verify.syntax.load import load_source
from cachet_verify.syntax.parse import MAX_DIAGNOSTICS, parse, parse_expression

LISTING = Path(__file__).parents[1] / "syntax" / "listing"
TEXTS = [path.read_text(encoding="utf-8") for path in sorted(LISTING.glob("*.cachet"))]
PIECES = [
    "(", ")", "[", "]", "{", "}", "=", "==", ":", ":=", "..", "...", ".", ",", "$", "$x", '"', "@", "\t", "\n", "\n  ", "\0", "\x1b",
    "do", "in", "sum", "fold", "if", "else", "let", "from", "to", "schedule", "fn", "0x", "1e", "9" * 30, "\u2028", "é", "𝔸", "//", "-", "×",
]  # fmt: skip
LIMIT_S = 5.0


def mutate(text: str, chance: random.Random) -> str:
    """Return the text with one to four small edits."""
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(text) + 1)
        end = min(len(text), place + chance.choice([1, 1, 2, 5, 40]))
        edit = chance.randrange(5)
        if edit == 0:
            text = text[:place] + text[end:]
        elif edit == 1:
            text = text[:place] + chance.choice(PIECES) + text[place:]
        elif edit == 2:
            text = text[:place] + chance.choice(PIECES) + text[end:]
        elif edit == 3:
            other = chance.randrange(len(text) + 1)
            text = text[:place] + text[other : other + 20] + text[place:]
        else:
            text = text[:place]
    return text


def check(text: str) -> tuple[Diagnostic, ...]:
    """Parse a text and return its diagnostics, each of them located and renderable."""
    started = time.monotonic()
    diagnostics = parse(SourceFile("mutant.cachet", text)).diagnostics
    assert time.monotonic() - started < LIMIT_S
    assert len(diagnostics) <= MAX_DIAGNOSTICS + 1
    for item in diagnostics:
        assert item.span is not None
        assert 0 <= item.span.start <= item.span.end <= len(text)
        assert item.message
        lines = render(item).splitlines()
        assert lines[0].startswith(f"mutant.cachet:{item.span.line}:{item.span.column}: error[{item.code}]: ")
        assert lines[2].strip(" 0123456789|").strip("^") == ""
    return diagnostics


def test_five_hundred_mutants() -> None:
    chance = random.Random(20261130)
    refused = sum(bool(check(mutate(chance.choice(TEXTS), chance))) for _ in range(500))
    assert refused > 300


@pytest.mark.parametrize(
    "text",
    [
        "const x = " + "(" * 10_000 + "1" + ")" * 10_000,
        "const x = " + "(" * 10_000,
        "const x = " + ")" * 10_000,
        "const x = " + "-" * 10_000 + "1",
        "const x = " + "not " * 10_000 + "p",
        "const x = " + "f (" * 10_000 + "1" + ")" * 10_000,
        "const x = " + "a[" * 10_000 + "1" + "]" * 10_000,
        "const x = " + "a + " * 10_000 + "1",
        "const x = " + "if p then " * 10_000 + "1",
        "const x = " + "sum k. " * 10_000 + "1",
        "const x = a" + ".b" * 10_000,
        "const x = a" + " as f32" * 10_000,
        "const x = " + "9" * 100_000,
        "const x = 0x" + "f" * 100_000,
        "const x = " + "1." + "9" * 100_000,
        "const x = " + "x" * 100_000,
        "fn f () =\n" + "".join("  " * depth + "for i in 0 .. 2 do\n" for depth in range(1, 2000)),
        "fn f () =\n" + "".join(" " * (2000 - depth) + "x\n" for depth in range(1, 1999)),
        "\0" * 10_000,
        "const x = \0 1",
        "$",
        "const x = $",
        '"',
        'import "' + "a" * 100_000,
        '"\\' * 5_000,
        "/" * 10_001,
        "#" * 10_000,
        "\r" * 1000 + "const x = 1",
        "\ufeff" * 100,
        "é" * 10_000,
        "'" * 10_000,
        "const x = 1\n" * 3000 + "const x = (",
        "x\n" * 5_000,
        "{" * 5_000 + "\n" + "}" * 5_000,
        "fn f (" * 3_000,
        "schedule s of m =\n  split " + "i by 2, " * 3_000,
        "do\n" * 2_000,
        " \n\t\n" * 1000 + "\tconst x = 1",
        "..." * 1000,
        "=" * 5000,
    ],
    ids=range(40),
)  # fmt: skip
def test_extreme_texts(text: str) -> None:
    check(text)


def test_ten_thousand_parentheses_are_one_number() -> None:
    text = "(" * 10_000 + "7" + ")" * 10_000
    assert parse_expression(SourceFile("deep", text)) == parse_expression(SourceFile("flat", "7"))


def test_an_empty_text_holds_nothing() -> None:
    for text in ("", "\n", "  \n\n", "// only a remark", "\r\n"):
        parsed = parse(SourceFile("empty", text))
        assert parsed.diagnostics == ()
        assert parsed.file.declarations == ()


def test_an_empty_expression_is_refused() -> None:
    with pytest.raises(CachetError, match=r"^empty:1:1: error\[syntax\.expected\]: there is nothing here$"):
        parse_expression(SourceFile("empty", ""))


# --- files -------------------------------------------------------------------------------------


def code_of(error: CachetError) -> str:
    return error.diagnostics[0].code


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(CachetError) as caught:
        load_source(tmp_path / "none.cachet")
    assert code_of(caught.value) == "file.missing"


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(CachetError) as caught:
        load_source(tmp_path)
    assert code_of(caught.value) == "file.directory"


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "/dev/zero"])
def test_paths_that_cannot_be_read(path: str) -> None:
    with pytest.raises(CachetError) as caught:
        load_source(path)
    assert code_of(caught.value) == "file.unreadable"


def test_bytes_that_are_no_utf8_are_placed(tmp_path: Path) -> None:
    path = tmp_path / "latin.cachet"
    path.write_bytes("// fine: é\nconst x = 1 // na".encode() + b"\xefve\n")
    with pytest.raises(CachetError) as caught:
        load_source(path)
    (item,) = caught.value.diagnostics
    assert item.code == "syntax.encoding"
    assert item.span is not None
    assert (item.span.line, item.span.column) == (2, 18)
    assert "0xef" in item.message


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "marked.cachet"
    path.write_bytes(b"\xef\xbb\xbfconst x = 1\n")
    assert load_source(path).text == "const x = 1\n"
