"""The other commands: what they ask of the session, what they print, and how they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.cli import PLANNED, SUPPORTED, main
from cachet_verify.diagnostic import fail
from cachet_verify.report.message import ItemRefusedError
from cachet_verify.report.record import ItemReport
from cachet_verify.source import SourceFile
from tests.cli.fake_session import FakeSession, install
from tests.report import sample_report as sample


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> FakeSession:
    return install(monkeypatch)


def test_scheduled_asks_and_prints(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.listing = "for i in 0 .. M do"
    for flags in ([], ["--step", "2"], ["--all-steps", "--relate"], ["--shadow"]):
        assert main(["scheduled", "a.cachet", "swapped", *flags]) == 0
    file = Path("a.cachet")
    assert session.asked == [
        ("scheduled", file, "swapped", None, False, False, False),
        ("scheduled", file, "swapped", 2, False, False, False),
        ("scheduled", file, "swapped", None, True, True, False),
        ("scheduled", file, "swapped", None, False, False, True),
    ]
    assert capsys.readouterr().out == "for i in 0 .. M do\n" * 4


def test_run_prints_one_value_a_line_and_nothing_else(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    session.values = ("3.0", "0")
    assert main(["run", "a.cachet"]) == 0
    assert main(["run", "a.cachet", "matmul", "M=2"]) == 0
    assert capsys.readouterr().out == "3.0\n0\n" * 2
    assert session.asked == [("run", Path("a.cachet"), None, ()), ("run", Path("a.cachet"), "matmul", ("M=2",))]


def test_bad_input_shows_its_place_and_remedy(session: FakeSession, capsys: pytest.CaptureFixture[str]) -> None:
    source = SourceFile("a.cachet", "for i in 0 .. M\n")
    session.error = fail("syntax.expected", "expected `do`", source.span(4, 5), "for i in 0 .. M do")
    assert main(["run", "a.cachet"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines()[0] == "a.cachet:1:5: error[syntax.expected]: expected `do`"
    assert printed.err.splitlines()[-1] == "  try: for i in 0 .. M do"


@pytest.mark.parametrize(("code", "expected"), [("elaborate.not-supported", 3), ("name.unknown", 2)])
def test_what_is_not_supported_yet_is_3(session: FakeSession, code: str, expected: int) -> None:
    session.error = fail(code, "tile bodies are not supported yet")
    assert main(["scheduled", "a.cachet", "tiled"]) == expected


@pytest.mark.parametrize(("item", "expected"), [(sample.BACKWARDS, 1), (sample.SLOW, 3), (sample.BROKEN, 4)])
def test_an_item_that_is_not_proved_ends_the_command(
    session: FakeSession, capsys: pytest.CaptureFixture[str], item: ItemReport, expected: int
) -> None:
    session.error = ItemRefusedError(item, "a.cachet")
    assert main(["scheduled", "a.cachet", item.name]) == expected
    assert item.reason.split(":")[0] in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["scheduled"], ["scheduled", "a"], ["scheduled", "a", "b", "--step", "-1"], ["scheduled", "a", "b", "--step", "1", "--all-steps"], ["run"]],
)
def test_usage(session: FakeSession, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith("error[tool.usage]: ")
    assert session.asked == []


@pytest.mark.parametrize("name", list(PLANNED))
def test_planned_commands_say_so(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main([name, "gemm.cachet", "packed", "--at", "M=3"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"cachet-verify {name} gemm.cachet packed --at M=3: error[tool.not-supported]: ")
    assert printed.err.count("\n") == 1


def test_help_lists_every_command_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    done, _, planned = capsys.readouterr().out.partition("Not supported yet")
    assert all(f"\n  {name} " in done for name in SUPPORTED)
    assert all(f"\n  {name} " in planned for name in PLANNED)


def test_an_unknown_command_names_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chek"]) == 2
    assert capsys.readouterr().err == "error[tool.usage]: no command is called 'chek'; did you mean check? (see `cachet-verify --help`)\n"


def test_no_arguments_shows_the_help_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("Usage: cachet-verify ")


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "tool.usage"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("tool.usage\n\n")
    assert "Example:" in text
    assert "What to do:" in text
    assert main(["explain", "error[tool.usage]"]) == 0
    assert capsys.readouterr().out == text


def test_explain_lists_and_corrects(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    codes = capsys.readouterr().out.splitlines()
    assert codes == sorted(codes)
    assert "trust.admitted" in codes
    assert main(["explain", "tool.usge"]) == 2
    assert "  try: cachet-verify explain tool.usage" in capsys.readouterr().err
