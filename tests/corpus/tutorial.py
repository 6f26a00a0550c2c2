"""The outputs in docs/tutorial.md: read, run again, written anew.

Takes the tutorial's text; gives each command with the output shown under it, and the output now.
Run as a program it rewrites the outputs: `python -m tests.corpus.tutorial`. Must not change anything else.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
_BLOCK = re.compile(r"```console\n\$ cachet-verify ([^\n]+)\n(.*?)```", re.DOTALL)
_TIME = re.compile(r"^time: .*$", re.MULTILINE)


def blocks(text: str) -> list[tuple[str, str]]:
    """The commands of the page without their first word, each with the output shown."""
    return _BLOCK.findall(text)


def output(command: str) -> str:
    """What a command prints now, standard error last; how long it took is left out."""
    words = [sys.executable, "-m", "cachet_verify", *command.split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    return _TIME.sub("time: …", done.stdout + done.stderr)


def renewed(text: str) -> str:
    """The page with every output as it is now."""
    return _BLOCK.sub(lambda found: f"```console\n$ cachet-verify {found[1]}\n{output(found[1])}```", text)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
