"""The whole campaign as a command: `python -m tests.mutate --full`.

Takes options; prints records that matter and the table of counts. Exit code 1 at a wrong acceptance.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.mutate.campaign import logged, run, wrong
from tests.mutate.summary import table, write_section

FULL = 3000


def main() -> int:
    """Run, or only count what a log holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description="Mutants of accepted programs through the checker")
    parser.add_argument("--full", action="store_true", help=f"run {FULL} cases")
    parser.add_argument("--count", type=int, default=0, help="how many cases to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="streams whose name starts so")
    parser.add_argument("--part", default="0/1", help="2/4: the third of four processes that share one log each")
    parser.add_argument("--log", type=Path, default=Path(".cache/mutate.jsonl"))
    parser.add_argument("--logs", type=Path, nargs="*", default=[], help="further logs to count")
    parser.add_argument("--write", type=Path, help="write the table into this page")
    options = parser.parse_args()
    count = options.count or (FULL if options.full else 0)
    first, whole = (int(text) for text in options.part.split("/"))
    for number, record in enumerate(run(options.seed, count, options.log, options.only, (first, whole)) if count else (), 1):
        if wrong(record) or record.kind in ("error", "crashed"):
            sys.stdout.write(f"{record.kind}: {record.stream}: {record.label}: {record.why} {record.departs or ''}\n")
        if number % 50 == 0:
            sys.stdout.write(f"{number} run\n")
        sys.stdout.flush()
    records = logged(*options.logs, options.log)
    sys.stdout.write(table(records))
    if options.write is not None:
        write_section(options.write, "mutants", table(records))
    return 1 if any(wrong(record) for record in records) else 0


if __name__ == "__main__":
    sys.exit(main())
