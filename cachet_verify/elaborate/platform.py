"""The platform a file is checked for: memory levels, vector lanes, latencies, devices.

Takes `impl Platform for NAME` declarations; gives tables of numbers. Must not derive a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachet_verify.elaborate.problem import Problems
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.load import LoadedFile
    from cachet_verify.elaborate.world import Unit


@dataclass(frozen=True, slots=True)
class Platform:
    """A machine as its file states it.

    `levels` and `devices` map names to what is stated of each; `facts` maps a fact's name and its
    words to a number, `("lanes", "Vec", "f32")`.
    """

    name: str
    levels: Mapping[str, Mapping[str, int]]
    devices: Mapping[str, Mapping[str, int | str]]
    facts: Mapping[tuple[str, ...], int]
    path: str


def find_platform(unit: Unit) -> Platform | None:
    """The platform that a file's `module` line names. Raises StopError when it is none."""
    for header in unit.declared(ast.ModuleHeader):
        for setting in header.settings:
            if setting.name == "platform" and isinstance(setting.value, ast.Name):
                return _named(unit, setting.value)
    return None


def list_platforms(loaded: LoadedFile | None = None) -> Iterator[tuple[str, Platform]]:
    """The platforms that are shipped, each with the name of its file, and those of a file and its imports. Raises CachetError."""
    from cachet_verify.elaborate.load import load_shipped
    from cachet_verify.resource_path import shipped_names

    for shipped in shipped_names():
        folder, _, stem = shipped.partition("/")
        if folder == "platforms":
            yield from ((stem, found) for found in _stated_in(load_shipped(shipped).declarations, f"cachet:{shipped}"))
    for file in loaded.files() if loaded is not None else ():
        yield from ((found.name, found) for found in _stated_in(file.tree.declarations, file.path))


def _stated_in(declarations: Iterable[ast.Declaration], path: str) -> Iterator[Platform]:
    for decl in declarations:
        if isinstance(decl, ast.Impl) and decl.interface == ast.Name("Platform") and isinstance(decl.target, ast.Name):
            yield read_platform(decl.target.name, decl, path, Problems())


def _named(unit: Unit, name: ast.Name) -> Platform:
    entry = unit.find(name.name)
    if entry is None:
        hint = unit.remedy(name.name) or f"one of {', '.join(found.name for _, found in list_platforms())}, with its import"
        raise unit.problems.stop("elaborate.platform.missing", f"the platform `{name.name}` is not defined", name.span, hint)
    decl = entry.declaration
    if not isinstance(decl, ast.Impl) or decl.interface != ast.Name("Platform"):
        raise unit.problems.stop("elaborate.platform.missing", f"`{name.name}` is no platform", name.span)
    return read_platform(name.name, decl, entry.path, unit.problems)


def read_platform(name: str, decl: ast.Impl, path: str, problems: Problems) -> Platform:
    """The tables of one `impl Platform`: `Level` and `Device` records, and records of facts."""
    levels: dict[str, Mapping[str, int]] = {}
    devices: dict[str, Mapping[str, int | str]] = {}
    facts: dict[tuple[str, ...], int] = {}
    for member in decl.members:
        if not isinstance(member, ast.Const):
            problems.report("elaborate.platform.fact", "a platform states constants only", member.span, "`const lanes = Vec { f32 = 4 }`")
            continue
        value = member.value
        if isinstance(value, ast.IntLit):
            facts[(member.name,)] = value.value
        elif isinstance(value, ast.RecordLit) and isinstance(value.type, ast.Name):
            stated = _fields(value, problems)
            numbers = {key: part for key, part in stated.items() if isinstance(part, int)}
            if value.type.name == "Level":
                _check_level(member.name, numbers, value, problems)
                levels[member.name] = numbers
                facts.update({(key, member.name): part for key, part in numbers.items()})
            elif value.type.name == "Device":
                _check_arithmetic(stated.get("arithmetic", "ieee"), value, problems)
                devices[member.name] = stated
            else:
                head = () if value.type.name == "Unit" else (value.type.name,)
                facts.update({(member.name, *head, key): part for key, part in numbers.items()})
        else:
            problems.report(
                "elaborate.platform.fact", "a number or a record of numbers is wanted here", member.span, "`const lanes = Vec { f32 = 4 }`"
            )
    return Platform(name, {**_threadgroup(devices), **levels}, devices, facts, path)


THREADGROUP = ("threadgroup", "shared", "Shared")
"""What programs call the memory that the threads of one group share; all of them are one."""


def list_levels(levels: Iterable[str]) -> str:
    """The levels as messages list them: memory that has several names by its first."""
    return ", ".join(name for name in levels if name not in THREADGROUP[1:])


def _threadgroup(devices: Mapping[str, Mapping[str, int | str]]) -> dict[str, Mapping[str, int]]:
    """The memory of a thread group as levels: with several devices, as much as each of them has."""
    sizes = [room for stated in devices.values() if isinstance(room := stated.get(THREADGROUP[0]), int)]
    return {name: {"capacity": min(sizes)} for name in THREADGROUP} if sizes else {}


def _check_level(name: str, stated: Mapping[str, int], record: ast.RecordLit, problems: Problems) -> None:
    """The numbers of a level are above 0, and its ways make at least one set of its lines."""
    for key, number in stated.items():
        if number < 1:
            problems.report("elaborate.platform.fact", f"`{key}` of `{name}` is {number}, and a memory level has at least 1", record.span)
    numbers = {key: max(1, number) for key, number in stated.items()}
    if "ways" in numbers and numbers.get("capacity", 0) < numbers["ways"] * numbers.get("line", 1):
        text = f"`{name}` has {numbers['ways']} ways of lines of {numbers.get('line', 1)} bytes, more than its {numbers.get('capacity', 0)} bytes"
        problems.report("elaborate.platform.fact", text, record.span, "ways are the lines of one set: `ways = 8`")


def _check_arithmetic(stated: int | str, record: ast.RecordLit, problems: Problems) -> None:
    """A device computes as IEEE 754 says, or flushes subnormals to zero."""
    if stated not in ("ieee", "flush"):
        problems.report("elaborate.platform.fact", f"`{stated}` is no arithmetic", record.span, "`arithmetic = ieee` or `arithmetic = flush`")


def _fields(record: ast.RecordLit, problems: Problems) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    for part in record.fields:
        if isinstance(part.value, ast.IntLit):
            found[part.name] = part.value.value
        elif isinstance(part.value, ast.Name):
            found[part.name] = part.value.name
        elif isinstance(part.value, ast.Tuple) and all(isinstance(item, ast.Name) for item in part.value.items):
            found[part.name] = " ".join(item.name for item in part.value.items if isinstance(item, ast.Name))
        else:
            problems.report("elaborate.platform.fact", f"`{part.name}` is a number or a word", part.span)
    return found
