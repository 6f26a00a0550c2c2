"""`account`: the account of one program of a file.

Takes a path, a name, and sizes `NAME=VALUE`; gives the account. An item whose nest was never made is refused as a check refuses it.
Must not ask whether the program is right: an account is of the nest as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from cachet_verify.core.index import holds, variables
from cachet_verify.core.ir import Program
from cachet_verify.core.spell import spell_requirement
from cachet_verify.diagnostic import CachetError, fail
from cachet_verify.judge.file import Opened, open_file
from cachet_verify.report.message import ItemRefusedError
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import Report, Verdict
from cachet_verify.traffic.record import Account, account_of
from cachet_verify.traffic.value import MOST_STEPS, TooManyStepsError

Check = Callable[[Sequence[Path], CheckOptions], Report]

_DIGITS = 18


def account_in_file(path: Path, name: str, exact: bool, at: str, check: Check) -> Account:
    """The account of the program `name`; `check` says why a schedule has none. Raises CachetError, ItemRefusedError."""
    opened = open_file(path)
    program = opened.program(name)
    if program is None:
        raise _without_a_nest(opened, path, name, check)
    sizes = sizes_given(at, program)
    try:
        return account_of(program, exact, sizes)
    except TooManyStepsError as error:
        hint = "leave out --at for the formula, or ask for smaller sizes"
        raise fail("account.too-long", f"the account of {name} would be counted out in more than {MOST_STEPS} steps", program.span, hint) from error
    except ZeroDivisionError as error:
        raise fail("account.division", f"{name} divides by zero at these sizes", program.span) from error


def _without_a_nest(opened: Opened, path: Path, name: str, check: Check) -> Exception:
    known = sorted({*opened.module.programs, *opened.module.schedules})
    if name in known:
        for item in check([path], CheckOptions(only=(name,))).items:
            if item.name == name and item.verdict != Verdict.PROVED:
                return ItemRefusedError(item, str(path))
    return fail("account.name", f"{path} has no program {name} to account for", None, f"one of {', '.join(known)}" if known else "")


def sizes_given(text: str, program: Program) -> dict[str, int]:
    """The sizes of `M=1024,N=8`. Raises CachetError for one that the program lacks, or values it may not be called with."""
    found: dict[str, int] = {}
    for part in text.split(",") if text.strip() else ():
        size, mark, value = (word.strip() for word in part.partition("="))
        if not mark or size not in program.sizes:
            raise _bad_size(f"{program.name} has no size {size}" if mark else f"`{part.strip()}` is not of the form SIZE=VALUE", program)
        if not (value.isascii() and value.isdecimal()) or len(value) > _DIGITS:
            raise _bad_size(f"{size} is a size, and `{value}` is not a natural number of at most {_DIGITS} digits", program)
        if size in found:
            raise _bad_size(f"{size} is given twice", program)
        found[size] = int(value)
    for need in program.requires:
        if variables(need.condition) <= found.keys() and not holds(need.condition, found):
            raise fail("account.requirement", f"{program.name} requires {spell_requirement(need.condition)}", program.span)
    return {size: found[size] for size in program.sizes if size in found}


def _bad_size(message: str, program: Program) -> CachetError:
    hint = f"--at {','.join(f'{size}=1024' for size in program.sizes)}" if program.sizes else "leave out --at: it has no sizes"
    return fail("account.size", message, None, hint)
