"""`fit`: which schedules fit which platforms, by how much, and how far each extent could grow.

Takes paths and the names of platforms; gives a table as text and as a document. What it says is read off the rows that
the kernel counts, by arithmetic alone: a proof is what `check` gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from cachet_verify.core.index import Const
from cachet_verify.core.ir import Program
from cachet_verify.core.spell import spell
from cachet_verify.diagnostic import CachetError, fail
from cachet_verify.elaborate.item import ScheduleItem
from cachet_verify.elaborate.load import load_file
from cachet_verify.elaborate.platform import Platform, list_platforms
from cachet_verify.judge.extent import Extent, extents
from cachet_verify.judge.file import Opened, open_file
from cachet_verify.judge.fit import Fitting, counted, lacking_level
from cachet_verify.judge.item import without_prints
from cachet_verify.kernel.fit import Row

Document = dict[str, object]


class Verdict(StrEnum):
    """Whether an item fits a platform: `depends` is on its sizes, `unknown` where that could not be told."""

    FITS = "fits"
    OVER = "over"
    DEPENDS = "depends"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cell:
    """One item on one platform: the fullest row of each place, and the extents that are numbers."""

    platform: str
    verdict: Verdict
    reason: str = ""
    rows: tuple[Row, ...] = ()
    extents: tuple[Extent, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """One item on every platform."""

    name: str
    kind: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The items of a file."""

    path: str
    platforms: tuple[str, ...]
    lines: tuple[Line, ...]


def tables(paths: Sequence[Path], names: Sequence[str]) -> tuple[Table, ...]:
    """The table of each file; without names on the platform that the file names, or else on all that are shipped. Raises CachetError."""
    return tuple(_table(path, names) for path in paths)


def verdicts(found: Iterable[Table]) -> frozenset[Verdict]:
    """Every verdict that occurs."""
    return frozenset(cell.verdict for table in found for line in table.lines for cell in line.cells)


def _table(path: Path, names: Sequence[str]) -> Table:
    own = open_file(path)
    platforms = _platforms(path, own, names)
    opened = [(platform, _opened(path, platform, own)) for platform in platforms]
    items = [(name, "schedule") for name in own.module.schedules] + [(name, "fn") for name, item in own.module.programs.items() if item.kind == "fn"]
    lines = (Line(name, kind, tuple(_cell(name, kind, platform, on) for platform, on in opened)) for name, kind in items)
    kept = tuple(line for line in lines if line.kind == "schedule" or any(cell.rows or cell.verdict != Verdict.FITS for cell in line.cells))
    return Table(str(path), tuple(platform.name for platform in platforms), kept)


def _platforms(path: Path, own: Opened, names: Sequence[str]) -> tuple[Platform, ...]:
    """The platforms of these names, of the platform or of its file. Raises CachetError for one that there is not."""
    known = list(list_platforms(load_file(path)))
    if not names:
        stated = own.module.platform
        return (stated,) if stated is not None else tuple(dict((found.name, found) for _, found in known).values())
    chosen = []
    for name in names:
        found = next((platform for stem, platform in reversed(known) if name in (stem, platform.name)), None)
        if found is None:
            shown = ", ".join(dict.fromkeys(platform.name for _, platform in known))
            raise fail("fit.platform", f"no platform is called `{name}`", None, f"one of {shown}, or import the file that states it")
        chosen.append(found)
    return tuple({platform.name: platform for platform in chosen}.values())


def _opened(path: Path, platform: Platform, own: Opened) -> Opened | CachetError:
    """The file as it is on a platform; what is wrong with it there, where something is."""
    if own.module.platform is not None and own.module.platform.name == platform.name:
        return own
    try:
        return open_file(path, platform)
    except CachetError as error:
        return error


def _cell(name: str, kind: str, platform: Platform, opened: Opened | CachetError) -> Cell:
    if isinstance(opened, CachetError):
        return Cell(platform.name, Verdict.UNKNOWN, opened.diagnostics[0].message if opened.diagnostics else "")
    program = _program(name, opened)
    if isinstance(program, str):
        return Cell(platform.name, Verdict.UNKNOWN, program)
    level = lacking_level(program, platform)
    if level is not None:
        return Cell(platform.name, Verdict.OVER, f"there is no memory level {level[0]}")
    found = counted(program, kind, platform, opened.module.layouts)
    if isinstance(found, str):
        return Cell(platform.name, Verdict.UNKNOWN, found)
    return _counted(platform, program, found)


def _program(name: str, opened: Opened) -> Program | str:
    """The program of an item, or why it has none."""
    module = opened.module
    item = module.schedules.get(name) or module.programs.get(name)
    unsupported = item.unsupported if item is not None else ()
    if isinstance(item, ScheduleItem) and item.families:
        return "a family of schedules, whose members `check` weighs one by one"
    if name in opened.applied:
        stopped = opened.applied[name].stopped
        if stopped is not None:
            return stopped.diagnostic.message
    program = opened.program(name)
    if program is None:
        return f"not supported: {', '.join(dict.fromkeys(part.construct for part in unsupported)) or name}"
    return without_prints(program)


def _counted(platform: Platform, program: Program, found: Fitting) -> Cell:
    numbers = [row for row in found.rows if isinstance(row.total, Const)]
    over = [row for row in numbers if _total(row) > row.limit]
    verdict = Verdict.OVER if over else Verdict.FITS if len(numbers) == len(found.rows) else Verdict.DEPENDS
    return Cell(
        platform.name, verdict, "" if found.rows else "keeps nothing", _fullest(found.rows), tuple(extents(program, found.machine, found.footprints))
    )


def _total(row: Row) -> int:
    return row.total.value if isinstance(row.total, Const) else 0


def _fullest(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Of the rows of one place, the one that takes most; each that depends on sizes besides."""
    best: dict[tuple[str, str, object], Row] = {}
    for row in rows:
        key = (row.place, row.unit, None if isinstance(row.total, Const) else row.total)
        if key not in best or _total(row) > _total(best[key]):
            best[key] = replace(row, premises=())
    return tuple(best.values())


# --- as text -----------------------------------------------------------------------------------


def rendered(found: Iterable[Table]) -> str:
    """The tables as text, with a newline at the end."""
    return "".join(f"{line}\n" for table in found for line in _lines(table))


def _lines(table: Table) -> Iterator[str]:
    yield table.path
    if not table.lines:
        yield "  nothing here keeps anything"
        return
    grid = [("", *table.platforms)]
    grid += [(line.name, *(_short(cell) for cell in line.cells)) for line in table.lines]
    widths = [max(map(len, column)) for column in zip(*grid, strict=True)]
    for row in grid:
        yield ("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True))).rstrip()
    for line in table.lines:
        for cell in line.cells:
            yield f"{line.name} on {cell.platform}: {_short(cell)}{f', {cell.reason}' if cell.reason else ''}"
            yield from (f"  {text}" for text in _details(cell))


def _short(cell: Cell) -> str:
    if cell.verdict != Verdict.OVER:
        return str(cell.verdict)
    places = dict.fromkeys(row.place for row in cell.rows if _total(row) > row.limit)
    return f"over: {', '.join(places)}" if places else "over"


def _details(cell: Cell) -> Iterator[str]:
    for row in cell.rows:
        names = ", ".join(part.buffer for part in row.parts)
        unit = "" if row.unit == "registers" else f" {'ways' if row.unit == 'ways' else 'bytes'}"
        beyond = f", over by {_total(row) - row.limit}" if _total(row) > row.limit else ""
        yield f"{row.place}: {spell(row.total)} of {row.limit}{unit}{beyond} ({names})"
    for extent in cell.extents:
        yield f"{extent.buffer}: extent {extent.place} is {extent.now}, up to {extent.largest} fits"


# --- as a document -----------------------------------------------------------------------------


def document(found: Iterable[Table]) -> Document:
    """The tables as a document: what depends on sizes is a text."""
    return {"version": 1, "files": [{"path": table.path, "items": [_item(line) for line in table.lines]} for table in found]}


def _item(line: Line) -> Document:
    return {"name": line.name, "kind": line.kind, "platforms": [_platform(cell) for cell in line.cells]}


def _platform(cell: Cell) -> Document:
    return {
        "platform": cell.platform,
        "verdict": str(cell.verdict),
        "reason": cell.reason,
        "rows": [_row(row) for row in cell.rows],
        "extents": [{"buffer": part.buffer, "extent": part.place, "now": part.now, "largest": part.largest} for part in cell.extents],
    }


def _row(row: Row) -> Document:
    return {
        "place": row.place,
        "unit": row.unit,
        "used": _total(row) if isinstance(row.total, Const) else spell(row.total),
        "available": row.limit,
        "buffers": [part.buffer for part in row.parts],
    }
