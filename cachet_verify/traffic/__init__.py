"""The traffic account: how often each operation of a nest runs, which bytes it moves and what it computes.

Takes core programs; gives quantities in the sizes, for every size. Must not judge: an account is no claim.
"""
