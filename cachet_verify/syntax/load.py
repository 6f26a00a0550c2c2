"""A path to a source file.

Takes a path; gives its text, or says in a diagnostic why there is none.
Must not parse, and not guess another path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cachet_verify.diagnostic import fail
from cachet_verify.source import SourceFile, Span

MAX_BYTES: Final = 20_000_000


def load_source(path: str | Path, asked_at: Span | None = None) -> SourceFile:
    """Return the file at `path`; its `path` is the one given.

    `asked_at` is the place of the `import` that asks for it, when one does. Raises CachetError
    when the file is missing, a folder, unreadable, too large, or no UTF-8.
    """
    shown = str(path)
    try:
        data = _read(Path(path), shown, asked_at)
    except FileNotFoundError:
        raise fail("file.missing", f"there is no file `{shown}`", asked_at, "check the path, relative to where it is named") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise fail("file.unreadable", f"`{shown}` cannot be read: {reason}", asked_at, "make the file readable") from error
    return _decode(data, shown)


def _read(path: Path, shown: str, asked_at: Span | None) -> bytes:
    """Return the bytes of a regular file of a sensible size."""
    if path.is_dir():
        raise fail("file.directory", f"`{shown}` is a folder", asked_at, "name a `.cachet` file in it")
    if path.exists() and not path.is_file():
        raise fail("file.unreadable", f"`{shown}` is not a regular file", asked_at, "name a `.cachet` file")
    if path.stat().st_size > MAX_BYTES:
        raise fail("file.unreadable", f"`{shown}` is larger than {MAX_BYTES} bytes", asked_at, "split the file")
    return path.read_bytes()


def _decode(data: bytes, shown: str) -> SourceFile:
    """Return the text of the bytes; the place of the first byte that is no UTF-8 is named."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        source = SourceFile(shown, data.decode("utf-8-sig", errors="replace"))
        start = len(error.object[: error.start].decode("utf-8", errors="replace"))
        message = f"byte 0x{data[error.start]:02x} is not UTF-8" if error.object == data else "a byte is not UTF-8"
        raise fail("syntax.encoding", message, source.span(start, start + 1), "save the file as UTF-8") from error
    return SourceFile(shown, text)
