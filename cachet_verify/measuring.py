"""`evidence`: measures the templates of a file for a target against their reference bodies, and keeps the records.

Takes a path, a name and a target; gives records and the files they were written to. Must not keep a record of what was not measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from cachet_verify.core.identity import function_identity
from cachet_verify.core.ir import Op, Program, Store, statements, values
from cachet_verify.diagnostic import fail
from cachet_verify.elaborate.platform import list_platforms
from cachet_verify.judge.file import Opened, open_file
from cachet_verify.ledger.record import Evidence, to_text
from cachet_verify.ledger.store import FOLDER, project_of
from cachet_verify.measure.function import measured_function
from cachet_verify.measure.run import Amount, measured
from cachet_verify.measure.subject import Backend, Subject, subject_of
from cachet_verify.resource_path import find_shipped
from cachet_verify.syntax import ast

TARGETS = ("host", "interpreter", "nvptx")
"""The targets that can be measured, where they are present. The interpreter is every machine's: functions of words are measured there."""
OTHERS = ("metal", "neon", "sme", "x86-64-v3", "x86-64-v4")


@dataclass(frozen=True, slots=True)
class Kept:
    """A record, and the file that holds it now."""

    record: Evidence
    path: Path


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a measurement: `words` of results for each kind of inputs, a seed, and the folder for records (None: the project's)."""

    target: str
    words: int = 1_000_000
    seed: int = 1
    output: Path | None = None


def measure_file(path: Path, name: str | None, asked: Asked) -> tuple[Kept, ...]:
    """Measure the templates for a target that a file declares, or one of them. Raises CachetError."""
    _check_target(asked.target)
    opened = open_file(path)
    day = datetime.now(UTC).date().isoformat()
    folder = asked.output if asked.output is not None else project_of(path) / FOLDER
    if asked.target == "interpreter":
        return tuple(_written(record, folder) for record in _functions(opened, path, name, asked, day))
    return tuple(_kept(subject, asked, day, folder) for subject in list(_subjects(opened, path, name, asked.target)))


def _check_target(target: str) -> None:
    known = ", ".join(TARGETS)
    if target in OTHERS:
        raise fail("evidence.no-target", f"the target {target} is not present here: templates are measured on {known}", None, f"one of {known}")
    if target not in TARGETS:
        raise fail("evidence.no-target", f"no target is called {target}", None, f"one of {known}")


def _kept(subject: Subject, asked: Asked, day: str, folder: Path) -> Kept:
    return _written(measured(subject, _backend(subject), Amount(asked.words, asked.seed, day)), folder)


def _functions(opened: Opened, path: Path, name: str | None, asked: Asked, day: str) -> Iterator[Evidence]:
    """The records of the functions of words that a file implements; those of the standard library alone are what programs call."""
    found = [
        f"{member.name} {impl.target.args[0].name}"
        for impl in opened.loaded.tree.declarations
        if isinstance(impl, ast.Impl) and impl.interface == ast.Name("Elementary") and isinstance(impl.target, ast.Apply)
        if isinstance(impl.target.args[0], ast.Name)
        for member in impl.members
        if isinstance(member, ast.Fn)
    ]
    shipped = find_shipped("elementary")
    wanted = [one for one in found if name in (None, one)] if shipped is not None and path.resolve() == shipped.resolve() else []
    if not wanted and name is not None:
        raise fail("evidence.name", f"{path} implements no function `{name}` that programs call", None, "one of stdlib/elementary.cachet")
    for one in wanted:
        function, elem = one.split(" ")
        program, call = _applying(function, elem)
        yield measured_function(function, elem, program, function_identity(call), asked.words, asked.seed, day)


def _applying(function: str, elem: str) -> tuple[Program, Op]:
    """A program that applies a function to each word, and the call in it."""
    text = f"fn each (reads x: [{elem}; N]) (mut y: [{elem}; N]) =\n  for i in 0 .. N do\n    store y[i] = {function} (load x[i])\n"
    with TemporaryDirectory() as folder:
        place = Path(folder) / "each.cachet"
        place.write_text(text, encoding="utf-8")
        program = open_file(place).program("each")
    stores = [stmt for stmt in statements(program.body) if isinstance(stmt, Store)] if program is not None else []
    calls = [part for stmt in stores for part in values(stmt.value) if isinstance(part, Op) and part.name == function]
    if program is None or not calls:
        raise fail("evidence.not-measurable", f"`{function}` cannot be applied to {elem}")
    return program, calls[0]


def _written(record: Evidence, folder: Path) -> Kept:
    """Write a record."""
    path = folder / f"{_slug(record.template)}.{_slug(record.target)}.{_slug(record.device)}.{record.digits}.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(to_text(record), encoding="utf-8", newline="\n")
    except OSError as fault:
        raise fail("tool.cannot-write", f"{path} cannot be written: {fault.strerror or fault}", None, "name a folder with --output") from fault
    return Kept(record, path)


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")


def _backend(subject: Subject) -> Backend:
    if subject.target == "host":
        from cachet_verify.measure.host import Host

        return Host(subject)
    from cachet_verify.measure.cuda import Cuda

    return Cuda(subject)


def _subjects(opened: Opened, path: Path, name: str | None, target: str) -> Iterator[Subject]:
    """What a file declares for a target, in the order of the text. Raises CachetError where it is not what was asked for."""
    items = [item for item in opened.module.programs.values() if item.kind == "instr fn" and isinstance(item.declaration, ast.Fn)]
    if name is not None and name not in {item.name for item in items}:
        known = ", ".join(item.name for item in items)
        raise fail("evidence.name", f"{path} declares no instruction {name}", None, f"one of {known}" if known else "name the file that declares it")
    flushing = {unit for device in _devices(opened) if device.get("arithmetic") == "flush" for unit in str(device.get("mma", "")).split()}
    for item in items:
        fn = item.declaration
        if name not in (None, item.name) or not isinstance(fn, ast.Fn):
            continue
        targets = [template.target for template in fn.templates]
        if target in targets and (item.program is None or item.instruction is None):
            what = item.unsupported[0].construct if item.unsupported else "something in its reference body"
            raise fail("evidence.not-measurable", f"the template of `{item.name}` cannot be measured: {what} is not supported yet", item.span)
        if target in targets and item.program is not None and item.instruction is not None:
            yield subject_of(item.program, item.instruction, target, item.name in flushing)
        elif name is not None:
            shown = ", ".join(targets) if targets else "none at all"
            raise fail("evidence.name", f"{name} has no template for {target}", fn.span, f"it has {shown}")


def _devices(opened: Opened) -> Iterator[dict[str, int | str]]:
    for _, platform in list_platforms(opened.loaded):
        if platform.path == opened.loaded.path:
            yield from (dict(device) for device in platform.devices.values())


def rendered(kept: tuple[Kept, ...]) -> str:
    """A line for each template, one for each kind of inputs, and the first word that differed."""
    return "".join(f"{line}\n" for one in kept for line in _lines(one)) if kept else "no template for that target is declared there\n"


def _lines(kept: Kept) -> Iterator[str]:
    record = kept.record
    yield f"{record.template}: {record.says} (seed {record.seed}, arithmetic {record.arithmetic})"
    if record.largest:
        yield from (f"  {part.kind}: {part.words} words, {part.mismatches} of them off by more than is stated" for part in record.inputs)
        yield f"  against {record.reference}"
        yield f"  kept in {kept.path}"
        return
    for part in record.inputs:
        yield f"  {part.kind}: {part.mismatches} of {part.words} differ; {part.subnormal} subnormal, {part.infinite} infinite, {part.nan} NaN"
    yield f"  by {record.reference}; {record.samples} words of the interpreter's own"
    if record.first is not None:
        first = record.first
        yield f"  first: {first.kind}, use {first.use}, word {first.word}: {first.measured}, and the reference body gives {first.reference}"
    yield f"  kept in {kept.path}"


def document(kept: tuple[Kept, ...]) -> list[dict[str, object]]:
    """The records, each with the file that holds it."""
    return [{"file": str(one.path), **json.loads(to_text(one.record))} for one in kept]
