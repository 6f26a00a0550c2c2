"""Key two for obligations about real numbers: SMT-LIB 2 text printed from the obligation itself.

Takes real obligations; gives scripts. Must not share code with the first encoder's side, nor use pySMT.
"""

from __future__ import annotations

import re

from cachet_verify.core import real
from cachet_verify.encodings.script import EncodingError, Script
from cachet_verify.kernel.obligation import RealObligation

_QUOTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_'.,!?$%&*+/<=>^~[\]-]*\Z")
_RELATIONS = {"==": "=", "<=": "<=", "<": "<"}


def encode_real(obligation: RealObligation) -> Script:
    """The script asking for `given and not shows`. Raises EncodingError."""
    body = [f"(assert {_truth(part)})" for part in obligation.given]
    body.append(f"(assert (not {_truth(obligation.shows)}))")
    names: set[str] = set().union(*(real.real_variables(part) for part in (*obligation.given, obligation.shows)))
    declared = [f"(declare-fun |{_checked(name)} as a number| () Real)" for name in sorted(names)]
    return Script("\n".join(["(set-logic QF_NRA)", *declared, *body, "(check-sat)", ""]), ())


def _checked(name: str) -> str:
    if not _QUOTABLE.match(name):
        raise EncodingError(f"this name cannot stand in an SMT-LIB script: {name!r}")
    return name


def _truth(formula: real.RealFormula) -> str:
    if isinstance(formula, real.RealCompare):
        return f"({_RELATIONS[formula.relation]} {_number(formula.left)} {_number(formula.right)})"
    if isinstance(formula, real.RealNot):
        return f"(not {_truth(formula.body)})"
    parts = [_truth(part) for part in formula.parts]
    return "true" if not parts else parts[0] if len(parts) == 1 else f"(and {' '.join(parts)})"


def _number(term: real.Real) -> str:
    if isinstance(term, real.RealVar):
        return f"|{_checked(term.name)} as a number|"
    if isinstance(term, real.RealConst):
        above, below = abs(term.value.numerator), term.value.denominator
        size = f"{above}.0" if below == 1 else f"(/ {above}.0 {below}.0)"
        return size if term.value >= 0 else f"(- {size})"
    sign = "+" if isinstance(term, real.RealSum) else "*"
    return f"({sign} {_number(term.left)} {_number(term.right)})"
