"""`trust PATH…`: the ledger of laws, templates, platform facts, solvers and admissions, each with who relies on it.

Takes files or folders; checks them, writes the ledger on a page or as JSON, and gives the exit code of a check. Must not allow anything.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import click

from cachet_verify.command.progress import TerminalProgress
from cachet_verify.command.stream import write, write_error
from cachet_verify.exit_code import of_check
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.policy import find_policy
from cachet_verify.report.text import trusted_text


@click.command("trust")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to write the ledger.")
@click.option("--all", "whole", is_flag=True, help="Every row, with reasons, values and sources in full.")
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where verdicts are cached.")
def command(paths: tuple[Path, ...], style: str, whole: bool, cache: Path | None) -> int:
    """Check PATH and print what its claims rest on: laws (proved, or trusted with a reason), templates with the evidence for them, platform facts
    with their sources, admissions, and the solvers that were believed. For each, how many rely on it; JSON leaves no name out.

    The exit code is that of `check`: 5 where the project's policy does not allow an entry.
    """  # noqa: D205 - one sentence, longer than a line
    from cachet_verify import session

    with TerminalProgress() as progress:
        report, text, document = session.trust_shown(paths, CheckOptions(cache=cache), progress, whole)
    write(f"{json.dumps(document, indent=2, ensure_ascii=False)}\n" if style == "json" else text)
    for file in report.files:
        for diagnostic in file.diagnostics:
            write_error(diagnostic.rendered or f"error[{diagnostic.code}]: {diagnostic.message}")
    violations = find_policy(Path.cwd()).judge(report, datetime.now(UTC).date())
    for found in violations:
        write_error(f"error[{found.code}]: the trust policy does not allow {trusted_text(found.entry)}: {found.says}")
    return of_check(report, trust_violated=bool(violations))
