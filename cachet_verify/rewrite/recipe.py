"""The `relate` recipe of a step: which kernel rules show that the step keeps every word.

Takes the programs before and after a step, and the lines of its recipe; gives a chain of goals from
the one to the other. A line picks a rule and says where it acts; it proves nothing. Must not leave
out a rule because a recipe does not ask for it: the chain always ends at the program after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cachet_verify.core.family import lower
from cachet_verify.core.ir import Block, Declare, Fold, For, Load, Program, Store
from cachet_verify.kernel.claim import Goal, Same
from cachet_verify.kernel.fold import close_fold, open_fold, start_fold
from cachet_verify.kernel.requirement import converse
from cachet_verify.kernel.reschedule import Describe, reschedule
from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.image import Hint, images
from cachet_verify.rewrite.place import Path, block_at, counters, find_fold, find_loop, walk
from cachet_verify.syntax import ast

RESCHEDULING = ("interchange", "recount", "separate")
"""Recipe words that stand for the kernel's law of reordering; they differ in what they say they do."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The two programs of a step, and what the names of its recipe stand for.

    `names` gives the program's name for each loop and buffer of the recipe; `written` is the reverse.
    """

    before: Program
    after: Program
    names: Mapping[str, str]
    hints: tuple[Hint, ...]

    def written(self, name: str) -> str:
        """How the step writes a name of the program."""
        return next((key for key, value in self.names.items() if value == name), name)


@dataclass(frozen=True, slots=True)
class _Cells:
    """`per cell c fold S.k`: on which side, over which loop, of which buffer."""

    side: str
    loop: str
    buffer: str


@dataclass(frozen=True, slots=True)
class _Side:
    """A program on its way to the middle, and the goals that lead there (S) or back from there (T)."""

    program: Program
    goals: tuple[Goal, ...] = ()


def relate(relation: Relation, recipe: Sequence[ast.RecipeLine | ast.Admit]) -> tuple[Goal, ...]:
    """The goals that follow a recipe. Raises StepError for a line that does not fit, RuleError from a rule."""
    before, after = _Side(relation.before), _Side(relation.after)
    moved = ""
    buffer = ""
    for line in recipe:
        words = line.words if isinstance(line, ast.RecipeLine) else ("admit",)
        if words[:2] == ("per", "cell") and len(words) == 5 and words[3] == "fold":
            cells = _cells(words, relation, line)
            buffer = buffer or cells.buffer
            if cells.side == "S":
                before = _opened(before, cells, line)
            else:
                after = _reopened(after, cells, line)
        elif len(words) == 2 and words[0] in RESCHEDULING and words[1].partition(".")[0] == "S":
            moved = _moved(words, relation, moved, line)
        else:
            raise _unknown(line, words)
    return (*before.goals, *_middle(relation, before.program, after.program, moved, buffer), *after.goals)


def _moved(words: Sequence[str], relation: Relation, moved: str, line: ast.RecipeLine | ast.Admit) -> str:
    """The loop that a line of reordering names; one line a recipe, of a loop of S."""
    loop = words[1].partition(".")[2]
    if moved:
        raise refuse("recipe", f"a recipe reorders once: `{' '.join(words)}` is the second time", line.span, "leave it out, or make two steps")
    if relation.names.get(loop, loop) not in counters(relation.before.body):
        raise refuse("recipe", f"no loop or sum over {loop} is there", line.span)
    return loop


def _unknown(line: ast.RecipeLine | ast.Admit, words: Sequence[str]) -> StepError:
    hint = "`per cell c fold S.k`, `interchange S.j`, `recount S.j` or `separate S.j`"
    return refuse("recipe", f"no kernel rule goes by `{' '.join(words)}`", line.span, hint)


def _cells(words: Sequence[str], relation: Relation, line: ast.RecipeLine | ast.Admit) -> _Cells:
    side, _, loop = words[4].partition(".")
    if side not in ("S", "T") or not loop:
        raise refuse("recipe", f"`{words[4]}` is not a loop of S or T", line.span, "`S.k` or `T.k`")
    names = relation.names
    return _Cells(side, names.get(loop, loop), names.get(words[2], words[2]))


def _opened(side: _Side, cells: _Cells, line: ast.RecipeLine | ast.Admit) -> _Side:
    """S with a sum read as updates of its cell."""
    place = find_fold(side.program.body, cells.loop)
    if place is None:
        _check_updates(side.program, cells, line)
        return _without_lets(side, cells.loop, is_before=True)
    if not isinstance(place.stmt, Store) or place.stmt.buffer != cells.buffer:
        found = place.stmt.buffer if isinstance(place.stmt, Store) else place.stmt.name
        raise refuse("recipe", f"the sum over {cells.loop} goes to {found}, not to {cells.buffer}", line.span)
    goal = open_fold(side.program, place.path)
    return _Side(_end(goal), (*side.goals, goal))


def _end(goal: Goal) -> Program:
    statement = goal.statement
    if not isinstance(statement, Same):
        raise TypeError(f"{goal.rule} does not compare two programs")
    return statement.after


def _check_updates(program: Program, cells: _Cells, line: ast.RecipeLine | ast.Admit) -> None:
    """On a loop that is not a fold the line only says what is stored there."""
    found = find_loop(program.body, cells.loop)
    if found is None:
        raise refuse("recipe", f"no loop or sum over {cells.loop} is there", line.span)
    stored = {stmt.buffer for _, stmt in walk(Block((found[1],))) if isinstance(stmt, Store)}
    if cells.buffer not in stored:
        raise refuse("recipe", f"the loop over {cells.loop} does not store to {cells.buffer}", line.span)


def _reopened(side: _Side, cells: _Cells, line: ast.RecipeLine | ast.Admit) -> _Side:
    """T with a sum, or a total that is loaded and stored back, read as updates of its cell."""
    place = find_fold(side.program.body, cells.loop)
    if place is not None and isinstance(place.stmt, Store):
        return _closing(side, place.path, place.stmt, place.fold)
    _check_updates(side.program, cells, line)
    return _without_lets(side, cells.loop, is_before=False)


def _closing(side: _Side, path: Path, store: Store, fold: Fold) -> _Side:
    """Open the fold at `path`, and remember the goals that close it again."""
    opened = _end(open_fold(side.program, path))
    if fold.init == Load(store.buffer, store.index):
        return _Side(opened, (close_fold(opened, path, fold.acc, fold.elem), *side.goals))
    closed = close_fold(opened, (*path[:-1], path[-1] + 1), fold.acc, fold.elem)
    return _Side(opened, (closed, start_fold(_end(closed), path), *side.goals))


def _without_lets(side: _Side, counter: str, is_before: bool) -> _Side:
    """Put the value of each `let` in a loop into the store that follows it, one by one."""
    from cachet_verify.kernel.let import inline_let

    while True:
        found = find_loop(side.program.body, counter)
        if found is None:
            return side
        path = next(_lets(side.program, *found), None)
        if path is None:
            return side
        goal = inline_let(side.program, path)
        goals = (*side.goals, goal) if is_before else (converse(goal), *side.goals)
        side = _Side(_end(goal), goals)


def _lets(program: Program, path: Path, loop: For) -> Iterator[Path]:
    """The paths of scalar `let`s with a store behind them."""
    for inner, stmt in walk(loop.body):
        place = (*path, *inner)
        is_let = isinstance(stmt, Declare) and not stmt.mutable and stmt.init is not None and not stmt.shape
        if is_let and len(block_at(program.body, place)) > 1 and isinstance(block_at(program.body, place)[1], Store):
            yield place


def _middle(relation: Relation, before: Program, after: Program, moved: str, buffer: str) -> tuple[Goal, ...]:
    """The one reordering between the two programs, unless they are one."""
    if before == after:
        return ()
    maps = images(lower(before), lower(after), relation.hints)
    return (reschedule(before, after, maps, describe(relation, before, moved, buffer)),)


def describe(relation: Relation, before: Program, moved: str, buffer: str) -> Describe:
    """The sentences of a relation, in the names that the step itself uses."""
    loops = {relation.names.get(name, name): name for name in relation.names}
    here, there = counters(relation.before.body), counters(relation.after.body)
    trips: dict[str, str] = {}
    for actual, written in loops.items():
        ours, theirs = (written if actual in names else moved or written for names in (here, there))
        trips[actual] = f"the loops at S.{ours} and T.{theirs} run the same number of times"
    stored = buffer or next((stmt.buffer for _, stmt in walk(before.body) if isinstance(stmt, Store)), "")
    place = next((number for number, param in enumerate(before.params, 1) if param.name == stored), 0)
    what = f"parameter {place}" if place else stored or "every parameter"
    where = f" after each iteration of the loops at S.{moved} and T.{moved}" if moved else ""
    return Describe(trips, f"the two runs hold the same words in {what}{where}")
