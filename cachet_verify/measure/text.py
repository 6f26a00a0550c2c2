"""Text of LLVM IR: the reference body of an instruction as straight lines, and comparisons of words.

Takes a program without sizes; gives the text of a function over arrays of words. Must not translate an operation whose
words LLVM leaves open, but for which NaN a NaN is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import evaluate, holds
from cachet_verify.core.ir import Block, Choose, Fold, For, Load, Op, Range, Stmt, Store, Value, Word
from cachet_verify.measure.subject import Part, Subject

_FLOAT = {"f32": "float", "f64": "double"}
_BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTEGER = {"add": "add", "sub": "sub", "mul": "mul", "and_": "and", "or_": "or", "xor": "xor"}
_CALLS = {"fma": "fma", "sqrt": "sqrt", "abs": "fabs"}


class UntranslatedError(Exception):
    """The reference body does something that is left to the interpreter."""


def type_of(elem: str) -> str:
    """The type of an element type in LLVM IR. Raises UntranslatedError for floats that are no f32 or f64, and truth values."""
    if elem in _FLOAT:
        return _FLOAT[elem]
    if ELEMENTS[elem].kind in ("float", "bool"):
        raise UntranslatedError(elem)
    return f"i{ELEMENTS[elem].width}"


def reference_text(subject: Subject) -> str:
    """The module with `reference`: a number of uses, an array for each operand, and the array of results. Raises UntranslatedError."""
    if subject.flushes:
        raise UntranslatedError("flushing")
    writer = _Writer(subject)
    writer.block(subject.program.body, {})
    return looped("reference", (*subject.operands, subject.result), writer.lines, writer.declared)


def looped(name: str, parts: tuple[Part, ...], lines: list[str], declared: Mapping[str, str]) -> str:
    """A function that does lines for each use, where `%NAME.at` is where a part's words of that use are."""
    params = ", ".join(f"ptr %{part.name}.all" for part in parts)
    places = [
        line
        for part in parts
        for line in (
            f"  %{part.name}.offset = mul i64 %use, {part.words * part.size}",
            f"  %{part.name}.at = getelementptr i8, ptr %{part.name}.all, i64 %{part.name}.offset",
        )
    ]
    return "\n".join(
        (
            *declared.values(),
            f"define void @{name}(i64 %count, {params}) {{",
            "entry:",
            "  %any = icmp ne i64 %count, 0",
            "  br i1 %any, label %each, label %done",
            "each:",
            "  %use = phi i64 [ 0, %entry ], [ %next, %each ]",
            *places,
            *lines,
            "  %next = add i64 %use, 1",
            "  %more = icmp ult i64 %next, %count",
            "  br i1 %more, label %each, label %done",
            "done:",
            "  ret void",
            "}",
            "",
        )
    )


@dataclass(slots=True)
class _Writer:
    """The straight lines of a body, every loop unrolled."""

    subject: Subject
    lines: list[str] = field(default_factory=list)
    declared: dict[str, str] = field(default_factory=dict)
    count: int = 0

    def block(self, block: Block, at: Mapping[str, int]) -> None:
        """The statements in order."""
        for stmt in block.body:
            self.statement(stmt, at)

    def statement(self, stmt: Stmt, at: Mapping[str, int]) -> None:
        """A loop, or one word of the result."""
        if isinstance(stmt, For) and isinstance(stmt.domain, Range):
            for index in range(evaluate(stmt.domain.low, at), evaluate(stmt.domain.high, at)):
                self.block(stmt.body, {**at, stmt.counter: index})
        elif isinstance(stmt, Store) and stmt.lanes is None and stmt.buffer == self.subject.result.name:
            place = evaluate(stmt.index[0], at) if stmt.index else 0
            value = self.value(stmt.value, self.subject.result.elem, at, {})
            self.lines.append(f"  store {type_of(self.subject.result.elem)} {value}, ptr {self.cell(self.subject.result, place)}")
        else:
            raise UntranslatedError(type(stmt).__name__)

    def cell(self, part: Part, place: int) -> str:
        """Where a word is."""
        return self.named(f"getelementptr {type_of(part.elem)}, ptr %{part.name}.at, i64 {place}")

    def named(self, text: str) -> str:
        """A name for what an instruction of LLVM gives."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def value(self, value: Value, elem: str, at: Mapping[str, int], totals: Mapping[str, str]) -> str:
        """A name or a constant for a value."""
        if isinstance(value, Load):
            return self.load(value, at, totals)
        if isinstance(value, Word):
            return self.word(value)
        if isinstance(value, Op):
            return self.operation(value, [self.value(arg, value.elem, at, totals) for arg in value.args])
        if isinstance(value, Choose):
            return self.value(value.then if holds(value.condition, at) else value.orelse, elem, at, totals)
        if isinstance(value, Fold) and isinstance(value.domain, Range):
            total = self.value(value.init, value.elem, at, totals)
            for index in range(evaluate(value.domain.low, at), evaluate(value.domain.high, at)):
                total = self.value(value.step, value.elem, {**at, value.counter: index}, {**totals, value.acc: total})
            return total
        raise UntranslatedError(type(value).__name__)

    def load(self, load: Load, at: Mapping[str, int], totals: Mapping[str, str]) -> str:
        """A total, or a word of an operand."""
        if load.buffer in totals:
            return totals[load.buffer]
        part = next((part for part in self.subject.operands if part.name == load.buffer), None)
        if part is None:
            raise UntranslatedError(load.buffer)
        place = evaluate(load.index[0], at) if load.index else 0
        if not 0 <= place < part.words:
            raise UntranslatedError(f"{load.buffer}[{place}]")
        return self.named(f"load {type_of(part.elem)}, ptr {self.cell(part, place)}")

    def word(self, word: Word) -> str:
        """A constant, by its bits."""
        kind, width = type_of(word.elem), ELEMENTS[word.elem].width
        return self.named(f"bitcast i{width} {word.bits} to {kind}") if word.elem in _FLOAT else str(word.bits)

    def operation(self, value: Op, args: list[str]) -> str:
        """One operation on names, or a call of LLVM's own."""
        kind = type_of(value.elem)
        if value.elem in _FLOAT:
            if value.name in _BINARY:
                return self.named(f"{_BINARY[value.name]} {kind} {', '.join(args)}")
            if value.name == "neg":
                return self.named(f"fneg {kind} {args[0]}")
            if value.name in _CALLS:
                return self.call(f"llvm.{_CALLS[value.name]}.{value.elem}", kind, args)
        elif value.name in _INTEGER:
            return self.named(f"{_INTEGER[value.name]} {kind} {', '.join(args)}")
        raise UntranslatedError(value.name)

    def call(self, name: str, kind: str, args: list[str]) -> str:
        """A call of an intrinsic function of words of one type."""
        self.declared[name] = f"declare {kind} @{name}({', '.join(kind for _ in args)})"
        return self.named(f"call {kind} @{name}({', '.join(f'{kind} {arg}' for arg in args)})")


def comparison_text(elem: str) -> str:
    """The module with `compare`: two arrays of words, how many, and what is counted of them.

    Counted are the words that differ, all NaNs being one, the first of them, and the subnormal, infinite and NaN words
    of the second array.
    """
    element = ELEMENTS[elem]
    width = max(8, element.width)
    is_float = element.kind == "float"
    magnitude, infinity, hidden = (element.sign - 1, element.infinity, element.hidden) if is_float else (0, 0, 0)
    return _COMPARE.format(i=f"i{width}", magnitude=magnitude, infinity=infinity, hidden=hidden)


_COMPARE = """\
define void @compare(i64 %count, ptr %one, ptr %other, ptr %counts) {{
entry:
  %any = icmp ne i64 %count, 0
  br i1 %any, label %each, label %done
each:
  %at = phi i64 [ 0, %entry ], [ %next, %each ]
  %p = getelementptr {i}, ptr %one, i64 %at
  %q = getelementptr {i}, ptr %other, i64 %at
  %x = load {i}, ptr %p
  %y = load {i}, ptr %q
  %mx = and {i} %x, {magnitude}
  %my = and {i} %y, {magnitude}
  %nx = icmp ugt {i} %mx, {infinity}
  %ny = icmp ugt {i} %my, {infinity}
  %both = and i1 %nx, %ny
  %unlike = icmp ne {i} %x, %y
  %apart = xor i1 %both, true
  %differs = and i1 %unlike, %apart
  %positive = icmp ne {i} %my, 0
  %below = icmp ult {i} %my, {hidden}
  %tiny = and i1 %positive, %below
  %is = icmp eq {i} %my, {infinity}
  %floats = icmp ne {i} {infinity}, 0
  %infinite = and i1 %is, %floats
  %c0 = load i64, ptr %counts
  %f0 = icmp eq i64 %c0, 0
  %first = and i1 %differs, %f0
  %pf = getelementptr i64, ptr %counts, i64 1
  %of = load i64, ptr %pf
  %nf = select i1 %first, i64 %at, i64 %of
  store i64 %nf, ptr %pf
  %d0 = zext i1 %differs to i64
  %s0 = add i64 %c0, %d0
  store i64 %s0, ptr %counts
  %p2 = getelementptr i64, ptr %counts, i64 2
  %c2 = load i64, ptr %p2
  %d2 = zext i1 %tiny to i64
  %s2 = add i64 %c2, %d2
  store i64 %s2, ptr %p2
  %p3 = getelementptr i64, ptr %counts, i64 3
  %c3 = load i64, ptr %p3
  %d3 = zext i1 %infinite to i64
  %s3 = add i64 %c3, %d3
  store i64 %s3, ptr %p3
  %p4 = getelementptr i64, ptr %counts, i64 4
  %c4 = load i64, ptr %p4
  %d4 = zext i1 %ny to i64
  %s4 = add i64 %c4, %d4
  store i64 %s4, ptr %p4
  %next = add i64 %at, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %each, label %done
done:
  ret void
}}
"""
