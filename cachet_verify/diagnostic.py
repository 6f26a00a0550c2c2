"""What is wrong with an input, said once, in one shape.

Takes a code, a sentence, a place and a remedy; gives a value that renders itself with a caret.
Must not print, exit, or decide an exit status.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from cachet_verify.source import Span

_CARET_WIDTH = 100
_CODE_MODULES = (
    "cachet_verify.syntax.code",
    "cachet_verify.elaborate.code",
    "cachet_verify.rewrite.code",
    "cachet_verify.kernel.code",
    "cachet_verify.solver.code",
    "cachet_verify.ledger.code",
    "cachet_verify.judge.code",
    "cachet_verify.traffic.code",
    "cachet_verify.report.code",
)


@dataclass(frozen=True, slots=True)
class Note:
    """A further remark on a diagnostic, with a place of its own when it has one."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about an input.

    `code` is a dotted, documented, stable word (`syntax.expected`); `message` one sentence saying
    what is wrong; `hint` what to type instead (empty when there is no one remedy).
    """

    code: str
    message: str
    span: Span | None = None
    hint: str = ""
    notes: tuple[Note, ...] = ()


class CachetError(Exception):
    """An input could not be used; carries every diagnostic found, in the order of the text."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep the diagnostics; the text of the error is their one-line forms."""
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)
        super().__init__("\n".join(render_line(item) for item in self.diagnostics))


def fail(
    code: str, message: str, span: Span | None = None, hint: str = "", *notes: Note
) -> CachetError:
    """Return an error that carries one diagnostic; the caller raises it."""
    return CachetError((Diagnostic(code, message, span, hint, notes),))


# --- rendering ---------------------------------------------------------------------------------


def render_line(diagnostic: Diagnostic) -> str:
    """Return the one-line form: `path:line:column: error[code]: message`."""
    place = f"{diagnostic.span}: " if diagnostic.span is not None else ""
    return f"{place}error[{diagnostic.code}]: {diagnostic.message}"


def render(diagnostic: Diagnostic) -> str:
    """Return the full form: the line, the source line, a caret line, notes and the remedy."""
    parts = [render_line(diagnostic)]
    if diagnostic.span is not None:
        parts.extend(_excerpt(diagnostic.span))
    for note in diagnostic.notes:
        place = f"{note.span}: " if note.span is not None else ""
        parts.append(f"  note: {place}{note.message}")
        if note.span is not None:
            parts.extend(_excerpt(note.span))
    if diagnostic.hint:
        parts.append(f"  try: {diagnostic.hint}")
    return "\n".join(parts)


def _excerpt(span: Span) -> list[str]:
    """Return the source line and the carets under it, cut to a window when the line is long."""
    line = _visible(span.file.line_text(span.line))
    column = min(span.column, len(line) + 1)
    length = max(1, min(span.end - span.start, len(line) - column + 1))
    if span.end_line != span.line:
        length = max(1, len(line) - column + 1)
    first = max(0, column - 1 - _CARET_WIDTH // 2) if len(line) > _CARET_WIDTH else 0
    shown = line[first : first + _CARET_WIDTH]
    offset = column - 1 - first
    carets = "^" * max(1, min(length, len(shown) - offset))
    number = str(span.line)
    return [f"  {number} | {shown}", f"  {' ' * len(number)} | {' ' * offset}{carets}"]


def _visible(line: str) -> str:
    """Return `line` with every control character (a tab too) as one visible character."""
    return "".join(
        " " if char == "\t" else char if char.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for char in line
    )


# --- the table of codes ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CodeHelp:
    """What `explain CODE` says: a paragraph, an example that gives the code, and what to do."""

    code: str
    explanation: str
    example: str
    remedy: str


CODES: dict[str, CodeHelp] = {}


def document(code: str, explanation: str, example: str, remedy: str) -> None:
    """Add a code to the table. Each stage does so in its own module `code.py`.

    Raises ValueError when the code is taken by another text.
    """
    entry = CodeHelp(code, explanation, example, remedy)
    if CODES.setdefault(code, entry) != entry:
        raise ValueError(f"the code {code} is documented twice")


def load_codes() -> dict[str, CodeHelp]:
    """Return the whole table, after importing the `code.py` of every stage that has one."""
    for name in _CODE_MODULES:
        if find_spec(name.rpartition(".")[0]) is not None and find_spec(name) is not None:
            import_module(name)
    return dict(sorted(CODES.items()))


def render_help(entry: CodeHelp) -> str:
    """Return the text of `explain CODE`."""
    example = "\n".join(f"    {line}" for line in entry.example.splitlines())
    return f"{entry.code}\n\n{entry.explanation}\n\nExample:\n\n{example}\n\nWhat to do: {entry.remedy}\n"
