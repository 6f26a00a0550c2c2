"""The verdict report: typed records, and the formats it is written in.

Takes a `Report` (plain data, built by the session); gives text and the machine formats.
Must not decide a verdict, read a file or print.
"""
