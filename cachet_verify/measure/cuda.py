"""Templates for `nvptx`: a kernel of PTX, loaded and run through the driver of an NVIDIA GPU; nothing else is needed.

Takes a subject; gives a backend. Raises CachetError where there is no driver or no device, or where the driver refuses the text.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from cachet_verify.diagnostic import CachetError, fail
from cachet_verify.measure.ptx import Kernel, kernel_of
from cachet_verify.measure.subject import Subject, cannot

_LIBRARY = "libcuda.so.1"
_MAJOR, _MINOR = 75, 76
_LOG, _LOG_SIZE = 5, 6
_LOG_BYTES = 8192


class Cuda:
    """One GPU, with one template."""

    def __init__(self, subject: Subject) -> None:
        """Load the kernel of the template. Raises CachetError."""
        self.subject = subject
        self._driver = _driver()
        self._check("cuInit", ctypes.c_uint(0))
        device = ctypes.c_int()
        self._check("cuDeviceGet", ctypes.byref(device), ctypes.c_int(0))
        self.device = self._name(device)
        capability = (self._attribute(device, _MAJOR), self._attribute(device, _MINOR))
        self.versions = {"driver": self._version(), "compute capability": f"{capability[0]}.{capability[1]}"}
        context = ctypes.c_void_p()
        self._check("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._check("cuCtxSetCurrent", context)
        self._kernel: Kernel = kernel_of(subject, capability)
        self._function = self._loaded(self._kernel.text)

    def run(self, count: int, operands: Sequence[bytes]) -> bytes:
        """The words of so many uses, each in a block of threads of its own."""
        size = count * self.subject.result.words * self.subject.result.size
        places: list[ctypes.c_uint64] = []
        try:
            for words in (*operands, bytes(size)):
                places.append(self._copied(words))
            values = (ctypes.c_void_p * len(places))(*(ctypes.addressof(place) for place in places))
            shape = [ctypes.c_uint(part) for part in (count, 1, 1, self._kernel.threads, 1, 1, 0)]
            self._check("cuLaunchKernel", self._function, *shape, None, values, None)
            self._check("cuCtxSynchronize")
            result = ctypes.create_string_buffer(max(1, size))
            self._check("cuMemcpyDtoH_v2", result, places[-1], ctypes.c_size_t(size))
            return result.raw[:size]
        finally:
            for place in places:
                self._driver.cuMemFree_v2(place)

    def _copied(self, words: bytes) -> ctypes.c_uint64:
        place = ctypes.c_uint64()
        self._check("cuMemAlloc_v2", ctypes.byref(place), ctypes.c_size_t(max(8, len(words))))
        self._check("cuMemcpyHtoD_v2", place, words, ctypes.c_size_t(len(words)))
        return place

    def _loaded(self, text: str) -> ctypes.c_void_p:
        """The kernel's function; what the driver says of text that it refuses is passed on."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (ctypes.c_int * 2)(_LOG, _LOG_SIZE)
        values = (ctypes.c_void_p * 2)(ctypes.cast(log, ctypes.c_void_p), ctypes.c_void_p(_LOG_BYTES))
        code = self._driver.cuModuleLoadDataEx(ctypes.byref(module), text.encode(), ctypes.c_uint(2), options, values)
        if code:
            said = " ".join(log.value.decode(errors="replace").split()) or f"error {code}"
            raise cannot(self.subject.instruction.name, f"the driver refuses it: {said}", self.subject.span)
        self._check("cuModuleGetFunction", ctypes.byref(function), module, b"measured")
        return function

    def _name(self, device: ctypes.c_int) -> str:
        name = ctypes.create_string_buffer(256)
        self._check("cuDeviceGetName", name, ctypes.c_int(256), device)
        return name.value.decode(errors="replace")

    def _attribute(self, device: ctypes.c_int, which: int) -> int:
        value = ctypes.c_int()
        self._check("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(which), device)
        return value.value

    def _version(self) -> str:
        value = ctypes.c_int()
        self._check("cuDriverGetVersion", ctypes.byref(value))
        return f"CUDA {value.value // 1000}.{value.value % 1000 // 10}"

    def _check(self, name: str, *args: Any) -> None:
        code = getattr(self._driver, name)(*args)
        if code:
            raise _absent(f"{name} gives error {code}")


def _driver() -> Any:
    try:
        return ctypes.CDLL(_LIBRARY)
    except OSError as fault:
        raise _absent(f"{_LIBRARY} is not there") from fault


def _absent(why: str) -> CachetError:
    hint = "run it on a machine with an NVIDIA GPU and its driver"
    return fail("evidence.no-target", f"the target nvptx is not present here: {why}", None, hint)
