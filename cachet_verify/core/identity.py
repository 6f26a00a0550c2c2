"""What tells one instruction from another of its name: digests of its templates, its reference body, its types, and what it requires.

Takes an instruction, or a call of a function of words; gives hexadecimal digests. Must not depend on where anything stands in
a file, nor leave out what a template is trusted to compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from hashlib import sha256

from cachet_verify.core.ir import Instruction, Load, Op, Value


def template_digest(instruction: Instruction, target: str) -> str:
    """The digest of the template for a target. Raises KeyError where there is none."""
    return _digest(dict(instruction.templates)[target])


def reference_digest(instruction: Instruction) -> str:
    """The digest of the operands in order, of their types and the result's, of the reference body, and of what is required, if anything."""
    required = (instruction.requires,) if instruction.requires else ()
    return _digest("\n".join(_parts((instruction.operands, instruction.types, instruction.reference, *required))))


@lru_cache(maxsize=1024)
def identity(instruction: Instruction) -> str:
    """The digest of all that is trusted of an instruction: its name, each target with its template, and what `reference_digest` is of."""
    return _digest("\n".join(_parts((instruction.name, instruction.templates, reference_digest(instruction)))))


@lru_cache(maxsize=1024)
def function_identity(call: Op) -> str:
    """The digest of what is computed for a function of words: its name and type, and the value with a place for the argument."""
    computed, argument = call.args
    return _digest("\n".join(_parts((call.name, call.elem, _abstracted(computed, argument)))))


def _abstracted(value: Value, argument: Value) -> Value:
    """A value with the argument, wherever it stands, in one place of its own."""
    if value == argument:
        return Load("argument")
    return replace(value, args=tuple(_abstracted(arg, argument) for arg in value.args)) if isinstance(value, Op) else value


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _parts(item: object) -> Iterator[str]:
    """A value as lines, one a leaf, each list and record between marks; what a comparison leaves out is left out."""
    if is_dataclass(item):
        yield f"({type(item).__name__}"
        for part in fields(item):
            if part.compare:
                yield from _parts(getattr(item, part.name))
        yield ")"
    elif isinstance(item, (tuple, list)):
        yield "["
        for member in item:
            yield from _parts(member)
        yield "]"
    else:
        yield repr(item)
