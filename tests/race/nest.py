"""A nest of grids, loops, guards and stores, written line by line as Cachet text and as Python at once.

Takes statements in order; gives the function's text, and a Python function that lists what each
iteration of each grid touches. Must not know which nests have races.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.race.term import Term

Path = tuple[tuple[int, tuple[int, ...]], ...]
"""For each grid around an access, which run of a grid it was and which iteration of it."""


@dataclass(frozen=True)
class Touch:
    """One access: by which iterations, of which buffer and cell, and whether it writes."""

    path: Path
    buffer: str
    cell: tuple[int, ...]
    writes: bool


class Nest:
    """Collects the lines of both programs. Shapes are kept to tell whether an access is in bounds."""

    def __init__(self, sizes: Sequence[str]) -> None:
        self.sizes = tuple(sizes)
        self.requires: list[Term] = []
        self.shapes: dict[str, tuple[Term, ...]] = {}
        self.modes: dict[str, str] = {}
        self.shared: dict[str, tuple[Term, ...]] = {}
        """Buffers of a tile, with the tile's own index in front: in bounds as others are, and no parameters."""
        self.lines: list[str] = []
        self.code: list[str] = []
        self.depth = 1
        self.inner = 1
        self.paths = 0

    def buffer(self, name: str, shape: Sequence[Term], mode: str = "mut") -> None:
        """A parameter."""
        self.shapes[name], self.modes[name] = tuple(shape), mode

    def line(self, text: str, *code: str) -> None:
        """A line of the text, and lines of the Python."""
        self.lines.append("  " * self.depth + text)
        self.code.extend("    " * self.inner + part for part in code)

    @contextmanager
    def indented(self, levels: int) -> Iterator[None]:
        """The statements inside a block."""
        self.depth, self.inner = self.depth + 1, self.inner + levels
        yield
        self.depth, self.inner = self.depth - 1, self.inner - levels

    @contextmanager
    def grid(self, axes: Sequence[tuple[str, Term, Term]], windows: str = "") -> Iterator[None]:
        """`grid i in low .. high, … do`."""
        header = ", ".join(f"{axis} in {low.text} .. {high.text}" for axis, low, high in axes)
        outer, here = self.paths, self.paths + 1
        names = "".join(f"{axis}," for axis, _, _ in axes)
        loops = [f"{'    ' * place}for {axis} in range({low.code}, {high.code}):" for place, (axis, low, high) in enumerate(axes)]
        bind = "    " * len(axes) + f"path{here} = path{outer} + ((run{here}, ({names})),)"
        self.line(f"grid {header}{windows} do", "runs[0] += 1", f"run{here} = runs[0]", *loops, bind)
        self.paths = here
        with self.indented(len(axes)):
            yield
        self.paths -= 1

    @contextmanager
    def loop(self, counter: str, low: Term, high: Term) -> Iterator[None]:
        """`for k in low .. high do`."""
        self.line(f"for {counter} in {low.text} .. {high.text} do", f"for {counter} in range({low.code}, {high.code}):")
        with self.indented(1):
            yield

    @contextmanager
    def guard(self, condition: Term) -> Iterator[None]:
        """`if p then`."""
        self.line(f"if {condition.text} then", f"if {condition.code}:")
        with self.indented(1):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """`else`."""
        self.line("else", "else:")
        with self.indented(1):
            yield

    def let(self, counter: str, value: Term) -> None:
        """`let x = e`, on integers."""
        self.line(f"let {counter} = {value.text}", f"{counter} = {value.code}")

    def store(self, buffer: str, cell: Sequence[Term], *loads: tuple[str, Sequence[Term]]) -> None:
        """A store of a sum of loads, or of a literal."""
        reads = [f"load {name}[{_texts(index)}]" for name, index in loads]
        code = [self.touch(name, index, False) for name, index in loads]
        self.line(f"store {buffer}[{_texts(cell)}] = {' + '.join(reads) or '1.0'}", *code, self.touch(buffer, cell, True))

    def touch(self, buffer: str, cell: Sequence[Term], writes: bool) -> str:
        index = "".join(f"{part.code}," for part in cell)
        return f"touch(Touch(path{self.paths}, {buffer!r}, ({index}), {writes}))"

    def text(self, name: str) -> str:
        """The function as Cachet."""
        sizes = "".join(f" ({size}: Nat)" for size in self.sizes)
        params = "".join(f" ({self.modes[buffer]} {buffer}: [f32; {_texts(shape)}])" for buffer, shape in self.shapes.items())
        needs = "".join(f"requires {need.text}\n" for need in dict.fromkeys(self.requires))
        return f"fn {name}{sizes}{params}\n{needs}=\n" + "\n".join(self.lines) + "\n"

    def python(self) -> Callable[..., None]:
        """A function of `touch`, then the sizes, that calls `touch` with every access in turn."""
        head = f"def run(touch, {', '.join(self.sizes)}):"
        body = "\n".join(["    runs, path0 = [0], ()", *self.code])
        scope: dict[str, Any] = {"Touch": Touch}
        exec(f"{head}\n{body}", scope)  # noqa: S102 - the text is this module's own
        made: Callable[..., None] = scope["run"]
        return made

    def allowed(self) -> Callable[..., bool]:
        """Whether sizes meet the requirements."""
        needs = " and ".join(need.code for need in self.requires) or "True"
        made: Callable[..., bool] = eval(f"lambda {', '.join(self.sizes)}: {needs}")  # noqa: S307
        return made

    def extents(self) -> Callable[..., dict[str, tuple[int, ...]]]:
        """The shapes at given sizes."""
        parts = ", ".join(f"{buffer!r}: ({''.join(part.code + ',' for part in shape)})" for buffer, shape in {**self.shapes, **self.shared}.items())
        made: Callable[..., dict[str, tuple[int, ...]]] = eval(f"lambda {', '.join(self.sizes)}: {{{parts}}}")  # noqa: S307
        return made


def _texts(parts: Sequence[Term]) -> str:
    return ", ".join(part.text for part in parts)
