"""A file and everything it imports, read and parsed.

Takes a path; gives the file with its imports, the prelude among them. Must not elaborate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING

from cachet_verify.diagnostic import CachetError, Diagnostic
from cachet_verify.resource_path import find_shipped, shipped_names
from cachet_verify.source import SourceFile, Span
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.syntax.parse import Parsed

_SHIPPED = "cachet:"
_PRELUDE = "prelude"


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A parsed file; `imports` are its import lines with the files they bring, in order."""

    path: str
    tree: ast.File
    imports: tuple[tuple[ast.Import | None, LoadedFile], ...]
    prelude: LoadedFile | None

    def files(self) -> tuple[LoadedFile, ...]:
        """This file and all that it needs, each once, imported ones first."""
        found: dict[str, LoadedFile] = {}
        if self.prelude is not None:
            found.update({file.path: file for file in self.prelude.files()})
        for _, imported in self.imports:
            found.update({file.path: file for file in imported.files() if file.path not in found})
        found.setdefault(self.path, self)
        return tuple(found.values())


def load_file(path: Path) -> LoadedFile:
    """Read and parse a file and its imports. Raises CachetError with everything found wrong."""
    loader = _Loader()
    loader.prelude()
    loaded = loader.load(path, str(path), None)
    if loader.diagnostics or loaded is None:
        raise CachetError(loader.diagnostics)
    return loaded


def load_text(text: str, path: str = "<input>") -> LoadedFile:
    """Parse a text as if it were a file at `path`, and its imports. Raises CachetError."""
    loader = _Loader()
    loader.prelude()
    loaded = loader.parse(SourceFile(path, text), Path(path))
    if loader.diagnostics:
        raise CachetError(loader.diagnostics)
    return loaded


class _Loader:
    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.done: dict[str, LoadedFile | None] = {}
        self.open: list[str] = []

    def load(self, path: Path, shown: str, span: Span | None) -> LoadedFile | None:
        """Load a file once; None when it cannot be read, which is reported at `span`."""
        key = normpath(path.absolute())
        if key in self.open:
            names = " -> ".join(Path(item).name for item in (*self.open[self.open.index(key) :], key))
            self.fail("elaborate.import.cycle", f"the imports form a cycle: {names}", span, "move what both need into a third file")
            return None
        if key not in self.done:
            self.open.append(key)
            source = self.read(path, shown, span)
            self.done[key] = None if source is None else self.parse(source, path)
            self.open.pop()
        return self.done[key]

    def read(self, path: Path, shown: str, span: Span | None) -> SourceFile | None:
        """The text of a file; None when there is none, which is reported."""
        from cachet_verify.syntax.load import load_source

        try:
            source = load_source(path, span)
        except CachetError as error:
            self.diagnostics.extend(error.diagnostics)
            return None
        return SourceFile(shown, source.text)

    def parse(self, source: SourceFile, path: Path) -> LoadedFile:
        """Parse a text and load what it imports."""
        parsed = _parse(source.path, source.text)
        self.diagnostics.extend(parsed.diagnostics)
        imports: list[tuple[ast.Import | None, LoadedFile]] = []
        for decl in parsed.file.declarations:
            if isinstance(decl, ast.Import):
                imported = self.imported(decl, path)
                if imported is not None:
                    imports.append((decl, imported))
        return LoadedFile(source.path, parsed.file, tuple(imports), self.prelude())

    def imported(self, decl: ast.Import, importer: Path) -> LoadedFile | None:
        """The file an import line names, relative to the file it stands in."""
        if not decl.path.startswith(_SHIPPED):
            target = importer.parent / decl.path
            return self.load(target, str(target), decl.span)
        name = decl.path.removeprefix(_SHIPPED)
        found = find_shipped(name)
        if found is None:
            known = ", ".join(f"`{_SHIPPED}{item}`" for item in shipped_names())
            self.fail("elaborate.import.missing", f"nothing named `{decl.path}` is shipped", decl.span, f"one of {known}")
            return None
        return self.load(found, decl.path, decl.span)

    def prelude(self) -> LoadedFile | None:
        """What every file sees; None while the prelude itself is being loaded."""
        found = find_shipped(_PRELUDE)
        if found is None or normpath(found.absolute()) in self.open:
            return None
        return self.load(found, f"{_SHIPPED}{_PRELUDE}", None)

    def fail(self, code: str, message: str, span: Span | None, hint: str = "") -> None:
        """Note a diagnostic."""
        self.diagnostics.append(Diagnostic(code, message, span, hint))


@lru_cache(maxsize=64)
def _parse(path: str, text: str) -> Parsed:
    """Parse a text once in a process: the prelude and the libraries are the same for every file."""
    from cachet_verify.syntax.parse import parse

    return parse(SourceFile(path, text))


@lru_cache(maxsize=64)
def load_shipped(name: str) -> ast.File:
    """The tree of a shipped file by itself. Raises CachetError."""
    from cachet_verify.syntax.load import load_source
    from cachet_verify.syntax.parse import parse_file

    found = find_shipped(name)
    if found is None:
        raise CachetError(())
    return parse_file(load_source(found))
