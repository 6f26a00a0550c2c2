"""Writing to the standard streams: reports on standard output, everything else on standard error.

Takes text or styled lines; writes each message on one line at any terminal width, in colour only on a terminal that wants it.
Must not import rich unless it writes to a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from cachet_verify.diagnostic import fail
from cachet_verify.report.text import Line

_RICH_STYLE = {"good": "green", "bad": "bold red", "open": "yellow", "faint": "dim", "head": "bold"}


def prepare() -> None:
    """Let the streams carry any text: what their encoding lacks is written as an escape."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def write(text: str, stream: TextIO | None = None) -> None:
    """Write text to a stream (standard output when None) at once. A reader that has gone away is no error: the exit code still counts."""
    target = sys.stdout if stream is None else stream
    try:
        target.write(text)
        target.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), target.fileno())


def write_error(text: str) -> None:
    """Write one message and a newline to standard error."""
    write(f"{text}\n", sys.stderr)


def write_lines(lines: Iterable[Line]) -> None:
    """Write lines to standard output, coloured on a terminal unless NO_COLOR is set."""
    if not is_colourful(sys.stdout):
        write("".join(f"{line.text}\n" for line in lines))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    for line in lines:
        console.print(Text(line.text, style=_RICH_STYLE.get(line.style, "")), soft_wrap=True)


def is_colourful(stream: TextIO) -> bool:
    """True for a terminal that takes colours: NO_COLOR unset or empty, and TERM not dumb."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def write_file(path: Path, text: str) -> None:
    """Write a report to a file; CachetError when that cannot be done."""
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as fault:
        raise cannot_write(path, fault) from fault


def cannot_write(path: Path | str, fault: OSError) -> Exception:
    """Give the error that says why a file cannot be written."""
    hint = "name a file in a folder that exists and may be written"
    return fail("tool.cannot-write", f"{path} cannot be written: {fault.strerror or fault}", None, hint)
