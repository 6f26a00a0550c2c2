"""What the names of a schedule stand for while its steps are applied.

Takes the definitions in reach of a schedule; gives look-ups. Must not hold any state of a rewrite
but the number of steps that have been applied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cachet_verify.core.element import Arithmetic
from cachet_verify.core.index import Const, Index, Var
from cachet_verify.core.ir import Param
from cachet_verify.elaborate.reference import Reference
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Scope:
    """The step fns, schedule fns, constants and buffers that a schedule can name.

    `step_fns` holds every definition of a name, since one name may be defined at several shapes
    (`zero (i) y`, `zero (i, j) c`); a later one hides an earlier one of the same shape. A constant is
    a number or the name of a size. `buffers` are the scratch parameters of the schedule's header.
    `device` is what the grids that steps make run on, None for the host; `units` are its instructions for tiles.
    `schedule` and `applied` name a step: `swapped'1_sloppy` is `sloppy` after one step of `swapped`.
    """

    step_fns: Mapping[str, tuple[ast.StepFn, ...]] = field(default_factory=dict)
    schedule_fns: Mapping[str, ast.ScheduleFn] = field(default_factory=dict)
    constants: Mapping[str, int | str] = field(default_factory=dict)
    buffers: tuple[Param, ...] = ()
    schedule: str = "schedule"
    applied: int = 0
    device: Arithmetic | None = None
    units: tuple[Reference, ...] = ()

    def constant(self, name: str) -> Index | None:
        """The term a constant stands for; None when there is no such constant."""
        value = self.constants.get(name)
        if value is None:
            return None
        return Const(value) if isinstance(value, int) else Var(value)

    def buffer(self, name: str) -> Param | None:
        """The scratch buffer of that name in the schedule's header; None when there is none."""
        return next((param for param in self.buffers if param.name == name), None)

    def step_name(self, step: str) -> str:
        """The name of a relation: schedule, steps already applied, step."""
        return f"{self.schedule}'{self.applied}_{step}"

    def advanced(self) -> Scope:
        """The same scope after one more step."""
        return replace(self, applied=self.applied + 1)


def index_step_fns(definitions: Sequence[ast.StepFn]) -> dict[str, tuple[ast.StepFn, ...]]:
    """Group step definitions by name, in the order given."""
    table: dict[str, tuple[ast.StepFn, ...]] = {}
    for definition in definitions:
        table[definition.name] = (*table.get(definition.name, ()), definition)
    return table
