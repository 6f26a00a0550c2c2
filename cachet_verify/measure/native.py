"""Compiled text: LLVM IR made into functions of this machine.

Takes the text of a module and a function's name; gives a function on arrays of bytes. Must not be asked about text that was not
made by this package, but for what a template says.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

Function = Callable[[int, Sequence[Any]], None]


class NativeError(Exception):
    """The text is no LLVM IR, or asks for what is not there."""


def compiled(text: str, name: str, arrays: int) -> Function:
    """The function `name` of a module, of a count and so many arrays. Raises NativeError."""
    import llvmlite.binding as llvm

    machine = _machine()
    try:
        module = llvm.parse_assembly(text)
        module.verify()
        engine = llvm.create_mcjit_compiler(module, machine())
        engine.finalize_object()
    except RuntimeError as fault:
        raise NativeError(" ".join(str(fault).split())) from fault
    address = engine.get_function_address(name)
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *([ctypes.c_void_p] * arrays))(address)

    def call(count: int, given: Sequence[Any], _kept: object = engine) -> None:
        function(count, *(ctypes.addressof(array) for array in given))

    return call


@cache
def _machine() -> Callable[[], Any]:
    """What makes machine code for this processor, with everything it has."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    options = {"cpu": llvm.get_host_cpu_name(), "features": llvm.get_host_cpu_features().flatten(), "opt": 2}
    return lambda: target.create_target_machine(**options)


def array_of(words: bytes) -> Any:
    """Bytes where a compiled function finds them; at least one, and aligned."""
    return (ctypes.c_uint64 * max(1, (len(words) + 7) // 8)).from_buffer_copy(words + bytes(8 + -len(words) % 8))


def room_for(size: int) -> Any:
    """So many bytes for a compiled function to write, all zero."""
    return (ctypes.c_uint64 * max(1, (size + 7) // 8))()


def bytes_of(array: Any, size: int) -> bytes:
    """The first bytes of an array."""
    return bytes(memoryview(array).cast("B")[:size])
