"""The malformed campaign as a command: `python -m tests.crash --count 500`.

Takes how many malformed files to see; prints faults and counts. Exit code 1 where there was a fault.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from tests.crash.malform import Seen, corpus, malform, seen


def campaign(count: int, seed: int, folder: Path) -> tuple[Counter[str], list[tuple[str, Seen]]]:
    """See so many malformed files; counts by kind, and the texts with faults."""
    chance, texts = Random(seed), corpus()
    counts: Counter[str] = Counter()
    faults: list[tuple[str, Seen]] = []
    path = folder / "malformed.cachet"
    while counts["malformed"] + counts["fault"] < count:
        text = malform(chance.choice(texts)[1], chance)
        found = seen(path, text)
        counts[found.kind] += 1
        if found.kind == "fault":
            faults.append((text, found))
    return counts, faults


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder that gets every text with a fault")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        counts, faults = campaign(options.count, options.seed, Path(folder))
    for place, (text, fault) in enumerate(faults):
        sys.stdout.write(f"fault: {fault.why} after {fault.seconds:.1f} s\n")
        if options.keep is not None:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{place}.cachet").write_text(text, encoding="utf-8")
    sys.stdout.write(f"{counts['malformed']} malformed, {counts['reads']} still programs, {counts['fault']} faults\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
