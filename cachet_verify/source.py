"""Source texts and places in them.

Takes the text of a file and offsets into it; gives lines and columns, counted from 1.
Must not read files, know any syntax, or print.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, eq=False)
class SourceFile:
    """One text with the path it came from (`<input>` for a text that has none).

    Two source files are the same only when they are the same object: spans compare quickly.
    """

    path: str
    text: str
    line_starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Find where each line starts, once."""
        starts = [0]
        position = self.text.find("\n")
        while position != -1:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        object.__setattr__(self, "line_starts", tuple(starts))

    def line_of(self, offset: int) -> int:
        """Return the line that holds `offset`, from 1."""
        return bisect_right(self.line_starts, offset)

    def column_of(self, offset: int) -> int:
        """Return the column of `offset` in its line, in characters, from 1."""
        return offset - self.line_starts[self.line_of(offset) - 1] + 1

    def line_text(self, line: int) -> str:
        """Return line `line` (from 1) without its line end; an empty text past the last line."""
        if not 1 <= line <= len(self.line_starts):
            return ""
        start = self.line_starts[line - 1]
        end = self.text.find("\n", start)
        return self.text[start : len(self.text) if end == -1 else end].rstrip("\r")

    def span(self, start: int, end: int) -> Span:
        """Return the span of the characters `start` up to, not including, `end`."""
        return Span(self, start, end)


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters of one file."""

    file: SourceFile
    start: int
    end: int

    @property
    def path(self) -> str:
        """The path of the file, as it was given."""
        return self.file.path

    @property
    def line(self) -> int:
        """The line of the first character, from 1."""
        return self.file.line_of(self.start)

    @property
    def column(self) -> int:
        """The column of the first character, from 1."""
        return self.file.column_of(self.start)

    @property
    def end_line(self) -> int:
        """The line of the last character, from 1."""
        return self.file.line_of(max(self.start, self.end - 1))

    @property
    def text(self) -> str:
        """The characters the span covers."""
        return self.file.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """Return the smallest span that covers this one and `other`, of the same file."""
        return Span(self.file, min(self.start, other.start), max(self.end, other.end))

    def __repr__(self) -> str:
        """Return a short form, so that printed trees stay readable."""
        return f"<{self.path}:{self.line}:{self.column}>"

    def __str__(self) -> str:
        """Return `path:line:column`."""
        return f"{self.path}:{self.line}:{self.column}"
