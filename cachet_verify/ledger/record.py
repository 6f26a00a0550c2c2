"""A record of evidence: what was measured of an instruction's template, where, on which inputs, and what came out.

Takes the document of a record; gives the record, or says what is wrong with it. Must not measure or look anything up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import date
from hashlib import sha256
from typing import Any

VERSION = 2
"""Version of the document; raised when a field changes meaning or goes."""
_UNTYPED = 1
"""The version before: its digests of reference bodies left the types of operands and result out, so that such a record is about nothing now."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """One kind of inputs: how many uses of the template, and how many words of results, words that differ, and subnormal, infinite and NaN words."""

    kind: str
    uses: int
    words: int
    mismatches: int
    subnormal: int = 0
    infinite: int = 0
    nan: int = 0


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The first word that differed: of which inputs, at which word of the result of which use, and both words."""

    kind: str
    use: int
    word: int
    measured: str
    reference: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """A measurement of one template on one machine. `day` is ISO 8601; the digests are of what was measured.

    `reference` says what computed the words of the reference body, and `samples` how many of them the interpreter
    computed too. `arithmetic` is "ieee" or "flush". Of a function of words, `template_digest` is of what is computed for it,
    `largest` the largest error in units in the last place, and words differ that are off by more than is stated.
    """

    template: str
    target: str
    device: str
    day: str
    template_digest: str
    reference_digest: str
    arithmetic: str
    reference: str
    samples: int
    seed: int
    inputs: tuple[Inputs, ...]
    first: Mismatch | None = None
    versions: Mapping[str, str] | None = None
    largest: str = ""

    @property
    def words(self) -> int:
        """How many words of results were compared."""
        return sum(part.words for part in self.inputs)

    @property
    def mismatches(self) -> int:
        """How many of them differed."""
        return sum(part.mismatches for part in self.inputs)

    @property
    def digits(self) -> str:
        """Digits for the name of the record's file: others for another text, reference body or arithmetic."""
        return sha256("\n".join((self.template_digest, self.reference_digest, self.arithmetic)).encode()).hexdigest()[:12]

    @property
    def says(self) -> str:
        """The record in one phrase."""
        if self.largest:
            wrong = f", {self.mismatches} of them by more than is stated" if self.mismatches else ""
            return f"{self.day}: the largest error seen is {self.largest} units in the last place, of {self.words} words{wrong}"
        return f"{self.target} on {self.device}, {self.day}: {self.mismatches} of {self.words} words differ"


def to_text(record: Evidence) -> str:
    """The document of a record, with a newline at its end."""
    row = {"version": VERSION, **asdict(record), "words": record.words, "mismatches": record.mismatches}
    return f"{json.dumps(row, indent=1, ensure_ascii=False)}\n"


def from_text(text: str) -> Evidence:
    """The record of a document. ValueError says what is wrong with it."""
    row = json.loads(text)
    if not isinstance(row, dict) or row.get("version") not in (VERSION, _UNTYPED):
        raise ValueError(f"not a record of version {VERSION}")
    totals = (row.pop("words", None), row.pop("mismatches", None))
    if row.pop("version") == _UNTYPED:
        row["reference_digest"] = f"without types: {row.get('reference_digest')}"
    try:
        inputs = tuple(_inputs(part) for part in row.pop("inputs"))
        first = row.pop("first")
        record = Evidence(**row, inputs=inputs, first=None if first is None else Mismatch(**first))
    except (KeyError, TypeError) as fault:
        raise ValueError(f"not the fields of a record: {fault}") from fault
    _check(record, totals)
    return record


def _inputs(row: Any) -> Inputs:
    part = Inputs(**row)
    counts = [getattr(part, name.name) for name in fields(part) if name.name != "kind"]
    if not all(isinstance(count, int) and count >= 0 for count in counts) or part.mismatches > part.words:
        raise ValueError(f"the counts of {part.kind} do not fit together")
    return part


def _check(record: Evidence, totals: tuple[Any, Any]) -> None:
    """A record says what it is about in words, when in a day, and its totals are those of its parts."""
    texts = (record.template, record.target, record.device, record.template_digest, record.reference_digest)
    if any(not text or "\n" in text for text in texts):
        raise ValueError("a text is missing")
    if record.arithmetic not in ("ieee", "flush"):
        raise ValueError(f"`{record.arithmetic}` is no arithmetic")
    date.fromisoformat(record.day)
    if totals != (record.words, record.mismatches):
        raise ValueError("the totals are not those of the inputs")
    if record.words == 0:
        raise ValueError("nothing was measured")
