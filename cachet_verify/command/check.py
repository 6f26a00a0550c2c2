"""`check PATH…`: a verdict for every item, the regression mode, and the trust policy.

Takes the flags; has the session check, writes the report in the format asked for, and gives the exit code.
Must not decide a verdict, nor write a blessed verdict in continuous integration.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import click

from cachet_verify.command.progress import TerminalProgress
from cachet_verify.command.stream import cannot_write, write, write_error, write_file, write_lines
from cachet_verify.exit_code import of_check, of_regression
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.policy import Policy, Violation, find_policy
from cachet_verify.report.record import Report
from cachet_verify.report.regress import Regression, bless, compare
from cachet_verify.report.text import Line, report_lines, trusted_text

# format -> (module of `cachet_verify.report`, its function)
FORMATS = {
    "text": ("text", "render_text"),
    "json": ("document", "render_json"),
    "jsonl": ("document", "render_jsonl"),
    "sarif": ("sarif", "render_sarif"),
    "junit": ("junit", "render_junit"),
    "github": ("github", "render_github"),
}


@click.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
@click.option("--format", "form", type=click.Choice(list(FORMATS)), default="text", show_default=True, help="How the report is written.")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the report to FILE.")
@click.option("--solvers", type=click.Choice(["both", "any"]), default="both", show_default=True, help="Who must answer.")
@click.option("--routes", type=click.Choice(["both", "a"]), default="both", show_default=True, help="Which routes are taken.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Worker processes; one a core when not given.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Solver resource count of one obligation.")
@click.option("--cache", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where verdicts are cached.")
@click.option("--no-cache", is_flag=True, help="Neither read nor write cached verdicts.")
@click.option("--save-scripts", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write each solver script to DIR.")
@click.option("--only", multiple=True, metavar="NAME", help="Check only the item NAME; may be given several times.")
@click.option("--regress", is_flag=True, help="Compare with the blessed verdicts beside the files.")
@click.option("--bless", "blessing", is_flag=True, help="With --regress: rewrite the blessed verdicts. Refused where CI is set.")
@click.option("--deny-trusted", is_flag=True, help="Allow no trusted entry but those named by --allow.")
@click.option("--allow", multiple=True, metavar="NAME", help="Allow the trusted entry NAME; every other is then a violation.")
@click.option("--require-evidence", is_flag=True, help="Ask for a current record about every target of a trusted template.")
@click.option("--max-evidence-age", type=click.IntRange(min=0), metavar="DAYS", help="Ask for records that are at most DAYS old.")
def command(paths: tuple[Path, ...], **flags: Any) -> int:
    """Check every item of files or folders and say what is proved, refused or undecided."""
    _refuse_contradictions(flags)
    policy = find_policy(Path.cwd()).joined(_policy(flags))
    report = _check(paths, _options(flags))
    regression = _regression(report, paths, blessing=flags["blessing"]) if flags["regress"] else None
    _deliver(report, regression, flags["form"], flags["output"])
    is_unknown = _tell_missing(report, flags["only"])
    violations = _violations(policy, report, is_regression=regression is not None)
    for found in violations:
        write_error(f"error[{found.code}]: the trust policy does not allow {trusted_text(found.entry)}{_why(found)}")
    if regression is None:
        return of_check(report, trust_violated=bool(violations), is_misnamed=is_unknown)
    drifted = [difference for difference in regression.differences if difference.is_trust]
    for difference in drifted:
        write_error(f"error[trust.drifted]: {difference.sentence}")
    differs = len(drifted) < len(regression.differences)
    return of_regression(report, differs=differs, trust_violated=bool(violations or drifted))


def _policy(flags: dict[str, Any]) -> Policy:
    return Policy(flags["deny_trusted"], flags["allow"] or None, flags["require_evidence"], flags["max_evidence_age"])


def _why(found: Violation) -> str:
    """What is said besides of an entry that is not about its name."""
    return "" if found.code in ("trust.admitted", "trust.not-allowed") else f": {found.says}"


def _refuse_contradictions(flags: dict[str, Any]) -> None:
    if flags["blessing"] and not flags["regress"]:
        raise click.UsageError("--bless goes with --regress")
    if flags["blessing"] and os.environ.get("CI", "").lower() not in ("", "0", "false"):
        raise click.UsageError("--bless is refused where CI is set: a verdict is blessed by a person who has read the change")
    if flags["regress"] and flags["only"]:
        raise click.UsageError("--only and --regress exclude each other: a file is blessed whole")
    if flags["no_cache"] and flags["cache"] is not None:
        raise click.UsageError("--cache and --no-cache exclude each other")


def _options(flags: dict[str, Any]) -> CheckOptions:
    return CheckOptions(
        solvers=flags["solvers"],
        routes=flags["routes"],
        jobs=flags["jobs"],
        limit=flags["limit"],
        cache=flags["cache"],
        use_cache=not flags["no_cache"],
        save_scripts=flags["save_scripts"],
        only=flags["only"],
    )


def _check(paths: tuple[Path, ...], options: CheckOptions) -> Report:
    from cachet_verify import session

    with TerminalProgress() as progress:
        return session.check(paths, options, progress)


def _tell_missing(report: Report, only: tuple[str, ...]) -> bool:
    """Say which names of `--only` no item has, where every file could be read; give whether there is one."""
    known = {item.name for item in report.items}
    missing = [] if any(file.diagnostics for file in report.files) else [name for name in dict.fromkeys(only) if name not in known]
    for name in missing:
        write_error(f"error[tool.no-item]: --only {name}: no item of these files is called so")
    return bool(missing)


def _regression(report: Report, paths: tuple[Path, ...], *, blessing: bool) -> Regression:
    if not blessing:
        return compare(report, paths)
    try:
        return bless(report, paths)
    except OSError as fault:
        raise cannot_write(fault.filename or "a verdict file", fault) from fault


def _violations(policy: Policy, report: Report, *, is_regression: bool) -> tuple[Violation, ...]:
    """Give what the policy does not allow; what is admitted in a corpus is judged by its folder's rules, unless everything trusted is denied."""
    found = policy.judge(report, datetime.now(UTC).date())
    return tuple(one for one in found if one.code != "trust.admitted") if is_regression and not policy.deny else found


def _deliver(report: Report, regression: Regression | None, form: str, output: Path | None) -> None:
    """Write the report, then what the regression found: after the text, beside any other format."""
    extra = [] if regression is None else _regression_lines(regression)
    if form == "text" and output is None:
        write_lines([*report_lines(report), *extra])
        return
    module, function = FORMATS[form]
    render = cast(Callable[[Report], str], getattr(import_module(f"cachet_verify.report.{module}"), function))
    if output is None:
        write(render(report))
    else:
        write_file(output, render(report))
    for line in extra:
        write_error(line.text)


def _regression_lines(regression: Regression) -> list[Line]:
    lines = []
    for difference in regression.differences:
        lines.append(Line(difference.sentence, "bad"))
        lines += [Line(f"  {line}") for line in difference.diff.splitlines()]
    lines += [Line(f"blessed: {name}", "open") for name in regression.written]
    count = len({difference.path for difference in regression.differences})
    files = f"{regression.files} {'file' if regression.files == 1 else 'files'}"
    if count:
        lines.append(Line(f"regression: {files} compared, {count} not as blessed", "bad"))
    else:
        lines.append(Line(f"regression: {files} as blessed", "good"))
    return lines
