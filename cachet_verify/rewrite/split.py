"""`split`: a loop or a sum cut into blocks, in one or several levels.

Takes `split i by 16 as gi, 4 as ui ragged`; gives the nest with a loop for each factor. A loop is
rescheduled by the map from block and position to index; a sum carries its total from block to block in its
cell, which a local has from a statement of its own. Without `ragged` the outermost factor divides the range,
which becomes a requirement; the factors below cut a full block, whose last part may still be shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cachet_verify.core.family import lower
from cachet_verify.core.index import ZERO, Const, Index, Truth, Var, add, div, lt, mul, sub, substitute
from cachet_verify.core.ir import Block, Blocks, Declare, Domain, For, Load, Program, Range, Store, statements
from cachet_verify.kernel.fold import split_store
from cachet_verify.kernel.normal import same_families
from cachet_verify.kernel.reschedule import reschedule
from cachet_verify.kernel.split import split_fold
from cachet_verify.rewrite.error import refuse
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.hole import domain_text
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.library import no_loop, schedule_term
from cachet_verify.rewrite.outcome import Chain, check_askable, divides
from cachet_verify.rewrite.place import FoldPlace, Path, counters, find_fold, find_loop, with_statements
from cachet_verify.rewrite.scope import Scope
from cachet_verify.rewrite.term import all_block_parts
from cachet_verify.rewrite.traverse import Change, taken
from cachet_verify.source import Span
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Level:
    """One factor: the block's name and size, and whether every block is full."""

    name: str
    size: Index
    exact: bool

    def loop(self, low: Index, high: Index) -> Domain:
        """What the block runs over."""
        return Range(ZERO, div(sub(high, low), self.size)) if self.exact else Blocks(low, high, self.size)

    def start(self, low: Index) -> Index:
        """The first index of a block."""
        return add(low, mul(self.size, Var(self.name))) if self.exact else Var(f"{self.name}.lo")

    def extent(self) -> Index:
        """How many indices a block has."""
        return self.size if self.exact else Var(f"{self.name}.len")


def split(program: Program, step: ast.Split, scope: Scope) -> Chain:
    """Apply a split, part by part. Raises StepError where an index is not there or a name is taken."""
    chain = Chain(program)
    for part in step.parts:
        chain = _split_part(chain, part, step, scope)
    return chain


def _split_part(chain: Chain, part: ast.SplitPart, step: ast.Split, scope: Scope) -> Chain:
    index = counter_name(part.index)
    if index is None:
        raise refuse("arguments", "split needs the name of a loop or of a sum's index", part.span, "`split k by 16 as gk`")
    levels = _levels(chain.program, index, part, step, scope)
    loop = find_loop(chain.program.body, index)
    total = find_fold(chain.program.body, index)
    if loop is None and total is None:
        raise no_loop("split", index, counters(chain.program.body), step.span)
    domain = loop[1].domain if loop is not None else total.fold.domain if total is not None else None
    if not isinstance(domain, Range):
        shown = domain_text(domain) if domain is not None else "nothing"
        raise refuse("no-match", f"split cuts plain ranges; {index} runs over {shown}", step.span)
    chain = _whole(chain, levels[0], domain, part, scope)
    if total is not None:
        return _split_total(chain, total, levels, step.span)
    return _split_loop(chain, index, levels)


def _levels(program: Program, index: str, part: ast.SplitPart, step: ast.Split, scope: Scope) -> tuple[Level, ...]:
    used = taken(program)
    levels: list[Level] = []
    for place, factor in enumerate(part.factors):
        name = factor.name if factor.name is not None else f"{index}.outer"
        if name in used or name in {level.name for level in levels}:
            raise refuse("name-taken", f"the name {name} is in use", factor.span, f"`as` another name than {name}")
        exact = not step.ragged and place == 0
        levels.append(Level(name, _size(factor, scope, program), exact))
    return tuple(levels)


def _size(factor: ast.Factor, scope: Scope, program: Program) -> Index:
    """The size of a block, which is at least 1 where it is a number. The rules ask it of any other."""
    size = schedule_term(factor.size, scope, program)
    if isinstance(size, Const) and size.value < 1:
        raise refuse("arguments", f"a block holds at least one index, and this one {size.value}", factor.span, "a size of 1 or more")
    return size


def _whole(chain: Chain, level: Level, domain: Range, part: ast.SplitPart, scope: Scope) -> Chain:
    """The requirement of an exact split, unless it holds as it stands."""
    condition = divides(level.size, sub(domain.high, domain.low))
    if not level.exact or condition == Truth(True):
        return chain
    check_askable(chain.program, condition, "that the blocks are full", part.span, "`ragged`: the last block may be shorter")
    return chain.requiring(condition, f"split {counter_name(part.index)} by {_spelled(level)}")


def _spelled(level: Level) -> str:
    from cachet_verify.core.spell import spell

    return spell(level.size, 3)


# --- loops ---


def _split_loop(chain: Chain, index: str, levels: Sequence[Level]) -> Chain:
    """Replace the loop by a nest, with the loop's counter as the sum of starts and position."""
    found = find_loop(chain.program.body, index)
    if found is None:
        return chain
    path, loop = found
    low, high = loop.domain.low, loop.domain.high
    shells: list[tuple[Level, Domain]] = []
    start = low
    for level in levels:
        shells.append((level, level.loop(low, high)))
        start = level.start(low) if level is levels[0] else add(start, level.start(low))
        low, high = ZERO, level.extent()
    term = add(start, Var(index))
    body = Change({index: term}).block(loop.body)
    nest = For(index, Range(ZERO, high), body, loop.span)
    for level, domain in reversed(shells):
        nest = For(level.name, domain, Block((nest,)), loop.span)
    after = with_statements(chain.program, path, 1, (nest,))
    using = frozenset((*(level.name for level in levels), index))
    hint = Hint(index, substitute(term, all_block_parts(after.body)), using)
    return chain.then(reschedule(chain.program, after, images(lower(chain.program), lower(after), (hint,))))


# --- sums ---


def _split_total(chain: Chain, place: FoldPlace, levels: Sequence[Level], span: Span | None) -> Chain:
    """Cut a sum, level by level; each goes on from its cell."""
    counter = place.fold.counter
    chain, path = _running(chain, place, span)
    for level in levels:
        goal = split_fold(chain.program, path, level.size, level.name, counter, level.exact)
        chain = chain.then(goal)
        path = (*path, 0)
    return chain


def _running(chain: Chain, place: FoldPlace, span: Span | None) -> tuple[Chain, Path]:
    """A sum that goes on from its cell, and where it stands: a local gets its start before, any other cell in the first block."""
    path, stmt, fold, program = place.path, place.stmt, place.fold, chain.program
    if isinstance(stmt, Declare):
        if stmt.shape or stmt.width is not None:
            raise refuse("no-match", f"the sum over {fold.counter} fills all of {stmt.name}", span, "a sum that is stored to one cell")
        opened = replace(stmt, init=None, mutable=True), Store(stmt.name, (), fold, span=stmt.span)
        chain = chain.then(same_families(program, with_statements(program, path, 1, opened)))
        behind = (*path[:-1], path[-1] + 1)
        chain = chain.then(split_store(chain.program, behind))
        total = Store(stmt.name, (), replace(fold, init=Load(stmt.name)), span=stmt.span)
        started = (replace(opened[0], init=fold.init), total)
        return chain.then(same_families(chain.program, with_statements(chain.program, path, 3, started))), behind
    if fold.init == Load(stmt.buffer, stmt.index):
        return chain, path
    if stmt.buffer in {part.name for part in statements(program.body) if isinstance(part, Declare)}:
        return chain.then(split_store(program, path)), (*path[:-1], path[-1] + 1)
    domain = place.fold.domain
    hint = "`zero (…) c` before it: each sum then starts from its cell"
    check_askable(chain.program, lt(domain.low, domain.high), f"that the sum over {place.fold.counter} has a first block", span, hint)
    return chain.requiring(lt(domain.low, domain.high), f"the sum over {place.fold.counter} starts in its first block"), path
