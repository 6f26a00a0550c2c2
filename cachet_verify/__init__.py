"""Public names of the checker, imported on first use.

Gives `check`, `scheduled`, `account`, `fit` and `run` with the typed results of `cachet_verify.report`.
Must not import anything heavy: `cachet-verify --version` starts here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cachet_verify.version import __version__

if TYPE_CHECKING:
    from cachet_verify.report.option import CheckOptions
    from cachet_verify.report.record import Report, Verdict
    from cachet_verify.session import account, check, fit, run, scheduled

# name -> the module that defines it; grouped by stage
_HOME = {
    "check": "cachet_verify.session",
    "scheduled": "cachet_verify.session",
    "account": "cachet_verify.session",
    "fit": "cachet_verify.session",
    "run": "cachet_verify.session",
    "CheckOptions": "cachet_verify.report.option",
    "Report": "cachet_verify.report.record",
    "Verdict": "cachet_verify.report.record",
}

__all__ = ["CheckOptions", "Report", "Verdict", "__version__", "account", "check", "fit", "run", "scheduled"]


def __getattr__(name: str) -> Any:
    """Import a public name from the module that defines it; AttributeError when there is none."""
    if name not in _HOME:
        raise AttributeError(f"module 'cachet_verify' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
