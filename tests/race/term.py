"""Index terms written twice: as Cachet text, and as Python that says the same with floor division.

Takes terms; gives terms. The Python side shares nothing with the checker: it is what brute force runs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A term: `text` is Cachet, `code` is Python."""

    text: str
    code: str

    def __add__(self, other: Term | int) -> Term:
        right = whole(other)
        return self if right.text == "0" else right if self.text == "0" else Term(f"{self.text} + {right.text}", f"({self.code} + {right.code})")

    def __sub__(self, other: Term | int) -> Term:
        right = whole(other)
        return self if right.text == "0" else Term(f"{self.text} - {_inner(right.text)}", f"({self.code} - {right.code})")

    def __mul__(self, other: Term | int) -> Term:
        right = whole(other)
        if "1" in (self.text, right.text):
            return right if self.text == "1" else self
        return Term(f"{_inner(self.text)} * {_inner(right.text)}", f"({self.code} * {right.code})")

    def __floordiv__(self, other: Term | int) -> Term:
        right = whole(other)
        return self if right.text == "1" else Term(f"floor ({_inner(self.text)} / {_inner(right.text)})", f"({self.code} // {right.code})")

    def __mod__(self, other: Term | int) -> Term:
        right = whole(other)
        return Term(f"{_inner(self.text)} % {_inner(right.text)}", f"({self.code} % {right.code})")


def whole(value: Term | int) -> Term:
    """A number as a term."""
    return value if isinstance(value, Term) else Term(str(value), str(value))


def name(text: str) -> Term:
    """A size or a counter."""
    return Term(text, text)


def ceiling(left: Term, right: Term | int) -> Term:
    """The quotient rounded up."""
    divisor = whole(right)
    return Term(f"ceil ({_inner(left.text)} / {_inner(divisor.text)})", f"(-(-{left.code} // {divisor.code}))")


def smaller(left: Term, right: Term) -> Term:
    """The smaller of two."""
    return Term(f"(min ({left.text}) ({right.text}))", f"min({left.code}, {right.code})")


def relation(left: Term, sign: str, right: Term | int) -> Term:
    """A comparison."""
    other = whole(right)
    return Term(f"{left.text} {sign} {other.text}", f"({left.code} {sign} {other.code})")


def both(parts: tuple[Term, ...]) -> Term:
    """A conjunction of comparisons."""
    return Term(" and ".join(part.text for part in parts), " and ".join(part.code for part in parts))


def _inner(text: str) -> str:
    is_closed = text.isalnum() or (text.startswith("(") and text.endswith(")") and text.count("(") == 1)
    return text if is_closed else f"({text})"
