"""Operations as this machine's instructions do them, through LLVM's just-in-time compiler.

Takes words in lists; gives lists of words. Must not import `cachet_verify`.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import llvmlite.binding as llvm

LLVM_TYPE = {"f32": "float", "f64": "double", "i8": "i8", "i32": "i32", "i64": "i64", "u32": "i32", "bool": "i1"}
WIDTH = {"f32": 32, "f64": 64, "i8": 8, "i32": 32, "i64": 64, "u32": 32, "bool": 8}
CELL = {8: ctypes.c_uint8, 32: ctypes.c_uint32, 64: ctypes.c_uint64}

HAS_FLUSH_MODE = platform.machine() in ("x86_64", "AMD64")
FLUSH_BITS = 0x8040
"""In x86's control register: results flushed (bit 15), operands flushed (bit 6)."""

_EXPRESSION = {
    "add": "fadd {t} %x, %y",
    "sub": "fsub {t} %x, %y",
    "mul": "fmul {t} %x, %y",
    "div": "fdiv {t} %x, %y",
    "fma": "call {t} @llvm.fma.{e}({t} %x, {t} %y, {t} %z)",
    "sqrt": "call {t} @llvm.sqrt.{e}({t} %x)",
    "max": "call {t} @llvm.maximum.{e}({t} %x, {t} %y)",
    "min": "call {t} @llvm.minimum.{e}({t} %x, {t} %y)",
    "neg": "fneg {t} %x",
    "abs": "call {t} @llvm.fabs.{e}({t} %x)",
    "eq": "fcmp oeq {t} %x, %y",
    "lt": "fcmp olt {t} %x, %y",
    "le": "fcmp ole {t} %x, %y",
    "extend": "fpext {t} %x to {r}",
    "truncate": "fptrunc {t} %x to {r}",
    "to_signed": "call {r} @llvm.fptosi.sat.{r}.{e}({t} %x)",
    "to_unsigned": "call {r} @llvm.fptoui.sat.{r}.{e}({t} %x)",
    "from_signed": "sitofp {t} %x to {r}",
    "from_unsigned": "uitofp {t} %x to {r}",
}

_DECLARATIONS = "\n".join(
    [f"declare {t} @llvm.fma.{e}({t}, {t}, {t})" for t, e in (("float", "f32"), ("double", "f64"))]
    + [f"declare {t} @llvm.{n}.{e}({t}, {t})" for n in ("maximum", "minimum") for t, e in (("float", "f32"), ("double", "f64"))]
    + [f"declare {t} @llvm.{n}.{e}({t})" for n in ("sqrt", "fabs") for t, e in (("float", "f32"), ("double", "f64"))]
    + [f"declare {r} @llvm.fpto{s}i.sat.{r}.{e}({t})" for s in "su" for r in ("i8", "i32", "i64") for t, e in (("float", "f32"), ("double", "f64"))]
)

_MAP = """
define void @run(ptr %a, ptr %b, ptr %c, ptr %out, i64 %n) {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %pa = getelementptr {t}, ptr %a, i64 %i
  %pb = getelementptr {t}, ptr %b, i64 %i
  %pc = getelementptr {t}, ptr %c, i64 %i
  %po = getelementptr {r}, ptr %out, i64 %i
  %x = load {t}, ptr %pa
  %y = load {t}, ptr %pb
  %z = load {t}, ptr %pc
  %v = {expression}
{widen}
  store {r} %w, ptr %po
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""

_CHAIN = """
define void @run(ptr %a, ptr %b, ptr %c, ptr %out, i64 %n) {{
entry:
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %done
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %acc = phi {t} [ -0.0, %entry ], [ %v, %loop ]
  %pa = getelementptr {t}, ptr %a, i64 %i
  %pb = getelementptr {t}, ptr %b, i64 %i
  %x = load {t}, ptr %pa
  %y = load {t}, ptr %pb
  %v = call {t} @llvm.fma.{e}({t} %x, {t} %y, {t} %acc)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  %total = phi {t} [ -0.0, %entry ], [ %v, %loop ]
  store {t} %total, ptr %out
  ret void
}}
"""

_CONTROL = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define i32 @run(i32 %new) {
  %old = alloca i32
  %set = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %old)
  store i32 %new, ptr %set
  call void @llvm.x86.sse.ldmxcsr(ptr %set)
  %value = load i32, ptr %old
  ret i32 %value
}
"""


@cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return llvm.Target.from_default_triple().create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=2)


_engines: list[Any] = []


def _compile(text: str) -> int:
    """The address of `@run`; the engine is kept alive."""
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, _machine())
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address("run"))


_ARRAYS = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


@cache
def _mapped(name: str, elem: str, result: str) -> Callable[..., None]:
    expression = _EXPRESSION[name].format(t=LLVM_TYPE[elem], e=elem, r=LLVM_TYPE[result])
    widen = "  %w = zext i1 %v to i8" if result == "bool" else f"  %w = select i1 true, {LLVM_TYPE[result]} %v, {LLVM_TYPE[result]} %v"
    stored = "i8" if result == "bool" else LLVM_TYPE[result]
    text = _DECLARATIONS + _MAP.format(t=LLVM_TYPE[elem], r=stored, expression=expression, widen=widen)
    return _ARRAYS(_compile(text))


@cache
def _chained(elem: str) -> Callable[..., None]:
    return _ARRAYS(_compile(_DECLARATIONS + _CHAIN.format(t=LLVM_TYPE[elem], e=elem)))


@cache
def _control() -> Callable[[int], int]:
    return ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)(_compile(_CONTROL))


@contextmanager
def flushing() -> Iterator[None]:
    """Within it the processor flushes subnormal operands and results; x86 only."""
    control = _control()
    old = control(0x1F80 | FLUSH_BITS)
    try:
        yield
    finally:
        control(old)


def apply(name: str, elem: str, *columns: Sequence[int], result: str | None = None, flush: bool = False) -> list[int]:
    """The operation on each row of up to three columns of words, by machine instructions."""
    result = result or elem
    run = _mapped(name, elem, result)
    cell, count = CELL[WIDTH[elem]], len(columns[0])
    arrays = [(cell * count)(*column) for column in columns]
    arrays += [arrays[0]] * (3 - len(arrays))
    out = (CELL[WIDTH[result]] * count)()
    if flush:
        with flushing():
            run(*arrays, out, count)
    else:
        run(*arrays, out, count)
    return list(out)


def chain(elem: str, a: Sequence[int], b: Sequence[int]) -> int:
    """The words' dot product as an ascending chain of fma from -0.0."""
    cell = CELL[WIDTH[elem]]
    out = (cell * 1)()
    _chained(elem)((cell * len(a))(*a), (cell * len(b))(*b), None, out, len(a))
    return int(out[0])
