"""Files that are refused and would be no good to read: bytes that are no text, and far too much of something.

Takes nothing; gives for each name its bytes, the code, and the line of the message.
"""

from __future__ import annotations

_DEEP = "(1 + " * 200 + "1" + ")" * 200
_CHAIN = "".join(f"const A{k} : Nat = A{k + 1}\n" for k in range(500)) + "const A500 : Nat = 1\n"
_DOUBLED = "fn f x =\n" + "".join(f"  let x{k + 1} = x{k} + x{k}\n" for k in range(40)).replace("x0", "x") + "  x40\n"
_USED = "fn g (mut y: [f32; N]) =\n  for i in 0 .. N do\n    store y[i] = f (load y[i])\n"

MADE: dict[str, tuple[bytes, str, int]] = {
    "encoding": (b"// na\xefve\n", "syntax.encoding", 1),
    "deep": (f"const N : Nat = {_DEEP}\n".encode(), "syntax.too-deep", 1),
    "many": (b"int main(void) { return 0; }\n" * 40, "syntax.more", 21),
    "chain": (_CHAIN.encode(), "elaborate.depth", 1),
    "doubled": ((_DOUBLED + _USED).encode(), "elaborate.size", 16),
}
