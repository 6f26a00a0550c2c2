"""Unstage: a region works on a buffer itself again, and the copy it worked on is gone.

Takes a program, the statements that make a copy and those that read it; gives the goal that the
region may read the source. It is `stage_in` the other way: what that asks shows that both read the
same words, and races on the source are asked of the program after.
"""

from __future__ import annotations

from cachet_verify.core.ir import Program, Stmt
from cachet_verify.kernel.ask import Asked
from cachet_verify.kernel.claim import Goal, RuleError, Same, issue
from cachet_verify.kernel.conflict import ask_no_races
from cachet_verify.kernel.place import Path, parent, splice
from cachet_verify.kernel.scope import bound_names, lowered
from cachet_verify.kernel.stage import stage_in

RULE = "unstage"


def unstage(program: Program, path: Path, count: tuple[int, int], source: str, buffer: str, region: tuple[Stmt, ...]) -> Goal:
    """Take out the copy `buffer` of `source`: the statements of `region` read `source` instead.

    `count` says how many statements from `path` on make the copy, and how many read it. Both
    names are of root buffers. Raises RuleError where staging the program after does not give the
    program back.
    """
    lead, body = count
    after = splice(RULE, program, path, lead + body, region)
    block, position = parent(RULE, program.body, path)
    made = block.body[position : position + lead], block.body[position + lead : position + lead + body]
    staged = stage_in(after, path, len(region), source, buffer, *made)
    if not isinstance(staged.statement, Same) or staged.statement.after != program:
        raise RuleError(RULE, "staging again does not give the program back", after)
    names = bound_names(RULE, after)
    asked = Asked(lowered(RULE, program).premises())
    ask_no_races(asked, lowered(RULE, after), names, frozenset((source,)))
    return issue(RULE, Same(program, after), (*staged.obligations, *asked.obligations()))
