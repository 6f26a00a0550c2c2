"""What an encoder gives: the text a solver is asked, and whose variables it is about.

Takes text; gives its digest. Must not know how the text was made.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


class EncodingError(Exception):
    """A term cannot be written faithfully as SMT-LIB: the obligation is then undecided."""


@dataclass(frozen=True, slots=True)
class Script:
    """One SMT-LIB 2 script: satisfiable exactly when the obligation does not hold.

    `symbols` pairs each variable of the obligation with its symbol in the text, unquoted, sorted by
    variable; they are integers. A script about real numbers has none: nobody reads its models.
    """

    text: str
    symbols: tuple[tuple[str, str], ...]

    def digest(self) -> str:
        """SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()
