"""Element types: a cell holds words of its type, and an operation is given words of the types it takes.

Takes lowered programs; raises `RuleError` for a word of one type where another is wanted, so that no
copy ever stands for a conversion. Must not look at what an operation means, nor convert anything: one that is not in
the table, and no interface's, takes anything.
"""

from __future__ import annotations

from cachet_verify.core.element import ELEMENTS, WordError
from cachet_verify.core.family import Families, Family
from cachet_verify.core.ir import Choose, Load, OfIndex, Op, Value, Word
from cachet_verify.core.word import OPERATIONS
from cachet_verify.kernel.claim import RuleError


def check_types(rule: str, families: Families) -> None:
    """Refuse a program in which a word has another type than its place."""
    for member in families.members:
        _Typing(rule, families, member).stored()


class _Typing:
    """The types in the value of one family."""

    def __init__(self, rule: str, families: Families, member: Family) -> None:
        self.rule = rule
        self.families = families
        self.member = member

    def stored(self) -> None:
        """The value has the type of the cell."""
        self.expect(self.member.value, self.families.buffers[self.member.buffer].elem)

    def expect(self, value: Value, wanted: str) -> None:
        """A value and all inside it have their types, its own the one wanted."""
        found = self.type_of(value)
        if found != wanted:
            raise self.refuse(f"a word of type {found} stands where one of type {wanted} is wanted")

    def refuse(self, text: str) -> RuleError:
        """The error, with where it is."""
        return RuleError(self.rule, f"{text}, in a store to {self.member.buffer}", self.member)

    def type_of(self, value: Value) -> str:
        """The type of a value whose parts have theirs."""
        if isinstance(value, Load):
            return self.families.buffers[value.buffer].elem
        if isinstance(value, Choose):
            then = self.type_of(value.then)
            self.expect(value.orelse, then)
            return then
        if isinstance(value, Op):
            self.operation(value)
        elif isinstance(value, Word) and value.elem in ELEMENTS and value.bits != value.bits & ELEMENTS[value.elem].mask:
            raise self.refuse(f"{value.bits} is no word of type {value.elem}")
        elif not isinstance(value, (Word, OfIndex)):
            raise self.refuse("a fold inside an operand has no type")
        return value.elem

    def operation(self, value: Op) -> None:
        """The operands have the types that the operation takes, and its result is of the type it gives."""
        if "." not in value.name and value.name.partition(" ")[0] not in OPERATIONS:
            for arg in value.args:
                self.type_of(arg)
            return
        taken, given = self.signature(value)
        if given != value.elem or len(taken) != len(value.args):
            raise self.refuse(f"{value.name} of {len(value.args)} operands gives no {value.elem}")
        for arg, wanted in zip(value.args, taken, strict=True):
            self.expect(arg, wanted)

    def signature(self, value: Op) -> tuple[tuple[str, ...], str]:
        """The types of the operands and of the result."""
        generic, dot, _ = value.name.partition(".")
        if dot:
            own = f"{generic}.Value"
            return (own,) * len(value.args), own
        head, _, types = value.name.partition(" ")
        try:
            return OPERATIONS[head].signature(types or value.elem)
        except WordError as error:
            raise self.refuse(str(error)) from error
