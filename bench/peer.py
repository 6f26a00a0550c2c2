"""The same job beside the peer: a blocked, packed, register-tiled GEMM, checked here and scheduled by Exo.

Takes the interpreter of an environment that has exo-lang (`python -m venv peer && peer/bin/pip install
exo-lang==1.0.0`); prints both and their ratios. Says so and ends well where there is none. The two do not
do the same work: Exo schedules for sizes that are multiples of the blocks and emits C, and reasons about
no word; `check` proves the words for all sizes by two routes and two solvers.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.measure import CHECKER, ROOT, Run, measured

WANTED = ("module ", "// ", "contraction matmul", "schedule fn block_product", "schedule packed")


def packed_alone(folder: Path) -> Path:
    """The file of the six schedules, without the other five."""
    blocks = (ROOT / "bench" / "six.cachet").read_text(encoding="utf-8").split("\n\n")
    path = folder / "packed.cachet"
    path.write_text("\n\n".join(block for block in blocks if block.startswith(WANTED)) + "\n", encoding="utf-8")
    return path


def has_peer(python: str) -> bool:
    """Whether an interpreter has the peer."""
    command = [python, "-c", "import exo"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603 - the command is ours


def main() -> int:
    """Measure both in turn, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has exo-lang")
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    if not has_peer(options.python):
        print(f"{options.python} has no exo-lang: nothing to compare with")
        return 0
    ours: list[Run] = []
    theirs: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        path = packed_alone(Path(folder))
        for _ in range(options.times):
            ours.append(measured((*CHECKER, "check", "--no-cache", str(path))))
            theirs.append(measured((options.python, str(ROOT / "bench" / "peer_gemm.py"))))
    failed = next((run for run in (*ours, *theirs) if run.code != 0), None)
    if failed is not None:
        print(failed.output)
        return 1
    print("| what | wall s | processor s | peak MB of one process |\n|---|---|---|---|")
    for name, runs in (("check packed, cold, no cache", ours), ("Exo 1.0.0, the same tiles", theirs)):
        print(f"| {name} | {_median(runs, 'wall'):.2f} | {_median(runs, 'processor'):.2f} | {_median(runs, 'peak'):.0f} |")
    for what in ("wall", "processor"):
        print(f"ratio of {what} seconds, ours to theirs: {_median(ours, what) / _median(theirs, what):.2f}")
    return 0


def _median(runs: list[Run], what: str) -> float:
    values = sorted(float(getattr(run, what)) for run in runs)
    return values[len(values) // 2]


if __name__ == "__main__":
    sys.exit(main())
