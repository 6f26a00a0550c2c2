"""Where records of evidence are kept, and which of them are about an instruction as it is now.

Takes the path of a checked file, or an instruction; gives records. A record of an instruction's name about another template,
reference body or types is stale. Must not take a stale record, or one of another arithmetic, for evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cachet_verify.core.identity import reference_digest, template_digest
from cachet_verify.core.ir import Instruction
from cachet_verify.diagnostic import fail
from cachet_verify.ledger.record import Evidence, from_text
from cachet_verify.resource_path import shipped_root

FOLDER = "evidence"
RECORDS = "*.*.*.json"
"""What records are called: `TEMPLATE.TARGET.DEVICE.DIGITS.json`, or without the digits; other files in the folder are left alone."""
_PROJECT = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one template: current records, and whether there are stale ones instead."""

    target: str
    records: tuple[Evidence, ...] = ()
    is_stale: bool = False

    @property
    def says(self) -> str:
        """The records in one phrase."""
        if self.records:
            return "; ".join(record.says for record in self.records)
        return f"{self.target}: stale" if self.is_stale else f"{self.target}: none"


def project_of(path: Path) -> Path:
    """The folder of the nearest pyproject.toml at or above a file; the file's own folder where there is none."""
    own = path.absolute().parent
    return next((folder for folder in (own, *own.parents) if (folder / _PROJECT).is_file()), own)


def folders_of(path: Path) -> tuple[Path, ...]:
    """The folders in which records about a file's instructions may lie: the project's, and the one that is shipped."""
    return tuple(dict.fromkeys(folder.resolve() for folder in (project_of(path) / FOLDER, shipped_root() / FOLDER)))


def read_folders(folders: Iterable[Path]) -> tuple[Evidence, ...]:
    """Every record in folders that exist, once each, by the names of records. Raises CachetError for one that cannot be read."""
    found: list[Evidence] = []
    for path in (path for folder in folders if folder.is_dir() for path in sorted(folder.glob(RECORDS))):
        try:
            record = from_text(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as fault:
            hint = "measure it again: cachet-verify evidence FILE TEMPLATE --target T"
            raise fail("trust.bad-record", f"{path} is no record of evidence: {fault}", None, hint) from fault
        if record not in found:
            found.append(record)
    return tuple(found)


def known_of(instruction: Instruction, records: Iterable[Evidence], flushes: bool = False) -> tuple[Known, ...]:
    """What is known of each template of an instruction, in the order in which they stand, under an arithmetic."""
    arithmetic = "flush" if flushes else "ieee"
    about = [record for record in records if record.template == instruction.name]
    found = []
    for target, _ in instruction.templates:
        mine = [record for record in about if record.target == target]
        digests = (template_digest(instruction, target), reference_digest(instruction))
        current = [record for record in mine if (record.template_digest, record.reference_digest) == digests]
        usable = tuple(record for record in current if record.arithmetic == arithmetic)
        found.append(Known(target, usable, is_stale=bool(mine) and not current))
    return tuple(found)


def says(known: Iterable[Known]) -> str:
    """What is known of an instruction's templates in one phrase; "none" where nothing was measured."""
    parts = tuple(known)
    return "; ".join(part.says for part in parts) if any(part.records or part.is_stale for part in parts) else "none"
