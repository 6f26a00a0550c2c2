"""How a command that did not finish ends: one message on standard error, and an exit code.

Takes what was raised; gives the exit code.
Must not show a traceback unless it was asked for.
"""

from __future__ import annotations

import traceback

import click

from cachet_verify.command.stream import write, write_error, write_lines
from cachet_verify.diagnostic import CachetError, render
from cachet_verify.exit_code import ExitCode, of_verdict
from cachet_verify.report.message import ItemRefusedError
from cachet_verify.report.text import item_lines

_REPORT_TO = "please report it with the file, and the output under CACHET_DEBUG=1, in the project's issues"


def interrupted() -> int:
    """Say that the run was interrupted."""
    write_error("interrupted: nothing was concluded")
    return ExitCode.INTERRUPTED


def failed(error: Exception, *, debug: bool) -> int:
    """Say what went wrong and give the exit code; with `debug` the traceback of an error that is our own fault follows."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        write_error(error.format_message())
        return ExitCode.BAD_INPUT
    if isinstance(error, click.ClickException):
        write_error(_usage(error))
        return ExitCode.BAD_INPUT
    if isinstance(error, CachetError):
        for diagnostic in error.diagnostics:
            write_error(render(diagnostic))
        return of_diagnostics(error)
    if isinstance(error, ItemRefusedError):
        if error.listing:
            write(error.listing if error.listing.endswith("\n\n") else error.listing.rstrip("\n") + "\n\n")
        write_lines(item_lines(error.item, error.path))
        return of_verdict(error.item.verdict)
    write_error(f"error[tool.fault]: our own fault, nothing was concluded: {_one_line(error)}; {_REPORT_TO}")
    if debug:
        write_error("".join(traceback.format_exception(error)).rstrip())
    return ExitCode.OWN_FAULT


def of_diagnostics(error: CachetError) -> ExitCode:
    """Give the exit code of bad input: UNDECIDED when all that is wrong is that something is not supported yet."""
    only_unsupported = bool(error.diagnostics) and all(item.code.endswith("not-supported") for item in error.diagnostics)
    return ExitCode.UNDECIDED if only_unsupported else ExitCode.BAD_INPUT


def _usage(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    if context is None:
        return f"error[tool.usage]: {message}"
    return f"error[tool.usage]: {message} (see `{context.command_path} --help`)"


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
