"""Layouts: addresses counted by hand, and conditions that hold exactly for real layouts."""

from __future__ import annotations

from itertools import product

import pytest

from cachet_verify.core.index import Const, evaluate, holds
from cachet_verify.elaborate.item import LayoutItem
from cachet_verify.elaborate.layout import address_of, size_of
from tests.elaborate.short import module

SHIPPED = 'import "cachet:layouts"\n'


def layout(text: str, name: str) -> LayoutItem:
    return module(text).layouts[name]


def addresses(item: LayoutItem, numbers: tuple[int, ...], extents: tuple[int, ...]) -> list[int]:
    ns, es = [Const(number) for number in numbers], [Const(extent) for extent in extents]
    return [evaluate(address_of(item, ns, es, [Const(part) for part in at]), {}) for at in product(*map(range, extents))]


def test_panels_of_rows_put_the_cells_of_a_column_together() -> None:
    # Rows 0 and 1 form the first panel, row 2 begins the second: column by column inside each.
    assert addresses(layout(SHIPPED, "PanelMajor"), (2,), (3, 3)) == [0, 2, 4, 1, 3, 5, 6, 8, 10]


def test_panels_of_columns_put_the_cells_of_a_row_together() -> None:
    # Columns 0 and 1 form the first panel, column 2 the second; two cells a row, three rows a panel.
    assert addresses(layout(SHIPPED, "ColumnPanels"), (2,), (3, 3)) == [0, 1, 6, 2, 3, 8, 4, 5, 10]


def test_a_ragged_panel_takes_whole_panels_of_memory() -> None:
    item = layout(SHIPPED, "PanelMajor")
    assert evaluate(size_of(item, [Const(2)], [Const(3), Const(3)]), {}) == 12


GOOD = [(SHIPPED, "RowMajor"), (SHIPPED, "ColumnMajor"), (SHIPPED, "PanelMajor"), (SHIPPED, "ColumnPanels")]
GOOD += [("layout Padded p : [R, C] (i, j) size R * (C + p) = i * (C + p) + j\n", "Padded")]
GOOD += [("layout Back : [R, C] (i, j) = (R - 1 - i) * C + j\n", "Back")]
BAD = [
    ("layout Sum : [R, C] (i, j) = i + j\n", "Sum"),
    ("layout Short n : [R, C] (i, j) = floor (i / n) * (n * C) + j * n + i % n\n", "Short"),
    ("layout Rows : [R, C] (i, j) = i * R + j\n", "Rows"),
    ("layout Pitch : [R, C] (i, j) size 2 * R = 2 * i + j\n", "Pitch"),
]


def falsified(item: LayoutItem) -> bool:
    """Whether some condition is false somewhere at small extents."""
    for condition in item.conditions:
        names = sorted({*item.params, *item.extents, *item.indices, *(f"{name}'" for name in item.indices)})
        used = [name for name in names if name in _variables(condition.goal) or any(name in _variables(part) for part in condition.premises)]
        for values in product(range(-1, 4), repeat=len(used)):
            at = dict(zip(used, values, strict=True))
            if all(holds(part, at) for part in condition.premises) and not holds(condition.goal, at):
                return True
    return False


def _variables(formula: object) -> frozenset[str]:
    from cachet_verify.core.index import variables

    return variables(formula)  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "name"), GOOD)
def test_the_conditions_of_a_layout_hold(text: str, name: str) -> None:
    assert not falsified(layout(text, name))


@pytest.mark.parametrize(("text", "name"), BAD)
def test_the_conditions_of_what_is_no_layout_fail_somewhere(text: str, name: str) -> None:
    assert falsified(layout(text, name))
