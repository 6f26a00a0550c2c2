"""A file, elaborated: every declaration as an item, or the diagnostics of all of them.

Takes a loaded file; gives its module. Must not stop at the first fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import CachetError, Diagnostic
from cachet_verify.elaborate.behind import Behind, behind, is_asked
from cachet_verify.elaborate.build import build_program, build_schedule, is_word_function, report_depth
from cachet_verify.elaborate.definition import check_function, check_implementation, check_value_function, is_value_function
from cachet_verify.elaborate.item import LawItem, LayoutItem, OtherItem, ProgramItem, ProofItem, ScheduleItem, SynthItem
from cachet_verify.elaborate.law import build_law
from cachet_verify.elaborate.layout import build_layout
from cachet_verify.elaborate.load import LoadedFile
from cachet_verify.elaborate.platform import Platform
from cachet_verify.elaborate.problem import StopError, Unsupported, UnsupportedError
from cachet_verify.elaborate.proof import build_proof
from cachet_verify.elaborate.synth import build_synth
from cachet_verify.elaborate.world import Unit, World, qualified
from cachet_verify.syntax import ast

_Kind = TypeVar("_Kind", bound=ast.Declaration)


@dataclass(frozen=True, slots=True)
class Module:
    """What a file declares, in the order of the text, and what it sees of other files.

    `programs` are its contractions and functions over buffers. `step_fns`, `schedule_fns`,
    `constants` and `layouts` hold every visible one, by name (of a step every definition, the
    file's own last; of layouts those of all files, by path and name, besides). `imported` holds
    the programs of other files that the file's own rest on, by path and name. `behind` says what
    each of the file's declarations rests on besides, and `searches` holds what was searched, of this
    file by name, of others behind the path of their file. The others hold only the file's own.
    """

    path: str
    platform: Platform | None
    constants: Mapping[str, int]
    programs: Mapping[str, ProgramItem]
    schedules: Mapping[str, ScheduleItem]
    schedule_fns: Mapping[str, ast.ScheduleFn]
    step_fns: Mapping[str, tuple[ast.StepFn, ...]]
    layouts: Mapping[str, LayoutItem]
    own_layouts: tuple[str, ...]
    proofs: tuple[ProofItem, ...]
    laws: tuple[LawItem, ...]
    others: tuple[OtherItem, ...]
    files: tuple[str, ...]
    imported: Mapping[str, ProgramItem]
    behind: Mapping[str, Behind]
    searches: Mapping[str, SynthItem]
    own_searches: tuple[str, ...]


def elaborate(
    loaded: LoadedFile,
    applied: Mapping[str, Program] | None = None,
    symbolic: Iterable[str] = (),
    values: Mapping[str, int] | None = None,
    platform: Platform | None = None,
) -> Module:
    """The module of a file. Raises CachetError with every diagnostic.

    `applied` gives the programs of schedules whose steps are applied, by name, for the functions
    that call them. `symbolic` names constants of the file to leave open: they are variables of their names, which
    the caller adds to the sizes.
    `values` gives constants of the file another value, `platform` the file another platform.
    """
    world = World(loaded, (build_program, build_schedule, build_synth), frozenset(symbolic), {} if applied is None else applied, values, platform)
    builder = _ModuleBuilder(world)
    module = builder.build()
    if world.problems.found:
        raise CachetError(sorted_diagnostics(world.problems.found, loaded.path))
    return module


def sorted_diagnostics(found: Iterable[Diagnostic], path: str) -> tuple[Diagnostic, ...]:
    """Diagnostics in the order of the text, those of the file itself first."""

    def key(item: Diagnostic) -> tuple[bool, str, int]:
        if item.span is None:
            return (False, "", 0)
        return (item.span.path != path, item.span.path, item.span.start)

    return tuple(sorted(found, key=key))


class _ModuleBuilder:
    def __init__(self, world: World) -> None:
        self.world = world
        self.unit: Unit = world.root
        self.others: list[OtherItem] = []

    def build(self) -> Module:
        """The module, as complete as faults allow."""
        programs, schedules = self.items()
        found = self.behind()
        searches = self.searches(found)
        schedules = {name: _with_values(item, found, searches) for name, item in schedules.items()}
        self.definitions()
        return Module(
            self.unit.loaded.path,
            self.platform(),
            self.constants(),
            programs,
            schedules,
            self.visible(ast.ScheduleFn),
            self.step_fns(),
            self.layouts(),
            tuple(decl.name for decl in self.unit.declared(ast.Layout)),
            self.proofs(),
            self.laws(),
            tuple(self.others),
            tuple(self.world.units),
            self.imported(),
            found,
            searches,
            tuple(name for decl in self.unit.declared(ast.SynthConst) for name in decl.names),
        )

    def behind(self) -> dict[str, Behind]:
        """The platform facts and searched constants behind the file's own declarations; nothing where no file has any."""
        if not is_asked(self.unit):
            return {}
        return {name: behind(self.unit, entry.declaration) for name, entry in self.unit.own.items()}

    def imported(self) -> dict[str, ProgramItem]:
        """The programs of other files that were asked for, once everything else has been."""
        own = self.unit.loaded.path
        return {qualified(path, name): item for (path, name), item in self.world.programs.items() if path != own}

    def searches(self, found: Mapping[str, Behind]) -> dict[str, SynthItem]:
        """The file's own searches, and those of other files that something of its own rests on, by every name they choose."""
        wanted = dict.fromkeys(name for item in found.values() for name in item.chosen)
        done: dict[str, SynthItem] = {}
        for unit in self.world.units.values():
            for decl in unit.declared(ast.SynthConst):
                names = [name if unit is self.unit else qualified(unit.loaded.path, name) for name in decl.names]
                if unit is not self.unit and not any(name in wanted for name in names):
                    continue
                try:
                    done.update(dict.fromkeys(names, unit.synth(decl)))
                except StopError:
                    continue
                except RecursionError:
                    report_depth(unit, decl)
                except UnsupportedError as error:
                    if unit is self.unit:
                        self.others += [OtherItem(name, "synth const", (error.unsupported,), decl.span) for name in decl.names]
        return done

    def visible(self, kind: type[_Kind]) -> dict[str, _Kind]:
        """The visible declarations of one kind, by name."""
        return {name: entry.declaration for name, entry in self.unit.table.items() if isinstance(entry.declaration, kind)}

    def step_fns(self) -> dict[str, tuple[ast.StepFn, ...]]:
        """The visible step fns by name, each name with all its shapes, in the order they are seen."""
        loaded = self.unit.loaded
        files = [imported for _, imported in loaded.imports]
        table: dict[str, tuple[ast.StepFn, ...]] = {}
        for file in (*files, loaded):
            for decl in file.tree.declarations:
                if isinstance(decl, ast.StepFn):
                    table[decl.name] = (*table.get(decl.name, ()), decl)
        return table

    def items(self) -> tuple[dict[str, ProgramItem], dict[str, ScheduleItem]]:
        """The file's own programs and schedules."""
        programs: dict[str, ProgramItem] = {}
        schedules: dict[str, ScheduleItem] = {}
        for name, entry in self.unit.own.items():
            decl = entry.declaration
            try:
                if isinstance(decl, ast.Contraction) or (isinstance(decl, ast.Fn) and self.is_program(decl)):
                    programs[name] = self.unit.program(entry, None)
                elif isinstance(decl, ast.Schedule):
                    schedules[name] = self.unit.schedule(entry, None)
            except StopError:
                continue
            except RecursionError:
                report_depth(self.unit, decl)
        return programs, schedules

    def is_program(self, fn: ast.Fn) -> bool:
        """Whether a function has a program of its own: it is no function of values, which is inlined."""
        return fn.is_instr or not (is_word_function(fn) or is_value_function(self.unit, fn))

    def definitions(self) -> None:
        """Check the definitions that make no program."""
        for decl in self.unit.loaded.tree.declarations:
            try:
                if isinstance(decl, ast.Fn) and is_value_function(self.unit, decl):
                    check_value_function(self.unit, decl)
                elif isinstance(decl, ast.Fn) and is_word_function(decl):
                    check_function(self.unit, decl)
                elif isinstance(decl, ast.Impl):
                    check_implementation(self.unit, decl)
            except RecursionError:
                report_depth(self.unit, decl)

    def platform(self) -> Platform | None:
        """The file's platform."""
        try:
            return self.unit.platform()
        except StopError:
            return None

    def constants(self) -> dict[str, int]:
        """The visible constants that are numbers."""
        found: dict[str, int] = {}
        for name, entry in self.unit.table.items():
            if isinstance(entry.declaration, (ast.Const, ast.SynthConst)):
                try:
                    value = self.unit.constant(name, entry.declaration.span)
                except (StopError, UnsupportedError):
                    continue
                except RecursionError:
                    report_depth(self.unit, entry.declaration)
                    continue
                if value is not None:
                    found[name] = value
        return found

    def layouts(self) -> dict[str, LayoutItem]:
        """The layouts of all files behind the path of their file, and the visible ones by their name alone too."""
        found: dict[str, LayoutItem] = {}
        for path, unit in self.world.units.items():
            for decl in unit.declared(ast.Layout):
                try:
                    found[qualified(path, decl.name)] = build_layout(unit, decl)
                except StopError:
                    continue
                except UnsupportedError as error:
                    if unit is self.unit:
                        self.note(decl.name, "layout", decl, error.unsupported)
        visible = {name: qualified(entry.path, name) for name, entry in self.unit.table.items()}
        return found | {name: found[key] for name, key in visible.items() if key in found}

    def proofs(self) -> tuple[ProofItem, ...]:
        """The file's proofs."""
        found: list[ProofItem] = []
        for decl in self.unit.declared(ast.Proof):
            try:
                found.append(build_proof(self.unit, decl))
            except StopError:
                continue
            except RecursionError:
                report_depth(self.unit, decl)
            except UnsupportedError as error:
                found.append(OtherItem(decl.name, "proof", (error.unsupported,), decl.span))
        return tuple(found)

    def laws(self) -> tuple[LawItem, ...]:
        """The file's laws: those that stand alone, and those of its implementations."""
        found: list[LawItem] = []
        for decl in self.unit.loaded.tree.declarations:
            impl = decl if isinstance(decl, ast.Impl) else None
            for law in (decl,) if impl is None else impl.members:
                if isinstance(law, ast.Law):
                    try:
                        found.append(build_law(self.unit, law, impl))
                    except StopError:
                        continue
                    except RecursionError:
                        report_depth(self.unit, decl)
        return tuple(found)

    def note(self, name: str, kind: str, decl: ast.Declaration, *unsupported: Unsupported) -> None:
        """Note a declaration without a meaning yet."""
        self.others.append(OtherItem(name, kind, unsupported or (Unsupported(f"`{kind}`", decl.span),), decl.span))


def _with_values(item: ScheduleItem, found: Mapping[str, Behind], searches: Mapping[str, SynthItem]) -> ScheduleItem:
    """A schedule that uses a searched constant without a value has no meaning."""
    chosen = found[item.name].chosen if item.name in found else ()
    lacking = [name for name in chosen if name not in searches or not searches[name].values]
    return replace(item, unsupported=(*item.unsupported, *(Unsupported(f"`{name}`, which has no value", item.span) for name in lacking)))
