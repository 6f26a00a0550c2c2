"""Schedules on tiles in tests: a body of nests in a grid, the steps applied to it, the listing, and what that reads back as.

Takes texts; gives programs and listings. Nothing here asks a solver.
"""

from __future__ import annotations

from cachet_verify.core.family import lower
from cachet_verify.core.ir import Program
from cachet_verify.elaborate.lift import lift
from cachet_verify.elaborate.load import load_text
from cachet_verify.elaborate.module import elaborate
from cachet_verify.judge.file import Opened, open_loaded
from cachet_verify.judge.schedule import Applied
from cachet_verify.kernel.normal import canonical
from cachet_verify.syntax.print import print_declaration

GPU = 'module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\nimport "cachet:attention"\n\n'
H200 = 'module (platform = NvidiaH200)\nimport "cachet:platforms/nvidia-h200"\nimport "cachet:monoid"\n\n'


def opened(text: str) -> Opened:
    return open_loaded(load_text(text, "test.cachet"))


def applied(text: str, name: str = "s") -> Applied:
    """A schedule with its steps applied, as far as they go."""
    return opened(text).applied[name]


def refused(text: str, name: str = "s") -> tuple[str, str, str]:
    """The code, the message and the remedy of the step that does not apply."""
    stopped = applied(text, name).stopped
    assert stopped is not None
    return stopped.diagnostic.code, stopped.diagnostic.message, stopped.diagnostic.hint


def listing(program: Program) -> str:
    return print_declaration(lift(program))


def grid_of(program: Program) -> str:
    """The grid of a listing, and what is in it."""
    text = listing(program)
    return f"{text[text.index('  grid ') :].rstrip()}\n"


def reads_back(program: Program, head: str = GPU) -> bool:
    """Whether a listing elaborates to the same families as the program it shows."""
    again = elaborate(load_text(f"{head}{listing(program)}", "again.cachet")).programs[program.name].program
    assert again is not None
    return canonical(lower(again)) == canonical(lower(program))
