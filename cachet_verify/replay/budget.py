"""A budget of executed updates: what a search may do, whatever the machine.

Takes a number of updates; gives runs that stop when it is used up. Must not look at a clock.
"""

from __future__ import annotations

from collections.abc import Mapping

from cachet_verify.core.meaning import Executable
from cachet_verify.core.memory import BudgetError, Cells


class Budget:
    """How many more updates may be executed; cells that are given a word count as updates.

    One run may use a quarter of the whole at most, so that sizes that are too large do not use up all.
    """

    def __init__(self, updates: int) -> None:
        self.left = updates
        self.most = max(updates // 4, 1)

    def spend(self, updates: int) -> None:
        """Take some away. Raises BudgetError, without taking any, when it is more than one run may use."""
        if updates > min(self.left, self.most):
            raise BudgetError
        self.left -= updates

    def run(self, executable: Executable, sizes: Mapping[str, int], cells: Mapping[str, Cells]) -> None:
        """Run a program and take away what it executed. Raises as `Executable.run`."""
        try:
            executable.run(sizes, cells, budget=min(self.left, self.most))
        finally:
            self.left -= executable.executed
