"""What a replay showed: sizes, a cell, both words, the inputs behind them; or a fault.

Takes words that the interpreter computed; gives records and their texts. Must not run anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.memory import cell_text
from cachet_verify.source import Span


@dataclass(frozen=True, slots=True)
class Input:
    """A word that a parameter's cell held at the call, and its value as text."""

    buffer: str
    index: tuple[int, ...]
    elem: str
    word: int
    text: str

    @property
    def cell(self) -> str:
        """The cell as written, `a[0, 1]`."""
        return cell_text(self.buffer, self.index)


@dataclass(frozen=True, slots=True)
class Replay:
    """A run in which a program departs from its meaning.

    `kind` is `difference` (a cell ends with another word), `operations` (for a generic program: a
    cell ends with another expression of the generic's operations; no instance that was tried
    shows a difference) or `fault` (the program has no meaning: `fault` says what kind,
    `reason` what happened). `words` and `values` are the meaning's and the program's; for
    `operations` there are no words. `inputs` are the initial cells that the words depend on,
    where they are few. `sides` says which word is which. `minimal` says that no single size can be lowered by 1 and still fail.
    """

    kind: Literal["difference", "operations", "fault"]
    sizes: tuple[tuple[str, int], ...]
    buffer: str | None
    index: tuple[int, ...]
    elem: str | None = None
    words: tuple[int, int] | None = None
    values: tuple[str, str] | None = None
    inputs: tuple[Input, ...] = ()
    instance: str | None = None
    fault: str | None = None
    reason: str | None = None
    minimal: bool = False
    sides: tuple[str, str] = ("by the meaning", "by the program")
    span: Span | None = field(default=None, compare=False)

    @property
    def cell(self) -> str:
        """The cell as written, `c[0, 1]`; empty for a fault that is about no cell."""
        return cell_text(self.buffer, self.index) if self.buffer is not None else ""

    @property
    def hexes(self) -> tuple[str, str] | None:
        """Both words in hexadecimal, of the width of the type."""
        if self.words is None or self.elem is None:
            return None
        meaning, program = (hex_text(word, self.elem) for word in self.words)
        return meaning, program

    def lines(self) -> Iterator[str]:
        """The replay as lines of text for a report."""
        at = ", ".join(f"{name} = {value}" for name, value in self.sizes)
        under = f", over {self.instance}" if self.instance else ""
        yield f"at {at}{under}" if at else f"without sizes{under}"
        for given in self.inputs:
            yield f"  {given.cell} = {given.text} ({hex_text(given.word, given.elem)})"
        if self.kind == "fault":
            yield f"  {self.reason}"
        elif self.values is not None:
            hexes = self.hexes
            shown = [f"{value} ({word})" for value, word in zip(self.values, hexes, strict=True)] if hexes else list(self.values)
            yield f"  {self.cell} is {shown[0]} {self.sides[0]}, {shown[1]} {self.sides[1]}"


def hex_text(word: int, elem: str) -> str:
    """A word in hexadecimal, with the digits of its type's width."""
    return f"0x{word:0{(ELEMENTS[elem].width + 3) // 4}x}"
