"""Core values back to syntax: operators, literals, vector operands as slices and splats.

Takes a program's buffers and a value; gives an expression. Must not change a word: a literal
that no decimal gives is spelled by its bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import Const, Index, Sum, Var, add, variables
from cachet_verify.core.ir import Blocks, Choose, Domain, Fold, Lanes, Load, OfIndex, Op, Value, Word, values
from cachet_verify.core.numeral import text_of_word
from cachet_verify.core.outer import OuterProduct
from cachet_verify.elaborate.lift_term import TermLifter, call
from cachet_verify.elaborate.operation import ARITHMETIC, ELEMENTARY
from cachet_verify.syntax import ast

_OPERATORS = {core: sign for sign, core in ARITHMETIC.items()}
_COMPARISONS = {"lt": "<", "le": "<=", "eq": "=="}


class LiftError(Exception):
    """A core program that the language has no notation for; the text says what."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a name: whether reading it is written `load`, its element type, and its lanes."""

    elem: str
    is_memory: bool
    width: int | None = None


@dataclass(slots=True)
class ValueLifter:
    """Turns values into expressions; `lanes` are those of the statement at hand."""

    terms: TermLifter
    known: dict[str, Known] = field(default_factory=dict)

    # --- places ---

    def place(self, buffer: str, index: tuple[Index, ...], lanes: Lanes | None, explicit: bool) -> ast.Expr:
        """A cell, or where the lane occurs in its index, a part of a buffer."""
        info = self.known[buffer]
        items = list(index)
        parts: list[ast.Expr] = []
        if info.width is not None and lanes is not None and items and items[-1] == Var(lanes.counter):
            del items[-1]
            if explicit:
                parts.append(ast.Slice(ast.IntLit(0), self.terms.term(lanes.active)))
        elif info.width is not None and lanes is not None and items:
            parts.append(self.item(items.pop(), lanes))
        shown = [self.item(term, lanes) for term in items]
        if sum(isinstance(item, ast.Slice) for item in (*shown, *parts)) > 1:
            raise LiftError(f"a diagonal of {buffer}")
        whole = (*shown, *parts)
        return ast.Index(ast.Name(buffer), whole) if whole else ast.Name(buffer)

    def item(self, term: Index, lanes: Lanes | None) -> ast.Expr:
        """One index; a slice where it is the lane plus something."""
        if lanes is None or lanes.counter not in variables(term):
            return self.terms.term(term)
        parts = term.terms if isinstance(term, Sum) else (term,)
        rest = [part for part in parts if part != Var(lanes.counter)]
        if len(rest) != len(parts) - 1 or any(lanes.counter in variables(part) for part in rest):
            raise LiftError("lanes that are not neighbours")
        low = add(*rest)
        return ast.Slice(self.terms.term(low), self.terms.term(add(low, lanes.active)))

    # --- values ---

    def value(self, value: Value, lanes: Lanes | None = None, explicit: bool = False) -> ast.Expr:
        """A value as an expression. Raises LiftError."""
        if lanes is not None and not self.varies(value, lanes):
            return call("splat", self.value(value))
        if isinstance(value, Load):
            if lanes is not None and self.is_slice(value, lanes):
                return self.slice(value, lanes)
            place = self.place(value.buffer, value.index, lanes, explicit)
            return ast.Load(place) if self.known[value.buffer].is_memory else place
        if isinstance(value, Word):
            return literal(value)
        if isinstance(value, OfIndex):
            if lanes is not None:
                raise LiftError("a lane's number as a word")
            return ast.Cast(self.terms.term(value.term), ast.Name(value.elem))
        if isinstance(value, Op):
            return self.operation(value, lanes, explicit)
        if isinstance(value, Choose):
            if lanes is not None and lanes.counter in variables(value.condition):
                raise LiftError("a choice by lane")
            then, orelse = self.value(value.then, lanes, explicit), self.value(value.orelse, lanes, explicit)
            return ast.IfExpr(self.terms.formula(value.condition), then, orelse)
        return self.fold(value)

    def is_slice(self, load: Load, lanes: Lanes) -> bool:
        """Whether a load gives all lanes of a statement neighbouring lanes of a wider vector."""
        width = self.known[load.buffer].width
        return width is not None and width > lanes.width and lanes.active == Const(lanes.width)

    def slice(self, load: Load, lanes: Lanes) -> ast.Expr:
        """`slice_lanes v n`: lanes of a vector from lane `n` on."""
        vector = self.place(load.buffer, (*load.index[:-1], Var(lanes.counter)), lanes, False)
        first = self.item(load.index[-1], lanes)
        if not isinstance(first, ast.Slice):
            raise LiftError(f"one lane of {load.buffer} in all lanes")
        return call("slice_lanes", vector, first.low)

    def varies(self, value: Value, lanes: Lanes) -> bool:
        """Whether a value differs from lane to lane."""
        for part in values(value):
            if isinstance(part, Load) and any(lanes.counter in variables(term) for term in part.index):
                return True
            if isinstance(part, OfIndex) and lanes.counter in variables(part.term):
                return True
            if isinstance(part, Choose) and lanes.counter in variables(part.condition):
                return True
        return False

    def fold(self, value: Fold) -> ast.Expr:
        """A fold."""
        start = self.value(value.init)
        domain = lift_domain(self.terms, value.domain)
        self.terms.enter(value.counter, value.domain)
        self.known[value.acc] = Known(value.elem, False)
        return ast.Fold(value.counter, domain, start, value.acc, type_of(value.elem), self.value(value.step))

    def operation(self, value: Op, lanes: Lanes | None, explicit: bool) -> ast.Expr:
        """An operation: an operator where there is one, else a call."""
        head, _, types = value.name.partition(" ")
        if head == "convert":
            return ast.Cast(self.typed(value.args[0], types.partition(" ")[0], lanes, explicit), ast.Name(value.elem))
        if head in ELEMENTARY:
            return call(head, self.value(value.args[-1], lanes, explicit))
        args = tuple(self.value(arg, lanes, explicit) for arg in value.args)
        if head in _OPERATORS:
            return ast.Binary(_OPERATORS[head], *args)
        if head in _COMPARISONS:
            return ast.Binary(_COMPARISONS[head], self.typed(value.args[0], types, lanes, explicit), args[1])
        if head == "neg":
            return ast.Unary("-", args[0])
        if value.elem == "bool" and head in ("and_", "or_"):
            return ast.Binary(head.removesuffix("_"), *args)
        if value.elem == "bool" and head == "not_":
            return ast.Unary("not", args[0])
        generic, dot, member = head.partition(".")
        function: ast.Expr = ast.Field(ast.Name(generic), member) if dot else ast.Name(head)
        return ast.Apply(function, (), args or (ast.Tuple(()),))

    def typed(self, value: Value, elem: str, lanes: Lanes | None, explicit: bool) -> ast.Expr:
        """A value whose type the text must tell: a literal says it."""
        shown = self.value(value, lanes, explicit)
        return ast.Cast(shown, ast.Name(elem)) if isinstance(value, Word) and value.elem != "bool" else shown


def lift_domain(terms: TermLifter, domain: Domain) -> ast.Range | ast.Blocks:
    """A loop's domain as syntax."""
    if isinstance(domain, Blocks):
        return ast.Blocks(terms.term(domain.low), terms.term(domain.high), terms.term(domain.size))
    return ast.Range(terms.term(domain.low), terms.term(domain.high))


def type_of(elem: str, width: int | None = None, block: OuterProduct | None = None) -> ast.Expr:
    """An element type, or a vector type, as syntax; a block of an outer product has rows times columns of them."""
    base, dot, member = elem.partition(".")
    scalar: ast.Expr = ast.Field(ast.Name(base), member) if dot else ast.Name(elem)
    if width is None:
        return scalar
    lanes: ast.Expr = ast.IntLit(width)
    if block is not None:
        lanes = ast.Binary("*", ast.IntLit(block.height), ast.IntLit(block.width))
    return ast.Apply(ast.Name("Vec"), (), (scalar, lanes))


def literal(word: Word) -> ast.Expr:
    """A word as a literal, or by its bits where no decimal gives it."""
    element = ELEMENTS[word.elem]
    if element.kind == "bool":
        return ast.BoolLit(bool(word.bits))
    if element.kind != "float":
        value = element.integer(word.bits)
        return ast.IntLit(value) if value >= 0 else ast.Unary("-", ast.IntLit(-value))
    magnitude = word.bits & ~element.sign
    if magnitude >= element.infinity:
        carrier = "i64" if element.width == 64 else "u32"
        signed = word.bits - (1 << 64) if element.width == 64 and word.bits >> 63 else word.bits
        bits: ast.Expr = ast.IntLit(signed) if signed >= 0 else ast.Unary("-", ast.IntLit(-signed))
        return call("from_bits", ast.Cast(bits, ast.Name(carrier)))
    shown = ast.FloatLit(text_of_word(magnitude, word.elem))
    return ast.Unary("-", shown) if word.bits & element.sign else shown
