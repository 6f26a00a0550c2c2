"""How a step says that it does not apply.

Takes a code, a sentence and a remedy; gives a `StepError` that carries one diagnostic.
Must not be raised for anything but a user's schedule or step.
"""

from __future__ import annotations

from cachet_verify.diagnostic import CachetError, Diagnostic, Note
from cachet_verify.source import Span


class StepError(CachetError):
    """A step does not apply to this program: what was looked for, what was found, what to type instead."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        """Keep the one diagnostic at hand."""
        super().__init__((diagnostic,))
        self.diagnostic = diagnostic


def refuse(code: str, message: str, span: Span | None = None, hint: str = "", *notes: Note) -> StepError:
    """Return the error of a step; the caller raises it. `code` is without the leading `rewrite.`."""
    return StepError(Diagnostic(f"rewrite.{code}", message, span, hint, notes))
