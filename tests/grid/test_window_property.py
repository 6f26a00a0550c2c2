"""Windows that are inferred, against runs: no iteration stores outside of its own, and no two of them share a cell."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

from cachet_verify.core.ir import Block, For, Grid, If, Inlined, Stmt
from cachet_verify.elaborate.window import infer_windows
from cachet_verify.judge.file import open_file
from cachet_verify.replay.search import find_fault
from tests.race.grid_case import cases

CASES = 30


def windowed(block: Block) -> Block:
    """The block with inferred windows in the headers of all grids that have none."""
    return Block(tuple(_windowed(stmt) for stmt in block.body))


def _windowed(stmt: Stmt) -> Stmt:
    if isinstance(stmt, Grid):
        return replace(stmt, windows=infer_windows(stmt) if stmt.windows is None else stmt.windows, body=windowed(stmt.body))
    if isinstance(stmt, (For, Inlined)):
        return replace(stmt, body=windowed(stmt.body))
    if isinstance(stmt, If):
        return replace(stmt, then=windowed(stmt.then), orelse=windowed(stmt.orelse))
    return windowed(stmt) if isinstance(stmt, Block) else stmt


def test_inferred_windows_hold_what_is_stored_and_are_apart(tmp_path: Path) -> None:
    path, told = tmp_path / "grid.cachet", 0
    for case in islice(cases(7), CASES):
        path.write_text(case.text)
        program = open_file(path).program(f"grid{case.number}")
        if program is None or case.is_racy:
            continue
        shown = replace(program, body=windowed(program.body))
        told += shown != program
        fault = find_fault(shown)
        assert fault is None, f"{fault.reason}\n{case.text}"
    assert told >= CASES // 6
