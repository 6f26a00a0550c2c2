"""The commands that are named and not carried out yet.

Takes any arguments; gives one message and the exit code for undecided.
Must not pretend to have done anything.
"""

from __future__ import annotations

import click

from cachet_verify.command.stream import write_error
from cachet_verify.exit_code import ExitCode


def planned_command(name: str, does: str) -> click.Command:
    """Give the command `name`, which says that what it `does` is not supported yet."""

    def answer(arguments: tuple[str, ...]) -> int:
        """Say so."""
        words = " ".join((name, *arguments))
        write_error(f"cachet-verify {words}: error[tool.not-supported]: {does.lower()}: the command `{name}` is not supported yet")
        return ExitCode.UNDECIDED

    return click.Command(
        name,
        callback=answer,
        params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED, metavar="[ARGUMENT]...")],
        context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
        help=f"{does}. Not supported yet: says so and exits with 3.",
        short_help=f"{does}.",
    )
