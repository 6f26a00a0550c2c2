"""No unspecified word reaches the caller: every word of an output goes back to words that were written.

Takes a program, proposed sources, and for each family a proposed condition under which its
instances are live; gives the goal that the program is initialised. The proposal is not trusted:
each source is proved to be the last write of its cell, what a live reader reads is written by a
live instance, and no live reader comes to a cell that nothing wrote. An instance that is not live
(an idle lane) may read anything. Must not look at values: any word that was written will do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cachet_verify.core.family import Families, Family, accesses
from cachet_verify.core.index import FALSE, TRUE, ZERO, Formula, Var, conjuncts, le, lt, neg, substitute_formula
from cachet_verify.core.ir import Program
from cachet_verify.kernel.claim import Goal, Initialised, RuleError, issue
from cachet_verify.kernel.dataflow import Flow, Pieces, Reader, Source, cell_names, check_pieces, check_scope
from cachet_verify.kernel.effective import effective
from cachet_verify.kernel.obligation import Obligation
from cachet_verify.kernel.scope import lowered

RULE = "initialised"


def initialised(program: Program, flow: Flow, live: Mapping[str, Formula] | None = None) -> Goal:
    """Conclude that no unspecified word ends in a parameter, scratch apart, nor in what such words are made of.

    `live` gives conditions over a family's counters; every instance is live where there is none.
    Raises RuleError when a source is missing or fits no writer, and for what lowering does not model.
    """
    families = effective(lowered(RULE, program))
    alive = live or {}
    for name, condition in alive.items():
        check_scope(families, families.named(name).names(), (condition,))
    found: list[Obligation] = []
    reached: dict[str, Family] = {}
    for reader, pieces in _ends(program, families, flow):
        found.extend(_asked(program, families, reader, pieces, reached, alive))
    done: set[str] = set()
    while waiting := [family for name, family in reached.items() if name not in done]:
        for family in waiting:
            done.add(family.name)
            for reader, pieces in _loads(families, family, flow, alive):
                found.extend(_asked(program, families, reader, pieces, reached, alive))
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


def _loads(families: Families, family: Family, flow: Flow, alive: Mapping[str, Formula]) -> Iterator[tuple[Reader, Pieces]]:
    for place, access in enumerate(accesses(family.value)):
        pieces = flow.loads.get((family.name, place))
        if pieces is None:
            raise RuleError(RULE, f"no source is given for a load of {access.buffer}")
        held = (*families.premises(), *family.domain, *conjuncts(alive.get(family.name, TRUE)), *access.under)
        yield Reader(f"a load of {access.buffer}", access.buffer, access.cell, held, family), pieces


def _asked(
    program: Program, families: Families, reader: Reader, pieces: Pieces, reached: dict[str, Family], alive: Mapping[str, Formula]
) -> Iterator[Obligation]:
    """What is asked of one reader; all that may have written what it finds is added to `reached`.

    Where every instance of every writer is live, any earlier write of the cell will do; else the
    source has to be the last one, and live.
    """
    writers = families.writers(reader.buffer)
    reached.update({writer.name: writer for writer in writers})
    is_any = all(alive.get(writer.name, TRUE) == TRUE for writer in writers)
    is_readable = any(param.name == reader.buffer and param.mode != "out" and not param.scratch for param in program.params)
    if is_any and is_readable:
        return
    if not writers:
        pieces = (Source(TRUE),)
    else:
        yield from check_pieces(families, reader, pieces, is_last=not is_any)
    earlier: tuple[Formula, ...] = ()
    for piece in pieces:
        held = (*reader.held, *earlier, *conjuncts(piece.guard))
        earlier = (*earlier, neg(piece.guard))
        if piece.writer is None and not is_readable:
            yield Obligation(f"{reader.what} finds a word that was written", held, FALSE, can_refute=False)
        elif piece.writer is not None and not is_any:
            goal = substitute_formula(alive.get(piece.writer, TRUE), dict(piece.at))
            yield Obligation(f"{reader.what} finds a live word", held, goal, can_refute=False)
