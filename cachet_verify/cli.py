"""The command line: which commands there are, and how every way of failing ends.

Takes the arguments; gives an exit code, and never a traceback unless CACHET_DEBUG is set.
Must not import a stage of checking before a command asks for it: `--version` answers at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click

from cachet_verify.version import __version__

# name -> (module of `cachet_verify.command`, one line for --help)
SUPPORTED = {
    "check": ("check", "Check files or folders: a verdict for every item."),
    "scheduled": ("scheduled", "Print the function a schedule generates, and its claim."),
    "account": ("account", "Print what each operation of a nest reads, writes and computes."),
    "synth": ("synth", "Print the constants chosen by search, their candidates ranked."),
    "fit": ("fit", "Print which schedules fit which platforms, and the largest extents that do."),
    "run": ("run", "Run main, or one function, in the bit-exact interpreter."),
    "trust": ("trust", "Print what claims rest on: laws, templates, platform facts, solvers."),
    "evidence": ("evidence", "Measure instruction templates against their reference bodies."),
    "explain": ("explain", "Say what a code means, with an example and what to do."),
}
PLANNED = {
    "build": "Code for a target, gated on the claim",
    "prove": "The interactive session",
    "report": "A static HTML report",
    "replay": "Re-check a certificate in a fresh process",
    "fmt": "The formatter",
    "lsp": "The language server",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for; listing them imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give the names in the order of the help text."""
        return [*SUPPORTED, *PLANNED]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None when there is none of that name."""
        if cmd_name in SUPPORTED:
            command = import_module(f"cachet_verify.command.{SUPPORTED[cmd_name][0]}").command
            return command if isinstance(command, click.Command) else None
        if cmd_name in PLANNED:
            from cachet_verify.command.planned import planned_command

            return planned_command(cmd_name, PLANNED[cmd_name])
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands of the help text without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in SUPPORTED.items()])
        with formatter.section("Not supported yet (each says so and exits with 3)"):
            formatter.write_dl([(name, f"{line}.") for name, line in PLANNED.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is a usage error that names the nearest."""
        if args and args[0] not in (*SUPPORTED, *PLANNED) and not args[0].startswith("-"):
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            ctx.fail(f"no command is called {args[0]!r}{f'; did you mean {near[0]}?' if near else ''}")
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", message="%(prog)s %(version)s")
def group() -> None:
    """Check Cachet kernels: every schedule keeps every result, bit for bit, for every size.

    Exit codes: 0 all proved, 1 refused, 2 bad input or usage, 3 undecided or not supported yet, 4 our own fault, 5 trust policy, 8 nothing to
    check, 130 interrupted.
    """


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code; `arguments` are those of the process when None."""
    from cachet_verify.command.stream import prepare

    prepare()
    try:
        code = group.main(args=None if arguments is None else list(arguments), prog_name=_program(), standalone_mode=False)
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, click.Abort):
        from cachet_verify.command.failure import interrupted

        return interrupted()
    except Exception as error:  # noqa: BLE001 - the one place where every failure becomes an exit code
        from cachet_verify.command.failure import failed

        return failed(error, debug=os.environ.get("CACHET_DEBUG") == "1")


def _program() -> str:
    """Give the name the tool was called by."""
    name = Path(sys.argv[0]).name
    return name if name in ("cachet-verify", "cachetc") else "cachet-verify"
