"""Key one for obligations about real numbers: pySMT terms, printed by pySMT's own printer.

Takes real obligations; gives scripts. Must not share code with the second encoder's side.
"""

from __future__ import annotations

from fractions import Fraction
from io import StringIO
from typing import Any

from cachet_verify.core.real import Real, RealAll, RealCompare, RealConst, RealFormula, RealNot, RealSum, RealVar
from cachet_verify.encodings.script import EncodingError, Script
from cachet_verify.kernel.obligation import RealObligation

Node = Any  # a pySMT FNode: the library carries no types


def encode_real(obligation: RealObligation) -> Script:
    """The script asking for `given and not shows`. Raises EncodingError."""
    return _Translation().script(obligation)


class _Translation:
    """One obligation on its way to text, in a pySMT environment of its own."""

    def __init__(self) -> None:
        from pysmt.environment import Environment
        from pysmt.smtlib.printers import SmtPrinter
        from pysmt.typing import REAL
        from pysmt.utils import quote

        self.make = Environment().formula_manager
        self.printer = SmtPrinter
        self.quote = quote
        self.sort = REAL
        self.names: dict[str, str] = {}
        self.linear = True

    def script(self, obligation: RealObligation) -> Script:
        assertions = [self.formula(part) for part in obligation.given]
        assertions.append(self.make.Not(self.formula(obligation.shows)))
        stream = StringIO()
        stream.write(f"(set-logic {'QF_LRA' if self.linear else 'QF_NRA'})\n")
        for symbol in sorted(self.names.values()):
            stream.write(f"(declare-fun {self.quote(symbol)} () Real)\n")
        printer = self.printer(stream)
        for assertion in assertions:
            stream.write("(assert ")
            printer.printer(assertion)
            stream.write(")\n")
        stream.write("(check-sat)\n")
        return Script(stream.getvalue(), ())

    def formula(self, formula: RealFormula) -> Node:
        if isinstance(formula, RealNot):
            return self.make.Not(self.formula(formula.body))
        if isinstance(formula, RealAll):
            return self.make.And([self.formula(part) for part in formula.parts])
        if not isinstance(formula, RealCompare):
            raise EncodingError(f"not a formula: {formula!r}")
        left, right = self.term(formula.left), self.term(formula.right)
        if formula.relation == "==":
            return self.make.Equals(left, right)
        return self.make.LE(left, right) if formula.relation == "<=" else self.make.LT(left, right)

    def term(self, term: Real) -> Node:
        if isinstance(term, RealConst):
            return self.make.Real(Fraction(term.value))
        if isinstance(term, RealVar):
            self.names[term.name] = _symbol(term.name)
            return self.make.Symbol(self.names[term.name], self.sort)
        left, right = self.term(term.left), self.term(term.right)
        if isinstance(term, RealSum):
            return self.make.Plus(left, right)
        if not (left.is_real_constant() or right.is_real_constant()):
            self.linear = False
        return self.make.Times(left, right)


def _symbol(name: str) -> str:
    """The symbol of a variable: in a space of its own, so that no solver knows it already."""
    if not name.isascii() or not name.isprintable() or any(char in '|\\"' for char in name):
        raise EncodingError(f"not a name that SMT-LIB can quote: {name!r}")
    return f"real {name}"
