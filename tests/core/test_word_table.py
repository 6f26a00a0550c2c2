"""The table of operations: names, signatures, refusals, and that a fast path is only a fast path."""

from __future__ import annotations

import subprocess
import sys

import pytest

from cachet_verify.core import word as word_module
from cachet_verify.core.softfloat import SoftFloat
from cachet_verify.core.word import ELEMENTS, FLUSH, IEEE, OPERATIONS, Arithmetic, WordError, function_of


def test_every_operation_has_a_function_on_every_type_it_names() -> None:
    for operation in OPERATIONS.values():
        for element in ELEMENTS.values():
            types = f"{element.name} f32" if operation.name == "convert" else element.name
            if element.kind not in operation.kinds:
                with pytest.raises(WordError, match="is not defined on"):
                    operation.build(types, False)
                continue
            operands, result = operation.signature(types)
            assert len(operands) == operation.arity
            for arithmetic in (IEEE, FLUSH):
                value = operation.function(arithmetic, types, *([1] * operation.arity))
                assert 0 <= value <= ELEMENTS[result].mask
        assert operation.meaning


def test_signatures() -> None:
    assert OPERATIONS["fma"].signature("f32") == (("f32", "f32", "f32"), "f32")
    assert OPERATIONS["lt"].signature("i8") == (("i8", "i8"), "bool")
    assert OPERATIONS["select"].signature("f64") == (("bool", "f64", "f64"), "f64")
    assert OPERATIONS["convert"].signature("f32 i8") == (("f32",), "i8")
    assert OPERATIONS["from_bits"].signature("f32") == (("u32",), "f32")
    assert OPERATIONS["from_bits"].signature("f64") == (("i64",), "f64")
    assert OPERATIONS["to_bits"].signature("bf16") == (("bf16",), "u32")


def test_bits_and_select_move_words_unchanged() -> None:
    for arithmetic in (IEEE, FLUSH):
        assert function_of("from_bits", "f32", arithmetic)(4286578688) == 0xFF800000
        assert function_of("from_bits", "f32", arithmetic)(1) == 1
        assert function_of("from_bits", "f16", arithmetic)(0x1234ABCD) == 0xABCD
        assert function_of("to_bits f32", "u32", arithmetic)(0xFFC00001) == 0xFFC00001
        assert function_of("to_bits bf16", "u32", arithmetic)(0xFFC1) == 0xFFC1
        select = function_of("select", "f32", arithmetic)
        assert (select(1, 0x7F800001, 2), select(0, 0x7F800001, 2)) == (0x7F800001, 2)


@pytest.mark.parametrize(
    ("name", "elem", "message"),
    [
        ("mad", "f32", "`mad` is not an operation on words"),
        ("lt", "bool", "`lt` needs its types, as `lt f32`"),
        ("convert", "f32", "`convert` needs its types, as `convert f32 f64`"),
        ("convert f32", "f32", "`convert` does not take the types `f32`"),
        ("convert f32 f64", "f32", "`convert f32 f64` gives `f64`, not `f32`"),
        ("lt f32", "f32", "`lt f32` gives `bool`, not `f32`"),
        ("add f32", "f64", "`add f32` gives `f32`, not `f64`"),
        ("add", "f32 f64", "`add` does not take the types `f32 f64`"),
        ("sqrt", "i32", "`sqrt` is not defined on `i32`"),
        ("xor", "f32", "`xor` is not defined on `f32`"),
        ("add", "S.Value", "`S.Value` is not an element type; these are: f16, bf16, f32, f64, i8, i32, i64, u32, bool"),
    ],
)
def test_refused_names(name: str, elem: str, message: str) -> None:
    with pytest.raises(WordError) as caught:
        function_of(name, elem)
    assert str(caught.value) == message


def test_wrong_number_of_words() -> None:
    with pytest.raises(WordError, match=r"^`fma` takes 3 words, not 2$"):
        OPERATIONS["fma"].function(IEEE, "f32", 0, 0)


def test_an_arithmetic_computes_by_what_it_does_not_by_its_name() -> None:
    device = Arithmetic("M4Gpu", flushes=True)
    assert device != FLUSH
    assert function_of("mul", "f32", device)(0x00800000, 0x3F000000) == 0
    assert OPERATIONS["mul"].function(device, "f32", 0x00800000, 0x3F000000) == 0


def test_a_host_that_flushes_gets_the_exact_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not isinstance(getattr(OPERATIONS["fma"].build("f32", False), "__self__", None), SoftFloat)
    monkeypatch.setattr(word_module, "host_is_ieee", lambda: False)
    for flushes in (False, True):
        function = OPERATIONS["fma"].build("f32", flushes)
        assert getattr(function, "__self__", None) == SoftFloat(ELEMENTS["f32"], flushes)


def test_importing_words_imports_nothing_heavy() -> None:
    code = (
        "import sys, cachet_verify.core.word; print(*sorted({'numpy', 'fractions', 'decimal', 'llvmlite', 'z3', 'cvc5', 'lark'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
