"""Obligations as SMT-LIB 2 text, by two encoders written apart.

Takes obligations; gives scripts. The encoders share nothing below the obligation and its terms.
"""
