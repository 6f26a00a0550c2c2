"""The lanes of a vector statement: how many it has and how many of them its slices fill.

Takes a width; gives the lane of a statement. Must not write fewer lanes than the text says: a
vector local is written whole, a slice of it or of memory as far as the slice goes.
"""

from __future__ import annotations

from cachet_verify.core.index import Const
from cachet_verify.core.ir import Lanes
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.place import LaneUse


def begin_lanes(context: Context, width: int | None) -> LaneUse | None:
    """The lane of a statement of `width` lanes; None for a statement of one word."""
    return None if width is None else LaneUse(context.fresh.take("lane"), width)


def end_lanes(lane: LaneUse | None) -> Lanes | None:
    """The lanes of the statement, now that its slices are known; all of them where there is none."""
    if lane is None:
        return None
    return Lanes(lane.counter, lane.width, lane.active if lane.active is not None else Const(lane.width))
