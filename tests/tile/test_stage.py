"""`stage` and `double_buffer`: what they make, what they refuse, and wrong ones, which no proof may pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import pytest

from cachet_verify.core.index import TRUE, Const, Var, add, evaluate
from cachet_verify.core.ir import Block, Grid, If, Inlined, Store, statements
from cachet_verify.rewrite import double_buffer, stage
from cachet_verify.rewrite.outcome import Chain
from cachet_verify.rewrite.place import Path as Place
from cachet_verify.rewrite.place import statement_at, with_statements
from cachet_verify.rewrite.stage import Shared, share
from cachet_verify.session import scheduled
from tests.judge.asking import items, verdicts

FILE = """module (platform = AppleSilicon)
import "cachet:platforms/apple-silicon"

contraction matmul (reads a: [f32; M, K]) (reads b: [f32; K, N]) -> out c: [f32; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]

schedule s of matmul on M4Gpu =
  grid over (i, j)
  tiles (i, j, k) (16, 16) (8, 8)
"""
STAGED = FILE + "  stage a into sA along k at threadgroup\n"
DOUBLED = STAGED + "  double_buffer sA along k\n"


def verdict(folder: Path, text: str) -> str:
    return verdicts(folder, text, only=("s",))["s"]


def listed(folder: Path, text: str) -> str:
    path = folder / "main.cachet"
    path.write_text(text)
    return scheduled(path, "s", None, False, False, False)


def test_each_group_copies_its_share_and_reads_the_rows_that_are_its_own(tmp_path: Path) -> None:
    text = listed(tmp_path, STAGED)
    assert "    var sA: [f32; 16, 8] at threadgroup\n" in text
    copied = "sA[8 * si'3 .. 8 * si'3 + 8, 4 * sj'3 .. 4 * sj'3 + 4] = load a[16 * gi + 8 * si'3 .. 16 * gi + 8 * si'3 + 8, "
    assert copied + "8 * k + 4 * sj'3 .. 8 * k + 4 * sj'3 + 4]" in text
    assert "let x: [f32; 8, 8] = sA[8 * si'1 .. 8 * si'1 + 8, 0 .. 8]" in text
    assert "s: bits of matmul" in text


def test_a_round_copies_into_the_half_that_it_does_not_read(tmp_path: Path) -> None:
    text = listed(tmp_path, DOUBLED)
    assert "    var sA: [f32; 2, 16, 8] at threadgroup\n" in text
    loop = text[text.index("for k in") : text.index("writes ct_2", text.index("for k in"))]
    assert loop.count("grid s") == 2  # one region a round, and the one that stores the tile
    assert "if k + 1 < K / 8 then" in loop
    assert "sA[(k + 1) % 2, " in loop
    assert "= sA[k % 2, 8 * si'1 .. 8 * si'1 + 8, 0 .. 8]" in loop


@pytest.mark.parametrize("counts", [(1, 1), (2, 2), (2, 3), (4, 1), (1, 8), (5, 3)])
@pytest.mark.parametrize("shape", [(16, 8), (8, 16), (40, 8), (6, 4), (24,), (3, 5, 8)])
def test_shares_are_all_cells_once_each(counts: tuple[int, int], shape: tuple[int, ...]) -> None:
    chosen = share(counts, shape)
    cells = list(product(*(range(size) for size in shape)))
    choices = product(range(len(shape)), repeat=2)
    fits = [one for one in choices if all(size % pieces(counts, one, place) == 0 for place, size in enumerate(shape))]
    assert (chosen is None) == (not fits)
    if chosen is None:
        return
    loops = tuple(f"e{place}" for place in range(len(shape)))
    shared = Shared(loops, shape, chosen, Store("s", tuple(map(Var, loops)), Var("x")))  # type: ignore[arg-type]
    found = []
    for group in product(*(range(count) for count in counts)):
        places = shared.places(counts, ("g0", "g1"))
        for own in product(*(range(size) for _, size, _ in places)):
            values = {**dict(zip(("g0", "g1"), group, strict=True)), **dict(zip(loops, own, strict=True))}
            found.append(tuple(evaluate(term, values) for _, _, term in places))
    assert sorted(found) == cells


def pieces(counts: Sequence[int], chosen: Sequence[int], place: int) -> int:
    """Into how many pieces a dimension is cut."""
    return prod(count for count, where in zip(counts, chosen, strict=True) if where == place)


# --- wrong ones --------------------------------------------------------------------------------

Copied = Callable[[Shared, Sequence[int], Sequence[str]], Inlined]


def with_store(made: Inlined, change: Callable[[Store], Store]) -> Inlined:
    """The copy with its one store changed."""
    (store,) = (stmt for stmt in statements(made.body) if isinstance(stmt, Store))
    new = change(store)

    def inside(block: Block) -> Block:
        return Block(tuple(new if stmt is store else replace(stmt, body=inside(stmt.body)) for stmt in block.body))  # type: ignore[call-arg, attr-defined]

    return replace(made, body=inside(made.body))


@pytest.mark.parametrize("text", [STAGED, DOUBLED], ids=["staged", "doubled"])
@pytest.mark.parametrize("what", ["source", "cell"])
def test_a_slice_one_off_is_not_proved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, what: str, text: str) -> None:
    right: Copied = Shared.copied

    def shifted(store: Store) -> Store:
        if what == "cell":
            return replace(store, index=(*store.index[:-1], add(store.index[-1], Const(1))))
        index = store.value.index  # type: ignore[union-attr]
        return replace(store, value=replace(store.value, index=(*index[:-1], add(index[-1], Const(1)))))  # type: ignore[type-var]

    monkeypatch.setattr(Shared, "copied", lambda self, counts, groups: with_store(right(self, counts, groups), shifted))
    assert verdict(tmp_path, text) != "proved"


@pytest.mark.parametrize("order", ["before", "after"])
def test_copy_and_use_without_a_barrier_between_them_are_not_proved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, order: str) -> None:
    def joined(chain: Chain, place: Place, site: stage.Site, shared: Shared, names: stage.Names) -> Chain:
        """The copy in the region of the use: a group may read before another has copied, or copy before it has read."""
        user = statement_at(chain.program.body, (*place[:-1], place[-1] + 1))
        assert isinstance(user, Grid)
        made = shared.copied(site.counts, tuple(axis.counter for axis in user.axes))
        body = (made, *user.body.body) if order == "before" else (*user.body.body, made)
        after = with_statements(chain.program, place, 2, (replace(user, body=Block(body)),))
        own = frozenset((*(axis.counter for axis in user.axes), *shared.loops))
        hints = [stage.Hint(name, term, own) for name, _, term in shared.places(site.counts, tuple(axis.counter for axis in user.axes))]
        maps = stage.images(stage.lower(chain.program), stage.lower(after), hints)
        return chain.then(stage.reschedule(chain.program, after, maps))

    assert verdict(tmp_path, STAGED) == "proved"
    monkeypatch.setattr(stage, "shared_out", joined)
    assert verdict(tmp_path, STAGED) != "proved"


@pytest.mark.parametrize("halves", [1, 3])
def test_other_numbers_of_halves_than_two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, halves: int) -> None:
    """One half is overwritten while it is read; three are as good as two."""
    monkeypatch.setattr(double_buffer, "_HALVES", Const(halves))
    assert (verdict(tmp_path, DOUBLED) == "proved") == (halves == 3)


@pytest.mark.parametrize("round_", [0, 2])
def test_a_block_late_or_early_is_not_proved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, round_: int) -> None:
    monkeypatch.setattr(double_buffer, "ONE", Const(round_))
    assert verdict(tmp_path, DOUBLED) != "proved"


def test_a_copy_without_its_guard_is_not_proved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The last round would copy a block behind the operand's end."""
    monkeypatch.setattr(double_buffer, "If", lambda condition, then, orelse: If(TRUE, then, orelse))
    assert verdict(tmp_path, DOUBLED) != "proved"


def test_both_routes_prove_halves(tmp_path: Path) -> None:
    claim = items(tmp_path, DOUBLED, only=("s",))["s"].claim
    assert claim is not None
    assert sorted(claim.strength.routes) == ["a", "b"]
