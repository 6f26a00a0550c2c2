"""One measurement: every kind of inputs through a template and through its reference body, and what came out.

Takes a subject, a backend and how much; gives the record. Must not round a count down: every word that was compared counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cachet_verify.core.identity import reference_digest, template_digest
from cachet_verify.ledger.record import Evidence, Inputs, Mismatch
from cachet_verify.measure.input import KINDS, uses_of
from cachet_verify.measure.reference import Counts, Reference
from cachet_verify.measure.subject import Backend, Subject

_BATCH = 1 << 22
"""The most words of operands that are in flight at once."""
_SAMPLES = 2048
"""How many words of each kind the interpreter computes beside a compiled reference body, about."""
_INTERPRETED = 1 << 14
"""The most words of each kind where only the interpreter computes."""


@dataclass(frozen=True, slots=True)
class Amount:
    """How many words of results of each kind of inputs are wanted, the seed and the day."""

    words: int
    seed: int
    day: str


def measured(subject: Subject, backend: Backend, amount: Amount) -> Evidence:
    """The record of a measurement. Raises CachetError where it cannot be made."""
    reference = Reference(subject)
    wanted = amount.words if reference.is_compiled else min(amount.words, _INTERPRETED)
    uses = -(-wanted // subject.result.words)
    inputs, samples, first = [], 0, None
    for kind in KINDS if _has_floats(subject) else KINDS[:1]:
        one = _Kind(subject, backend, reference, kind)
        inputs.append(one.counted(uses, amount.seed))
        samples += one.samples
        first = first or one.first
    return Evidence(
        template=subject.instruction.name,
        target=subject.target,
        device=backend.device,
        day=amount.day,
        template_digest=template_digest(subject.instruction, subject.target),
        reference_digest=reference_digest(subject.instruction),
        arithmetic="flush" if subject.flushes else "ieee",
        reference=reference.says,
        samples=samples,
        seed=amount.seed,
        inputs=tuple(inputs),
        first=first,
        versions=dict(backend.versions),
    )


def _has_floats(subject: Subject) -> bool:
    return any(part.elem in ("f16", "bf16", "f32", "f64") for part in (*subject.operands, subject.result))


@dataclass(slots=True)
class _Kind:
    """One kind of inputs on its way through."""

    subject: Subject
    backend: Backend
    reference: Reference
    kind: str
    samples: int = 0
    first: Mismatch | None = None

    def counted(self, uses: int, seed: int) -> Inputs:
        """What so many uses come to."""
        total = Inputs(self.kind, 0, 0, 0)
        for batch, count in enumerate(self.batches(uses)):
            operands = uses_of(self.kind, self.subject.operands, count, f"{seed} {batch}")
            expected = self.reference.words(count, operands)
            if batch == 0:
                self.samples += self.held(count, operands, expected)
            found = self.backend.run(count, operands)
            counts = self.reference.compare(found, expected)
            self.noted(total.uses, counts, found, expected)
            total = replace(
                total,
                uses=total.uses + count,
                words=total.words + count * self.subject.result.words,
                mismatches=total.mismatches + counts.mismatches,
                subnormal=total.subnormal + counts.subnormal,
                infinite=total.infinite + counts.infinite,
                nan=total.nan + counts.nan,
            )
        return total

    def batches(self, uses: int) -> Iterator[int]:
        """How many uses at a time."""
        most = max(1, _BATCH // sum(part.words for part in self.subject.operands))
        while uses > 0:
            yield min(uses, most)
            uses -= most

    def held(self, count: int, operands: tuple[bytes, ...], expected: bytes) -> int:
        """The compiled reference body held against the interpreter; gives how many words the interpreter computed."""
        words = self.subject.result.words
        if not self.reference.is_compiled:
            return count * words
        return self.reference.hold(min(count, -(-_SAMPLES // words)), operands, expected)

    def noted(self, before: int, counts: Counts, found: bytes, expected: bytes) -> None:
        """Keep the first word that differs."""
        if counts.mismatches and self.first is None:
            result = self.subject.result
            use, word = divmod(counts.first, result.words)
            at = slice(counts.first * result.size, (counts.first + 1) * result.size)
            self.first = Mismatch(self.kind, before + use, word, _hex(found[at]), _hex(expected[at]))


def _hex(word: bytes) -> str:
    return f"0x{int.from_bytes(word, 'little'):0{2 * len(word)}x}"
