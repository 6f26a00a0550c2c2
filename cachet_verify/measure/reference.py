"""The words of a reference body: by the interpreter, and for many uses by a compiled function that is held against it.

Takes a subject and operands' words; gives the results' words. A compiled function is used only after it gave the interpreter's
words on samples of the same inputs.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from cachet_verify.core.element import FLUSH, IEEE
from cachet_verify.core.meaning import run
from cachet_verify.diagnostic import fail
from cachet_verify.measure.native import Function, NativeError, array_of, bytes_of, compiled, room_for
from cachet_verify.measure.subject import Part, Subject
from cachet_verify.measure.text import UntranslatedError, comparison_text, reference_text

_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
INTERPRETED = "the interpreter"
COMPILED = "the reference body compiled, held against the interpreter"


@dataclass(frozen=True, slots=True)
class Counts:
    """What a comparison found: words that differ, the place of the first, and what kinds the reference's words are."""

    mismatches: int
    first: int
    subnormal: int
    infinite: int
    nan: int


class Reference:
    """What computes the reference body; `says` names it, `is_compiled` is whether many uses take no time."""

    def __init__(self, subject: Subject) -> None:
        """Compile the body where it can be translated."""
        self.subject = subject
        self._compare = compiled(comparison_text(subject.result.elem), "compare", 3)
        self._compiled: Function | None = None
        try:
            self._compiled = compiled(reference_text(subject), "reference", len(subject.operands) + 1)
        except (UntranslatedError, NativeError):
            pass

    @property
    def is_compiled(self) -> bool:
        """Whether the body was compiled."""
        return self._compiled is not None

    @property
    def says(self) -> str:
        """What computes the words."""
        return COMPILED if self.is_compiled else INTERPRETED

    def words(self, count: int, operands: Sequence[bytes]) -> bytes:
        """The results of so many uses."""
        if self._compiled is None:
            return self.interpreted(count, operands)
        size = count * self.subject.result.words * self.subject.result.size
        result = room_for(size)
        self._compiled(count, (*map(array_of, operands), result))
        return bytes_of(result, size)

    def interpreted(self, count: int, operands: Sequence[bytes]) -> bytes:
        """The results of so many uses, by the interpreter's arithmetic on words."""
        subject = self.subject
        inputs = [_words(part, words) for part, words in zip(subject.operands, operands, strict=True)]
        found = array(_CODES[subject.result.size])
        for use in range(count):
            cells: dict[str, list[int | None]] = {
                part.name: list(words[use * part.words : (use + 1) * part.words]) for part, words in zip(subject.operands, inputs, strict=True)
            }
            cells[subject.result.name] = [None] * subject.result.words
            run(subject.program, {}, cells, FLUSH if subject.flushes else IEEE)
            found.extend(0 if word is None else word for word in cells[subject.result.name])
        return found.tobytes()

    def hold(self, count: int, operands: Sequence[bytes], words: bytes) -> int:
        """Hold the first uses against the interpreter; gives how many words were. Raises CachetError where they differ."""
        subject = self.subject
        length = count * subject.result.words * subject.result.size
        own = self.interpreted(count, [words[: count * part.words * part.size] for part, words in zip(subject.operands, operands, strict=True)])
        if self.compare(words[:length], own).mismatches:
            raise fail("tool.fault", f"the compiled reference body of {subject.instruction.name} does not compute the interpreter's words")
        return count * subject.result.words

    def compare(self, measured: bytes, reference: bytes) -> Counts:
        """Compare words with those of the reference body, all NaNs being one word."""
        counts = room_for(40)
        self._compare(len(reference) // self.subject.result.size, (array_of(measured), array_of(reference), counts))
        return Counts(*(int(count) for count in counts))


def _words(part: Part, words: bytes) -> array[int]:
    found = array(_CODES[part.size])
    found.frombytes(words)
    return found
