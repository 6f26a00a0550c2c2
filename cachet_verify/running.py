"""`run`: `main`, or one function on given or random inputs, in the bit-exact interpreter.

Takes a path, a name and arguments `NAME=VALUE`; gives the lines the program prints, or the words
its outputs end with. Must not show anything else.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cachet_verify.core.algebra import WordAlgebra
from cachet_verify.core.index import holds
from cachet_verify.core.ir import Param, Program
from cachet_verify.core.meaning import Executable, arithmetic_of, capacity, shape_of
from cachet_verify.core.memory import Cells, MeaningError
from cachet_verify.core.spell import spell_requirement
from cachet_verify.core.word import WordError, text_of_word, word_of_decimal
from cachet_verify.diagnostic import CachetError, fail
from cachet_verify.judge.file import Opened, open_file

_SEED = "seed"
_MOST_CELLS = 20_000_000


def run_program(path: Path, name: str | None, arguments: Sequence[str]) -> Iterator[str]:
    """The lines of one run. Raises CachetError, located where the program says so."""
    opened = open_file(path)
    wanted = "main" if name is None else name
    program = opened.program(wanted)
    if program is None:
        raise _missing(opened, path, wanted)
    if program.generics:
        hint = "run a schedule bound by `@(S = …)`, or a function that calls it"
        raise fail("run.generic", f"{wanted} is generic: it has words only at an instance", program.span, hint)
    given = _given(arguments)
    known = {*program.sizes, *(param.name for param in program.params), _SEED}
    strange = [argument for argument in given if argument not in known]
    if strange:
        raise fail("run.argument", f"{wanted} has no size or parameter {strange[0]}", None, _signature(program))
    sizes = _sizes(program, given)
    cells = _cells(program, sizes, given)
    return _executed(program, sizes, cells)


def _executed(program: Program, sizes: Mapping[str, int], cells: dict[str, Cells]) -> Iterator[str]:
    lines: list[str] = []
    try:
        Executable(program, WordAlgebra(arithmetic_of(program))).run(sizes, cells, lines.append)
    except MeaningError as error:
        raise fail(f"run.{error.kind}", error.text, error.span) from error
    except (MemoryError, OverflowError) as error:
        raise fail("run.size", f"{program.name} needs more memory than there is", program.span, "smaller sizes") from error
    yield from lines
    for param in program.params:
        if param.mode != "reads" and not param.scratch:
            for word in cells[param.name]:
                yield "unspecified" if word is None else text_of_word(word, param.elem)


def _given(arguments: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for argument in arguments:
        name, mark, value = argument.partition("=")
        if not mark or not name:
            raise fail("run.argument", f"`{argument}` is not an argument of the form NAME=VALUE", None, "M=4, seed=1, or a=1.0,2.0")
        if name in found:
            raise fail("run.argument", f"{name} is given twice")
        found[name] = value
    return found


def _sizes(program: Program, given: dict[str, str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name in program.sizes:
        text = given.pop(name, None)
        if text is None:
            raise fail("run.argument", f"{program.name} needs a value for {name}", None, _signature(program))
        if not text.isdecimal() or len(text) > 9:
            raise fail("run.argument", f"{name} is a size, and `{text}` is not a natural number below 10^9")
        sizes[name] = int(text)
    for need in program.requires:
        if not holds(need.condition, sizes):
            raise fail("run.requirement", f"{program.name} requires {spell_requirement(need.condition)}")
    return sizes


def _cells(program: Program, sizes: Mapping[str, int], given: dict[str, str]) -> dict[str, Cells]:
    seed = given.pop(_SEED, "0")
    chance = random.Random(seed)  # noqa: S311
    found: dict[str, Cells] = {}
    total = sum(capacity(shape_of(param, sizes)) for param in program.params)
    if total > _MOST_CELLS:
        raise fail("run.argument", f"{program.name} takes {total} cells at these sizes, and `run` gives at most {_MOST_CELLS}", None, "smaller sizes")
    for param in program.params:
        count = capacity(shape_of(param, sizes))
        text = given.pop(param.name, None)
        if text is not None:
            found[param.name] = _listed(param, text, count)
        elif param.scratch or param.mode == "out":
            found[param.name] = [None] * count
        else:
            found[param.name] = [_random(param.elem, chance) for _ in range(count)]
    return found


def _listed(param: Param, text: str, count: int) -> Cells:
    parts = [part for part in text.split(",") if part] if text else []
    if len(parts) != count:
        raise fail("run.argument", f"{param.name} has {count} elements, and {len(parts)} are given")
    try:
        return [word_of_decimal(part.strip(), param.elem) for part in parts]
    except (WordError, ValueError) as error:
        raise fail("run.argument", f"{param.name}: {error}") from error


def _random(elem: str, chance: random.Random) -> int:
    if elem == "bool":
        return chance.randrange(2)
    if elem[0] in "iu":
        return word_of_decimal(str(chance.randrange(100)), elem)
    return word_of_decimal(repr(chance.uniform(-1.0, 1.0)), elem)


def _signature(program: Program) -> str:
    given = (param.name for param in program.params if not param.scratch and param.mode != "out")
    return " ".join((*(f"{size}=4" for size in program.sizes), *(f"[{name}=…]" for name in given)))


def _missing(opened: Opened, path: Path, wanted: str) -> CachetError:
    known = sorted({*opened.module.programs, *opened.module.schedules})
    item = opened.module.programs.get(wanted) or opened.module.schedules.get(wanted)
    applied = opened.applied.get(wanted)
    if applied is not None and applied.stopped is not None:
        return applied.stopped
    if item is not None and item.unsupported:
        return fail("run.not-supported", f"{wanted} uses {item.unsupported[0].construct}, which is not supported yet", item.span)
    return fail("run.name", f"{path} has no program {wanted} to run", None, f"one of {', '.join(known)}" if known else "define `fn main () = …`")
