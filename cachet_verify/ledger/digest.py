"""Digests of what was measured: a template's text, and the core form of a reference body.

Takes an instruction; gives hexadecimal digests. Must not depend on where anything stands in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from hashlib import sha256

from cachet_verify.core.ir import Instruction


def template_digest(instruction: Instruction, target: str) -> str:
    """The digest of the template for a target. Raises KeyError where there is none."""
    return _digest(dict(instruction.templates)[target])


def reference_digest(instruction: Instruction) -> str:
    """The digest of the operands in order and of the statements of the reference body."""
    return _digest("\n".join(_parts((instruction.operands, instruction.reference))))


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
