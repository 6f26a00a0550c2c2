"""Measurements find what is wrong with templates, on the kinds of inputs that show it, and nothing where nothing is."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from cachet_verify.cli import main
from cachet_verify.diagnostic import CachetError
from cachet_verify.judge.file import open_file
from cachet_verify.measure.input import KINDS, uses_of
from cachet_verify.measure.ptx import kernel_of
from cachet_verify.measure.reference import Reference
from cachet_verify.measure.subject import Part, Subject, subject_of
from cachet_verify.measuring import Asked, measure_file
from tests.trust.made import project

ROOT = Path(__file__).resolve().parents[2]
CONTROL = Path(__file__).with_name("control.cachet")
H200 = ROOT / "platforms" / "nvidia-h200.cachet"


def subject(path: Path, name: str, target: str) -> Subject:
    item = open_file(path).module.programs[name]
    assert item.program is not None
    assert item.instruction is not None
    return subject_of(item.program, item.instruction, target, flushes=False)


def host(name: str, tmp_path: Path) -> dict[str, int]:
    (kept,) = measure_file(CONTROL, name, Asked("host", words=2000, output=tmp_path))
    return {part.kind: part.mismatches for part in kept.record.inputs}


def test_a_right_template_differs_nowhere(tmp_path: Path) -> None:
    assert host("right", tmp_path) == dict.fromkeys(KINDS, 0)


def test_two_roundings_are_found_where_they_show(tmp_path: Path) -> None:
    found = host("rounds_twice", tmp_path)
    assert min(found[kind] for kind in ("random", "cancelling", "infinite", "NaN")) > 0
    assert found["signed zeros"] == 0


def test_the_sign_of_zero_is_found_by_zeros_alone(tmp_path: Path) -> None:
    found = host("negates", tmp_path)
    assert found.pop("signed zeros") > 0
    assert set(found.values()) == {0}


def test_each_kind_holds_what_it_is_called_after() -> None:
    part = Part("x", "f32", 16, is_vector=True)
    words = {kind: [abs(value) for (value,) in struct.iter_unpack("<f", uses_of(kind, [part], 200, "1")[0])] for kind in KINDS}
    least = 2.0**-126
    assert any(value != value for value in words["NaN"])
    assert float("inf") in words["infinite"]
    assert sum(value == 0.0 for value in words["signed zeros"]) > 1000
    assert 0 < sum(0.0 < value < least for value in words["subnormal"]) < 3200
    assert max(words["wide exponents"]) / min(words["wide exponents"]) > 2.0**100
    assert max(words["random"]) <= 1.0
    assert uses_of("random", [part], 5, "1") == uses_of("random", [part], 5, "1") != uses_of("random", [part], 5, "2")


def test_cancelling_inputs_cancel() -> None:
    parts = [Part(name, "f64", 64, is_vector=True) for name in "abc"]
    a, b, c = ([value for (value,) in struct.iter_unpack("<d", words)] for words in uses_of("cancelling", parts, 50, "1"))
    small = [x * y + x1 * y1 for x, y, x1, y1 in zip(a[::2], b[::2], a[1::2], b[1::2], strict=True)]
    assert sum(abs(total) < 0.5 for total in small) > len(small) // 2
    assert all(abs(total) <= 4.0 for total in c)


def test_the_compiled_reference_is_the_interpreter_s() -> None:
    one = subject(H200, "mma_f64_m8n8k4", "nvptx")
    reference = Reference(one)
    assert reference.is_compiled
    for kind in KINDS:
        operands = uses_of(kind, one.operands, 4, "3")
        words = reference.words(4, operands)
        assert reference.hold(4, operands, words) == 256
        spoiled = bytes([words[0] ^ 1, *words[1:]]) if kind == "random" else None
        if spoiled is not None:
            with pytest.raises(CachetError):
                reference.hold(4, operands, spoiled)


@pytest.mark.parametrize(("name", "shape"), [("mma_f64_m8n8k4", (8, 8, 4)), ("mma_f64_m16n8k8", (16, 8, 8)), ("mma_f64_m16n8k16", (16, 8, 16))])
def test_every_word_of_a_block_is_in_one_register_of_one_thread(name: str, shape: tuple[int, int, int]) -> None:
    # Counted from the text of the kernel: addresses of loads and stores for all 32 threads.
    m, n, k = shape
    text = kernel_of(subject(H200, name, "nvptx"), (9, 0)).text
    touched: dict[str, list[int]] = {}
    place: tuple[str, int] = ("", 0)
    factors: list[tuple[str, int]] = []
    counter = ""
    for line in (line.strip(" ;") for line in text.splitlines()):
        words = line.replace(",", "").split()
        if line.startswith("add.u64 place"):
            place, factors = (words[2], int(words[3])), []
        elif line.startswith("cvt.u64.u32 wide"):
            counter = words[2]
        elif line.startswith("mad.lo.u64 place"):
            factors.append((counter, int(words[3])))
        elif line.startswith(("ld.global", "st.global")):
            for thread in range(32):
                at = place[1] + sum(by * {"group": thread // 4, "lane": thread % 4}[count] for count, by in factors)
                touched.setdefault(place[0], []).append(at // 8)
    assert {base: sorted(words) for base, words in touched.items()} == {
        f"base_{at}": list(range(count)) for at, count in enumerate((m * k, k * n, m * n, m * n))
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--target", "metal"], "evidence.no-target"),
        (["--target", "abacus"], "evidence.no-target"),
        (["thrice4", "--target", "host"], "evidence.name"),
        (["use", "--target", "host"], "evidence.name"),
    ],
)
def test_what_cannot_be_measured_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: str) -> None:
    path = project(tmp_path)
    assert main(["evidence", str(path), *arguments]) == 2
    assert f"[{code}]" in capsys.readouterr().err
    assert not (tmp_path / "evidence").exists()


@pytest.mark.parametrize(
    "text", ["{result} = fadd <4 x float> {x}", "{result} = call <4 x float> @sinf(<4 x float> {x})", "{result} = add <4 x i32> {x}, {x}"]
)
def test_text_that_is_refused_leaves_no_record(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert main(["evidence", str(project(tmp_path, text=text)), "--target", "host"]) == 2
    assert "[evidence.not-measurable]" in capsys.readouterr().err
    assert not (tmp_path / "evidence").exists()


FLUSHING = """\
impl Platform for Own where
  const Dsp = Device {{ simd_width = 4, arithmetic = {arithmetic}, mma = half4 }}

instr fn half4 (a: Vec f32 4) (b: Vec f32 4) -> Vec f32 4 =
  a * b
  by_target host "{{result}} = fmul <4 x float> {{a}}, {{b}};"
"""


@pytest.mark.parametrize("arithmetic", ["ieee", "flush"])
def test_the_reference_computes_as_the_device_of_the_instruction_does(tmp_path: Path, arithmetic: str) -> None:
    path = tmp_path / "own.cachet"
    path.write_text(FLUSHING.format(arithmetic=arithmetic))
    (kept,) = measure_file(path, None, Asked("host", words=2000, output=tmp_path))
    found = {part.kind: (part.mismatches, part.subnormal) for part in kept.record.inputs}
    assert kept.record.arithmetic == arithmetic
    assert found["random"] == (0, 0)
    mismatches, subnormal = found["subnormal"]
    assert (mismatches > 100, subnormal > 100) == ((True, False) if arithmetic == "flush" else (False, True))


def test_without_a_driver_nothing_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("cachet_verify.measure.cuda._LIBRARY", "libnowhere.so.1")
    assert main(["evidence", str(H200), "--target", "nvptx", "--output", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error[evidence.no-target]: the target nvptx is not present here: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "shfl.sync.down.b32 {result}, {x}, 1, 31, -1;",
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {result}, {x}, {x}, {x};",
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {result}, {x}, {x}, {x};",
    ],
)
def test_where_words_lie_is_not_guessed(tmp_path: Path, text: str) -> None:
    path = tmp_path / "own.cachet"
    path.write_text(f'instr fn odd (x: Vec f32 4) -> Vec f32 4 =\n  x + x\n  by_target nvptx "{text}"\n')
    with pytest.raises(CachetError) as caught:
        kernel_of(subject(path, "odd", "nvptx"), (9, 0))
    assert caught.value.diagnostics[0].code == "evidence.not-measurable"


def test_the_command_says_what_came_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evidence", str(CONTROL), "right", "--target", "host", "--words", "500", "--output", str(tmp_path), "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["template"], row["mismatches"], row["words"]) == ("right", 0, 7 * 576)
    assert Path(row["file"]).parent == tmp_path
    assert main(["evidence", str(CONTROL), "negates", "--target", "host", "--words", "500", "--output", str(tmp_path)]) == 1
    assert "  first: signed zeros, " in capsys.readouterr().out
    assert main(["evidence", str(H200), "--target", "host", "--output", str(tmp_path)]) == 8


def test_the_records_of_the_project_are_about_what_it_ships() -> None:
    from cachet_verify.ledger.store import known_of, read_folders

    records = tuple(record for record in read_folders((ROOT / "evidence",)) if not record.largest)
    assert len(records) >= 3
    for record in records:
        item = open_file(H200).module.programs[record.template]
        assert item.instruction is not None
        (known,) = known_of(item.instruction, records)
        assert [(one.target, one.mismatches) for one in known.records] == [("nvptx", 0)]
        assert record.words >= 45_000_000
        assert {part.kind for part in record.inputs} == set(KINDS)
        kinds = {part.kind: part for part in record.inputs}
        assert kinds["subnormal"].subnormal > 1_000_000 < kinds["infinite"].infinite * 2
        assert kinds["NaN"].nan > 100_000
