"""Solver processes and what their answers amount to.

Takes obligations; gives verdicts. `prover.Prover` is the way in, `policy.decide` the only place
that makes a `Proved`; must not be imported by the kernel.
"""
