"""The trust policy: which trusted entries a run may rest on.

Takes the flags, or the `[tool.cachet]` table of a pyproject.toml; gives the entries of a report that the policy does not allow.
Must not waive anything by default but laws and templates: what is admitted always has to be named. A template that was seen
to compute other words than its reference body is allowed by nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from cachet_verify.diagnostic import fail
from cachet_verify.report.record import Report, TrustedEntry

_KEYS = {"deny-trusted", "allow", "require-evidence", "evidence-max-age"}


_FEWEST = 12
"""With fewer digits of an identity, another could be made that starts so."""


@dataclass(frozen=True, slots=True)
class Violation:
    """An entry that the policy does not allow: a code, and what is said of the entry."""

    code: str
    entry: TrustedEntry
    says: str


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be trusted. `allow` is None, or the list beside which every other entry is new and so a violation.

    With `deny` nothing is allowed but the names in `allow`. Without either, only admitted entries violate the policy.
    `needs_evidence` asks for a current record about every target of a template, and `max_age` for one that is at most so
    many days old; a name that is allowed is asked for both as well.
    """

    deny: bool = False
    allow: tuple[str, ...] | None = None
    needs_evidence: bool = False
    max_age: int | None = None

    def judge(self, report: Report, today: date) -> tuple[Violation, ...]:
        """Everything in the report that the policy does not allow, on a day."""
        return tuple(found for entry in report.trusted for found in self._judged(entry, today))

    def _judged(self, entry: TrustedEntry, today: date) -> Iterator[Violation]:
        if not self.is_allowed(entry):
            yield Violation("trust.admitted" if entry.kind == "admitted" else "trust.not-allowed", entry, "it is not among what is allowed")
        if entry.kind in ("template", "function"):
            yield from self._evidence(entry, today)

    def _evidence(self, entry: TrustedEntry, today: date) -> Iterator[Violation]:
        """What is wrong with the evidence for a template: words that differ always, what is missing or old where that is asked."""
        wrong = [part for part in entry.measured if part.mismatches]
        if wrong:
            yield Violation("trust.contradicted", entry, f"{wrong[0].mismatches} of {wrong[0].words} words differ on {wrong[0].target}")
        if self.needs_evidence or self.max_age is not None:
            lacking = entry.unmeasured or (() if entry.measured else ("any target",))
            if lacking:
                yield Violation("trust.no-evidence", entry, f"no current record for {', '.join(lacking)}")
        if self.max_age is not None:
            newest = {part.target: part.day for part in sorted(entry.measured, key=lambda part: part.day)}
            for target, day in newest.items():
                age = (today - date.fromisoformat(day)).days
                if not -1 <= age <= self.max_age:
                    yield Violation("trust.old-evidence", entry, f"the record for {target} is of {day}, and at most {self.max_age} days are allowed")

    def violations(self, report: Report) -> tuple[TrustedEntry, ...]:
        """Give the trusted entries of the report that the policy does not allow, each once."""
        return tuple(entry for entry in report.trusted if not self.is_allowed(entry))

    def is_allowed(self, entry: TrustedEntry) -> bool:
        """True when a claim may rest on the entry."""
        if any(_names(allowed, entry) for allowed in self.allow or ()):
            return True
        return not self.deny and self.allow is None and entry.kind != "admitted"

    def joined(self, other: Policy) -> Policy:
        """Give the policy of the flags (`other`) on top of this one: denials and demands add up, and so do allowed names."""
        ages = [age for age in (self.max_age, other.max_age) if age is not None]
        is_open = self.allow is None and other.allow is None
        return Policy(
            self.deny or other.deny,
            None if is_open else (*(self.allow or ()), *(other.allow or ())),
            self.needs_evidence or other.needs_evidence,
            min(ages, default=None),
        )


def _names(allowed: str, entry: TrustedEntry) -> bool:
    """True where an allowed name is the entry's, or its name with the digits that its identity starts with: NAME#DIGITS means this very one."""
    name, mark, digits = allowed.rpartition("#")
    return allowed == entry.name or (mark == "#" and name == entry.name and len(digits) >= _FEWEST and entry.identity.startswith(digits))


def find_policy(start: Path) -> Policy:
    """Read `[tool.cachet]` from the nearest pyproject.toml at `start` or above; the default policy when there is none.

    CachetError when the file is not TOML or the table holds something else than `deny-trusted` and `require-evidence` (booleans),
    `allow` (a list of names) and `evidence-max-age` (days).
    """
    folder = start.resolve()
    for candidate in (folder, *folder.parents):
        path = candidate / "pyproject.toml"
        if path.is_file():
            return _read(path)
    return Policy()


def _read(path: Path) -> Policy:
    import tomllib

    try:
        table: Any = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise fail("tool.bad-policy", f"{path} cannot be read: {fault}") from fault
    tool = table.get("tool")
    section = tool.get("cachet", {}) if isinstance(tool, dict) else {}
    problem = _problem(section)
    if problem:
        raise fail("tool.bad-policy", f"{path}, [tool.cachet]: {problem}", None, 'deny-trusted = true, allow = ["simdgroup_mma8"]')
    allow = section.get("allow")
    return Policy(
        deny=section.get("deny-trusted", False),
        allow=None if allow is None else tuple(allow),
        needs_evidence=section.get("require-evidence", False),
        max_age=section.get("evidence-max-age"),
    )


def _problem(section: Any) -> str:
    """Say what is wrong with the table, nothing when it is right."""
    if not isinstance(section, dict):
        return "it is not a table"
    unknown = sorted(set(section) - _KEYS)
    if unknown:
        return f"unknown key {unknown[0]!r}; the keys are {', '.join(sorted(_KEYS))}"
    for key in ("deny-trusted", "require-evidence"):
        if not isinstance(section.get(key, False), bool):
            return f"{key} is true or false"
    age = section.get("evidence-max-age", 0)
    if isinstance(age, bool) or not isinstance(age, int) or age < 0:
        return "evidence-max-age is a number of days"
    allow = section.get("allow", [])
    if not isinstance(allow, list) or not all(isinstance(name, str) for name in allow):
        return "allow is a list of names"
    return ""
