"""The campaign on grids as a command: `python -m tests.race --full`.

Takes options; prints every case that was not decided as it should be, and the counts. Exit code 1 where a race
was accepted, or more than one in a hundred of the grids without races was not proved.
"""

from __future__ import annotations

import argparse
import sys

from tests.race.campaign import Record, run, table

FULL = 1000
ALARMS = 0.01


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.race", description="Generated grids against brute force")
    parser.add_argument("--full", action="store_true", help=f"run {FULL} grids")
    parser.add_argument("--count", type=int, default=0, help="how many grids to run")
    parser.add_argument("--skip", type=int, default=0, help="leave out the first of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tiles", action="store_true", help="grids by tile, with barriers, instead")
    options = parser.parse_args()
    records: list[Record] = []
    for record in run(options.seed, options.count or (FULL if options.full else 40), options.skip, options.tiles):
        records.append(record)
        if record.is_wrong() or record.is_alarm() or record.kind in ("unreadable", "error"):
            sys.stdout.write(f"--- {record.kind}: {record.case.kind} ({record.seconds:.1f} s): {record.why}\n{record.case.text}\n")
        if len(records) % 100 == 0:
            sys.stdout.write(f"{len(records)} run\n")
        sys.stdout.flush()
    sys.stdout.write(table(records))
    free = [record for record in records if not record.case.is_racy]
    alarms = [record for record in free if record.is_alarm()]
    sys.stdout.write(f"not proved of those free of races: {len(alarms)} of {len(free)}\n")
    return 1 if any(record.is_wrong() for record in records) or len(alarms) > ALARMS * len(free) else 0


if __name__ == "__main__":
    sys.exit(main())
