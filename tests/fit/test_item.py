"""Items of files: who is asked, who passes on what, and that room is told apart from values."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError
from cachet_verify.report.option import CheckOptions
from cachet_verify.report.record import ItemReport
from cachet_verify.session import check
from tests.judge.asking import items

PLATFORM = """\
impl Platform for Small where
  const L1 = Level { capacity = 1024, line = 64, sharers = 1 }
  const L2 = Level { capacity = 8192, line = 64, sharers = 2 }
  const DRAM = Level { line = 64 }
"""
HEAD = f"module (platform = Small)\n{PLATFORM}"
KEEPS = """
fn keeps (reads a: [f32; N]) (mut c: [f32; N])
{contract}produces Init c
=
  lease near = a at L1
  for i in 0 .. N do
    store c[i] = load near[i] + load near[i]
"""
BOUND = "requires N <= 240\n"
ROW = "working_set\n  @L1 { keep a = descriptor a }\n"


def codes(found: dict[str, ItemReport]) -> dict[str, str]:
    """The code of each refusal; the verdict of what is not refused."""
    return {name: item.refusal.code if item.refusal is not None else item.verdict.value for name, item in found.items()}


@pytest.mark.parametrize(
    ("contract", "code", "passes"),
    [("", "cost.working-set", False), (BOUND, "proved", False), ("requires N <= 241\n", "cost.working-set", False), (ROW, "proved", True)],
)
def test_a_function_shows_it_or_says_that_its_callers_do(tmp_path: Path, contract: str, code: str, passes: bool) -> None:
    found = items(tmp_path, HEAD + KEEPS.format(contract=contract))
    assert codes(found) == {"keeps": code}
    claim = found["keeps"].claim
    assert passes is (claim is not None and claim.fits == ("a in L1, 64 * (ceil (4 * N / 64) + 1) <= 1024 bytes",))


def test_without_a_platform_nothing_is_asked(tmp_path: Path) -> None:
    assert codes(items(tmp_path, KEEPS.format(contract=""))) == {"keeps": "proved"}


def test_a_row_on_another_level_passes_nothing_on(tmp_path: Path) -> None:
    assert codes(items(tmp_path, HEAD + KEEPS.format(contract=ROW.replace("L1", "L2")))) == {"keeps": "cost.working-set"}


def test_a_number_is_decided_where_it_stands_even_where_it_is_declared(tmp_path: Path) -> None:
    text = KEEPS.format(contract=ROW).replace("[f32; N]", "[f32; 241]").replace("0 .. N", "0 .. 241")
    assert codes(items(tmp_path, HEAD + text)) == {"keeps": "cost.working-set"}


def test_callers_answer_for_what_was_left_to_them(tmp_path: Path) -> None:
    callers = """
fn small (reads a: [f32; 240]) (mut c: [f32; 240])
produces Init c
=
  keeps a c

fn large (reads a: [f32; 241]) (mut c: [f32; 241])
produces Init c
=
  keeps a c

fn elsewhere (reads a: [f32; 100]) (mut c: [f32; 100])
produces Init c
=
  lease held = a at L2
  keeps held c
"""
    found = items(tmp_path, HEAD + KEEPS.format(contract=ROW) + callers)
    assert codes(found) == {"keeps": "proved", "small": "proved", "large": "cost.working-set", "elsewhere": "proved"}


def test_a_callee_in_another_file_is_weighed_on_the_platform_of_its_caller(tmp_path: Path) -> None:
    caller = 'import "lib.cachet"\nfn small (reads a: [f32; 300]) (mut c: [f32; 300])\nproduces Init c\n=\n  keeps a c\n'
    lib = KEEPS.format(contract="")
    module = "module (platform = Small)\n"
    assert codes(items(tmp_path, module + caller + PLATFORM, lib=lib)) == {"small": "cost.working-set"}
    assert codes(items(tmp_path, caller, lib=lib)) == {"small": "proved"}


def test_a_parameter_that_lives_on_a_level_is_kept_by_every_call(tmp_path: Path) -> None:
    text = """
fn lives (reads a: [f32; 100] at L1) (mut c: [f32; 100])
produces Init c
=
  for i in 0 .. 100 do
    store c[i] = load a[i]

fn beside (reads a: [f32; 100]) (reads b: [f32; 150]) (mut c: [f32; 100])
produces Init c
=
  lease held = b at L1
  lives a c

fn alone (reads a: [f32; 100]) (mut c: [f32; 100])
produces Init c
=
  lives a c
"""
    assert codes(items(tmp_path, HEAD + text)) == {"lives": "proved", "beside": "cost.working-set", "alone": "proved"}


def test_a_row_without_a_lease_is_kept_throughout(tmp_path: Path) -> None:
    text = (
        KEEPS.format(contract=ROW)
        .replace("  lease near = a at L1\n", "")
        .replace("near", "a")
        .replace("[f32; N]", "[f32; 241]")
        .replace("0 .. N", "0 .. 241")
    )
    assert codes(items(tmp_path, HEAD + text)) == {"keeps": "cost.working-set"}


def test_values_are_told_first(tmp_path: Path) -> None:
    wrong = KEEPS.format(contract="").replace("load near[i] + load near[i]", "load near[i + 1]")
    assert codes(items(tmp_path, HEAD + wrong)) == {"keeps": "program.not-well-formed"}


def test_a_caller_of_what_does_not_fit_is_not_proved(tmp_path: Path) -> None:
    text = KEEPS.format(contract="") + "\nfn caller (reads a: [f32; 8]) (mut c: [f32; 8])\nproduces Init c\n=\n  keeps a c\n"
    assert codes(items(tmp_path, HEAD + text)) == {"keeps": "cost.working-set", "caller": "undecided"}


def test_the_refusal_has_both_numbers_and_how_far_over(tmp_path: Path) -> None:
    text = KEEPS.format(contract="").replace("[f32; N]", "[f32; 300]").replace("0 .. N", "0 .. 300")
    refusal = items(tmp_path, HEAD + text)["keeps"].refusal
    assert refusal is not None
    # 1200 bytes fill 19 lines and may touch 20: 1280 bytes
    assert refusal.message.splitlines() == [
        "could not prove working set of keeps: a fits L1: 1280 <= 1024 bytes",
        "what was asked about its words is proved; this is about room alone",
        "L1 of Small has 1024 bytes in lines of 64",
        "a takes 1280, for 1200 bytes",
        "over by 256",
        "extent 1 of a is 300, and fits up to 240",
    ]
    assert refusal.replay is None


def test_facts_that_are_used_are_assumed_and_no_others(tmp_path: Path) -> None:
    claim = items(tmp_path, HEAD + KEEPS.format(contract=BOUND))["keeps"].claim
    assert claim is not None
    assert claim.assumes == ("Small.L1 = Level { capacity = 1024, line = 64, sharers = 1 }",)


@pytest.mark.parametrize(
    "text",
    [
        KEEPS.format(contract=ROW.replace("@L1", "@L9")),
        KEEPS.format(contract="").replace("at L1", "at L9"),
        KEEPS.format(contract="").replace("(mut c: [f32; N])", "(mut c: [f32; N] at L9)"),
        "contraction twice (reads a: [f32; N]) -> out c: [f32; N] =\n  c[i] = a[i] + a[i]\n"
        "schedule kept of twice (mut p: [f32; 8]) =\n  split i by 8 as g ragged\n  pack a into p along g over (x)\n"
        "  keep p along g within L9 into q\n",
    ],
)
def test_a_level_that_is_not_there_is_bad_input(tmp_path: Path, text: str) -> None:
    path = tmp_path / "main.cachet"
    path.write_text(f'{HEAD}import "cachet:steps"\n{text}')
    (report,) = check([path], CheckOptions(use_cache=False)).files
    assert [(item.code, item.message) for item in report.diagnostics] == [("elaborate.platform.level", "the platform has no memory level `L9`")]
    assert "one of L1, L2, DRAM" in report.diagnostics[0].rendered


@pytest.mark.parametrize(
    ("level", "said"),
    [
        ("capacity = 0, line = 64", "`capacity` of `L1` is 0, and a memory level has at least 1"),
        ("capacity = 64, line = 64, sharers = 0", "`sharers` of `L1` is 0, and a memory level has at least 1"),
        ("capacity = 64, line = 64, ways = 2", "`L1` has 2 ways of lines of 64 bytes, more than its 64 bytes"),
    ],
)
def test_a_level_of_no_size_is_no_level(tmp_path: Path, level: str, said: str) -> None:
    path = tmp_path / "main.cachet"
    path.write_text(f"module (platform = Bad)\nimpl Platform for Bad where\n  const L1 = Level {{ {level} }}\n")
    try:
        (report,) = check([path], CheckOptions(use_cache=False)).files
        messages = [item.message for item in report.diagnostics]
    except CachetError as error:
        messages = [item.message for item in error.diagnostics]
    assert said in messages


def test_a_layout_that_says_less_than_it_takes_makes_no_room(tmp_path: Path) -> None:
    text = """
layout Short : [R, C] (i, j) size 1 = i * C + j

fn inside (mut c: [f32; 4])
produces Init c
=
  var t: [f32; 100, 100] in Short at L1
  for i in 0 .. 4 do
    t[i, 0] = 1.0
  for i in 0 .. 4 do
    store c[i] = t[i, 0]
"""
    assert codes(items(tmp_path, HEAD + text)) == {"Short": "layout.not-proved", "inside": "layout.not-proved"}


FAMILY = """
contraction twice (reads a: [f32; N]) -> out c: [f32; N] =
  c[i] = a[i] + a[i]
schedule kept of twice (mut p: [f32; LENGTH])
    family (WIDTH) in {8, 16} =
  split i by WIDTH as g ragged
  pack a into p along g over (x)
  keep p along g within L1 into q
"""


@pytest.mark.parametrize(("length", "code"), [("240", "proved"), ("241", "cost.working-set")])
def test_the_members_of_a_family_have_to_fit(tmp_path: Path, length: str, code: str) -> None:
    text = FAMILY.replace("LENGTH", length)
    assert codes(items(tmp_path, HEAD + 'import "cachet:steps"\n' + text)) == {"twice": "proved", "kept": code}
