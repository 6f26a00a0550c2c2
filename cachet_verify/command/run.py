"""`run FILE [NAME]`: the bit-exact interpreter.

Takes a file, the name of a function (`main` when none is given) and its arguments; writes one value a line and nothing else.
Must not compute anything itself.
"""

from __future__ import annotations

from pathlib import Path

import click

from cachet_verify.command.stream import write
from cachet_verify.exit_code import ExitCode


@click.command("run")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
def command(file: Path, name: str | None, arguments: tuple[str, ...]) -> int:
    """Run main, or the function NAME, of FILE in the bit-exact interpreter; print one value a line."""
    from cachet_verify import session

    for line in session.run(file, name, arguments):
        write(f"{line}\n")
    return ExitCode.PROVED
