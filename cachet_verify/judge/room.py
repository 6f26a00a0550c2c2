"""What would fit instead of a working set that is refused: one block of a schedule halved or doubled, proved by the same rules.

Takes a plan that is over and a way to prove further plans; gives lines that say what to type. Must not say anything
that was not proved.
"""

from __future__ import annotations

from collections.abc import Callable

from cachet_verify.core.index import Const
from cachet_verify.judge.change import first_passing
from cachet_verify.judge.file import Opened
from cachet_verify.judge.fit import counted
from cachet_verify.judge.item import without_prints
from cachet_verify.judge.plan import Plan


def room_hints(plan: Plan, proves: Callable[[Plan], bool], opened: Opened) -> tuple[str, ...]:
    """The first change of a block with which all that an item keeps fits, and everything else holds; at most one line."""
    return tuple(first_passing(plan, proves, opened, lambda changed: _has_room(plan, changed), blocks_only=True))


def _has_room(plan: Plan, opened: Opened) -> bool:
    """Whether no row of the item in a changed file is over, as far as numbers tell."""
    program, platform = opened.program(plan.name), opened.module.platform
    if program is None or platform is None:
        return False
    found = counted(without_prints(program), plan.kind, platform, opened.module.layouts)
    return not isinstance(found, str) and all(row.total.value <= row.limit for row in found.rows if isinstance(row.total, Const))
