"""`account FILE NAME`: what each operation of a nest reads, writes and computes.

Takes a file, the name of a schedule, contraction or function, and sizes; writes the account as text or JSON.
Must not compute anything itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from cachet_verify.command.stream import write
from cachet_verify.exit_code import ExitCode


@click.command("account")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("name")
@click.option("--exact", is_flag=True, help="Count ragged blocks as they are, all runs of an operation together.")
@click.option("--at", default="", metavar="SIZE=VALUE,…", help="Evaluate at these sizes; those left out stay names.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to write the account.")
def command(file: Path, name: str, exact: bool, at: str, style: str) -> int:
    """Print how often each operation of NAME in FILE runs, the bytes it reads and writes, and its work.

    Blocks count as full, so the account is never below what is moved, and meets it at multiples of the blocks. NAME may be a schedule, a
    contraction or a function.
    """
    from cachet_verify import session

    text, document = session.account_shown(file, name, exact, at)
    write(f"{json.dumps(document, indent=2, ensure_ascii=False)}\n" if style == "json" else text)
    return ExitCode.PROVED
