"""The kernels of this folder: programs by name, and their accounts.

Takes names; gives programs of `kernel.cachet`, opened once. Must not check anything.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from cachet_verify.core.ir import Program
from cachet_verify.judge.file import Opened, open_file
from cachet_verify.traffic.quantity import spell
from cachet_verify.traffic.record import Account, Moved, account_of
from cachet_verify.traffic.value import evaluate

FILE = Path(__file__).with_name("kernel.cachet")

Sizes = dict[str, int]


@cache
def opened() -> Opened:
    return open_file(FILE)


def program(name: str) -> Program:
    found = opened().program(name)
    assert found is not None, f"{name} has no nest"
    return found


def account(name: str, exact: bool = False, **at: int) -> Account:
    """The account of a kernel, at the sizes given."""
    return account_of(program(name), exact, at)


def shown(moved: Moved) -> dict[str, str]:
    """What is moved as texts: `reads a`, `writes c`, `work fma`."""
    rows = [("reads", moved.reads), ("writes", moved.writes), ("work", moved.work)]
    return {f"{verb} {row.name}": spell(row.amount) for verb, listed in rows for row in listed}


def numbers(moved: Moved, **at: int) -> dict[tuple[str, str], int]:
    """What is moved as numbers, by the buffers themselves; `at` are the sizes that are still open."""
    found: dict[tuple[str, str], int] = {}
    for verb, listed in (("reads", moved.reads), ("writes", moved.writes), ("work", moved.work)):
        for row in listed:
            key = (verb, row.of or row.name)
            found[key] = found.get(key, 0) + evaluate(row.amount, at)
    return {key: amount for key, amount in found.items() if amount}
