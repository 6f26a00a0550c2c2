"""The command `account`: what it prints, and how it fails."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cachet_verify.cli import main
from cachet_verify.diagnostic import load_codes
from tests.traffic.kernels import FILE
from tests.traffic.test_account import PACKED


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["account", *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_text(capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, str(FILE), "packed") == (0, PACKED, "")


def test_exact_at_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, str(FILE), "swapped", "--exact", "--at", "M=2, N=3, K=4")
    assert code == 0
    assert out == (
        "swapped\n  at M = 2, K = 4, N = 3\n  operations, all runs of each, ragged blocks exact\n"
        "    loop  host  x 1\n      writes c 24\n"
        "    loop  host  x 1\n      reads a 96, b 96, c 96; writes c 96; work fma 24\n"
        "  in all\n    reads a 96, b 96, c 96; writes c 120; work fma 24\n"
    )


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = asked(capsys, str(FILE), "packed", "--format", "json", "--at", "M=16")
    document = json.loads(out)
    assert code == 0
    assert (document["version"], document["name"], document["exact"], document["at"]) == (1, "packed", False, {"M": 16})
    assert document["operations"][3] == {
        "kind": "loop",
        "device": "host",
        "count": "ceil (K / 16) * ceil (N / 8)",
        "reads": [
            {"buffer": "c", "of": "c", "bytes": 512},
            {"buffer": "packA_L2", "of": "packA", "bytes": 1024},
            {"buffer": "packB_L1", "of": "packB", "bytes": 2048},
        ],
        "writes": [{"buffer": "c", "of": "c", "bytes": 512}],
        "work": [{"operation": "fma", "count": 2048}],
    }
    assert {"buffer": "b", "of": "b", "bytes": "512 * ceil (K / 16) * ceil (N / 8)"} in document["total"]["reads"]


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (["nothing"], "error[account.name]: "),
        (["packed", "--at", "J=4"], "error[account.size]: packed has no size J\n"),
        (["packed", "--at", "M"], "error[account.size]: `M` is not of the form SIZE=VALUE\n"),
        (["packed", "--at", "M=-1"], "error[account.size]: "),
        (["packed", "--at", "M=1,M=2"], "error[account.size]: M is given twice\n"),
        (["packed", "--at", "M=²"], "error[account.size]: "),
        (["packed", "--format", "xml"], "error[tool.usage]: "),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], begins: str) -> None:
    code, out, err = asked(capsys, str(FILE), *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(begins)
    assert begins.split("]")[0].removeprefix("error[") in load_codes()


def test_a_requirement_that_does_not_hold_is_located(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = asked(capsys, str(FILE), "whole_blocks", "--at", "M=5,N=8")
    assert (code, out) == (2, "")
    assert f"{FILE}:" in err
    assert "error[account.requirement]: whole_blocks requires M % 4 == 0" in err


def test_a_schedule_whose_step_does_not_apply_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "stopped.cachet"
    path.write_text(FILE.read_text(encoding="utf-8") + "\nschedule stopped of matmul =\n  split q by 4 as gq\n", encoding="utf-8")
    code, out, _ = asked(capsys, str(path), "stopped")
    assert code == 1
    assert "stopped" in out


def test_blocks_without_indices_have_no_account(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "zero.cachet"
    nest = "fn f\n    (reads w: [f32; W])\n    (reads x: [f32; N])\n    (mut y: [f32; N])\n=\n"
    path.write_text(f"{nest}  for g in blocks (0 .. N) W do\n    for i in 0 .. g.len do\n      store y[g[i]] = load x[g[i]]\n", encoding="utf-8")
    assert asked(capsys, str(path), "f", "--at", "N=10,W=4", "--exact")[0] == 0
    code, _, err = asked(capsys, str(path), "f", "--at", "N=10,W=0")
    assert code == 2
    assert "error[account.division]" in err


def test_a_file_that_cannot_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(capsys, str(tmp_path / "missing.cachet"), "f")[0] == 2


def test_a_sum_too_long_to_count_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scan.cachet"
    nest = "fn f\n    (reads x: [f32; N])\n    (mut y: [f32; N])\n=\n"
    path.write_text(f"{nest}  for i in 0 .. N do\n    for k in 0 .. floor (i * i / (N + 1)) do\n      store y[i] = load x[k]\n", encoding="utf-8")
    code, out, _ = asked(capsys, str(path), "f", "--at", "N=4", "--exact")
    # floor (i * i / 5) for i = 0 .. 3: 0, 0, 0, 1
    assert (code, "reads x 4;" in out) == (0, True)
    code, _, err = asked(capsys, str(path), "f", "--at", "N=1000000000000")
    assert code == 2
    assert "error[account.too-long]" in err
