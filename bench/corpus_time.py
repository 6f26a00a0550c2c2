"""How long a cold `check` takes: six CPU schedules in one file, twelve with those of cores, matrix units and a GPU, `tower` alone, start-up.

Takes how often to repeat; prints a table of medians, with the peak memory of every process. The cache
is off. Not a test: nothing here fails when a machine is slow.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.measure import CHECKER, ROOT, repeated

SIX = ROOT / "bench" / "six.cachet"
TWELVE = ROOT / "bench" / "twelve.cachet"
BOUNDS = {"six schedules": 12.0, "twelve schedules": 25.0, "tower alone": 2.5, "--version": 0.3}


def tower_alone(folder: Path) -> Path:
    """A file with the contraction and `tower`, nothing else."""
    blocks = SIX.read_text(encoding="utf-8").split("\n\n")
    wanted = ("// ", "contraction matmul", "schedule fn block_product", "schedule tower")
    path = folder / "tower.cachet"
    path.write_text("\n\n".join(block for block in blocks if block.startswith(wanted)) + "\n", encoding="utf-8")
    return path


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5)
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as folder:
        commands = {
            "six schedules": (*CHECKER, "check", "--no-cache", str(SIX)),
            "twelve schedules": (*CHECKER, "check", "--no-cache", str(TWELVE)),
            "tower alone": (*CHECKER, "check", "--no-cache", str(tower_alone(Path(folder)))),
            "--version": (*CHECKER, "--version"),
        }
        print("| what | wall s, median | all | processor s | bound s | peak MB of one process |")
        print("|---|---|---|---|---|---|")
        for name, command in commands.items():
            run, walls = repeated(command, times)
            if run.code != 0:
                print(run.output)
                return 1
            every = " ".join(f"{wall:.2f}" for wall in walls)
            print(f"| {name} | {run.wall:.2f} | {every} | {run.processor:.2f} | {BOUNDS[name]} | {run.peak:.0f} |")
            for process, peak in sorted(run.megabytes.items()):
                print(f"|   {process.split()[0]} | | | | | {peak:.0f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
