"""Templates for `host`: LLVM IR on the operands as vectors or words, compiled and run on this machine.

Takes a subject; gives a backend. A template is instructions that end in `;`, on `{result}` and the operands by name; it may
call LLVM's own functions, `@llvm.…`, and inline assembly. Must not reach anything else.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Sequence

from cachet_verify.measure.native import NativeError, array_of, bytes_of, compiled, room_for
from cachet_verify.measure.subject import Part, Subject, cannot
from cachet_verify.measure.text import UntranslatedError, looped, type_of

_CALL = re.compile(r"call\s+(?:[a-z]+\s+)*?((?:<[^<>]*>)|[a-z]+\d*)\s+@([\w.]+)\(([^()]*)\)")
_NAME = re.compile(r"@([\w.]+)")


class Host:
    """This machine, with one template."""

    def __init__(self, subject: Subject) -> None:
        """Compile the template. Raises CachetError for one that is no LLVM IR."""
        import llvmlite
        import llvmlite.binding as llvm

        self.subject = subject
        self.device = f"{platform.machine()} ({llvm.get_host_cpu_name()})"
        self.versions = {"llvmlite": llvmlite.__version__, "llvm": ".".join(map(str, llvm.llvm_version_info))}
        try:
            self._function = compiled(_text(subject), "measured", len(subject.operands) + 1)
        except UntranslatedError as fault:
            raise cannot(subject.instruction.name, f"words of type {fault}", subject.span) from fault
        except NativeError as fault:
            raise cannot(subject.instruction.name, f"it is no LLVM IR: {fault}", subject.span) from fault

    def run(self, count: int, operands: Sequence[bytes]) -> bytes:
        """The words of so many uses."""
        size = count * self.subject.result.words * self.subject.result.size
        result = room_for(size)
        self._function(count, (*map(array_of, operands), result))
        return bytes_of(result, size)


def _text(subject: Subject) -> str:
    """The module: operands loaded whole, the template, the result stored whole."""
    text = subject.filled({part.name: f"%{part.name}.word" for part in (*subject.operands, subject.result)})
    declared = {name: f"declare {result} @{name}({_types(args)})" for result, name, args in _CALL.findall(text)}
    foreign = next((name for name in _NAME.findall(text) if not name.startswith("llvm.")), None)
    if foreign is not None:
        raise cannot(subject.instruction.name, f"it calls `{foreign}`, which is none of LLVM's own functions", subject.span)
    loads = [f"  %{part.name}.word = load {_kind(part)}, ptr %{part.name}.at, align {part.size}" for part in subject.operands]
    result = subject.result
    stores = [f"  store {_kind(result)} %{result.name}.word, ptr %{result.name}.at, align {result.size}"]
    return looped("measured", (*subject.operands, result), [*loads, *text.split(";"), *stores], declared)


def _kind(part: Part) -> str:
    return f"<{part.words} x {type_of(part.elem)}>" if part.is_vector else type_of(part.elem)


def _types(args: str) -> str:
    """The types of the arguments of a call: all but the last word of each."""
    return ", ".join(arg.strip().rpartition(" ")[0] for arg in args.split(",") if arg.strip())
