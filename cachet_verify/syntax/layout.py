"""Indentation to blocks, and a file to its declarations.

Takes tokens; gives the tokens of each top-level declaration with INDENT, SEP and DEDENT between them.
Must not know what any block holds: it goes by the last word of a line and the columns.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from cachet_verify.diagnostic import Diagnostic, Note
from cachet_verify.source import SourceFile
from cachet_verify.syntax.token import Token

DECLARATION_WORDS: Final = frozenset(
    "module import contraction fn instr schedule step interface impl law const synth proof record layout".split()
)
CONTRACT_WORDS: Final = frozenset("requires produces scratch working_set movement invariant family".split())

_OPENERS = frozenset(["do", "then", "else", "="])
_OPENERS_IN_BRACKETS = frozenset(["do", "then", "else"])
_OPENING_WORDS = frozenset(["where"])
_OPENING_LINES = frozenset(["from", "to", "relate", "movement", "working_set"])
_CONTINUING_SIGNS = frozenset([",", "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or", "not", ":="])
_JOINING_SIGNS = frozenset(["else", "then", "=", "->", ")", "]", "}"])
_CLOSER = {"(": ")", "[": "]", "TIGHT": "]", "{": "}"}


class Chunk(NamedTuple):
    """The tokens of one top-level declaration, the last one END."""

    tokens: list[Token]
    faulty: bool


class Layout(NamedTuple):
    """The declarations of a file and what is wrong with its layout."""

    chunks: list[Chunk]
    diagnostics: list[Diagnostic]


def lay_out(source: SourceFile, tokens: list[Token], fragment: bool = False) -> Layout:
    """Return the declarations of a file; with `fragment` the whole text is one chunk."""
    return _Layout(source, fragment).run(tokens)


class _Layout:
    """One pass over the tokens of one file. `stack` holds columns of blocks and open brackets."""

    def __init__(self, source: SourceFile, fragment: bool) -> None:
        self.source = source
        self.fragment = fragment
        self.chunks: list[Chunk] = []
        self.diagnostics: list[Diagnostic] = []
        self.current: list[Token] = []
        self.stack: list[int | Token] = []
        self.faulty = False

    def run(self, tokens: list[Token]) -> Layout:
        """Lay out all tokens."""
        for token in tokens:
            if token.column:
                self.start_line(token)
            self.add(token)
        if any(isinstance(entry, Token) for entry in self.stack):
            self.report_unclosed()
        self.finish()
        return Layout(self.chunks, self.diagnostics)

    # --- chunks --------------------------------------------------------------------------------

    def finish(self) -> None:
        """Close the chunk that is open, if one is."""
        if self.current:
            for entry in reversed(self.stack[1:]):
                if isinstance(entry, int):
                    self.virtual("DEDENT")
            self.virtual("END")
            self.chunks.append(Chunk(self.current, self.faulty))
        self.current = []
        self.stack = []
        self.faulty = False

    def virtual(self, kind: str) -> None:
        """Add a token of no width at the end of the last one."""
        place = self.current[-1].end
        self.current.append(Token(kind, "", place, place, 0))

    def report(self, code: str, message: str, token: Token, hint: str, *notes: Note) -> None:
        """Add a diagnostic; the chunk is not parsed, so that one fault gives one message."""
        span = self.source.span(token.start, token.end)
        self.diagnostics.append(Diagnostic(code, message, span, hint, notes))
        self.faulty = True

    # --- brackets ------------------------------------------------------------------------------

    def add(self, token: Token) -> None:
        """Add a token, keeping count of brackets."""
        if token.kind in _CLOSER:
            self.current.append(token)
            self.stack.append(token)
            return
        if token.text in (")", "]", "}"):
            self.close_bracket(token)
        self.current.append(token)

    def close_bracket(self, token: Token) -> None:
        """Leave the blocks inside the innermost bracket, and the bracket."""
        if not any(isinstance(entry, Token) for entry in self.stack):
            self.report("syntax.bracket", f"`{token.text}` closes nothing", token, f"leave out the `{token.text}`")
            return
        while isinstance(self.stack[-1], int):
            self.stack.pop()
            self.virtual("DEDENT")
        opened = self.stack.pop()
        if isinstance(opened, Token) and _CLOSER[opened.kind] != token.text:
            wanted = _CLOSER[opened.kind]
            note = Note("the bracket it has to close", self.source.span(opened.start, opened.end))
            self.report(
                "syntax.bracket", f"`{token.text}` does not close `{opened.text}`", token, f"write `{wanted}` first", note
            )

    def report_unclosed(self) -> None:
        """Report the innermost bracket that is still open."""
        opened = next(entry for entry in reversed(self.stack) if isinstance(entry, Token))
        wanted = _CLOSER[opened.kind]
        self.report("syntax.bracket", f"`{opened.text}` is never closed", opened, f"close it with `{wanted}`")

    # --- lines ---------------------------------------------------------------------------------

    def start_line(self, token: Token) -> None:
        """Put the tokens of the layout before the first token of a line."""
        if not self.current:
            self.start_chunk(token)
            return
        if isinstance(self.stack[-1], Token):
            self.start_line_in_bracket(token)
            return
        indent = self.stack[-1]
        if token.column > indent:
            if self.opens_block():
                self.push(token.column)
            return
        if token.column == indent and len(self.stack) > 1 and self.current[-1].kind in _CONTINUING_SIGNS:
            return
        self.leave_blocks(token)

    def start_chunk(self, token: Token) -> None:
        """Start a declaration."""
        if token.column != 1 and not self.fragment:
            self.report(
                "syntax.layout",
                "a declaration starts at the beginning of its line",
                token,
                "move the line to the first column",
            )
        self.stack = [token.column]

    def start_line_in_bracket(self, token: Token) -> None:
        """Lines do not count inside brackets, except under `do`, `then` and `else`."""
        outer = next(entry for entry in reversed(self.stack) if isinstance(entry, int))
        if token.column == 1 and not self.fragment and token.text in DECLARATION_WORDS:
            self.report_unclosed()
            self.finish()
            self.start_chunk(token)
        elif token.column > outer and self.current[-1].kind in _OPENERS_IN_BRACKETS:
            self.push(token.column)

    def opens_block(self) -> bool:
        """Say whether the last line ends in a word after which a block may stand."""
        last = self.current[-1]
        if last.kind in _OPENERS or last.text in _OPENING_WORDS:
            return True
        return last.column > 0 and last.text in _OPENING_LINES

    def push(self, column: int) -> None:
        """Open a block."""
        self.stack.append(column)
        self.virtual("INDENT")

    def leave_blocks(self, token: Token) -> None:
        """Close the blocks a line stands left of, and separate it from the line above."""
        column = token.column
        inner = self.stack[-1]
        while len(self.stack) > 1 and isinstance(self.stack[-1], int) and column < self.stack[-1]:
            self.stack.pop()
            self.virtual("DEDENT")
        entry = self.stack[-1]
        indent = entry if isinstance(entry, int) else 0
        if indent == 0 or (column >= indent and self.joins(token, indent)):
            return
        if column > indent:
            message = "this line lines up with no block above it"
            blanks = (inner if isinstance(inner, int) else indent) - 1
            self.report("syntax.layout", message, token, f"indent it by {blanks} blanks, like the lines above, or less")
        elif len(self.stack) == 1 and not self.fragment:
            self.finish()
            self.start_chunk(token)
        else:
            self.virtual("SEP")

    def joins(self, token: Token, indent: int) -> bool:
        """Say whether a line goes on with what stands above it, although a block stands between."""
        if token.kind in _JOINING_SIGNS:
            return True
        return token.text in CONTRACT_WORDS and (len(self.stack) == 1 or token.column > indent)
