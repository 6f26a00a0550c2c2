"""Text of PTX around a template: a kernel in which each warp, or each row of threads, does one use of it.

Takes a subject; gives text and how many threads a use takes. Must not guess where a thread's words lie: an instruction whose
layout is not written down here is refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cachet_verify.measure.subject import Part, Subject, cannot

_MMA = re.compile(r"\bmma\.sync\.aligned\.m(\d+)n(\d+)k(\d+)\.row\.col\.f64\.f64\.f64\.f64\b")
_SPREAD = re.compile(r"\b(mma|wgmma|wmma|shfl|ldmatrix|stmatrix|movmatrix|redux|vote|match|activemask|bar|barrier)\b")
_TYPES = {"f32": "f32", "f64": "f64", "i32": "b32", "u32": "b32", "i64": "b64", "u64": "b64", "f16": "b16", "i16": "b16", "u16": "b16"}
_WARP, _MOST_THREADS = 32, 1024


@dataclass(frozen=True, slots=True)
class Register:
    """Which word of an operand a thread has in a register: `first + group * (thread / 4) + lane * (thread % 4) + each * thread`."""

    first: int
    group: int = 0
    lane: int = 0
    each: int = 0


@dataclass(frozen=True, slots=True)
class Kernel:
    """The text of a kernel `measured`, and the threads that one use takes."""

    text: str
    threads: int


def kernel_of(subject: Subject, capability: tuple[int, int]) -> Kernel:
    """The kernel of a template. Raises CachetError for one whose layout is not known."""
    shapes = set(_MMA.findall(subject.text))
    if len(shapes) == 1:
        fragments = _fragments(subject, tuple(map(int, shapes.pop())))
        return Kernel(_text(subject, fragments, capability, in_braces=True), _WARP)
    spread = _SPREAD.search(subject.text)
    if spread is not None:
        raise cannot(subject.instruction.name, f"where the words of `{spread.group(1)}` lie in a warp is not known for these types", subject.span)
    return _by_thread(subject, capability)


def _by_thread(subject: Subject, capability: tuple[int, int]) -> Kernel:
    """One word of each vector a thread, as long as the vectors are; every thread has the words that stand by themselves."""
    threads = subject.result.words
    if threads > _MOST_THREADS or any(part.is_vector and part.words != threads for part in subject.operands):
        raise cannot(subject.instruction.name, "its vectors differ in length, so that no thread has a word of each", subject.span)
    fragments: dict[str, tuple[Register, ...]] = {
        part.name: (Register(0, each=1 if part.is_vector else 0),) for part in (*subject.operands, subject.result)
    }
    return Kernel(_text(subject, fragments, capability, in_braces=False), threads)


def _fragments(subject: Subject, shape: tuple[int, ...]) -> dict[str, tuple[Register, ...]]:
    """Where the words of an f64 product of m by k by n lie, as the instruction set's manual says: rows of eight, columns of eight or four."""
    m, n, k = shape
    sizes = (m * k, k * n, m * n)
    operands, result = subject.operands, subject.result
    if n != 8 or m % 8 or k % 4 or tuple(part.words for part in operands) != sizes or result.words != sizes[2]:
        raise cannot(subject.instruction.name, f"its operands are not blocks of m{m}n{n}k{k}, row by row", subject.span)
    if any(part.elem != "f64" for part in (*operands, result)):
        raise cannot(subject.instruction.name, "its operands are not f64", subject.span)
    rows = m // 8
    left = tuple(Register(8 * (at % rows) * k + 4 * (at // rows), k, 1) for at in range(rows * k // 4))
    right = tuple(Register(4 * at * n, 1, n) for at in range(k // 4))
    total = tuple(Register(8 * (at // 2) * n + at % 2, n, 2) for at in range(2 * rows))
    return dict(zip([*(part.name for part in operands), result.name], (left, right, total, total), strict=True))


def _text(subject: Subject, fragments: dict[str, tuple[Register, ...]], capability: tuple[int, int], *, in_braces: bool) -> str:
    """The kernel: loads, the template, stores."""
    parts = (*subject.operands, subject.result)
    major, minor = capability
    lines = [".version 7.8" if major >= 9 else ".version 7.0", f".target sm_{major}{minor}", ".address_size 64", ""]
    params = ",\n  ".join(f".param .u64 at_{place}" for place, _ in enumerate(parts))
    lines += [f".visible .entry measured(\n  {params}\n)", "{", *_places(parts)]
    for place, part in enumerate(parts):
        kind = _kind(part, subject)
        lines.append(f"  .reg .{kind} word_{place}_<{len(fragments[part.name])}>;")
        if part is not subject.result:
            lines += _moves(place, part, fragments[part.name], f"ld.global.{kind}", is_load=True)
    lines += [f"  {line}" for line in _filled(subject, fragments, in_braces=in_braces).splitlines()]
    last = len(parts) - 1
    lines += _moves(last, subject.result, fragments[subject.result.name], f"st.global.{_kind(subject.result, subject)}", is_load=False)
    return "\n".join((*lines, "  ret;", "}", ""))


def _places(parts: tuple[Part, ...]) -> list[str]:
    """The address of each part's words of this use."""
    lines = ["  .reg .u32 thread, group, lane, use;", "  .reg .u64 place, offset, wide;", f"  .reg .u64 base_<{len(parts)}>;"]
    lines += ["  mov.u32 thread, %tid.x;", "  shr.u32 group, thread, 2;", "  and.b32 lane, thread, 3;", "  mov.u32 use, %ctaid.x;"]
    for place, part in enumerate(parts):
        lines += [
            f"  ld.param.u64 base_{place}, [at_{place}];",
            f"  cvta.to.global.u64 base_{place}, base_{place};",
            "  cvt.u64.u32 wide, use;",
            f"  mad.lo.u64 base_{place}, wide, {part.words * part.size}, base_{place};",
        ]
    return lines


def _moves(place: int, part: Part, registers: tuple[Register, ...], move: str, *, is_load: bool) -> list[str]:
    """Every register of a part loaded or stored."""
    lines = []
    for at, register in enumerate(registers):
        lines.append(f"  add.u64 place, base_{place}, {register.first * part.size};")
        for factor, counter in ((register.group, "group"), (register.lane, "lane"), (register.each, "thread")):
            if factor:
                lines += [f"  cvt.u64.u32 wide, {counter};", f"  mad.lo.u64 place, wide, {factor * part.size}, place;"]
        name = f"word_{place}_{at}"
        lines.append(f"  {move} {name}, [place];" if is_load else f"  {move} [place], {name};")
    return lines


def _filled(subject: Subject, fragments: dict[str, tuple[Register, ...]], *, in_braces: bool) -> str:
    """The template with registers in the place of its names."""
    names = {}
    for place, part in enumerate((*subject.operands, subject.result)):
        words = ", ".join(f"word_{place}_{at}" for at in range(len(fragments[part.name])))
        names[part.name] = f"{{{words}}}" if in_braces else words
    return subject.filled(names)


def _kind(part: Part, subject: Subject) -> str:
    if part.elem not in _TYPES:
        raise cannot(subject.instruction.name, f"words of type {part.elem}", subject.span)
    return _TYPES[part.elem]
