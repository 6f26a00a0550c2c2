"""What names stand for while a body is elaborated, and fresh names for binders.

Takes core terms; gives immutable scopes with the facts that hold in them.
Must not look at syntax.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from cachet_verify.core.index import Formula, Index, Var, conjuncts
from cachet_verify.core.ir import Layout, Value
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a value: one word of `elem`, or `width` of them in a vector."""

    elem: str
    width: int | None = None

    def text(self) -> str:
        """The type as written."""
        return self.elem if self.width is None else f"Vec {self.elem} {self.width}"


@dataclass(frozen=True, slots=True)
class IndexEntity:
    """A name for an integer: a size, a counter, a constant or an index bound by `let`."""

    term: Index
    kind: str = "index"


@dataclass(frozen=True, slots=True)
class BlockEntity:
    """A block of indices, under its unique name."""

    name: str

    @property
    def low(self) -> Index:
        """Its first index."""
        return Var(f"{self.name}.lo")

    @property
    def length(self) -> Index:
        """How many indices it has."""
        return Var(f"{self.name}.len")


@dataclass(frozen=True, slots=True)
class BufferEntity:
    """Memory: a parameter, a local, or another name of one. `root` is the buffer it lies in.

    `loaded` says that reading it is written `load`; locals are read by their name alone.
    """

    name: str
    elem: str
    shape: tuple[Index, ...]
    width: int | None = None
    writable: bool = False
    loaded: bool = True
    root: str = ""
    kind: str = "parameter"
    layout: Layout | None = None
    leased: str | None = None
    """The name of the `mut` lease that is in force on this buffer; it is not used directly then."""
    level: str | None = None
    """The memory level that it is said to live on."""

    @property
    def value_type(self) -> ValueType:
        """The type of one element."""
        return ValueType(self.elem, self.width)


@dataclass(frozen=True, slots=True)
class ValueEntity:
    """A name for a value itself: an argument of an inlined function, or a `let` of one."""

    value: Value
    type: ValueType


@dataclass(frozen=True, slots=True)
class GenericEntity:
    """A parameter such as `S` in `{S : Semiring}`."""

    name: str
    interface: str


@dataclass(frozen=True, slots=True)
class EquationEntity:
    """An intermediate of a contraction, defined by an equation: a value for each index, without memory."""

    name: str


@dataclass(frozen=True, slots=True)
class DeviceEntity:
    """The device that the grid around a statement runs on, bound under a key that is no name; empty for the host.

    `parts` are those of a grid by tile whose statements are on whole tiles.
    """

    name: str
    parts: tuple[int, ...] = ()
    KEY: ClassVar[str] = "on device"


@dataclass(frozen=True, slots=True)
class PoisonEntity:
    """A name whose definition was refused: its uses say nothing more."""


DOTTED = "."
"""The key of the entity that dotted names are asked of; it is no name."""


@dataclass(frozen=True, slots=True)
class CountEntity:
    """A way to count that only assertions have: it gives an integer for an expression, or none where it is of no function."""

    name: str
    apply: Callable[[ast.Expr, Scope], Index | None]


Entity = CountEntity | IndexEntity | BlockEntity | BufferEntity | ValueEntity | GenericEntity | EquationEntity | DeviceEntity | PoisonEntity


@dataclass(frozen=True, slots=True)
class Scope:
    """The names in force, and the facts that hold where they are."""

    names: Mapping[str, Entity] = field(default_factory=dict)
    facts: tuple[Formula, ...] = ()

    def find(self, name: str) -> Entity | None:
        """What a name stands for; None when it is not bound here."""
        return self.names.get(name)

    def bind(self, name: str, entity: Entity) -> Scope:
        """The scope with one more name; an earlier meaning of it is hidden."""
        return replace(self, names={**self.names, name: entity})

    def assume(self, *facts: Formula) -> Scope:
        """The scope in which these facts hold as well."""
        flat = tuple(part for fact in facts for part in conjuncts(fact))
        return replace(self, facts=(*self.facts, *flat))


@dataclass(frozen=True, slots=True)
class SideCondition:
    """What must hold for an elaboration to mean what it says; nobody has proved it yet.

    `premises` are the facts at the place, sizes and requirements included.
    """

    premises: tuple[Formula, ...]
    goal: Formula
    text: str
    span: Span | None = field(default=None, compare=False)


_NUMBERED = re.compile(r"'\d+$")


class FreshNames:
    """Names that no binder of one program has yet."""

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)

    def take(self, base: str) -> str:
        """`base` itself when it is free, else `base'1`, `base'2`, … with any old number dropped."""
        if base not in self._used:
            self._used.add(base)
            return base
        stem = _NUMBERED.sub("", base)
        number = 1
        while f"{stem}'{number}" in self._used:
            number += 1
        return self.take(f"{stem}'{number}")

    def accumulator(self) -> str:
        """The next of `acc'0`, `acc'1`, …"""
        number = 0
        while f"acc'{number}" in self._used:
            number += 1
        return self.take(f"acc'{number}")

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._used))
