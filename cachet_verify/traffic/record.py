"""The account of one program: its operations' rows and what they come to, symbolic or at given sizes.

Takes a program, whether ragged blocks are counted exactly, and values of sizes; gives an immutable account.
Must not print.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from cachet_verify.core.ir import Program
from cachet_verify.traffic.operation import Operation, operations_of
from cachet_verify.traffic.quantity import Quantity, as_quantity
from cachet_verify.traffic.tally import Direction, Tally, added, scaled
from cachet_verify.traffic.value import substitute


@dataclass(frozen=True, slots=True)
class Row:
    """Bytes of a buffer under the name it is accessed by, or uses of an operation; `of` is the buffer that a lease or window is part of."""

    name: str
    amount: Quantity
    of: str = ""


@dataclass(frozen=True, slots=True)
class Moved:
    """Bytes read, bytes written, and operations applied, each sorted by name."""

    reads: tuple[Row, ...] = ()
    writes: tuple[Row, ...] = ()
    work: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """An operation as the account shows it: it runs `count` times; `moved` is of one run, or of all in an exact account."""

    kind: str
    device: str
    count: Quantity
    moved: Moved


@dataclass(frozen=True, slots=True)
class Account:
    """What a program moves. An exact one counts ragged blocks as they are; any other takes each for full, and is never below.

    `at` are the sizes that were given, and `total` is what all runs move together.
    """

    name: str
    exact: bool
    at: Mapping[str, int]
    operations: tuple[Run, ...]
    total: Moved


def account_of(program: Program, exact: bool = False, at: Mapping[str, int] | None = None) -> Account:
    """The account of a program; sizes that are not given stay symbolic. Raises TooManyStepsError, ZeroDivisionError."""
    given = {} if at is None else at
    values = {size: as_quantity(value) for size, value in given.items()}
    operations = [_at(operation, values) for operation in operations_of(program)]
    total = added(_together(operation, exact) for operation in operations)
    return Account(program.name, exact, given, tuple(_run(operation, exact) for operation in operations), _moved(total))


def _at(operation: Operation, values: Mapping[str, Quantity]) -> Operation:
    fill = partial(_filled, values=values)
    count, runs = fill(operation.count), fill(operation.runs)
    return replace(operation, count=count, runs=runs, each=scaled(operation.each, fill), exact=scaled(operation.exact, fill))


def _filled(quantity: Quantity, values: Mapping[str, Quantity]) -> Quantity:
    """A quantity at some sizes. What is left without a name and is no number divides by 0."""
    found = substitute(quantity, values)
    if found.value is None and not found.names():
        raise ZeroDivisionError
    return found


def _together(operation: Operation, exact: bool) -> Tally:
    return operation.exact if exact else scaled(operation.each, lambda amount: amount * operation.count)


def _run(operation: Operation, exact: bool) -> Run:
    count, tally = (operation.runs, operation.exact) if exact else (operation.count, operation.each)
    return Run(operation.kind, operation.device, count, _moved(tally))


def _moved(tally: Tally) -> Moved:
    return Moved(*(tuple(_rows(tally, direction)) for direction in ("reads", "writes", "work")))


def _rows(tally: Tally, direction: Direction) -> Iterable[Row]:
    rows = [Row(entry.name, amount, entry.root) for entry, amount in tally.items() if entry.direction == direction]
    return sorted(rows, key=lambda row: (row.name, row.of))
