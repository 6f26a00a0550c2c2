"""Random small programs, and random rewrites of them that may or may not keep every word.

Takes a seed; gives pairs without end. Programs have one to three nests over buffers of the caller,
index maps with division and remainder, guards, blocks, locals and folds; a rewrite is one or two
of a kind that optimisers make, or edits, wrong ones among them. Must not judge.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from cachet_verify.core.index import ONE, ZERO, Const, Formula, Index, Var, add, conj, div, eq, le, lt, minimum, mod, mul, ne, sub
from cachet_verify.core.ir import Block, Choose, Declare, Fold, For, If, Load, OfIndex, Op, Param, Program, Range, Stmt, Store, Value, Word
from tests.mutate.nest_edit import nest_mutants
from tests.mutate.rewrite import rewrites

_ZERO = Word("f32", 0x80000000)
_SIZES = ("M", "N")


class _Writer:
    """Writes one program; every binder gets a name of its own."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.made = 0
        self.locals: list[str] = []

    def name(self, start: str) -> str:
        self.made += 1
        return f"{start}{self.made}"

    def program(self) -> Program:
        params = (
            Param("a", "reads", "f32", (Var("M"), Var("N"))),
            Param("x", "reads", "f32", (Var("N"),)),
            Param("y", "mut", "f32", (Var("M"),)),
            Param("c", self.chance.choice(("out", "mut")), "f32", (Var("M"), Var("N"))),
        )
        body = tuple(self.nest() for _ in range(self.chance.randint(1, 3)))
        return Program("meaning", _SIZES, params, Block(body))

    def nest(self) -> Stmt:
        i, j = self.name("i"), self.name("j")
        rows, row = self.loop(i, Var("M"))
        if self.chance.random() < 0.35:
            inner: tuple[Stmt, ...] = self.stores("y", (row,), {"M": row})
            return For(i, rows, Block(inner))
        columns, column = self.loop(j, Var("N"))
        if self.chance.random() < 0.2:  # a dense counter, decoded
            both = Range(ZERO, mul(Var("M"), Const(3)))
            at = (div(Var(i), Const(3)), mod(Var(i), Const(3)))
            guarded = If(lt(at[1], Var("N")), Block(self.stores("c", at, {"M": at[0], "N": at[1]})), Block())
            return For(i, both, Block((guarded,)))
        inside = self.stores("c", (row, column), {"M": row, "N": column})
        loops = [(i, rows), (j, columns)]
        if self.chance.random() < 0.5:
            loops.reverse()
        return For(loops[0][0], loops[0][1], Block((For(loops[1][0], loops[1][1], Block(inside)),)))

    def loop(self, counter: str, high: Index) -> tuple[Range, Index]:
        """A loop over all of a size, and the index it gives."""
        if self.chance.random() < 0.2:
            return Range(ONE, add(high, ONE)), sub(Var(counter), ONE)
        if self.chance.random() < 0.15:
            return Range(ZERO, high), sub(sub(high, ONE), Var(counter))
        return Range(ZERO, high), Var(counter)

    def stores(self, buffer: str, cell: tuple[Index, ...], at: dict[str, Index]) -> tuple[Stmt, ...]:
        chance = self.chance
        stmts: list[Stmt] = []
        value = self.value(at, 2)
        if chance.random() < 0.3:
            local = self.name("t")
            stmts.append(Declare(local, "f32", init=value))
            value = Op("add", "f32", (Load(local), self.value(at, 1)))
        if chance.random() < 0.4:
            value = self.fold(at)
        store: Stmt = Store(buffer, cell, value)
        if chance.random() < 0.3:
            other = Block((Store(buffer, cell, self.value(at, 1)),)) if chance.random() < 0.5 else Block()
            store = If(self.guard(at), Block((store,)), other)
        return (*stmts, store)

    def fold(self, at: dict[str, Index]) -> Fold:
        k, acc = self.name("k"), self.name("acc")
        inner = {**at, "N": Var(k)} if "N" not in at or self.chance.random() < 0.5 else {**at, "M": Var(k)}
        high = Var("N") if inner.get("N") == Var(k) else Var("M")
        step = Op("fma", "f32", (self.load(inner), self.load(inner), Load(acc)))
        start: Value = _ZERO if self.chance.random() < 0.7 else self.load(at)
        return Fold(k, Range(ZERO, high), start, acc, "f32", step)

    def value(self, at: dict[str, Index], depth: int) -> Value:
        chance = self.chance
        if depth == 0 or chance.random() < 0.25:
            return self.load(at) if chance.random() < 0.8 else chance.choice((_ZERO, OfIndex("f32", at["M"])))
        if chance.random() < 0.15:
            return Choose(self.guard(at), self.value(at, depth - 1), self.value(at, depth - 1))
        name = chance.choice(("add", "mul", "sub", "max", "fma"))
        return Op(name, "f32", tuple(self.value(at, depth - 1) for _ in range(3 if name == "fma" else 2)))

    def load(self, at: dict[str, Index]) -> Load:
        chance = self.chance
        row, column = at["M"], at.get("N", ZERO)
        choices = [Load("y", (self.map(row, "M"),))]
        if "N" in at:
            choices += [Load("a", (row, self.map(column, "N"))), Load("x", (self.map(column, "N"),)), Load("c", (row, column))]
        return chance.choice(choices)

    def map(self, index: Index, size: str) -> Index:
        """Another index inside the same size, given one that is."""
        high = Var(size)
        return self.chance.choice(
            (index, index, index, sub(sub(high, ONE), index), div(index, Const(2)), minimum(index, sub(high, ONE)), sub(index, mod(index, Const(2))))
        )

    def guard(self, at: dict[str, Index]) -> Formula:
        row, column = at["M"], at.get("N", ONE)
        made = (
            eq(mod(row, Const(2)), ZERO),
            lt(row, column),
            le(column, row),
            ne(row, ZERO),
            lt(row, div(Var("M"), Const(2))),
            conj((le(ONE, row), ne(mod(column, Const(3)), ONE))),
        )
        return self.chance.choice(made)


def pairs(seed: int) -> Iterator[tuple[str, Program, Program]]:
    """Pairs without end: a program, and rewrites of it, edits of it, and edits of a rewrite."""
    chance = Random(f"{seed} pairs")
    while True:
        meaning = _Writer(chance).program()
        rewritten = list(rewrites(meaning))
        for label, program in chance.sample(rewritten, min(5, len(rewritten))):
            yield label, meaning, program
            for more, again in _drawn(list(rewrites(program)), chance, 1):
                yield f"{label}, then {more}", meaning, again
            for more, again in _drawn(list(nest_mutants(program)), chance, 1):
                yield f"{label}, then {more}", meaning, again
        for label, program in _drawn(list(nest_mutants(meaning)), chance, 3):
            yield label, meaning, program


def _drawn(found: list[tuple[str, Program]], chance: Random, most: int) -> list[tuple[str, Program]]:
    return chance.sample(found, min(most, len(found)))
