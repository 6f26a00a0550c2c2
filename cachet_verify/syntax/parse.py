"""Text to syntax tree.

Takes a source file; gives its tree and every diagnostic, one for each declaration at fault.
Must not resolve names or read imported files.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from cachet_verify.diagnostic import CachetError, Diagnostic
from cachet_verify.source import SourceFile
from cachet_verify.syntax.declaration import Declaration, File
from cachet_verify.syntax.engine import Stuck, run
from cachet_verify.syntax.expression import Expr
from cachet_verify.syntax.layout import lay_out
from cachet_verify.syntax.malformed import explain_stuck
from cachet_verify.syntax.schedule import ScheduleLine
from cachet_verify.syntax.statement import Body
from cachet_verify.syntax.table import load_table
from cachet_verify.syntax.token import Token, scan

MAX_DIAGNOSTICS: Final = 20
"""A file shows at most so many messages; a last one says how many there are besides."""

MAX_IN_DECLARATION: Final = 5


class Parsed(NamedTuple):
    """The declarations that could be read, and what is wrong with the others."""

    file: File
    diagnostics: tuple[Diagnostic, ...]


def parse(source: SourceFile) -> Parsed:
    """Return the tree of a file and its diagnostics, in the order of the text."""
    found = scan(source)
    layout = lay_out(source, found.tokens)
    diagnostics = [*found.diagnostics, *layout.diagnostics]
    declarations: list[Declaration] = []
    for number, chunk in enumerate(layout.chunks):
        following = layout.chunks[number + 1 : number + 2]
        end = following[0].tokens[0].start if following else len(source.text)
        if chunk.faulty or any(chunk.tokens[0].start <= fault < end for fault in found.faults):
            continue
        try:
            declarations.append(_run(source, "declaration", chunk.tokens))
        except CachetError as error:
            diagnostics.extend(error.diagnostics)
            diagnostics.extend(_look_further(source, chunk.tokens, error.diagnostics[0]))
    whole = source.span(0, len(source.text))
    return Parsed(File(tuple(declarations), found.comments, span=whole), _sorted(diagnostics))


def parse_file(source: SourceFile) -> File:
    """Return the tree of a file. Raises CachetError with every diagnostic when there is one."""
    parsed = parse(source)
    if parsed.diagnostics:
        raise CachetError(parsed.diagnostics)
    return parsed.file


def parse_text(text: str, path: str = "<input>") -> File:
    """Return the tree of a text. Raises CachetError with every diagnostic when there is one."""
    return parse_file(SourceFile(path, text))


def parse_statements(source: SourceFile) -> Body:
    """Return the statements of a fragment, such as a printed nest. Raises CachetError."""
    statements: Body = _fragment(source, "statements")
    return statements


def parse_steps(source: SourceFile) -> tuple[ScheduleLine, ...]:
    """Return the lines of a schedule's body. Raises CachetError."""
    lines: tuple[ScheduleLine, ...] = _fragment(source, "step_lines")
    return lines


def parse_expression(source: SourceFile) -> Expr:
    """Return one expression or type. Raises CachetError."""
    expression: Expr = _fragment(source, "expression")
    return expression


def _fragment(source: SourceFile, start: str) -> Any:
    found = scan(source)
    layout = lay_out(source, found.tokens, fragment=True)
    diagnostics = [*found.diagnostics, *layout.diagnostics]
    if diagnostics:
        raise CachetError(_sorted(diagnostics))
    if not layout.chunks:
        raise CachetError((Diagnostic("syntax.expected", "there is nothing here", source.span(0, 0)),))
    return _run(source, start, layout.chunks[0].tokens)


def _run(source: SourceFile, start: str, tokens: list[Token]) -> Any:
    """Parse the tokens of one declaration. Raises CachetError with one diagnostic."""
    table = load_table()
    try:
        return run(table, start, tokens, source)
    except Stuck as stuck:
        raise CachetError((explain_stuck(table, start, stuck, tokens, source),)) from None


def _look_further(source: SourceFile, tokens: list[Token], first: Diagnostic) -> list[Diagnostic]:
    """Return what else is wrong in a declaration: parse it again with the faulty lines made harmless."""
    found: list[Diagnostic] = []
    mended: list[tuple[int, int]] = []
    fault = first
    for _ in range(MAX_IN_DECLARATION - 1):
        line = _line_of(tokens, fault)
        if line is None:
            return found
        start, end = line
        mended.append((tokens[start].start, tokens[end - 1].end))
        stand_in = Token("NAME", "x", tokens[start].start, tokens[start].start + 1, 0)
        tokens = [*tokens[:start], stand_in, *tokens[end:]]
        try:
            _run(source, "declaration", tokens)
        except CachetError as error:
            fault = error.diagnostics[0]
            if fault.span is None or any(low <= fault.span.start <= high for low, high in mended):
                return found
            found.append(fault)
        else:
            return found
    return found


def _line_of(tokens: list[Token], fault: Diagnostic) -> tuple[int, int] | None:
    """Return the range of tokens of the whole statement or step at a fault; None for a whole declaration."""
    if fault.span is None:
        return None
    place = next((number for number, token in enumerate(tokens) if token.start >= fault.span.start), len(tokens) - 1)
    start, depth = place, 0
    while start > 0 and not (depth == 0 and tokens[start - 1].kind in ("SEP", "INDENT")):
        start -= 1
        depth += (tokens[start].kind == "DEDENT") - (tokens[start].kind == "INDENT")
    end, depth = place, 0
    while tokens[end].kind != "END" and not (depth == 0 and tokens[end].kind in ("SEP", "DEDENT")):
        depth += (tokens[end].kind == "INDENT") - (tokens[end].kind == "DEDENT")
        end += 1
    return None if start == 0 or start >= end else (start, end)


def _sorted(diagnostics: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return diagnostics in the order of the text, at most MAX_DIAGNOSTICS of them."""
    ordered = sorted(diagnostics, key=lambda item: item.span.start if item.span is not None else 0)
    rest = len(ordered) - MAX_DIAGNOSTICS
    if rest <= 0:
        return tuple(ordered)
    last = ordered[MAX_DIAGNOSTICS]
    more = Diagnostic("syntax.more", f"{rest} more faults from here on are not shown", last.span, "mend the first ones and run again")
    return (*ordered[:MAX_DIAGNOSTICS], more)
