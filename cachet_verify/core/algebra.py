"""What operations mean to the interpreter: words of an arithmetic, or uninterpreted terms.

Takes operation names and element types; gives functions from words to words. Must not know about
statements or memory: an unspecified word never reaches a function given here.

Both algebras represent a word by an int, so that words compare at once: `WordAlgebra` by its
bits, `TermAlgebra` by the number of the term that was built, equal exactly for equal terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from cachet_verify.core.ir import Load, Op, Value, Word
from cachet_verify.core.memory import cell_text, unravel
from cachet_verify.core.word import ELEMENTS, IEEE, Arithmetic, WordError, function_of, text_of_word, word_of_int

WordFunction = Callable[..., int]


class Algebra(Protocol):
    """Meanings of the operations of a program. Each method raises WordError for a name it does not know."""

    def operation(self, name: str, elem: str, arity: int) -> WordFunction:
        """The function of an operation whose result has type `elem`."""

    def literal(self, elem: str, bits: int) -> int:
        """A literal word."""

    def of_index(self, elem: str, value: int) -> int:
        """An integer as a word of `elem`, rounded once."""

    def text(self, word: int, elem: str) -> str:
        """A word as programs print it."""

    def under(self, arithmetic: Arithmetic) -> Algebra:
        """The same algebra where a device computes in its own arithmetic."""


@dataclass(frozen=True, slots=True)
class Instance:
    """What stands for a generic such as `S`: the type of `S.Value` and a body for each `S.f`. Its name identifies it.

    In a body, `Load("0")` is the first operand, `Load("1")` the second, and so on.
    """

    name: str
    elem: str
    bodies: Mapping[str, Value] = field(compare=False)


@dataclass(frozen=True, slots=True)
class WordAlgebra:
    """Bit-exact operations under an arithmetic; `instances` say what each generic stands for."""

    arithmetic: Arithmetic = IEEE
    instances: Mapping[str, Instance] = field(default_factory=dict, hash=False)

    def element(self, elem: str) -> str:
        """The concrete type behind `S.Value`; a concrete type is itself."""
        head, dot, _ = elem.partition(".")
        return self.instances[head].elem if dot and head in self.instances else elem

    def operation(self, name: str, elem: str, arity: int) -> WordFunction:
        """The function of an operation, as `function_of`, or the body that an instance gives it."""
        head, dot, rest = name.partition(".")
        if dot and head in self.instances:
            body = self.instances[head].bodies.get(rest)
            if body is None:
                raise WordError(f"`{self.instances[head].name}` has no `{rest}`")
            return _function(body, self, arity)
        concrete = " ".join(self.element(part) for part in name.split(" "))
        return function_of(concrete, self.element(elem), self.arithmetic)

    def under(self, arithmetic: Arithmetic) -> WordAlgebra:
        """The same instances under another arithmetic."""
        return replace(self, arithmetic=arithmetic)

    def literal(self, elem: str, bits: int) -> int:
        """The bits themselves."""
        return bits

    def of_index(self, elem: str, value: int) -> int:
        """As `word_of_int`."""
        return word_of_int(value, self.element(elem))

    def text(self, word: int, elem: str) -> str:
        """As `text_of_word`."""
        return text_of_word(word, self.element(elem))


def _function(body: Value, algebra: WordAlgebra, arity: int) -> WordFunction:
    """The body of an instance's operation as a function of its operands, of which there are `arity`."""
    if isinstance(body, Load):
        place = int(body.buffer)
        return lambda *words: words[place]
    if isinstance(body, Word):
        bits = body.bits
        return lambda *_: bits
    if not isinstance(body, Op):
        raise WordError("an operation's body is made of operands, words and operations")
    function = algebra.operation(body.name, body.elem, len(body.args))
    if body.args == tuple(Load(str(place)) for place in range(arity)):
        return function
    args = tuple(_function(arg, algebra, arity) for arg in body.args)
    return lambda *words: function(*(arg(*words) for arg in args))


Node = tuple["str | int", ...]


class TermAlgebra:
    """Uninterpreted operations: a word is the number of a term, and equal terms have equal numbers.

    Terms stand for words of one and the same table only: compare programs run under one algebra.
    A literal and a converted index of equal bits are one term. `shapes` serve the texts alone.
    """

    def __init__(self) -> None:
        self._numbers: dict[Node, int] = {}
        self._nodes: list[Node] = []
        self.shapes: dict[str, tuple[int, ...]] = {}

    def term(self, *node: str | int) -> int:
        """The number of a term: an operation's name, its type, and the numbers of its operands."""
        number = self._numbers.get(node)
        if number is None:
            number = self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
        return number

    def operation(self, name: str, elem: str, arity: int) -> WordFunction:
        """A function that builds a term."""

        def build(*args: int) -> int:
            return self.term(name, elem, *args)

        return build

    def under(self, arithmetic: Arithmetic) -> TermAlgebra:
        """The same terms: they say which operations are applied, not how these round."""
        return self

    def literal(self, elem: str, bits: int) -> int:
        """The term of a literal."""
        return self.term("=word", elem, bits)

    def of_index(self, elem: str, value: int) -> int:
        """The term of an index as a word: the literal it rounds to, where the type is concrete."""
        if elem in ELEMENTS:
            return self.literal(elem, word_of_int(value, elem))
        return self.term("=index", elem, value)

    def cell(self, buffer: str, place: int) -> int:
        """The term of the word a buffer's cell holds at first; `place` counts cells row by row."""
        return self.term("=cell", buffer, place)

    def leaves(self, word: int) -> tuple[tuple[str, int], ...]:
        """The initial cells a term is made of, buffer and place, in the order they are first used."""
        found: dict[tuple[str, int], None] = {}
        seen: set[int] = set()
        stack = [word]
        while stack:
            number = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            head, *rest = self._nodes[number]
            if head == "=cell":
                found[str(rest[0]), int(rest[1])] = None
            elif head not in ("=word", "=index"):
                stack.extend(int(part) for part in reversed(rest[1:]))
        return tuple(found)

    def text(self, word: int, elem: str, budget: int = 40) -> str:
        """A term written out, `fma(a[0, 1], b[1, 0], -0.0)`; what lies beyond `budget` nodes is `…`.

        Cells of buffers that `shapes` lacks are written with their place, row by row.
        """
        left = [budget]
        return self._spell(word, left)

    def _spell(self, word: int, left: list[int]) -> str:
        left[0] -= 1
        if left[0] < 0:
            return "…"
        head, elem, *rest = self._nodes[word]
        if head == "=cell":
            shape = self.shapes.get(str(elem))
            return cell_text(str(elem), (int(rest[0]),) if shape is None else unravel(int(rest[0]), shape))
        if head == "=word":
            return text_of_word(int(rest[0]), str(elem))
        if head == "=index":
            return str(rest[0])
        return f"{head}({', '.join(self._spell(int(part), left) for part in rest)})"
