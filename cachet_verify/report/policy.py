"""The trust policy: which trusted entries a run may rest on.

Takes the flags, or the `[tool.cachet]` table of a pyproject.toml; gives the entries of a report that the policy does not allow.
Must not waive anything by default but laws and templates that carry a reason: what is admitted always has to be named.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cachet_verify.diagnostic import fail
from cachet_verify.report.record import Report, TrustedEntry

_KEYS = {"deny-trusted", "allow"}


@dataclass(frozen=True, slots=True)
class Policy:
    """What may be trusted. `allow` is None, or the list beside which every other entry is new and so a violation.

    With `deny` nothing is allowed but the names in `allow`. Without either, only admitted entries violate the policy.
    """

    deny: bool = False
    allow: tuple[str, ...] | None = None

    def violations(self, report: Report) -> tuple[TrustedEntry, ...]:
        """Give the trusted entries of the report that the policy does not allow, each once."""
        return tuple(entry for entry in report.trusted if not self.is_allowed(entry))

    def is_allowed(self, entry: TrustedEntry) -> bool:
        """True when a claim may rest on the entry."""
        if entry.name in (self.allow or ()):
            return True
        return not self.deny and self.allow is None and entry.kind != "admitted"

    def joined(self, other: Policy) -> Policy:
        """Give the policy of the flags (`other`) on top of this one: denials add up, and so do allowed names."""
        if self.allow is None and other.allow is None:
            return Policy(self.deny or other.deny, None)
        return Policy(self.deny or other.deny, (*(self.allow or ()), *(other.allow or ())))


def find_policy(start: Path) -> Policy:
    """Read `[tool.cachet]` from the nearest pyproject.toml at `start` or above; the default policy when there is none.

    CachetError when the file is not TOML or the table holds something else than `deny-trusted` (a boolean) and `allow` (a list of names).
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
    return Policy(deny=section.get("deny-trusted", False), allow=None if allow is None else tuple(allow))


def _problem(section: Any) -> str:
    """Say what is wrong with the table, nothing when it is right."""
    if not isinstance(section, dict):
        return "it is not a table"
    unknown = sorted(set(section) - _KEYS)
    if unknown:
        return f"unknown key {unknown[0]!r}; the keys are allow and deny-trusted"
    if not isinstance(section.get("deny-trusted", False), bool):
        return "deny-trusted is true or false"
    allow = section.get("allow", [])
    if not isinstance(allow, list) or not all(isinstance(name, str) for name in allow):
        return "allow is a list of names"
    return ""
