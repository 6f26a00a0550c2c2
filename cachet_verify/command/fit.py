"""`fit PATH…`: which schedules fit which platforms, by how much, and the largest extents that still do.

Takes files or folders and platforms; writes a table as text or JSON, and gives the exit code of its worst cell.
Must not count anything itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from cachet_verify.command.stream import write
from cachet_verify.exit_code import of_fit


@click.command("fit")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--platforms", default="", metavar="P,…", help="On these; else on the one a file names, or on all that are shipped.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to write the table.")
def command(paths: tuple[Path, ...], platforms: str, style: str) -> int:
    """Print for each schedule of PATH whether what it keeps fits each platform: bytes or registers used and there, level by level.

    For every extent of a kept buffer that is a number, the largest with which it still fits, everything else as it is. A platform is
    named by itself or by its file: AppleSilicon, x86-64-v3. This counts and proves nothing; `check` proves.
    """
    from cachet_verify import session

    names = tuple(name.strip() for name in platforms.split(",") if name.strip())
    text, document, verdicts = session.fit_shown(paths, names)
    write(f"{json.dumps(document, indent=2, ensure_ascii=False)}\n" if style == "json" else text)
    return of_fit(verdicts)
