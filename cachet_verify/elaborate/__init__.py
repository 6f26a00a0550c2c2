"""Syntax trees to core programs, and core programs back to trees for printing.

Takes parsed files; gives a `Module` (`module.elaborate`) and trees (`lift.lift`).
Must not apply a schedule, prove anything or print.
"""
