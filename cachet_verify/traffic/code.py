"""The codes of the traffic account, documented.

Takes nothing; fills the table that `explain` reads. Must not be imported for anything else.
"""

from __future__ import annotations

from cachet_verify.diagnostic import document

document(
    "account.name",
    "The file has no schedule, contraction or function of the name that an account was asked of.",
    "cachet-verify account gemm.cachet pakced",
    "Take one of the names that the message lists.",
)
document(
    "account.size",
    "What follows `--at` does not give values to sizes of the program: `SIZE=VALUE`, separated by commas, each size once, each value a natural "
    "number.",
    "cachet-verify account gemm.cachet packed --at M=1024,N=-1",
    "Write the sizes as the message shows. A size that is left out stays a name.",
)
document(
    "account.requirement",
    "The program may not be called at the sizes given: one of its requirements does not hold there, so there is nothing to account for.",
    "cachet-verify account gemm.cachet exact --at M=10",
    "Give sizes that meet the requirement; `cachet-verify scheduled` prints all of them.",
)
document(
    "account.division",
    "At the sizes given a bound of the program divides by zero, or its blocks have no indices, so the program has no meaning there.",
    "cachet-verify account gemm.cachet by_width --at W=0",
    "Give sizes at which the divisor is positive.",
)
document(
    "account.too-long",
    "A sum in the account has no closed form, because a loop's bounds depend on the counter of another in a way that is not understood, and "
    "it has too many terms at these sizes to count them out.",
    "cachet-verify account scan.cachet sliding --at N=100000000",
    "Ask without `--at` for the formula, which shows the sum, or give smaller sizes.",
)
