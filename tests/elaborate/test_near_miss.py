"""`did you mean …`: offered where a name is a slip away, and nowhere else."""

from __future__ import annotations

import pytest

from cachet_verify.elaborate.context import near_miss
from tests.elaborate.short import messages

HEAD = "contraction mm (reads a: [f32; M, K]) (reads b: [f32; K, N]) -> out c: [f32; M, N] =\n"


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("jj", ("i", "j", "k"), "j"),
        ("b", ("a", "bb"), "bb"),
        ("packa", ("packA", "packB"), "packA"),
        ("m", ("M", "N"), "M"),
        ("matmull", ("matmul", "madd"), "matmul"),
        ("accc", ("acc", "bcc"), "acc"),
    ],
)
def test_a_slip_is_named(name: str, known: tuple[str, ...], meant: str) -> None:
    assert near_miss(name, known) == f"did you mean `{meant}`?"


@pytest.mark.parametrize(("name", "known"), [("x", ("i", "j", "k")), ("q", ("qu",)), ("ij", ("i", "j")), ("row", ("tile",))])
def test_what_is_no_slip_is_not(name: str, known: tuple[str, ...]) -> None:
    assert near_miss(name, known) == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + "  c[i, j] = sum k. a[i, k] * b[k, jj]\n", "`jj` is not defined | did you mean `j`?"),
        (HEAD + "  c[i, j] = sum k. a[i, k] * B[k, j]\n", "`B` is not defined | did you mean `b`?"),
        ("fn h (reads a: [f32; N]) (mut c: [f32; N]) produce =\n  store c[0] = 0.0\n", "`produce` needs a type | did you mean `produces`?"),
        ("fn h (reads a: [f32; N]) (mut c: [f32; N]) other =\n  store c[0] = 0.0\n", "`other` needs a type | `(reads other: [f32; N])`"),
    ],
)
def test_a_message_says_what_was_meant(text: str, said: str) -> None:
    assert said in messages(text)
