"""An account as text, one operation at a time, and as JSON.

Takes an account; gives lines or a document. Must not compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cachet_verify.traffic.quantity import Quantity, spell
from cachet_verify.traffic.record import Account, Moved, Row, Run

VERSION = 1
"""The version of the JSON document; a field may be added without a new one."""


def as_text(account: Account) -> str:
    """The account as lines, the last one ended."""
    return "".join(f"{line}\n" for line in _lines(account))


def _lines(account: Account) -> Iterator[str]:
    yield account.name
    if account.at:
        yield f"  at {', '.join(f'{size} = {value}' for size, value in account.at.items())}"
    yield "  operations, all runs of each, ragged blocks exact" if account.exact else "  operations"
    for run in account.operations:
        yield f"    {run.kind}  {run.device}  x {spell(run.count)}"
        yield f"      {_moved_text(run.moved)}"
    if account.exact or account.at:
        yield "  in all"
        yield f"    {_moved_text(account.total)}"


def _moved_text(moved: Moved) -> str:
    parts = [
        f"{verb} {', '.join(f'{row.name} {spell(row.amount)}' for row in rows)}"
        for verb, rows in (("reads", moved.reads), ("writes", moved.writes), ("work", moved.work))
        if rows
    ]
    return "; ".join(parts) if parts else "nothing"


def as_document(account: Account) -> dict[str, Any]:
    """The account as plain values: numbers where they are known, texts in the language's notation elsewhere."""
    return {
        "version": VERSION,
        "name": account.name,
        "exact": account.exact,
        "at": dict(account.at),
        "operations": [_run(run) for run in account.operations],
        "total": _moved(account.total),
    }


def _run(run: Run) -> dict[str, Any]:
    return {"kind": run.kind, "device": run.device, "count": _number(run.count), **_moved(run.moved)}


def _moved(moved: Moved) -> dict[str, Any]:
    return {
        "reads": [_bytes(row) for row in moved.reads],
        "writes": [_bytes(row) for row in moved.writes],
        "work": [{"operation": row.name, "count": _number(row.amount)} for row in moved.work],
    }


def _bytes(row: Row) -> dict[str, Any]:
    return {"buffer": row.name, "of": row.of, "bytes": _number(row.amount)}


def _number(quantity: Quantity) -> int | str:
    return spell(quantity) if quantity.value is None else quantity.value
