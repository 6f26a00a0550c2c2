"""The operations of a sum: an interface's own, or those of `PlusTimes` on a built-in type.

Takes element types and values; gives core values with the functions of an `impl` inlined.
Must not assume what an operation computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from cachet_verify.core.ir import Op, Value
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.application import inline_function
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.item import Implementation
from cachet_verify.elaborate.place import Place
from cachet_verify.elaborate.problem import UnsupportedError
from cachet_verify.elaborate.scope import Scope, ValueEntity, ValueType
from cachet_verify.elaborate.value import Values
from cachet_verify.source import Span


def call_member(context: Context, implementation: Implementation, name: str, args: Sequence[Value], span: Span | None) -> Value:
    """A function of an implementation applied to words of its element type, inlined."""
    fn = implementation.members.get(name)
    if fn is None or len(fn.params) != len(args):
        message = f"`{implementation.name}` has no `{name}` of {len(args)} operands"
        raise context.stop("elaborate.generic.member", message, span)
    kind = ValueType(implementation.elem)
    arguments = [ValueEntity(arg, kind) for arg in args]
    return inline_function(Values(context), fn, implementation.path, arguments, kind, Place(Scope()))


class Semiring:
    """The semiring that sums of an element type use."""

    def __init__(self, context: Context, elem: str, span: Span | None) -> None:
        self._context = context
        self._elem = elem
        self._span = span
        self._implementation: Implementation | None = None
        if not operation.is_generic(elem):
            self._implementation = context.unit.implementation(("PlusTimes", elem), "Semiring")
            if self._implementation is None:
                hint = "take the element type from a parameter `{S : Semiring}`, bound to `Boolean`" if elem == "bool" else ""
                raise context.stop("elaborate.generic.missing", f"there is no sum on `{elem}`", span, hint)

    def apply(self, name: str, *args: Value) -> Value:
        """One of `zero`, `one`, `add`, `mul`, `mul_add`. Raises StopError, UnsupportedError."""
        if self._implementation is not None:
            return call_member(self._context, self._implementation, name, args, self._span)
        generic = self._elem.partition(".")[0]
        if not generic:
            raise UnsupportedError(f"a sum on `{self._elem}`", self._span)
        return Op(f"{generic}.{name}", self._elem, args)
