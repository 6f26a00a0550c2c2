"""Schedule steps: from a program to the program after a step, with the kernel goals that relate the two.

Everything here proposes and nothing here is believed: a wrong rewrite, index map or recipe gives
obligations that do not hold, or a rule that does not apply. Must not make goals but through kernel rules.
"""
