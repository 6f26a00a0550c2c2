"""Obligations to verdicts: encode twice, ask both solvers, decide.

Takes obligations; gives one verdict each, in order. Must not make a verdict of answers itself: that
is `policy.decide`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from cachet_verify.core.index import FALSE, Formula
from cachet_verify.encodings import second
from cachet_verify.encodings.script import EncodingError
from cachet_verify.kernel.obligation import Failed, Obligation, RealObligation, Undecided, Verdict
from cachet_verify.solver.policy import Policy, Replies, Scripts, decide, is_satisfiable
from cachet_verify.solver.pool import SOLVERS, Limits, Pool, Reply

if TYPE_CHECKING:
    from cachet_verify.encodings.first import FirstEncoder
    from cachet_verify.solver.cache import Cache

# Called after each verdict with the number decided, the number taken so far, and the obligation.
Progress = Callable[[int, int, Obligation], None]

_BATCH = 512  # obligations after which the first encoder's term table is dropped
_IN_FLIGHT = 64  # questions handed to the pool at once: bounds memory


@dataclass(frozen=True, slots=True)
class ProverOptions:
    """How to ask. `rlimit` is in Z3's resource units (about 4 million a second), scaled for cvc5.

    `solvers`: "both" must say unsat, or "any" one. `jobs`: solver processes in all, at least one for
    each solver. `save_scripts`: a folder that gets every script that is asked.
    """

    solvers: Policy = "both"
    rlimit: int = Limits().resource
    cache_dir: Path | None = None
    save_scripts: Path | None = None
    jobs: int = 2
    guard_seconds: int = Limits().guard_seconds
    megabytes: int = Limits().megabytes


@dataclass(slots=True)
class _Question:
    """Two scripts, the places in the batch that wait for them, and the replies so far."""

    scripts: Scripts
    key: str
    places: list[int]
    replies: dict[str, Reply]


class Prover:
    """Asks both solvers. Use as a context manager, or `close` it: it owns processes.

    Equal scripts are asked once in its life. Not to be shared between threads.
    """

    def __init__(self, options: ProverOptions | None = None) -> None:
        self.options = options if options is not None else ProverOptions()
        limits = Limits(self.options.rlimit, self.options.guard_seconds, self.options.megabytes)
        self.pool = Pool(limits, max(1, self.options.jobs // 2))
        self.known: dict[tuple[str, str], Replies] = {}
        self.tickets = 0
        self._encoder: FirstEncoder | None = None
        self._encoded = 0
        self._cache: Cache | None = None

    def start(self) -> None:
        """Start the solver processes now, to load while other work is done; returns at once."""
        self.pool.start()

    def prove(self, obligations: Iterable[Obligation], progress: Progress | None = None) -> tuple[Verdict, ...]:
        """One verdict per obligation, in order. A refutation is `Refuted` whatever `can_refute` says.

        Obligations are taken one by one: the solvers work while the next ones are being made.
        """
        return _Batch(self, obligations, progress).run()

    def satisfiable(self, premises: Sequence[Formula]) -> bool | None:
        """Whether formulas can hold together: none when that could not be decided.

        True takes a `sat` that evaluates to true and no `unsat`; false what proves an obligation.
        """
        obligation = Obligation("the premises can hold together", tuple(premises), FALSE)
        return is_satisfiable(obligation, self.prove([obligation])[0])

    def close(self) -> None:
        """End the solver processes and close the cache. The prover may be used again after."""
        self.pool.close()
        if self._cache is not None:
            self._cache.close()
            self._cache = None

    def __enter__(self) -> Prover:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def encode(self, obligation: Obligation) -> Scripts:
        """The two scripts of an obligation. Raises EncodingError."""
        from cachet_verify.encodings.first import FirstEncoder

        if isinstance(obligation, RealObligation):
            from cachet_verify.encodings import first_real, second_real

            return first_real.encode_real(obligation), second_real.encode_real(obligation)
        if self._encoder is None or self._encoded >= _BATCH:
            self._encoder, self._encoded = FirstEncoder(), 0
        self._encoded += 1
        return self._encoder.encode(obligation), second.encode(obligation)

    def cache(self) -> Cache | None:
        """The open cache, if one is wanted."""
        if self._cache is None and self.options.cache_dir is not None:
            from cachet_verify.solver.cache import Cache

            self._cache = Cache(self.options.cache_dir)
        return self._cache

    def key(self, scripts: Scripts) -> str:
        """The cache key of two scripts; empty without a cache."""
        if self.options.cache_dir is None:
            return ""
        from cachet_verify.solver.cache import key_of, solver_builds, source_digest

        return key_of(scripts, self.pool.limits, solver_builds(), source_digest())


class _Batch:
    """One call of `prove`."""

    def __init__(self, prover: Prover, obligations: Iterable[Obligation], progress: Progress | None) -> None:
        self.prover = prover
        self.waiting = obligations
        self.obligations: list[Obligation] = []
        self.progress = progress
        self.verdicts: dict[int, Verdict] = {}
        self.asked: dict[tuple[str, str], _Question] = {}
        self.in_flight: dict[int, _Question] = {}

    def run(self) -> tuple[Verdict, ...]:
        try:
            for place, obligation in enumerate(self.waiting):
                self.obligations.append(obligation)
                self.consider(place, obligation)
                self.listen(0.0)
                while len(self.in_flight) >= _IN_FLIGHT:
                    self.listen(1.0)
            while self.in_flight:
                self.listen(1.0)
        except BaseException:
            self.prover.pool.close()  # replies to this batch must not reach the next one
            raise
        cache = self.prover.cache()
        if cache is not None:
            cache.commit()
        return tuple(self.verdicts[place] for place in range(len(self.obligations)))

    def consider(self, place: int, obligation: Obligation) -> None:
        """Encode an obligation and ask it, unless the same was asked before."""
        try:
            scripts = self.prover.encode(obligation)
        except (EncodingError, RecursionError):
            self.conclude(place, Undecided(obligation.digest(), "not-supported"))
            return
        texts = (scripts[0].text, scripts[1].text)
        question = self.asked.get(texts)
        if question is None:
            question = self.asked[texts] = _Question(scripts, self.prover.key(scripts), [], {})
        question.places.append(place)
        if len(question.places) == 1:
            self.save(obligation, scripts)
            self.ask(question)
        elif len(question.replies) == len(SOLVERS):
            self.settle(question, [place])

    def ask(self, question: _Question) -> None:
        """Answer a question from memory or from the cache, else hand it to both solvers."""
        digests = (question.scripts[0].digest(), question.scripts[1].digest())
        replies = self.prover.known.get(digests)
        cache = self.prover.cache()
        if replies is None and cache is not None:
            replies = cache.find(question.key)
        if replies is not None:
            question.replies = dict(zip(SOLVERS, replies, strict=True))
            self.settle(question, question.places)
            return
        self.prover.tickets += 1
        self.in_flight[self.prover.tickets] = question
        for solver, script in zip(SOLVERS, question.scripts, strict=True):
            self.prover.pool.ask(solver, self.prover.tickets, script)

    def listen(self, seconds: float) -> None:
        """Take replies; a question with both is settled, remembered and cached."""
        if not self.in_flight:
            return
        for ticket, solver, reply in self.prover.pool.poll(seconds):
            question = self.in_flight[ticket]
            question.replies[solver] = reply
            if len(question.replies) < len(SOLVERS):
                continue
            del self.in_flight[ticket]
            replies = (question.replies[SOLVERS[0]], question.replies[SOLVERS[1]])
            cache = self.prover.cache()
            if cache is not None:
                cache.store(question.key, replies)
            if all(reply.answer.answer != "failed" for reply in replies):
                self.prover.known[question.scripts[0].digest(), question.scripts[1].digest()] = replies
            self.settle(question, question.places)

    def settle(self, question: _Question, places: Sequence[int]) -> None:
        """Decide the obligations that waited for a question."""
        replies = (question.replies[SOLVERS[0]], question.replies[SOLVERS[1]])
        for place in places:
            verdict = decide(self.obligations[place], question.scripts, replies, self.prover.options.solvers)
            if isinstance(verdict, Failed):
                folder = self.keep(self.obligations[place], question.scripts)
                verdict = replace(verdict, reason=f"{verdict.reason}; scripts in {folder}")
            self.conclude(place, verdict)

    def conclude(self, place: int, verdict: Verdict) -> None:
        self.verdicts[place] = verdict
        if self.progress is not None:
            self.progress(len(self.verdicts), len(self.obligations), self.obligations[place])

    def save(self, obligation: Obligation, scripts: Scripts) -> None:
        """Write both scripts where they are wanted."""
        if self.prover.options.save_scripts is not None:
            write_scripts(self.prover.options.save_scripts, obligation, scripts)

    def keep(self, obligation: Obligation, scripts: Scripts) -> Path:
        """Write both scripts of our own fault, wanted or not; the folder they are in."""
        folder = self.prover.options.save_scripts
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="cachet-verify-"))
            write_scripts(folder, obligation, scripts)
        return folder


def write_scripts(folder: Path, obligation: Obligation, scripts: Scripts) -> None:
    """Write `<digest of the obligation>.z3.smt2` and `.cvc5.smt2`, each with what it asks in a comment. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    says = " ".join(obligation.subject.split())
    for solver, script in zip(SOLVERS, scripts, strict=True):
        text = f"; unsat proves: {says}\n{script.text}"
        (folder / f"{obligation.digest()}.{solver}.smt2").write_text(text, encoding="utf-8")
