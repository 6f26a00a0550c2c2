"""The commands of the tool, one a module, each imported when it is asked for.

Takes parsed arguments; gives an exit code.
Must not decide a verdict.
"""
