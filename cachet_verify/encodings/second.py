"""Key two: an obligation printed as SMT-LIB 2 text, with the solver's own `div` and `mod`.

Takes obligations; gives scripts. Must not share code with the first encoder, nor use pySMT.

SMT-LIB's `div` rounds so that the remainder is not negative. For a positive divisor that is floor
division. For a negative literal, floor(x / c) = floor(-x / -c), and the remainder changes sign.
For a divisor of unknown sign the Euclidean pair (q, r) is corrected to (q - 1, r + c) where c < 0
and r is not 0 (written so, solvers decide far more than with negated operands). At a divisor of
zero `div` and `mod` may be anything, which is how the first encoder reads them too.
"""

from __future__ import annotations

import re
from typing import NoReturn

from cachet_verify.core import index
from cachet_verify.core.index import Formula, Index
from cachet_verify.encodings.script import EncodingError, Script
from cachet_verify.kernel.obligation import Obligation

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_QUOTABLE = re.compile(r"[A-Za-z_'][A-Za-z0-9_'.!?$%&*+/<=>^~-]*\Z")
_LONG = 48  # an operand that will be printed several times is named when it is longer than this

# Words and functions of SMT-LIB or of a solver: never declared as they stand.
_WORDS = frozenset(
    """
    _ ! as let exists forall match par assert check-sat declare-const declare-fun define-fun pop push
    true false not and or xor iff implies if ite distinct Bool Int Real Array String RegLan Seq Set Bag List Tuple
    nand nor abs div mod divisible exp pow pow2 pi sin cos tan sqrt rem iand piand is is_int to_int to_real
    int2bv bv2nat bv2int int2bit concat extract repeat zero_extend sign_extend bvadd bvmul
    select store const map set bag rel seq str re tuple update insert sub then else
    """.split()
)
_RELATIONS = {"==": "=", "<=": "<=", "<": "<"}


def encode(obligation: Obligation) -> Script:
    """The script asking for `premises and not goal`. Raises EncodingError."""
    return _Printer().script(obligation)


class _Printer:
    """The lines of one script, in the making."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.shared: dict[str, str] = {}
        self.body: list[str] = []
        self.nonlinear = False

    def script(self, obligation: Obligation) -> Script:
        for premise in obligation.premises:
            text = self.truth(premise)
            self.body.append(f"(assert {text})")
        text = self.truth(obligation.goal)
        self.body.append(f"(assert (not {text}))")
        head = ["(set-logic QF_NIA)" if self.nonlinear else "(set-logic QF_LIA)"]
        head += [f"(declare-fun {symbol} () Int)" for symbol in sorted(self.names.values())]
        lines = head + self.body + ["(check-sat)", ""]
        bare = tuple((name, self.names[name].strip("|")) for name in sorted(self.names))
        return Script("\n".join(lines), bare)

    def truth(self, formula: Formula) -> str:
        if isinstance(formula, index.Compare):
            left, right = self.number(formula.left), self.number(formula.right)
            if formula.relation == "!=":
                return f"(not (= {left} {right}))"
            return f"({_RELATIONS[formula.relation]} {left} {right})"
        if isinstance(formula, (index.And, index.Or)):
            return self.join(formula)
        if isinstance(formula, index.Not):
            return f"(not {self.truth(formula.body)})"
        if isinstance(formula, index.Truth):
            return "true" if formula.value else "false"
        _refuse(formula)

    def join(self, formula: index.And | index.Or) -> str:
        is_and = isinstance(formula, index.And)
        texts = [self.truth(part) for part in formula.parts]
        if not texts:
            return "true" if is_and else "false"
        if len(texts) == 1:
            return texts[0]
        return f"({'and' if is_and else 'or'} {' '.join(texts)})"

    def number(self, term: Index) -> str:
        if isinstance(term, index.Var):
            return self.names.get(term.name) or self.declare(term.name)
        if isinstance(term, index.Const):
            return _numeral(term.value)
        if isinstance(term, index.Sum):
            texts = [self.number(part) for part in term.terms]
            return f"(+ {' '.join(texts)})" if len(texts) > 1 else "".join(texts) or "0"
        if isinstance(term, index.Product):
            return self.multiply(term)
        if isinstance(term, (index.Div, index.Mod)):
            return self.divide(term)
        if isinstance(term, (index.Min, index.Max)):
            left, right = self.short(term.left), self.short(term.right)
            return f"(ite ({'<=' if isinstance(term, index.Min) else '>='} {left} {right}) {left} {right})"
        _refuse(term)

    def multiply(self, term: index.Product) -> str:
        """A product; a factor without variables is printed as its value, so that linear looks linear."""
        values = (_value(term.left), _value(term.right))
        if values == (None, None):
            self.nonlinear = True
        factors = zip((term.left, term.right), values, strict=True)
        left, right = (self.number(factor) if value is None else _numeral(value) for factor, value in factors)
        return f"(* {left} {right})"

    def divide(self, term: index.Div | index.Mod) -> str:
        """Floor division or its remainder, from the Euclidean ones."""
        is_div = isinstance(term, index.Div)
        divisor = _value(term.right)
        if divisor is None or divisor == 0:
            self.nonlinear = True
            return _corrected(is_div, self.short(term.left), self.short(term.right))
        left = self.number(term.left)
        if divisor > 0:
            return f"({'div' if is_div else 'mod'} {left} {divisor})"
        return f"(div (- {left}) {-divisor})" if is_div else f"(- (mod (- {left}) {-divisor}))"

    def short(self, term: Index) -> str:
        """A term that is printed several times: named by a definition when it is long."""
        text = self.number(term)
        if len(text) <= _LONG:
            return text
        name = self.shared.get(text)
        if name is None:
            name = self.shared[text] = f"|term {len(self.shared)}|"
            self.body.append(f"(define-fun {name} () Int {text})")
        return name

    def declare(self, name: str) -> str:
        """The symbol of a variable, quoted as it must be; `name'` in bars with a space when taken."""
        if name in _WORDS or ("." in name and name[:1].islower()):
            symbol = f"|{name} itself|"
        elif _PLAIN.match(name):
            symbol = name
        elif _QUOTABLE.match(name):
            symbol = f"|{name}|"
        else:
            raise EncodingError(f"this name cannot stand in an SMT-LIB script: {name!r}")
        self.names[name] = symbol
        return symbol


def _corrected(is_div: bool, left: str, right: str) -> str:
    """Floor division or its remainder, for a divisor of either sign."""
    quotient, remainder = f"(div {left} {right})", f"(mod {left} {right})"
    differs = f"(and (< {right} 0) (not (= {remainder} 0)))"
    if is_div:
        return f"(ite {differs} (- {quotient} 1) {quotient})"
    return f"(ite {differs} (+ {remainder} {right}) {remainder})"


def _numeral(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"


def _value(term: Index) -> int | None:
    """The value of a term without variables and without division by zero, else none."""
    if isinstance(term, index.Const):
        return term.value
    if isinstance(term, index.Var):
        return None
    if isinstance(term, index.Sum):
        found = [_value(part) for part in term.terms]
        return None if None in found else sum(value for value in found if value is not None)
    left, right = _value(term.left), _value(term.right)
    if left is None or right is None or (isinstance(term, (index.Div, index.Mod)) and right == 0):
        return None
    return index.evaluate(term, {})


def _refuse(item: object) -> NoReturn:
    raise EncodingError(f"neither a term nor a formula: {item!r}")
