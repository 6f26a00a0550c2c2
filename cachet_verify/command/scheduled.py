"""`scheduled FILE NAME`: the function a schedule generates, and its claim last.

Takes a file and the name of a schedule or contraction; writes the listing.
Must not print half a listing: the whole text comes from the session.
"""

from __future__ import annotations

from pathlib import Path

import click

from cachet_verify.command.stream import write
from cachet_verify.exit_code import ExitCode


@click.command("scheduled")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("name")
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="Print the nest after step N; 0 is the contraction's own nest.")
@click.option("--all-steps", is_flag=True, help="Print every intermediate nest.")
@click.option("--relate", is_flag=True, help="Compare the generated nest with the contraction directly.")
@click.option("--shadow", is_flag=True, help="Print the reference loops of a regrouped reduction.")
def command(file: Path, name: str, step: int | None, all_steps: bool, relate: bool, shadow: bool) -> int:
    """Print the function that the schedule NAME of FILE generates, and its claim last. NAME may also be a contraction."""
    if step is not None and all_steps:
        raise click.UsageError("--step and --all-steps exclude each other")
    from cachet_verify import session

    text = session.scheduled(file, name, step, all_steps, relate, shadow)
    write(text if text.endswith("\n") else f"{text}\n")
    return ExitCode.PROVED
