"""`python -m tests.attention.campaign [COUNT]`: programs on a device against their shadows and exact attention, on many inputs."""

from __future__ import annotations

import sys

from tests.attention.test_oracle import ON_A_DEVICE, disagreements


def main(arguments: list[str]) -> int:
    """Print how many of the inputs, 100 where no count is given, disagree."""
    count = int(arguments[0]) if arguments else 100
    found = {name: disagreements(name, count) for name in ON_A_DEVICE}
    for name, wrong in found.items():
        sys.stdout.write(f"{name}: {len(wrong)} of {count} inputs disagree{f': {wrong}' if wrong else ''}\n")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
