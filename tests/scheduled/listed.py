"""What `scheduled` prints, and what a listing says when it is read again.

Takes a source beside the goldens and a name; gives texts. Must not know what a listing should look like.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from cachet_verify.session import scheduled

SOURCES = Path(__file__).parent.parent / "golden" / "scheduled"
_HEADER = 'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\nimport "cachet:layouts"\n'


@cache
def listed(source: str, name: str, *, all_steps: bool = False) -> str:
    """The listing of a schedule, a contraction or a function of a source."""
    return scheduled(SOURCES / source, name, None, all_steps, False, False)


def nests(listing: str) -> list[str]:
    """The functions of a listing, without headings and without the claim."""
    parts = re.split(r"^(?=fn )", listing, flags=re.MULTILINE)[1:]
    return [part.split("\n\n")[0] + "\n" for part in parts]


def as_file(nest: str) -> str:
    """A function of a listing as a file of its own."""
    return f"{_HEADER}\n{nest}"


def against_its_meaning(source: str, nest: str, name: str, meaning: str) -> str:
    """A file with a listed function, the contraction of its source, and the proof that they are the same: `again`."""
    text = (SOURCES / source).read_text()
    (contraction,) = re.findall(r"^contraction .*?(?=\n\n)", text, flags=re.MULTILINE | re.DOTALL)
    return f"{_HEADER}\n{contraction}\n\n{nest}\nproof again = relate {name} to {meaning}\n"
