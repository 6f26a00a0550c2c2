"""Common mistakes: the place, the code, what was expected, and what to type instead."""

from __future__ import annotations

import pytest

from cachet_verify.diagnostic import load_codes, render
from cachet_verify.source import SourceFile
from cachet_verify.syntax.parse import MAX_DIAGNOSTICS, parse

# text, line, column, code, message, remedy (each whole)
MISTAKES = [
    (
        "fn f () =\n  for i in 0 .. M\n    store c[i] = 3",
        (2, 18, "syntax.expected"),
        "expected `do` at the end of the line",
        "`do` at the end of the header: `for i in 0 .. M do`",
    ),
    (
        "fn f () =\n  for i in 0 .. M:\n    store c[i] = 3",
        (2, 18, "syntax.expected"),
        "expected an operator or `do`, found `:`",
        "`do` in place of `:`",
    ),
    (
        "fn f () =\n  for (int i = 0; i < M; i++)\n    store c[i] = 3",
        (2, 7, "syntax.expected"),
        "expected a name, found `(`",
        "`for i in 0 .. M do`, with the body indented below",
    ),
    (
        "fn f () =\n  for i in N do\n    store c[i] = 3",
        (2, 12, "syntax.form"),
        "a loop runs over a range",
        "`0 .. N` counts from 0 to N - 1; `blocks (0 .. N) 16` goes by blocks",
    ),
    (
        "fn f () =\n  for i in 0 .. M do\n  store c[i] = 3",
        (2, 21, "syntax.expected"),
        "expected a statement or an indented block, found the end of the line",
        "indent the lines that belong to `do` further than its own line",
    ),
    ("fn f ()\n  let x = 3", (1, 8, "syntax.expected"), "expected `=` at the end of the line", "`=` at the end of the header"),
    ("fn f () =\n  if M > 3\n    store c[0] = 3", (2, 11, "syntax.expected"), "expected `then` at the end of the line", "`then` after the condition"),
    ("fn f (read a: [f32; M]) =\n  let x = 3", (1, 12, "syntax.expected"), "expected `:`, found `a`", "`reads` in place of `read`"),
    ("proof p\n  assert 1 > 0", (2, 3, "syntax.expected"), "expected `=` before `assert`", "`proof p = assert E` or `proof p = relate F to G`"),
    ("proof p (N: Nat) relate f to g", (1, 18, "syntax.expected"), "expected `=` before `relate`", None),
    ("proof p = assert 1 assert 2 >", (1, 30, "syntax.expected"), None, None),
    ("fn f () =\n  let x == 3", (2, 9, "syntax.expected"), "expected `:` or `=`, found `==`", "`=` in place of `==`"),
    (
        "fn f () =\n  if x = 3 then\n    store c[i] = 3",
        (2, 8, "syntax.expected"),
        "expected an operator or `then`, found `=`",
        "`==` to compare; `=` binds a name",
    ),
    ("fn f () =\n\tlet x = 3", (2, 1, "syntax.tab"), "a tab in the indentation", "indent with blanks, two for each level"),
    (
        "fn f () =\n  let x = (3 + 4\n  let y = 2\nfn g () =\n  let x = 1",
        (2, 11, "syntax.bracket"),
        "`(` is never closed",
        "close it with `)`",
    ),
    ("fn f () =\n  let x = (a]", (2, 13, "syntax.bracket"), "`]` does not close `(`", "write `)` first"),
    ("fn f () =\n  let x = a]", (2, 12, "syntax.bracket"), "`]` closes nothing", "leave out the `]`"),
    (
        "contarction f (reads a: f32) -> out c: f32 = c[i] = 3",
        (1, 1, "syntax.expected"),
        "expected a declaration, found `contarction`",
        "`contraction` in place of `contarction`",
    ),
    ("fn f () =\n  stroe c[i] = 3", (2, 3, "syntax.assign"), "this cannot be assigned to", "`store` in place of `stroe`"),
    ("fn f () =\n  load a[i] = 3", (2, 3, "syntax.assign"), "this cannot be assigned to", "`store` writes a place: `store c[i, j] = e`"),
    (
        "fn f () =\n  fro i in 0 .. M do\n    x",
        (2, 9, "syntax.expected"),
        "expected an operator or `=`, found `in`",
        "`for` in place of `fro`",
    ),
    ("fn f () =\n  x += 3", (2, 6, "syntax.expected"), "expected an expression, found `=`", "`x = x + e`"),
    ("fn f () =\n  let sum = 3", (2, 7, "syntax.expected"), "expected a name, found `sum`", "another name: `sum` is a keyword"),
    (
        "fn f () =\n  let x = 3;\n  x",
        (2, 12, "syntax.expected"),
        "expected an operator or the end of the line, found `;`",
        "leave out the `;`: a statement ends with its line",
    ),
    ('fn f () =\n  let x = "abc', (2, 11, "syntax.string"), "a text that does not end in its line", 'close it with `"`'),
    (
        "fn f () =\n  let x = 3\n      let y = 4",
        (3, 7, "syntax.expected"),
        "expected an operator or the end of the line, found `let`",
        "a line indented further goes on with the one above: indent it the same, if it is a line of its own",
    ),
    (
        "contraction f (reads a: [f32; M]) -> out c: [f32; M] =\n  c[i] = sum k.a[i, k]",
        (2, 15, "syntax.expected"),
        "expected a dot and a blank, found `.`",
        "a dot and a blank after the index: `sum k. a[i, k]`",
    ),
    (
        "contraction f (reads a: [f32; M]) -> out c: [f32; M] =\n  c[i] = sum k if k < i. a[k]",
        (2, 16, "syntax.expected"),
        "expected a dot and a blank, found `if`",
        "a condition on the index stands after `where`: `sum k where k <= i. a[i, k]`",
    ),
    (
        "fn f (reads a [f32; M]) =\n  let x = 3",
        (1, 15, "syntax.expected"),
        "expected `:`, found `[`",
        "a parameter has a type: `(reads a: [f32; M, K])`",
    ),
    (
        "fn f () =\n  let x = 0 < i < 3",
        (2, 17, "syntax.expected"),
        "expected an operator or the end of the line, found `<`",
        "join two comparisons with `and`: `lo <= i and i < hi`",
    ),
    ("schedule s of matmul\n  zero (i, j) c", (1, 21, "syntax.expected"), "expected `=` at the end of the line", "`=` at the end of the header"),
    (
        "schedule s of matmul =\n  split k 16 as gk",
        (2, 11, "syntax.expected"),
        "expected `,`, `by` or `ragged`, found `16`",
        "`split k by 16 as gk ragged`",
    ),
    (
        "fn f () =\n  return 3",
        (2, 3, "syntax.expected"),
        "expected a statement, found `return`",
        "leave out `return`: the last line of a body is its value",
    ),
    ("import cachet:steps", (1, 8, "syntax.expected"), "expected a text in quotes, found `cachet`", '`import "cachet:steps"`'),
    ("  fn f () = 3", (1, 3, "syntax.layout"), "a declaration starts at the beginning of its line", "move the line to the first column"),
    (
        "fn f () =\n    let x = 3\n  let y = 3",
        (3, 3, "syntax.layout"),
        "this line lines up with no block above it",
        "indent it by 4 blanks, like the lines above, or less",
    ),
    (
        "store c[i] = 3",
        (1, 1, "syntax.expected"),
        "expected a declaration, found `store`",
        "statements stand inside a function: `fn main () =`",
    ),
    (
        "fn f () = ...",
        (1, 11, "syntax.ellipsis"),
        "`...` stands for code that is left out",
        "write out what the dots stand for; a range is `lo .. hi`",
    ),
    (
        "fn f () =\n  let x = if a then 3",
        (2, 11, "syntax.value"),
        "an `if` statement stands where a value is needed",
        "a value needs `then x else y`, each one expression",
    ),
    ("proof p = assrt 3 == 3", (1, 11, "syntax.expected"), None, "`assert` in place of `assrt`"),
    ("const x = 2d", (1, 11, "syntax.number"), "`2` runs into a letter", None),
    (
        "const x = a \N{MINUS SIGN} b",
        (1, 13, "syntax.character"),
        "`\N{MINUS SIGN}` is not used in Cachet",
        "write the minus sign of the keyboard, `-`",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=[text.splitlines()[-1].strip()[:30] for text, *_ in MISTAKES])
def test_a_mistake_is_named_with_its_remedy(mistake: tuple[str, tuple[int, int, str], str | None, str | None]) -> None:
    text, (line, column, code), message, remedy = mistake
    (item,) = parse(SourceFile("m.cachet", text)).diagnostics
    assert item.span is not None
    assert (item.span.line, item.span.column, item.code) == (line, column, code)
    assert message is None or item.message == message
    assert remedy is None or item.hint == remedy


def test_several_faults_of_a_file_are_reported_at_once() -> None:
    text = (
        "fn f () =\n  let a = 3\n  let b == 3\n  for i in 0 .. M\n    store c[i] = 3\n  if x = 3 then\n    let y = 3\n"
        "schedule s of m =\n  split k 16\n  order (i, j)\n  split j 16\n"
        "const n : Nat = 4\n"
        "proof p = 3\n"
    )
    parsed = parse(SourceFile("m.cachet", text))
    places = [(item.span.line, item.span.column) for item in parsed.diagnostics if item.span is not None]
    assert places == [(3, 9), (4, 18), (6, 8), (9, 11), (11, 11), (13, 11)]
    assert len(parsed.file.declarations) == 1


def test_the_rest_is_counted_when_there_are_very_many() -> None:
    found = parse(SourceFile("m.cachet", "x = 3\n" * 100)).diagnostics
    assert len(found) == MAX_DIAGNOSTICS + 1
    assert found[-1].message == "80 more faults from here on are not shown"


def test_a_message_shows_its_line_and_the_place_in_it() -> None:
    (item,) = parse(SourceFile("dir/m.cachet", "fn f () =\n  let x == 3\n")).diagnostics
    assert render(item) == (
        "dir/m.cachet:2:9: error[syntax.expected]: expected `:` or `=`, found `==`\n"
        "  2 |   let x == 3\n"
        "    |         ^^\n"
        "  try: `=` in place of `==`"
    )


def test_a_long_line_is_cut_to_the_part_that_matters() -> None:
    text = "const x = " + "a + " * 40 + "; " + " + b" * 40
    (item,) = parse(SourceFile("m.cachet", text)).diagnostics
    _, shown, carets, _ = render(item).splitlines()
    assert len(shown) <= 110
    assert shown[carets.index("^")] == ";"


def test_every_code_of_the_mistakes_is_explained() -> None:
    table = load_codes()
    for _, (_, _, code), *_ in MISTAKES:
        assert table[code].explanation
