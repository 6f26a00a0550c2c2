"""No unspecified word reaches the caller: every word of an output goes back to words that were written.

Takes a program and proposed sources; gives the goal that it is initialised. The proposal is not
trusted: each source is proved to be the last write of its cell, and no reader may come to a cell
that nothing wrote. Must not look at values: any word that was written will do.
"""

from __future__ import annotations

from collections.abc import Iterator

from cachet_verify.core.family import Families, Family, accesses
from cachet_verify.core.index import TRUE, ZERO, Formula, Var, conj, conjuncts, disj, le, lt, neg
from cachet_verify.core.ir import Program
from cachet_verify.kernel.claim import Goal, Initialised, RuleError, issue
from cachet_verify.kernel.dataflow import Flow, Pieces, Reader, Source, cell_names, check_pieces
from cachet_verify.kernel.obligation import Obligation
from cachet_verify.kernel.scope import lowered

RULE = "initialised"


def initialised(program: Program, flow: Flow) -> Goal:
    """Conclude that no unspecified word ends in a parameter, scratch apart, nor in what such words are made of.

    Raises RuleError when a source is missing or fits no writer, and for what lowering does not model.
    """
    families = lowered(RULE, program)
    found: list[Obligation] = []
    reached: dict[str, Family] = {}
    for reader, pieces in _ends(program, families, flow):
        found.extend(_asked(program, families, reader, pieces, reached))
    done: set[str] = set()
    while waiting := [family for name, family in reached.items() if name not in done]:
        for family in waiting:
            done.add(family.name)
            for reader, pieces in _loads(families, family, flow):
                found.extend(_asked(program, families, reader, pieces, reached))
    return issue(RULE, Initialised(program), dict.fromkeys(found))


def _ends(program: Program, families: Families, flow: Flow) -> Iterator[tuple[Reader, Pieces]]:
    """The final cells of every parameter that a caller may read and that has to be, or may have been, written."""
    for param in program.params:
        if param.scratch or (param.mode != "out" and not families.writers(param.name)):
            continue
        if param.name not in flow.finals:
            raise RuleError(RULE, f"no source is given for the end of {param.name}")
        cell = tuple(Var(name) for name in cell_names(param.name, len(param.shape)))
        shape = families.buffers[param.name].shape
        inside = tuple(part for term, size in zip(cell, shape, strict=True) for part in (le(ZERO, term), lt(term, size)))
        yield Reader(f"the end of {param.name}", param.name, cell, (*families.premises(), *inside), None), flow.finals[param.name]


def _loads(families: Families, family: Family, flow: Flow) -> Iterator[tuple[Reader, Pieces]]:
    for place, access in enumerate(accesses(family.value)):
        pieces = flow.loads.get((family.name, place))
        if pieces is None:
            raise RuleError(RULE, f"no source is given for a load of {access.buffer}")
        held = (*families.premises(), *family.domain, *access.under)
        yield Reader(f"a load of {access.buffer}", access.buffer, access.cell, held, family), pieces


def _asked(
    program: Program, families: Families, reader: Reader, pieces: Pieces, reached: dict[str, Family]
) -> Iterator[Obligation]:
    """What is asked of one reader; the writers its sources name are added to `reached`."""
    is_readable = any(param.name == reader.buffer and param.mode != "out" and not param.scratch for param in program.params)
    if not families.writers(reader.buffer):
        pieces = (Source(TRUE),)
    else:
        yield from check_pieces(families, reader, pieces)
    earlier: tuple[Formula, ...] = ()
    unwritten: list[Formula] = []
    for piece in pieces:
        if piece.writer is None:
            unwritten.append(conj((*earlier, *conjuncts(piece.guard))))
        else:
            reached.setdefault(piece.writer, families.named(piece.writer))
        earlier = (*earlier, neg(piece.guard))
    if unwritten and not is_readable:
        yield Obligation(f"{reader.what} finds a word that was written", reader.held, neg(disj(unwritten)), can_refute=False)
