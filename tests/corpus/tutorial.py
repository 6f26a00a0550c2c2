"""The outputs in docs/tutorial.md and docs/attention.md: read, run again, written anew.

Takes a page's text; gives each command with the output shown under it, and the output now.
Run as a program it rewrites the outputs, `python -m tests.corpus.tutorial [PAGE…]`. Must not change anything else.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "docs" / "tutorial.md", ROOT / "docs" / "attention.md")
_BLOCK = re.compile(r"```console\n\$ cachet-verify ([^\n]+)\n(.*?)```", re.DOTALL)
_TIME = re.compile(r"^time: .*$", re.MULTILINE)


def blocks(text: str) -> list[tuple[str, str]]:
    """The commands of the page without their first word, each with the output shown."""
    return _BLOCK.findall(text)


def shown() -> dict[str, str]:
    """The output under each command, of all pages."""
    return dict(block for page in PAGES for block in blocks(page.read_text(encoding="utf-8")))


def output(command: str) -> str:
    """What a command prints now, standard error last; how long it took is left out."""
    words = [sys.executable, "-m", "cachet_verify", *command.split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    return _TIME.sub("time: …", done.stdout + done.stderr)


def renewed(text: str) -> str:
    """The page with every output as it is now."""
    return _BLOCK.sub(lambda found: f"```console\n$ cachet-verify {found[1]}\n{output(found[1])}```", text)


if __name__ == "__main__":
    for chosen in [Path(name) for name in sys.argv[1:]] or PAGES:
        chosen.write_text(renewed(chosen.read_text(encoding="utf-8")), encoding="utf-8")
