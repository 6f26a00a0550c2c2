"""The kernel rules of route A, called with wrong hints and wrong programs.

Takes the base schedules; gives the calls of kernel rules that their steps make, and mutants of each:
one edit of the program after, of the statements that replace others, or of an index map. A rule must
refuse a wrong call, or ask something that does not hold.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from cachet_verify.core.index import Index, Var
from cachet_verify.core.ir import Block, Declare, Param, Program, statements
from cachet_verify.kernel import fold, lane, normal, predicate, relocate, reschedule, split, stage, unstage
from cachet_verify.kernel.claim import Goal
from tests.mutate.nest_edit import nest_mutants
from tests.mutate.site import Names, binders
from tests.mutate.term_edit import TERMS, term_edits

RULES: tuple[Callable[..., Goal], ...] = (
    reschedule.reschedule,
    stage.stage_in,
    stage.stage_through,
    lane.extend_lanes,
    lane.narrow_lanes,
    unstage.unstage,
    predicate.predicate_store,
    relocate.relocate_local,
    normal.same_families,
    normal.rename,
    split.split_fold,
    fold.close_fold,
)


@dataclass(frozen=True)
class Call:
    """One call of a rule, with its arguments by name."""

    rule: Callable[..., Goal]
    arguments: tuple[tuple[str, Any], ...]

    def goal(self) -> Goal:
        """Call the rule again. Raises RuleError."""
        return self.rule(**dict(self.arguments))

    def changed(self, name: str, value: Any) -> Call:
        return Call(self.rule, tuple((key, value if key == name else old) for key, old in self.arguments))


@contextmanager
def recorded() -> Iterator[list[Call]]:
    """Every call of a rule that the rewriting modules make meanwhile."""
    calls: list[Call] = []
    changed: list[tuple[Any, str, Any]] = []
    for name, module in list(sys.modules.items()):
        if name.startswith("cachet_verify.rewrite"):
            for key, value in list(vars(module).items()):
                if value in RULES:
                    changed.append((module, key, value))
                    setattr(module, key, _noting(value, calls))
    try:
        yield calls
    finally:
        for module, key, value in changed:
            setattr(module, key, value)


def _noting(rule: Callable[..., Goal], calls: list[Call]) -> Callable[..., Goal]:
    signature = inspect.signature(rule)

    def noting(*args: Any, **kwargs: Any) -> Goal:
        bound = signature.bind(*args, **kwargs)
        calls.append(Call(rule, tuple(bound.arguments.items())))
        return rule(*args, **kwargs)

    return noting


def call_mutants(call: Call) -> Iterator[tuple[str, Call]]:
    """Every call that differs in one place of one argument, the program before left alone."""
    arguments = dict(call.arguments)
    before = next(iter(arguments.values()))
    for name, value in arguments.items():
        if name in ("describe", "path", "count") or value is before:
            continue
        for label, mutant in _value_mutants(name, value, before):
            yield f"{name}: {label}", call.changed(name, mutant)


def _value_mutants(name: str, value: Any, before: Program) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Program):
        yield from nest_mutants(value)
    elif name in ("lead", "region", "trail"):
        for label, program in nest_mutants(replace(_around(before), body=Block(value))):
            yield label, program.body.body
    elif isinstance(value, Mapping):
        yield from _image_mutants(value, before)
    elif isinstance(value, TERMS):
        yield from term_edits(value, Names(tuple(before.sizes), {}))
    elif isinstance(value, bool):
        yield "the other way", not value


def _around(program: Program) -> Program:
    """A program in which all that a program binds can be named."""
    bound = [item for item in statements(program.body) if isinstance(item, Declare)]
    locals_ = tuple(Param(item.name, "mut", item.elem, (*item.shape, *((Var("M"),) if item.width else ()))) for item in bound)
    integers = tuple(name for name in binders(program.body) if name not in {item.name for item in bound})
    return Program(program.name, (*program.sizes, *integers), (*program.params, *locals_), Block())


def _image_mutants(images: Mapping[str, reschedule.Image], before: Program) -> Iterator[tuple[str, Any]]:
    counters = tuple(dict.fromkeys(name for name in binders(before.body) if "." not in name))
    for family, image in images.items():
        for other in {item.origin for item in images.values()} - {image.origin}:
            yield "another origin", {**images, family: replace(image, origin=other)}
        for way in ("forward", "backward"):
            found: Mapping[str, Index] = getattr(image, way)
            for counter, term in found.items():
                names = Names((*counters, *found), {})
                for label, edited in term_edits(term, names):
                    yield f"{way} {label}", {**images, family: replace(image, **{way: {**found, counter: edited}})}
                yield f"{way} entry dropped", {**images, family: replace(image, **{way: {key: at for key, at in found.items() if key != counter}})}
        yield "image dropped", {key: item for key, item in images.items() if key != family}
