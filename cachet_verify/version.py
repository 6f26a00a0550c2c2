"""The version of this tool, for `--version`, for reports and for the build."""

__version__ = "0.1.0"
