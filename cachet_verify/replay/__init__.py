"""Counterexamples that were computed: sizes, inputs and a cell at which two programs differ.

Takes core programs; gives replays, found and minimised by running both programs in the
interpreter. Must not prove anything: finding none says nothing.
"""

from cachet_verify.replay.record import Input, Replay
from cachet_verify.replay.search import find_fault, replay, replay_at

__all__ = ["Input", "Replay", "find_fault", "replay", "replay_at"]
