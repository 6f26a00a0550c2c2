"""How the cost of a cold `check` grows: with the number of schedules, and with the depth of one.

Takes counts; prints a table and writes a plot, docs/growth.svg by default. Start-up is measured on a
file with one schedule less and subtracted. Seconds are of processors, solvers included, so that a
busy machine changes them little; wall seconds stand beside them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.measure import CHECKER, ROOT, Run, measured

HEAD = """import "cachet:steps"

contraction matmul (reads a: [f32; M, K]) (reads b: [f32; K, N]) -> out c: [f32; M, N] =
  c[i, j] = sum k. a[i, k] * b[k, j]

contraction matvec (reads a: [f32; M, K]) (reads x: [f32; K]) -> out y: [f32; M] =
  y[i] = sum k. a[i, k] * x[k]
"""
MOST_RATIO_COUNT = 110.0
MOST_RATIO_DEPTH = 4.0


@dataclass(frozen=True)
class Point:
    """A number (of schedules, of loops) and what it cost, start-up subtracted."""

    at: int
    run: Run
    start: Run

    @property
    def processor(self) -> float:
        """Processor seconds."""
        return self.run.processor - self.start.processor

    @property
    def wall(self) -> float:
        """Wall seconds."""
        return self.run.wall - self.start.wall


def schedules() -> Iterator[str]:
    """More than a thousand distinct schedules of matvec: block sizes and orders differ."""
    for place, (k, i, order) in enumerate(product(range(2, 26), range(2, 26), ("gk, gi, i", "gi, gk, i"))):
        yield (
            f"\nschedule s{place} of matvec =\n  zero (i) y\n  split k by {k} as gk ragged\n"
            f"  split i by {i} as gi ragged\n  order ({order})\n"
        )


def deep(levels: int) -> str:
    """Matmul with each loop split `levels` times: three loops for each level, and three more."""
    sizes = {"k": 2, "i": 2, "j": 2}
    lines = ["  zero (i, j) c"]
    names: list[list[str]] = [[] for _ in range(levels)]
    for index, size in sizes.items():
        factors = [f"{size ** (levels - level)} as g{index}{level}" for level in range(levels)]
        lines.append(f"  split {index} by {', '.join(factors)} ragged")
        for level in range(levels):
            names[level].append(f"g{index}{level}")
    order = ", ".join([*(name for level in names for name in level), "i", "j"])
    return "\nschedule deep of matmul =\n" + "\n".join(lines) + f"\n  order ({order})\n"


def cost(folder: Path, name: str, text: str) -> Run:
    """One cold check of a text, all of which has to be proved."""
    path = folder / f"{name}.cachet"
    path.write_text(HEAD + text, encoding="utf-8")
    run = measured((*CHECKER, "check", "--no-cache", str(path)))
    if run.code != 0:
        raise SystemExit(f"{name}: exit code {run.code}\n{run.output}")
    return run


def svg(title: str, across: str, points: Sequence[tuple[float, float]], bound: Sequence[tuple[float, float]]) -> str:
    """A plot of points, and of a bound as a broken line, from the origin."""
    width, height, left, low = 420, 260, 60, 40
    right, top = max(x for x, _ in (*points, *bound)), max(y for _, y in (*points, *bound))

    def placed(x: float, y: float) -> str:
        return f"{left + (width - left - 15) * x / right:.1f},{height - low - (height - low - 25) * y / top:.1f}"

    line, broken = " ".join(placed(*point) for point in points), " ".join(placed(*point) for point in bound)
    dots = "".join(f'<circle cx="{placed(*point).split(",")[0]}" cy="{placed(*point).split(",")[1]}" r="3"/>' for point in points)
    marks = "".join(
        f'<text x="{placed(x, 0).split(",")[0]}" y="{height - low + 16}" text-anchor="middle">{x:g}</text>' for x, _ in points[-2:]
    ) + f'<text x="{left - 6}" y="30" text-anchor="end">{top:.0f} s</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" font-size="11">'
        f'<text x="{left}" y="14">{title}</text>'
        f'<path d="M{left},25 V{height - low} H{width - 15}" fill="none" stroke="#888"/>'
        f'<polyline points="{broken}" fill="none" stroke="#c33" stroke-dasharray="4 3"/>'
        f'<polyline points="{line}" fill="none" stroke="#247"/>{dots}{marks}'
        f'<text x="{width // 2}" y="{height - 6}" text-anchor="middle">{across}</text></svg>'
    )


def main() -> int:
    """Measure, print, plot."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--counts", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--levels", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "growth.svg")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = cost(folder, "start", "")
        every = list(schedules())
        counts = [Point(count, cost(folder, f"many{count}", "".join(every[:count])), start) for count in options.counts]
        depths = [Point(3 + 3 * level, cost(folder, f"deep{level}", deep(level)), start) for level in options.levels]
    print("| what | processor s | wall s | ratio to the first | at most |")
    print("|---|---|---|---|---|")
    for kind, points, most in (("schedules", counts, MOST_RATIO_COUNT), ("loops deep", depths, MOST_RATIO_DEPTH)):
        for point in points:
            ratio = point.processor / points[0].processor
            shown = most if point is points[-1] else ""
            print(f"| {point.at} {kind} | {point.processor:.2f} | {point.wall:.2f} | {ratio:.2f} | {shown} |")
    plots = [
        svg("cost of many schedules", "schedules", [(p.at, p.processor) for p in counts], _line(counts, MOST_RATIO_COUNT)),
        svg("cost of one deep schedule", "loops", [(p.at, p.processor) for p in depths], _line(depths, MOST_RATIO_DEPTH)),
    ]
    inner = "".join(f'<g transform="translate({420 * place},0)">{plot}</g>' for place, plot in enumerate(plots))
    options.plot.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="840" height="260">{inner}</svg>\n', encoding="utf-8")
    print(f"plot: {options.plot}")
    return 0


def _line(points: Sequence[Point], most: float) -> list[tuple[float, float]]:
    """From the first point to the most that the last may cost."""
    return [(points[0].at, points[0].processor), (points[-1].at, most * points[0].processor)]


if __name__ == "__main__":
    sys.exit(main())
