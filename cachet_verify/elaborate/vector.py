"""The lanes of a vector statement: how many it has and how many of them its slices fill.

Takes a width; gives the lane of a statement. Must not compute fewer lanes than the text says:
arithmetic fills every lane, a slice only as many as it has words.
"""

from __future__ import annotations

from cachet_verify.core.index import Const, Index
from cachet_verify.core.ir import Lanes
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.term import same_term
from cachet_verify.elaborate.value import LaneUse
from cachet_verify.source import Span


def begin_lanes(context: Context, width: int | None) -> LaneUse | None:
    """The lane of a statement of `width` lanes; None for a statement of one word."""
    return None if width is None else LaneUse(context.fresh.take("lane"), width)


def end_lanes(_context: Context, lane: LaneUse | None, span: Span | None) -> Lanes | None:
    """The lanes of the statement, now that its slices are known.

    Raises UnsupportedError when its slices are of different lengths.
    """
    if lane is None:
        return None
    width = Const(lane.width)
    partial: Index | None = None
    for active in lane.actives:
        if active == width:
            continue
        if partial is not None and not same_term(partial, active):
            raise UnsupportedError("slices of different lengths in one statement", span)
        partial = active
    return Lanes(lane.counter, lane.width, partial if partial is not None else width)
