"""What is measured: a template, the reference body as a program, and the words each use takes and gives.

Takes the program of an instruction and its mark; gives the subject. Must not run anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import Const
from cachet_verify.core.ir import Instruction, Param, Program
from cachet_verify.diagnostic import CachetError, fail
from cachet_verify.source import Span


@dataclass(frozen=True, slots=True)
class Part:
    """An operand, or the result: its name, its element type and how many words it has; `is_vector` is false of a word by itself."""

    name: str
    elem: str
    words: int
    is_vector: bool

    @property
    def size(self) -> int:
        """How many bytes a word takes."""
        return max(8, ELEMENTS[self.elem].width) // 8


@dataclass(frozen=True, slots=True)
class Subject:
    """One template of an instruction, with what a use of it takes and gives."""

    instruction: Instruction
    target: str
    text: str
    program: Program
    operands: tuple[Part, ...]
    result: Part
    flushes: bool
    span: Span | None = None

    def filled(self, names: Mapping[str, str]) -> str:
        """The text with each operand, and the result, by its name there."""
        return _PLACEHOLDER.sub(lambda found: names.get(found.group(1), found.group()), self.text)


_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z_0-9']*)\}")


class Backend(Protocol):
    """Something that runs a template: on `count` uses, from the operands' words one use after the other."""

    device: str
    versions: dict[str, str]

    def run(self, count: int, operands: Sequence[bytes]) -> bytes:
        """The words of the results, one use after the other. Raises CachetError."""
        ...


def subject_of(program: Program, instruction: Instruction, target: str, flushes: bool) -> Subject:
    """The subject of a measurement. Raises CachetError for an instruction that takes more than words."""
    if program.sizes:
        raise cannot(instruction.name, f"it takes the number `{program.sizes[0]}`", program.span)
    parts = {param.name: _part(param, instruction, program) for param in program.params}
    result = parts.pop("result")
    text = dict(instruction.templates)[target]
    return Subject(instruction, target, text, program, tuple(parts.values()), result, flushes, program.span)


def cannot(name: str, why: str, span: Span | None) -> CachetError:
    """The error of a template that cannot be measured."""
    hint = "an instruction that works word by word, or an f64 `mma.sync` of PTX"
    return fail("evidence.not-measurable", f"the template of `{name}` cannot be measured: {why}", span, hint)


def _part(param: Param, instruction: Instruction, program: Program) -> Part:
    words = param.shape[0] if param.shape else Const(1)
    if not isinstance(words, Const) or param.elem not in ELEMENTS:
        raise cannot(instruction.name, f"`{param.name}` has no fixed number of words", program.span)
    return Part(param.name, param.elem, words.value, bool(param.shape))
