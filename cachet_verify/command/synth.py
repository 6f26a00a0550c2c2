"""`synth FILE`: what each `synth const` chooses, the candidates ranked, and that nothing smaller satisfies.

Takes a file; writes the searches as text or JSON, and gives the exit code of their verdicts.
Must not search anything itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from cachet_verify.command.stream import write
from cachet_verify.exit_code import of_check


@click.command("synth")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(min=1, max=1000), default=5, show_default=True, metavar="N", help="How many candidates to rank.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to write the searches.")
def command(file: Path, top: int, style: str) -> int:
    """Print the values that each `synth const` of FILE comes to, with the best candidates in order of cost.

    The first is the value the file is checked with, proved to be the least; measure the others before you prefer one of them.
    """
    from cachet_verify import session

    report, text, document = session.synthesis_shown(file, top)
    write(f"{json.dumps(document, indent=2, ensure_ascii=False)}\n" if style == "json" else text)
    return of_check(report, trust_violated=False)
