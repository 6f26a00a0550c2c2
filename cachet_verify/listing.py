"""`scheduled`: the function a schedule generates, after each step or at the end, and its claim last.

Takes a path and a name; gives the listing as text. The claim comes from a check of that one item;
an item that is not proved has a listing of its nests only on request, and never a claim.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cachet_verify.core.ir import Program
from cachet_verify.diagnostic import fail
from cachet_verify.elaborate.trip import declared
from cachet_verify.judge.budget import home
from cachet_verify.judge.file import Opened, open_file
from cachet_verify.judge.schedule import Applied
from cachet_verify.report.message import ItemRefusedError
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import ItemReport, Report, Verdict
from cachet_verify.report.text import item_lines

Check = Callable[[Sequence[Path], CheckOptions], Report]


def listing(path: Path, name: str, step: int | None, all_steps: bool, relate: bool, shadow: bool, check: Check) -> str:
    """The text of `scheduled`; `check` checks the one item. Raises CachetError, ItemRefusedError."""
    opened = open_file(path)
    if shadow:
        return _shadow(opened, name)
    nests = _nests(opened, path, name, check)
    if step is not None:
        if step >= len(nests):
            raise fail("listing.step", f"{name} has {len(nests) - 1} steps", None, f"--step {len(nests) - 1}")
        return _printed(*nests[step])
    item = _checked(path, name, check)
    shown = nests if all_steps else nests[-1:]
    text = "\n".join(_printed(heading if all_steps else "", program) for heading, program in shown)
    if item.verdict != Verdict.PROVED:
        raise ItemRefusedError(item, str(path), text)
    return f"{text}\n{_claim(item, path, relate)}"


def _shadow(opened: Opened, name: str) -> str:
    """The reference loops of a schedule that regroups over the reals. Raises CachetError where it does not."""
    applied = opened.applied[name] if name in opened.applied else None
    if applied is None or applied.regrouped is None or not applied.regrouped.is_real:
        hint = "a schedule whose steps regroup a reduction, with `[reassoc]` in its contraction"
        raise fail("listing.shadow.none", f"{name} regroups no reduction, so it has no shadow", None, hint)
    from cachet_verify.elaborate.unroll import unrolled

    return _printed("", unrolled(applied.start))


def _nests(opened: Opened, path: Path, name: str, check: Check) -> list[tuple[str, Program]]:
    """The program before the first step, and after each one, with a heading."""
    if name in opened.applied:
        return list(_steps(name, opened.applied[name], home(opened.module.platform)))
    program = opened.program(name)
    if program is None:
        known = (*opened.module.schedules, *opened.module.programs)
        if name in known:
            raise ItemRefusedError(_checked(path, name, check), str(path))
        hint = f"one of {', '.join(known)}" if known else ""
        raise fail("listing.name", f"{path} has no schedule, contraction or function {name} with a nest", None, hint)
    return [("", program)]


def _steps(name: str, applied: Applied, outermost: str) -> Iterator[tuple[str, Program]]:
    """Each nest as a function that declares what it moves."""
    yield f"// {applied.start.name}", declared(replace(applied.start, name=name), outermost)
    for outcome in applied.outcomes:
        yield f"// {outcome.name}", declared(replace(outcome.after, name=name), outermost)


def _printed(heading: str, program: Program) -> str:
    from cachet_verify.elaborate.lift import lift
    from cachet_verify.syntax.print import print_declaration

    text = print_declaration(lift(program)).rstrip("\n")
    return f"{heading}\n{text}\n" if heading else f"{text}\n"


def _checked(path: Path, name: str, check: Check) -> ItemReport:
    report = check([path], CheckOptions(only=(name,)))
    for item in report.items:
        if item.name == name:
            return item
    raise fail("listing.name", f"{path} has no item {name}")


def _claim(item: ItemReport, path: Path, relate: bool) -> str:
    lines = [line.text for line in item_lines(item, str(path))]
    if item.claim is None or not item.claim.parts:
        return "\n".join(lines)
    if relate:
        routes = " and ".join(item.claim.strength.routes)
        solvers = " and ".join(item.claim.strength.solvers)
        lines.append(f"  relation: proved by routes {routes}, solvers {solvers}, {len(item.obligations)} obligations")
    return "\n".join(lines)
