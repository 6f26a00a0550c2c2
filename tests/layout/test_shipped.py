"""Every shipped layout at every small shape: each cell an address of its own, inside the size; and addresses counted by hand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from cachet_verify.core.index import Const, evaluate, holds
from cachet_verify.elaborate.item import LayoutItem
from cachet_verify.elaborate.layout import address_of, size_of
from cachet_verify.elaborate.load import load_text
from cachet_verify.elaborate.module import elaborate

SHIPPED = elaborate(load_text('import "cachet:layouts"\n', "test.cachet")).layouts
NAMES = tuple(name for name in SHIPPED if ":" not in name and "/" not in name)
WITH_PITCH = {"Strided", "StridedColumns", "StridedPlanes"}


def addresses(item: LayoutItem, numbers: tuple[int, ...], extents: tuple[int, ...]) -> list[int]:
    ns, es = [Const(number) for number in numbers], [Const(extent) for extent in extents]
    return [evaluate(address_of(item, ns, es, [Const(part) for part in at]), {}) for at in product(*map(range, extents))]


def uses(item: LayoutItem) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The numbers and extents up to 5 (4 in three dimensions) that meet what the layout requires."""
    most = 6 if len(item.extents) == 2 else 4
    for extents in product(range(most), repeat=len(item.extents)):
        for numbers in product(range(1, 6), repeat=len(item.params)):
            at = dict(zip((*item.params, *item.extents), (*numbers, *extents), strict=True))
            if all(holds(need, at) for need in item.requires):
                yield numbers, extents


def test_the_library_has_the_layouts_it_is_known_for() -> None:
    assert {"RowMajor", "ColumnMajor", "PanelMajor", "ColumnPanels", "Tiles", "PanelsOfPanels", "Planes", *WITH_PITCH} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_cell_has_an_address_of_its_own_inside_the_size(name: str) -> None:
    item = SHIPPED[name]
    tried = 0
    for numbers, extents in uses(item):
        found = addresses(item, numbers, extents)
        size = evaluate(size_of(item, [Const(part) for part in numbers], [Const(part) for part in extents]), {})
        assert len(set(found)) == len(found)
        assert all(0 <= address < size for address in found)
        tried += 1
    assert tried > 20


@pytest.mark.parametrize("name", sorted(WITH_PITCH))
def test_a_pitch_that_is_one_too_short_overlaps(name: str) -> None:
    # At the least pitch that is refused, the last cell of one row meets the first of the next.
    item = SHIPPED[name]
    extents = (2, 3) if name == "Strided" else (3, 2) if name == "StridedColumns" else (2, 1, 3)
    assert not all(holds(need, dict(zip((*item.params, *item.extents), (2, *extents), strict=True))) for need in item.requires)
    found = addresses(item, (2,), extents)
    assert len(set(found)) < len(found)


BY_HAND = [
    # 3 x 3 in tiles of 2 x 2: two tiles a row of tiles, four addresses a tile, the ragged ones too.
    ("Tiles", (2, 2), (3, 3), [0, 1, 4, 2, 3, 6, 8, 9, 12]),
    # 5 rows, panels of 2 in panels of 4, one column: rows 0 to 3 in order, row 4 starts the next four.
    ("PanelsOfPanels", (2, 2), (5, 1), [0, 1, 2, 3, 4]),
    # Two columns: a panel of two rows takes 4, the panel of panels 8.
    ("PanelsOfPanels", (2, 2), (5, 2), [0, 2, 1, 3, 4, 6, 5, 7, 8, 10]),
    ("Strided", (5,), (2, 3), [0, 1, 2, 5, 6, 7]),
    ("StridedColumns", (4,), (2, 3), [0, 4, 8, 1, 5, 9]),
    ("StridedPlanes", (7,), (2, 2, 3), [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12]),
    ("PlanesLast", (), (2, 2, 2), [0, 2, 4, 6, 1, 3, 5, 7]),
    ("PlanesOfColumns", (), (1, 2, 3), [0, 2, 4, 1, 3, 5]),
]


@pytest.mark.parametrize(("name", "numbers", "extents", "expected"), BY_HAND)
def test_addresses_by_hand(name: str, numbers: tuple[int, ...], extents: tuple[int, ...], expected: list[int]) -> None:
    assert addresses(SHIPPED[name], numbers, extents) == expected
