"""The element type of a value, read off the program it stands in.

Takes a program and values; gives the name of an element type. Must not check types: elaboration did.
"""

from __future__ import annotations

from collections.abc import Mapping

from cachet_verify.core.ir import Block, Choose, Declare, Fold, Grid, Lease, Load, Program, Value, View, values
from cachet_verify.rewrite.place import stored_value, walk


def element_types(program: Program) -> dict[str, str]:
    """The element type of every buffer, local, alias and running total of a program."""
    known = {param.name: param.elem for param in program.params}
    known.update(_types_in(program.body, known))
    return known


def _types_in(block: Block, known: Mapping[str, str]) -> dict[str, str]:
    found = dict(known)
    for _, stmt in walk(block):
        if isinstance(stmt, Declare):
            found[stmt.name] = stmt.elem
        elif isinstance(stmt, (Lease, View)):
            found[stmt.alias] = found[stmt.root]
        elif isinstance(stmt, Grid):
            found.update({window.alias: found[window.buffer] for window in stmt.windows or () if window.alias})
        value = stored_value(stmt)
        for part in values(value) if value is not None else ():
            if isinstance(part, Fold):
                found[part.acc] = part.elem
    return found


def type_of(value: Value, known: Mapping[str, str]) -> str:
    """The element type of a value. Raises KeyError for a buffer that is not known."""
    if isinstance(value, Load):
        return known[value.buffer]
    if isinstance(value, Choose):
        return type_of(value.then, known)
    return value.elem
