# ruff: noqa: F821, D103, S101 - the procedure is in the language of the peer, not in Python
"""The peer's schedule of the same job: a blocked, packed, register-tiled GEMM in Exo.

Run by `bench/peer.py` in an environment that has exo-lang; prints the seconds from the procedure to the C
text, imports left out. Sizes are multiples of the blocks, since Exo's exact splits ask for that.
"""

from __future__ import annotations

import sys
import time

from exo import DRAM, proc
from exo.stdlib.scheduling import divide_loop, reorder_loops, simplify, stage_mem

MC, NC, KC, MR, NR = 16, 8, 16, 4, 8


@proc
def gemm(M: size, N: size, K: size, A: f32[M, K] @ DRAM, B: f32[K, N] @ DRAM, C: f32[M, N] @ DRAM):
    assert M % 16 == 0
    assert N % 8 == 0
    assert K % 16 == 0
    for i in seq(0, M):
        for j in seq(0, N):
            for k in seq(0, K):
                C[i, j] += A[i, k] * B[k, j]


def scheduled():
    """Block every loop, pack both operands, hold a tile of C in a buffer across the depth of a block."""
    p = divide_loop(gemm, "k", KC, ["ko", "ki"], perfect=True)
    p = divide_loop(p, "j", NC, ["jo", "ji"], perfect=True)
    p = divide_loop(p, "i", MC, ["io", "ii"], perfect=True)
    p = divide_loop(p, "ii", MR, ["iu", "iv"], perfect=True)
    # now: io iu iv jo ji ko ki; wanted: ko jo io iu ki iv ji
    for name in ("ji ko", "jo ko", "iv ko", "iu ko", "io ko", "iv jo", "iu jo", "io jo", "ji ki", "iv ki"):
        p = reorder_loops(p, name)
    p = stage_mem(p, "for io in _:_", f"B[{KC}*ko:{KC}*ko+{KC}, {NC}*jo:{NC}*jo+{NC}]", "packB")
    p = stage_mem(p, "for iu in _:_", f"A[{MC}*io:{MC}*io+{MC}, {KC}*ko:{KC}*ko+{KC}]", "packA")
    p = stage_mem(p, "for ki in _:_", f"C[{MC}*io+{MR}*iu:{MC}*io+{MR}*iu+{MR}, {NR}*jo:{NR}*jo+{NR}]", "tile")
    return simplify(p)


def main() -> int:
    """Schedule, emit, and say how long it took."""
    began = time.perf_counter()
    text = scheduled().c_code_str()
    spent = time.perf_counter() - began
    sys.stdout.write(f"{spent:.3f} {len(text)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
