"""The tool as a process: start-up time and imports, streams, a closed pipe, a terminal, the installed wheel."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from cachet_verify import __version__

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("rich", "lark", "pysmt", "z3", "cvc5", "numpy", "llvmlite", "importlib.metadata", "tomllib")


def environment(**extra: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "CI", "CACHET_DEBUG", "FORCE_COLOR")}
    return {**kept, "PYTHONPATH": str(ROOT), **extra}


def tool(*arguments: str, cwd: Path = ROOT, **extra: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "cachet_verify", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment(**extra), capture_output=True, text=True, timeout=60, check=False)


def test_version_is_printed() -> None:
    result = tool("--version")
    assert (result.returncode, result.stdout) == (0, f"cachet-verify {__version__}\n")


def test_starting_imports_nothing_heavy() -> None:
    script = (
        "import sys, json, io, contextlib\n"
        "from cachet_verify.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    main(['--version']); main(['--help']); main(['check', '--help'])\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], env=environment(), capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(result.stdout) == []


def test_usage_errors_go_to_standard_error() -> None:
    result = tool("check")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error[tool.usage]: ")
    assert "Traceback" not in result.stderr


def test_a_reader_that_goes_away_is_no_fault() -> None:
    script = (
        "import sys, time\n"
        "from cachet_verify.command.stream import prepare, write\n"
        "prepare(); sys.stdin.readline()\n"
        "write('x' * 100000); write('more\\n'); sys.exit(7)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    process.stdin.write("\n")
    process.stdin.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=30), errors) == (7, "")


def test_text_the_encoding_lacks_is_written_as_an_escape() -> None:
    result = tool("explain", "cödé.\udcff", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert result.returncode == 2
    assert result.stderr.startswith("error[tool.unknown-code]: no code is called c\\xf6d\\xe9.")


def on_terminal(script: str, **extra: str) -> str:
    """Run a script whose standard output is a terminal 20 columns wide; give what it wrote."""
    master, slave = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", script], env=environment(**{"COLUMNS": "20", "TERM": "xterm", **extra}), stdout=slave)
    os.close(slave)
    chunks = []
    while True:
        try:
            chunk = os.read(master, 4096)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(master)
    assert process.wait(timeout=30) == 0
    return b"".join(chunks).decode().replace("\r\n", "\n")


LONG = "a long line that is wider than the terminal [bold]and holds markup[/bold] and :smile:"
SCRIPT = f"from cachet_verify.command.stream import write_lines\nfrom cachet_verify.report.text import Line\nwrite_lines([Line({LONG!r}, 'bad')])\n"


def test_a_terminal_gets_colours_and_no_wrapping() -> None:
    text = on_terminal(SCRIPT)
    assert "\x1b[" in text
    assert LONG in text
    assert text.count("\n") == 1


@pytest.mark.parametrize("extra", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_color_is_honoured(extra: dict[str, str]) -> None:
    text = on_terminal(f"import os; os.environ.update({extra!r})\n{SCRIPT}")
    assert text == f"{LONG}\n"


PROGRESS = """
import sys
from cachet_verify.command import progress
progress._QUIET_S = {quiet}
sys.stderr = sys.stdout
with progress.TerminalProgress() as bar:
    bar.expect(3)
    bar.begin("tower", "every access in bounds")
    bar.finish()
    bar.finish(2)
"""


def test_progress_shows_what_is_being_proved_and_clears_itself() -> None:
    text = on_terminal(PROGRESS.format(quiet=-1), COLUMNS="120")
    assert "tower: every access in bounds" in text
    assert "3/3" in text
    assert text.endswith("\x1b[2K")


@pytest.mark.parametrize(("quiet", "extra"), [(60, {}), (-1, {"NO_COLOR": "1"})])
def test_no_progress_on_a_short_run_or_a_plain_terminal(quiet: int, extra: dict[str, str]) -> None:
    assert on_terminal(PROGRESS.format(quiet=quiet), **extra) == ""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and unpack it where nothing of the checkout is."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=120, check=True)
    (archive,) = folder.glob("*.whl")
    site = folder / "site"
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(site)
    return site


def test_the_wheel_runs_from_anywhere(wheel: Path, tmp_path: Path) -> None:
    result = tool("--version", cwd=tmp_path, PYTHONPATH=str(wheel))
    assert result.stdout == f"cachet-verify {__version__}\n"
    entry = next(wheel.glob("*.dist-info/entry_points.txt")).read_text()
    assert "cachet-verify = cachet_verify.cli:main" in entry
    assert "cachetc = cachet_verify.cli:main" in entry


def test_the_wheel_carries_every_shipped_file(wheel: Path, tmp_path: Path) -> None:
    script = "import json\nfrom cachet_verify import resource_path as r\nprint(json.dumps({n: str(r.find_shipped(n)) for n in r.shipped_names()}))\n"
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment(PYTHONPATH=str(wheel)), capture_output=True, text=True, timeout=60, check=True
    )
    found = {name: Path(path) for name, path in json.loads(result.stdout).items()}
    from cachet_verify.resource_path import find_shipped, shipped_names

    assert set(found) == set(shipped_names())
    for name, path in found.items():
        assert path.is_relative_to(wheel)
        origin = find_shipped(name)
        assert origin is not None
        assert path.read_bytes() == origin.read_bytes()


def test_the_wheel_carries_the_data_of_the_package(wheel: Path) -> None:
    here = {path.relative_to(ROOT) for path in (ROOT / "cachet_verify").rglob("*") if path.suffix in (".py", ".lark", ".typed", ".json")}
    assert {path for path in here if not (wheel / path).is_file()} == set()
