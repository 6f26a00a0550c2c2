"""Searching the values of constants: least cost under conditions, over bounded domains.

Takes core terms; gives proposals. Nothing here is believed: the kernel asks what is proposed.
"""
