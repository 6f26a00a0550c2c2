"""What an assertion can say of memory: the sizes of a function, the bytes of a buffer, and lines.

Takes `packed.K`, `span_bytes packed.packB.span` and `lines (…)` in an assertion; gives terms, the
facts that hold of their variables, and the proofs of layouts they rest on. Must not let a span
start where that is convenient: what is said of its lines holds wherever it starts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cachet_verify.core.element import ELEMENTS
from cachet_verify.core.index import ONE, ZERO, Const, Formula, Index, Var, add, ceil_div, disj, div, eq, le, lt, mul, substitute, substitute_formula
from cachet_verify.core.ir import Param, Program
from cachet_verify.elaborate.context import Context, near_miss
from cachet_verify.elaborate.item import Entry, LayoutItem
from cachet_verify.elaborate.layout import build_layout, product, size_of
from cachet_verify.elaborate.place import source_text
from cachet_verify.elaborate.problem import StopError
from cachet_verify.elaborate.scope import DOTTED, CountEntity, Scope, SideCondition
from cachet_verify.elaborate.term import elaborate_index
from cachet_verify.syntax import ast

if TYPE_CHECKING:
    from cachet_verify.elaborate.world import Unit

_SPAN = "`span_bytes packed.packB.span`: a function, and a buffer of it"


@dataclass(slots=True)
class Counts:
    """The counts of one assertion, as they are met. `facts` hold of the variables that stand for them."""

    unit: Unit
    context: Context
    facts: list[Formula] = field(default_factory=list)
    conditions: list[SideCondition] = field(default_factory=list)
    assumes: list[str] = field(default_factory=list)
    lines: dict[str, Index] = field(default_factory=dict)

    def scope(self, scope: Scope) -> Scope:
        """The scope with the names of counts; a name that the assertion binds itself hides them."""
        for name, apply in (("span_bytes", self.span_bytes), ("lines", self.count_lines), (DOTTED, self.size)):
            if scope.find(name) is None:
                scope = scope.bind(name, CountEntity(name, apply))
        return scope

    def size(self, expr: ast.Expr, scope: Scope) -> Index | None:
        """A size of a function, `matmul.K`; None for any other dotted name."""
        if not isinstance(expr, ast.Field) or not isinstance(expr.base, ast.Name):
            return None
        program = self.program(expr.base.name, expr)
        if program is None:
            return None
        if expr.name not in program.sizes:
            known = ", ".join(f"`{program.name}.{size}`" for size in program.sizes)
            raise self.context.stop("elaborate.count", f"`{expr.base.name}` has no size `{expr.name}`", expr.span, f"it has {known}" if known else "")
        return self.sizes(expr.base.name, program)[expr.name]

    def span_bytes(self, expr: ast.Expr, scope: Scope) -> Index:
        """The bytes of a buffer from its first address to its last, `span_bytes packed.packB.span`."""
        place = expr.args[0] if isinstance(expr, ast.Apply) and len(expr.args) == 1 else expr
        buffer = place.base if isinstance(place, ast.Field) and place.name == "span" else None
        if not isinstance(buffer, ast.Field) or not isinstance(buffer.base, ast.Name):
            raise self.context.stop("elaborate.count", "`span_bytes` is of the span of a function's buffer", expr.span, _SPAN)
        program = self.program(buffer.base.name, expr)
        if program is None:
            raise self.context.unknown(buffer.base.name, buffer.span, scope)
        param = next((param for param in program.params if param.name == buffer.name), None)
        if param is None:
            hint = near_miss(buffer.name, [param.name for param in program.params]) or _SPAN
            raise self.context.stop("elaborate.count", f"`{buffer.base.name}` has no buffer `{buffer.name}`", expr.span, hint)
        by = self.sizes(buffer.base.name, program)
        return substitute(self.bytes_of(param, expr), by)

    def bytes_of(self, param: Param, expr: ast.Expr) -> Index:
        """What a buffer takes, in terms of its function's sizes. Raises StopError where its element has no size."""
        if param.elem not in ELEMENTS:
            message = f"`{param.name}` holds `{param.elem}`, whose size is not known"
            raise self.context.stop("elaborate.count", message, expr.span, "name a schedule that binds it, or an instance")
        cells = product(param.shape)
        if param.layout is not None:
            layout = self.layout(param.layout.name, param.layout.source)
            self.conditions += [part for part in layout.conditions if part not in self.conditions]
            cells = size_of(layout, param.layout.args, param.shape)
        return mul(cells, Const((ELEMENTS[param.elem].width + 7) // 8))

    def layout(self, name: str, source: str) -> LayoutItem:
        """The layout of that name in a file. Raises StopError."""
        unit = self.unit.file(source)
        entry = unit.find(name)
        if entry is None or not isinstance(entry.declaration, ast.Layout):
            raise StopError(name)
        return build_layout(unit, entry.declaration)

    def count_lines(self, expr: ast.Expr, scope: Scope) -> Index:
        """The lines that so many bytes touch, wherever they start: one variable for each text, since two spans may start apart.

        It is at least what whole lines take, and at most what the worst start adds.
        """
        inner = expr.args[0] if isinstance(expr, ast.Apply) and len(expr.args) == 1 else None
        if inner is None:
            raise self.context.stop("elaborate.call.arity", "`lines` takes a number of bytes", expr.span, "`lines (span_bytes packed.packB.span)`")
        text = source_text(inner)
        if text in self.lines:
            return self.lines[text]
        size = elaborate_index(inner, scope, self.context)
        line = Const(self.line(expr))
        count = Var(self.named(inner))
        most = add(div(add(size, line, Const(-2)), line), ONE)
        bounded = (le(ceil_div(size, line), count), disj((le(size, ZERO), le(count, most))), disj((lt(ZERO, size), eq(count, ZERO))))
        self.facts += [le(ZERO, count), *bounded]
        self.lines[text] = count
        return count

    def named(self, inner: ast.Expr) -> str:
        """The name of a count in counterexamples: `packed.packB.lines` for a span, `lines.1` for other bytes."""
        text = source_text(inner).removeprefix("span_bytes ")
        is_span = text.endswith(".span") and all(part.isidentifier() for part in text.split("."))
        return f"{text.removesuffix('.span')}.lines" if is_span else f"lines.{len(self.lines) + 1}"

    def line(self, expr: ast.Expr) -> int:
        """The bytes of a line, where all levels of the platform agree."""
        platform = self.unit.platform()
        known = {} if platform is None else {name: level["line"] for name, level in platform.levels.items() if "line" in level}
        if platform is not None and len(set(known.values())) == 1:
            self.assumes += [text for name, size in known.items() if (text := f"{platform.name}.line @{name} = {size}") not in self.assumes]
            return next(iter(known.values()))
        message = "`lines` counts the lines of the platform's caches, and " + (
            "their sizes differ" if known else "this file names no platform with any"
        )
        raise self.context.stop("elaborate.count", message, expr.span, "say how long a line is: `line_ceil bytes 128`")

    # --- functions ---

    def program(self, name: str, expr: ast.Expr) -> Program | None:
        """The program of a contraction, a function, or a schedule with its buffers; None for another name. Raises StopError."""
        entry: Entry | None = self.unit.find(name)
        if entry is None or not isinstance(entry.declaration, (ast.Contraction, ast.Fn, ast.Schedule)):
            return None
        if isinstance(entry.declaration, ast.Schedule):
            schedule = self.unit.schedule(entry, expr.span)
            if schedule.program is None or schedule.failed:
                raise StopError(name)
            extra = tuple(buffer for buffer in schedule.buffers if buffer not in schedule.program.params)
            return Program(name, schedule.program.sizes, (*schedule.program.params, *extra), schedule.program.body, schedule.program.requires)
        found = self.unit.program(entry, expr.span)
        if found.failed or found.program is None:
            raise StopError(name)
        return found.program

    def sizes(self, name: str, program: Program) -> dict[str, Index]:
        """The sizes of a function as variables of their own; they are naturals that meet what it requires."""
        by: dict[str, Index] = {size: Var(f"{name}.{size}") for size in program.sizes}
        facts = [*(le(ZERO, term) for term in by.values()), *(substitute_formula(need.condition, by) for need in program.requires)]
        self.facts += [fact for fact in facts if fact not in self.facts]
        return by
