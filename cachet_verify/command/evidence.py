"""`evidence FILE [TEMPLATE] --target T`: measures instruction templates against their reference bodies and keeps the records.

Takes a file, a name and a target; writes a line for each template, and gives 1 where a word differed. Must not call anything proved.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from cachet_verify.command.stream import write
from cachet_verify.exit_code import ExitCode


@click.command("evidence")
@click.argument("path", type=click.Path(path_type=Path), metavar="FILE")
@click.argument("name", required=False, metavar="[TEMPLATE]")
@click.option("--target", required=True, metavar="T", help="The target of the templates: host or nvptx.")
@click.option(
    "--words", type=click.IntRange(min=1), default=1_000_000, show_default=True, metavar="N", help="Words of results, of each kind."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, metavar="N", help="Where the inputs are drawn from.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where records are kept; `evidence` of the project.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to write what came out.")
def command(path: Path, name: str | None, **flags: Any) -> int:
    """Run the templates of FILE, or TEMPLATE alone, on the target, and compare every word with the reference body's; all NaNs are one word.

    The inputs are of seven kinds: random, cancelling, wide exponents, subnormal, signed zeros, infinite, NaN. The records say what was measured
    and go stale when the template or the reference body changes. This is evidence and proves nothing: claims go on listing the template.
    """
    from cachet_verify import session

    text, document, mismatches = session.evidence_shown(path, name, flags["target"], flags["words"], flags["seed"], flags["output"])
    write(f"{json.dumps(document, indent=2, ensure_ascii=False)}\n" if flags["style"] == "json" else text)
    if not document:
        return ExitCode.NOTHING
    return ExitCode.REFUSED if mismatches else ExitCode.PROVED
