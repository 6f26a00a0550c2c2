"""The files of one run and the names each of them sees.

Takes loaded files; answers for names: constants, platform facts, implementations, programs,
each elaborated when it is first asked for. Must not elaborate what nobody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import Const as IndexConst
from cachet_verify.core.ir import Program
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.array import array_type
from cachet_verify.elaborate.context import Context, near_miss
from cachet_verify.elaborate.generic import words_of
from cachet_verify.elaborate.item import Entry, Implementation, ProgramItem, ScheduleItem, SynthItem
from cachet_verify.elaborate.load import LoadedFile
from cachet_verify.elaborate.platform import Platform, find_platform
from cachet_verify.elaborate.problem import Problems, StopError, UnsupportedError
from cachet_verify.elaborate.range import children
from cachet_verify.elaborate.scope import Scope
from cachet_verify.elaborate.term import check_natural, elaborate_index
from cachet_verify.resource_path import shipped_names
from cachet_verify.source import Span
from cachet_verify.syntax import ast

_Kind = TypeVar("_Kind", bound=ast.Declaration)

Builders = tuple[
    Callable[["Unit", Entry], ProgramItem], Callable[["Unit", Entry], ScheduleItem], Callable[["Unit", ast.SynthConst], SynthItem]
]


class World:
    """All files of a run. `symbolic` are constants left open; `applied` the programs of applied schedules.

    `values` are constants of the root file that have another value in this run; `platform` is the one that the root file
    is tried on, in place of the one it names.
    """

    def __init__(
        self,
        root: LoadedFile,
        builders: Builders,
        symbolic: frozenset[str],
        applied: Mapping[str, Program],
        values: Mapping[str, int] | None = None,
        platform: Platform | None = None,
    ) -> None:
        self.problems = Problems()
        self.applied = applied
        self.symbolic = symbolic
        self.values = values or {}
        self.platform = platform
        self.builders = builders
        self.units: dict[str, Unit] = {}
        for loaded in root.files():
            self.units[loaded.path] = Unit(self, loaded)
        self.root = self.units[root.path]
        self.programs: dict[tuple[str, str], ProgramItem] = {}
        self.schedules: dict[tuple[str, str], ScheduleItem] = {}
        self.open: list[tuple[str, str]] = []
        self.implementations = self._implementations()

    def _implementations(self) -> dict[tuple[str, str], tuple[ast.Impl, Unit]]:
        found: dict[tuple[str, str], tuple[ast.Impl, Unit]] = {}
        for unit in self.units.values():
            for decl in unit.declared(ast.Impl):
                interface, target = words_of(decl.interface), words_of(decl.target)
                if interface is None or target is None:
                    self.problems.report(
                        "elaborate.generic.missing", "an implementation is named by words", decl.span, "`impl Semiring for PlusTimes f32 where`"
                    )
                    continue
                key = (" ".join(interface), " ".join(target))
                if key in found and not _compute_alike(found[key], (decl, unit)):
                    self.problems.report("elaborate.name.duplicate", f"`{key[1]}` implements `{key[0]}` twice, in different ways", decl.span)
                found.setdefault(key, (decl, unit))
        return found


class Unit:
    """One file, as its own declarations see the names around them."""

    def __init__(self, world: World, loaded: LoadedFile) -> None:
        self.world = world
        self.loaded = loaded
        self.problems = world.problems
        self.own = self._own()
        self._table: dict[str, Entry] | None = None
        self._constants: dict[str, int | None] = {}
        self._synths: dict[str, SynthItem] = {}
        self._refused: set[str] = set()
        self._open: list[str] = []

    def declared(self, kind: type[_Kind]) -> Iterator[_Kind]:
        """The declarations of one kind, in order."""
        return (decl for decl in self.loaded.tree.declarations if isinstance(decl, kind))

    # --- the table of names ---

    def _own(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for decl in self.loaded.tree.declarations:
            for name in declared_names(decl):
                if name in (*operation.RESERVED, *operation.ELEMENTARY):
                    self.problems.report("elaborate.name.reserved", f"`{name}` is a word of the language", decl.span, "choose another name")
                earlier = found.get(name)
                if earlier is None:
                    found[name] = Entry(name, decl, self.loaded.path)
                elif not (isinstance(decl, (ast.Impl, ast.StepFn)) and type(decl) is type(earlier.declaration)):
                    self.problems.report("elaborate.name.duplicate", f"`{name}` is declared twice in this file", decl.span, "rename one of them")
        return found

    @property
    def table(self) -> dict[str, Entry]:
        """Every visible name: the prelude's, then the imports', then the file's own, which hide others."""
        if self._table is None:
            table: dict[str, Entry] = {}
            prelude = self.loaded.prelude
            if prelude is not None:
                for file in (*(imported for _, imported in prelude.imports), prelude):
                    table.update(self.world.units[file.path].own)
            brought: dict[str, Entry] = {}
            for line, file in self.loaded.imports:
                for name, entry in self.world.units[file.path].own.items():
                    clash = name in brought and brought[name] != entry and not _may_repeat(entry.declaration, brought[name].declaration)
                    if clash and name not in self.own:
                        message = f"`{name}` comes from two imports"
                        self.problems.report("elaborate.name.duplicate", message, line.span if line is not None else None, "import only one of them")
                    brought[name] = entry
            self._table = {**table, **brought, **self.own}
        return self._table

    def step_fns(self) -> dict[str, tuple[ast.StepFn, ...]]:
        """Every visible definition of a step, by name; the file's own come last."""
        found: dict[str, tuple[ast.StepFn, ...]] = {}
        for file in dict.fromkeys((*(imported.path for _, imported in self.loaded.imports), self.loaded.path)):
            for decl in self.file(file).declared(ast.StepFn):
                found[decl.name] = (*found.get(decl.name, ()), decl)
        return found

    def find(self, name: str) -> Entry | None:
        """The declaration of a name; None when there is none."""
        return self.table.get(name)

    def file(self, path: str) -> Unit:
        """The names that another file of the run sees."""
        return self.world.units[path]

    def remedy(self, name: str) -> str:
        """The import that brings a name, or a name that is close to it."""
        for unit in self.world.units.values():
            if unit is not self and name in unit.own:
                return f'import "{unit.loaded.path}"'
        for shipped in shipped_names():
            if name in _names_shipped(shipped):
                return f'import "cachet:{shipped}"'
        return near_miss(name, (*self.table, *operation.RESERVED))

    # --- constants and the platform ---

    def constant(self, name: str, span: Span | None) -> int | None:
        """The value of a `Nat` or `Int` constant; None when the name is none."""
        entry = self.find(name)
        if entry is None or self.is_symbolic(name):
            return None
        if name in self.world.values and entry.path == self.world.root.loaded.path:
            return self.world.values[name]
        if isinstance(entry.declaration, ast.SynthConst):
            return self.file(entry.path).chosen(entry.declaration, name, span)
        if not isinstance(entry.declaration, ast.Const) or not _is_integer(entry.declaration):
            return None
        return self.file(entry.path).own_constant(entry.declaration)

    def is_word(self, name: str) -> bool:
        """Whether a name is a constant of an element type, `const alpha : f32 = 0.5`."""
        entry = self.find(name)
        kind = entry.declaration.type if entry is not None and isinstance(entry.declaration, ast.Const) else None
        return isinstance(kind, ast.Name) and operation.is_known(kind.name)

    def is_symbolic(self, name: str) -> bool:
        """Whether a name is a constant of the root file that this run leaves open."""
        entry = self.find(name) if name in self.world.symbolic else None
        return entry is not None and entry.path == self.world.root.loaded.path

    def own_constant(self, decl: ast.Const) -> int | None:
        """The value of one of this file's constants. Raises StopError."""
        if decl.name in self._open:
            hint = "give one of the constants a number"
            raise self.problems.stop("elaborate.constant.cycle", f"`{decl.name}` is defined by itself", decl.span, hint)
        if decl.name in self._refused:
            raise StopError(decl.name)
        if decl.name not in self._constants:
            self._open.append(decl.name)
            try:
                self._constants[decl.name] = self._evaluate(decl)
            except (StopError, RecursionError):
                self._refused.add(decl.name)
                raise
            finally:
                self._open.pop()
        return self._constants[decl.name]

    def _evaluate(self, decl: ast.Const) -> int | None:
        if decl.value is None:
            raise self.problems.stop("elaborate.constant", f"`{decl.name}` needs a value", decl.span, f"`const {decl.name} : Nat = 4`")
        context = Context(self, self.problems)
        term = elaborate_index(decl.value, Scope(), context)
        if not isinstance(term, IndexConst):
            raise self.problems.stop("elaborate.constant", f"`{decl.name}` is not a number", decl.value.span)
        if isinstance(decl.type, ast.Name) and decl.type.name == "Nat":
            check_natural(term, decl.value, Scope(), context)
        for condition in context.conditions:
            self.problems.report("elaborate.constant", f"this must hold, and does not: {condition.text}", condition.span or decl.span)
        if context.conditions:
            raise StopError(decl.name)
        return term.value

    def chosen(self, decl: ast.SynthConst, name: str, span: Span | None) -> int:
        """The value that a search of this file found for a name. Raises StopError, and UnsupportedError where it found none."""
        item = self.synth(decl)
        if not item.values:
            raise UnsupportedError(f"`{name}`, which has no value", span)
        return item.values[item.names.index(name)]

    def synth(self, decl: ast.SynthConst) -> SynthItem:
        """One of this file's searches, done once. Raises StopError, UnsupportedError."""
        name = decl.names[0]
        if name in self._open:
            raise self.problems.stop("elaborate.constant.cycle", f"`{name}` is defined by itself", decl.span)
        if name in self._refused:
            raise StopError(name)
        if name not in self._synths:
            self._open.append(name)
            try:
                self._synths[name] = self.world.builders[2](self, decl)
            except (StopError, RecursionError):
                self._refused.add(name)
                raise
            finally:
                self._open.pop()
        return self._synths[name]

    def platform(self) -> Platform | None:
        """The file's platform; None when no `module` line names one."""
        return self.world.platform if self._is_tried() else find_platform(self)

    def _is_tried(self) -> bool:
        """Whether the file is tried on another platform than it names: what that one lacks is then no fault of the file."""
        return self.world.platform is not None and self is self.world.root

    def device(self, name: str, span: Span | None) -> Arithmetic:
        """What a device of the file's platform computes in. Raises StopError."""
        platform = self.platform()
        if platform is None:
            hint = 'module (platform = AppleSilicon), and import "cachet:platforms/apple-silicon"'
            raise self.problems.stop("elaborate.platform.missing", f"`on {name}` needs a platform, and this file names none", span, hint)
        stated = platform.devices.get(name)
        if stated is None and self._is_tried():
            raise UnsupportedError(f"the device `{name}` on {platform.name}", span)
        if stated is None:
            known = ", ".join(f"`on {device}`" for device in platform.devices)
            hint = f"one of {known}" if known else "leave `on` out: the platform has no device"
            raise self.problems.stop("elaborate.device.unknown", f"`{platform.name}` has no device `{name}`", span, hint)
        return Arithmetic(name, stated.get("arithmetic") == "flush")

    def matrix_units(self, device: str, span: Span | None) -> tuple[tuple[ast.Fn, str], ...]:
        """The instructions that a device multiplies tiles with, each with the file that declares it. Raises StopError."""
        platform = self.platform()
        if platform is None:
            return ()
        found: list[tuple[ast.Fn, str]] = []
        for name in str(platform.devices.get(device, {}).get("mma", "")).split():
            entry = self.file(platform.path).find(name)
            if entry is None or not isinstance(entry.declaration, ast.Fn) or not entry.declaration.is_instr:
                message = f"`{device}` multiplies tiles with `{name}`, which is no `instr fn`"
                raise self.problems.stop("elaborate.platform.fact", message, span, f"declare `instr fn {name}` in the platform's file")
            found.append((entry.declaration, entry.path))
        return tuple(found)

    def levels(self) -> tuple[str, ...]:
        """The memory levels of the platform, nearest first."""
        platform = self.platform()
        return () if platform is None or self._is_tried() else tuple(platform.levels)

    def platform_fact(self, name: str, words: tuple[str, ...], span: Span | None) -> int:
        """A number of the platform. Raises StopError."""
        platform = self.platform()
        shown = " ".join((f"platform.{name}", *(f"@{word}" for word in words)))
        if platform is None:
            hint = "module (platform = AppleSilicon)"
            raise self.problems.stop("elaborate.platform.missing", f"`{shown}` needs a platform, and this file names none", span, hint)
        value = platform.facts.get((name, *words))
        if value is None and self._is_tried():
            raise UnsupportedError(f"`{shown}`, which {platform.name} does not state,", span)
        if value is None:
            known = ", ".join(" ".join((f"platform.{head}", *(f"@{word}" for word in rest))) for head, *rest in platform.facts)
            raise self.problems.stop("elaborate.platform.fact", f"`{platform.name}` does not state `{shown}`", span, f"it states {known}")
        return value

    # --- items ---

    def implementations(self, interface: str) -> tuple[str, ...]:
        """The names of all implementations of an interface, in the order they are found."""
        return tuple(words for known, words in self.world.implementations if known == interface)

    def array_implementations(self, interface: str) -> tuple[tuple[ast.Impl, str], ...]:
        """The implementations of an interface whose values are arrays, each with the file that declares it."""
        found = self.world.implementations.items()
        return tuple((decl, unit.loaded.path) for (known, _), (decl, unit) in found if known == interface and array_type(decl) is not None)

    def implementation(self, words: tuple[str, ...], interface: str, is_any: bool = False) -> Implementation | None:
        """The implementation of that name; None when there is none. With `is_any`, its values may be records."""
        found = self.world.implementations.get((interface, " ".join(words)))
        if found is None:
            return None
        decl, unit = found
        elem = next((member.value for member in decl.members if isinstance(member, ast.Const) and member.name == "Value"), None)
        if not isinstance(elem, ast.Name) or not (is_any or operation.is_known(elem.name)):
            if elem is None:
                return None
            raise UnsupportedError(f"`{' '.join(words)}`, whose values are no words,", decl.span)
        members = {member.name: member for member in decl.members if isinstance(member, ast.Fn)}
        laws = {member.words[0]: member.words for member in decl.members if isinstance(member, ast.Law) and member.words}
        return Implementation(interface, " ".join(words), elem.name, members, unit.loaded.path, decl.span, laws)

    def program(self, entry: Entry, span: Span | None) -> ProgramItem:
        """The elaborated contraction or function. Raises StopError when it is being elaborated already."""
        key = (entry.path, entry.name)
        if key not in self.world.programs:
            self._enter(key, span)
            try:
                self.world.programs[key] = self.world.builders[0](self.file(entry.path), entry)
            finally:
                self.world.open.pop()
        return self.world.programs[key]

    def schedule(self, entry: Entry, span: Span | None) -> ScheduleItem:
        """The elaborated schedule. Raises StopError when it is being elaborated already."""
        key = (entry.path, entry.name)
        if key not in self.world.schedules:
            self._enter(key, span)
            try:
                self.world.schedules[key] = self.world.builders[1](self.file(entry.path), entry)
            finally:
                self.world.open.pop()
        return self.world.schedules[key]

    def applied(self, name: str) -> Program | None:
        """The program that a schedule of the root file gave, where the caller of the run has supplied it.

        Another file may have a schedule of that name too: what it gives is not known here.
        """
        entry = self.find(name)
        return self.world.applied.get(name) if entry is not None and entry.path == self.world.root.loaded.path else None

    def known_as(self, name: str) -> str:
        """How verdicts are looked up: a name of the root file by itself, any other behind the path of its file."""
        entry = self.find(name)
        return name if entry is None or entry.path == self.world.root.loaded.path else qualified(entry.path, name)

    def _enter(self, key: tuple[str, str], span: Span | None) -> None:
        if key in self.world.open:
            names = " -> ".join(name for _, name in (*self.world.open[self.world.open.index(key) :], key))
            raise self.problems.stop("elaborate.call.recursion", f"`{key[1]}` calls itself: {names}", span, "use a loop or a `fold`")
        self.world.open.append(key)


def qualified(path: str, name: str) -> str:
    """The name of a declaration of another file than the root file."""
    return f"{path}: {name}"


def declared_names(decl: ast.Declaration) -> tuple[str, ...]:
    """The names a declaration introduces."""
    if isinstance(decl, (ast.ModuleHeader, ast.Import)):
        return ()
    if isinstance(decl, ast.SynthConst):
        return decl.names
    if isinstance(decl, ast.Impl):
        words = words_of(decl.target)
        return words[:1] if words is not None else ()
    if isinstance(decl, ast.Law):
        return ()
    name = getattr(decl, "name", None)
    return (name,) if isinstance(name, str) else ()


def _computes(decl: ast.Impl) -> tuple[ast.Const | ast.Fn, ...]:
    """What an implementation computes: its laws left out."""
    return tuple(member for member in decl.members if not isinstance(member, ast.Law))


def _compute_alike(one: tuple[ast.Impl, Unit], other: tuple[ast.Impl, Unit]) -> bool:
    """Whether two implementations are one: their texts agree, and the names in them stand for the same things."""
    text = _computes(one[0])
    names = (node.name for member in text for node in _nodes(member) if isinstance(node, ast.Name))
    return text == _computes(other[0]) and all(one[1].find(name) == other[1].find(name) for name in names)


def _nodes(node: ast.Node) -> Iterator[ast.Node]:
    yield node
    for child in children(node):
        yield from _nodes(child)


def _may_repeat(one: ast.Declaration, other: ast.Declaration) -> bool:
    """Whether one name may have both: a step at several shapes, an implementation of several types."""
    return (isinstance(one, ast.StepFn) and isinstance(other, ast.StepFn)) or (isinstance(one, ast.Impl) and isinstance(other, ast.Impl))


def _is_integer(decl: ast.Const) -> bool:
    return decl.type is None or (isinstance(decl.type, ast.Name) and decl.type.name in ("Nat", "Int"))


def _names_shipped(name: str) -> frozenset[str]:
    """The names that a shipped file declares; none when it cannot be parsed."""
    from cachet_verify.diagnostic import CachetError
    from cachet_verify.elaborate.load import load_shipped

    try:
        loaded = load_shipped(name)
    except CachetError:
        return frozenset()
    return frozenset(item for decl in loaded.declarations for item in declared_names(decl))
