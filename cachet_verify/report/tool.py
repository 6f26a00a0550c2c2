"""The versions a report names: this tool, the solvers, and the packages that build their questions.

Takes nothing; gives name to version, from what is installed.
Must not import the packages themselves.
"""

from __future__ import annotations

from cachet_verify.version import __version__

_PACKAGES = {"z3": "z3-solver", "cvc5": "cvc5", "pysmt": "pysmt", "lark": "lark", "llvmlite": "llvmlite"}


def tool_versions() -> dict[str, str]:
    """Give the version of each, "not installed" where one is missing."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"cachet-verify": __version__}
    for name, package in _PACKAGES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
