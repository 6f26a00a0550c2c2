"""`explain CODE`: what a code means, an example that gives it, and what to do.

Takes a code, or nothing for the list of all codes.
Must not check anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

import click

from cachet_verify.command.stream import write
from cachet_verify.diagnostic import fail, load_codes, render_help
from cachet_verify.exit_code import ExitCode


@click.command("explain")
@click.argument("code", required=False)
def command(code: str | None) -> int:
    """Say what CODE means, with an example and what to do; without CODE, list every code."""
    table = load_codes()
    if code is None:
        write("".join(f"{name}\n" for name in table))
        return ExitCode.PROVED
    name = code.strip().removeprefix("error").strip("[]")
    if name not in table:
        near = _near(name, table)
        raise fail("tool.unknown-code", f"no code is called {code}", None, f"cachet-verify explain{f' {near}' if near else ''}")
    write(render_help(table[name]))
    return ExitCode.PROVED


def _near(name: str, known: Iterable[str]) -> str:
    """The code that was probably meant: one that has the name as its beginning or a part, else one spelled like it; empty where there is none."""
    codes = list(known)
    parts = [code for code in codes if name and code.startswith(name)] or [code for code in codes if name and name in code]
    return next(iter(parts or get_close_matches(name, codes, n=1)), "")
