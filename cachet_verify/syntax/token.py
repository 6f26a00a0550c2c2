"""Text to tokens.

Takes a source file; gives its tokens, comments and lexical diagnostics, and never fails.
Must not know the grammar beyond its words, nor the layout of blocks.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from cachet_verify.diagnostic import Diagnostic
from cachet_verify.source import SourceFile
from cachet_verify.syntax.declaration import Comment

KEYWORDS: Final = frozenset(
    "let var store load for if then else do in sum fold reduce grid lease as and or not true false".split()
)
"""The words that are never names. All other words of the grammar are names where it allows no keyword."""

MAX_DIGITS: Final = 1000
TAB_WIDTH: Final = 4


class Token(NamedTuple):
    """A token. `kind` is the text of a keyword or a sign, or an upper-case word.

    `column` is the place in its line, from 1, when the token is the first of a line, else 0.
    """

    kind: str
    text: str
    start: int
    end: int
    column: int


class Scan(NamedTuple):
    """All that one pass over a text finds; `faults` are the offsets of what was left out."""

    tokens: list[Token]
    comments: tuple[Comment, ...]
    diagnostics: list[Diagnostic]
    faults: list[int]


_TOKEN = re.compile(
    r"""
    (?P<NEWLINE>\n)
  | (?P<SPACE>[ \t\r\f]+)
  | (?P<COMMENT>//[^\n]*)
  | (?P<NUMBER>0[xX][0-9a-zA-Z_]+ | [0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)? | [0-9]+[eE][+-]?[0-9]+ | [0-9]+)
  | (?P<WORD>[A-Za-z_][A-Za-z0-9_']*)
  | (?P<DOLLAR>\$[A-Za-z_][A-Za-z0-9_']*)
  | (?P<STRING>"(?:[^"\\\n]|\\[^\n])*")
  | (?P<OPEN_STRING>"[^\n]*)
  | (?P<ELLIPSIS>\.\.\.+)
  | (?P<SIGN>\.\.|:=|->|==|!=|<=|>=|&&|\|\||[-+*/%=<>(){}\[\],:;.@\u00d7])
  | (?P<BAD>.[^\x00-\x7f\u00d7]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_SAME_SIGN = {"&&": "and", "||": "or", "\N{MULTIPLICATION SIGN}": "*"}
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\", '"': '"'}
_REMEDY = {
    "#": "a comment starts with `//`",
    "!": "write `not` for negation, `!=` for unequal",
    "&": "write `and`",
    "|": "write `or`",
    "'": 'text is written in double quotes: "reason"',
    "`": "names are written without quotes",
    "?": "a choice is written `if p then x else y`",
    "^": "there is no power sign: multiply, or call a function",
    "~": "write `not` for negation",
    "\\": "a long line goes on by itself when the next one is indented further",
    "$": "a pattern variable is a dollar and a name: `$step`",
    "\N{MINUS SIGN}": "write the minus sign of the keyboard, `-`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "write the straight quote of the keyboard, `'`",
    "\N{LEFT DOUBLE QUOTATION MARK}": 'write straight quotes, `"`',
    "\N{RIGHT DOUBLE QUOTATION MARK}": 'write straight quotes, `"`',
    "\N{LEFT SINGLE QUOTATION MARK}": 'write straight quotes, `"`',
    "\N{HORIZONTAL ELLIPSIS}": "write out what is left out",
    "\N{LESS-THAN OR EQUAL TO}": "write `<=`",
    "\N{GREATER-THAN OR EQUAL TO}": "write `>=`",
}


def unquote(text: str) -> str:
    """Return the text of a string token, its quotes and escapes undone."""
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text[1:-1])


def scan(source: SourceFile) -> Scan:
    """Return the tokens of a text. What is no token is left out and said in a diagnostic."""
    return _Scanner(source).run()


class _Scanner:
    """One pass over one text."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.text = source.text
        self.tokens: list[Token] = []
        self.comments: list[Comment] = []
        self.diagnostics: list[Diagnostic] = []
        self.faults: list[int] = []
        self.line_start = 0
        self.first = True
        self.seen_tab = False

    def run(self) -> Scan:
        """Scan the whole text."""
        handlers = {
            "NEWLINE": self.newline,
            "SPACE": self.space,
            "COMMENT": self.comment,
            "NUMBER": self.number,
            "WORD": self.word,
            "DOLLAR": self.dollar,
            "STRING": self.string,
            "OPEN_STRING": self.open_string,
            "ELLIPSIS": self.ellipsis,
            "SIGN": self.sign,
            "BAD": self.bad,
        }
        for match in _TOKEN.finditer(self.text):
            handlers[match.lastgroup or "BAD"](match[0], match.start(), match.end())
        return Scan(self.tokens, tuple(self.comments), self.diagnostics, self.faults)

    def emit(self, kind: str, text: str, start: int, end: int) -> None:
        """Add a token."""
        column = self.column(start) if self.first else 0
        self.first = False
        self.tokens.append(Token(kind, text, start, end, column))

    def column(self, start: int) -> int:
        """Return the column of the first token of a line, a tab counted as TAB_WIDTH blanks."""
        if not self.seen_tab:
            return start - self.line_start + 1
        return len(self.text[self.line_start : start].expandtabs(TAB_WIDTH)) + 1

    def report(self, code: str, message: str, start: int, end: int, hint: str = "") -> None:
        """Add a diagnostic, and remember that the text is not whole here."""
        self.diagnostics.append(Diagnostic(code, message, self.source.span(start, end), hint))
        self.faults.append(start)

    # One handler for each group of the pattern.

    def newline(self, _text: str, _start: int, end: int) -> None:
        """Start a line."""
        self.line_start = end
        self.first = True

    def space(self, text: str, start: int, end: int) -> None:
        """Skip blanks; a tab in the indentation is reported once."""
        if "\t" in text and self.first and not self.seen_tab:
            rest = self.text[end : end + 1]
            if rest not in ("", "\n"):
                self.seen_tab = True
                self.report(
                    "syntax.tab", "a tab in the indentation", start, end, "indent with blanks, two for each level"
                )

    def comment(self, text: str, start: int, end: int) -> None:
        """Keep a comment apart."""
        body = text[2:].rstrip("\r")
        self.comments.append(Comment(body.strip(), span=self.source.span(start, end)))

    def number(self, text: str, start: int, end: int) -> None:
        """Add a number, unless it runs into a letter or has too many digits."""
        if self.text[end : end + 1].isalpha() or self.text[end : end + 1] == "_":
            self.report(
                "syntax.number",
                f"`{text[:20]}` runs into a letter",
                start,
                end + 1,
                "a name starts with a letter; between a number and a name stands a blank or an operator",
            )
        elif len(text) > MAX_DIGITS:
            self.report("syntax.number", f"a number of more than {MAX_DIGITS} digits", start, end, "a smaller number")
        elif text[:2] in ("0x", "0X"):
            self.hexadecimal(text, start, end)
        else:
            self.emit("INT" if text.isdigit() else "FLOAT", text, start, end)

    def hexadecimal(self, text: str, start: int, end: int) -> None:
        """Add a hexadecimal number when its digits are."""
        if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
            self.emit("INT", text, start, end)
        else:
            message = f"`{text[:20]}` has a digit that is not hexadecimal"
            self.report("syntax.number", message, start, end, "digits 0 to 9 and a to f after `0x`")

    def word(self, text: str, start: int, end: int) -> None:
        """Add a keyword or a name."""
        self.emit(text if text in KEYWORDS else "NAME", text, start, end)

    def dollar(self, text: str, start: int, end: int) -> None:
        """Add a pattern variable."""
        self.emit("DOLLAR", text, start, end)

    def string(self, text: str, start: int, end: int) -> None:
        """Add a text in quotes, unless it has an escape nobody knows."""
        for match in _ESCAPE.finditer(text, 1, len(text) - 1):
            if match[1] not in _ESCAPED:
                place = start + match.start()
                self.report(
                    "syntax.string",
                    "an escape that is not known",
                    place,
                    place + 2,
                    r'the escapes are `\"`, `\\`, `\n` and `\t`',
                )
                return
        self.emit("STRING", text, start, end)

    def open_string(self, _text: str, start: int, end: int) -> None:
        """Report a text that does not end in its line."""
        self.report("syntax.string", "a text that does not end in its line", start, end, 'close it with `"`')

    def ellipsis(self, _text: str, start: int, end: int) -> None:
        """Report dots that stand for something left out."""
        hint = "write out what the dots stand for; a range is `lo .. hi`"
        self.report("syntax.ellipsis", "`...` stands for code that is left out", start, end, hint)

    def sign(self, text: str, start: int, end: int) -> None:
        """Add a sign; a bracket and a dot are told apart by what touches them."""
        kind = _SAME_SIGN.get(text, text)
        if text == "[" and _ends_place(self.text, start):
            kind = "TIGHT"
        elif text == "." and not self.text[end : end + 1].isidentifier():
            kind = "BINDER_DOT"
        self.emit(kind, text, start, end)

    def bad(self, text: str, start: int, end: int) -> None:
        """Report characters that are no token; a run of one character is reported once."""
        last = self.diagnostics[-1].span if self.diagnostics else None
        if last is not None and last.end == start and self.text[last.start] == text[0]:
            self.diagnostics[-1] = Diagnostic(
                self.diagnostics[-1].code,
                self.diagnostics[-1].message,
                self.source.span(last.start, end),
                self.diagnostics[-1].hint,
            )
            return
        shown = text[0] if text[0].isprintable() else f"U+{ord(text[0]):04X}"
        self.report("syntax.character", f"`{shown}` is not used in Cachet", start, end, _REMEDY.get(text[0], ""))


def _ends_place(text: str, start: int) -> bool:
    """Say whether the character before `start` ends something that can be indexed."""
    if start == 0:
        return False
    before = text[start - 1]
    return before.isalnum() or before in "_')]"
