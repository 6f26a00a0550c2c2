"""The cache: right when it answers, silent when anything is different, changed or broken."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from cachet_verify.core import index
from cachet_verify.core.index import Const, Var
from cachet_verify.encodings.script import Script
from cachet_verify.kernel.obligation import Answer, Obligation, Proved, Refuted
from cachet_verify.solver import cache as cache_module
from cachet_verify.solver.cache import FILE, Cache, key_of, solver_builds, source_digest
from cachet_verify.solver.pool import Limits, Pool, Reply
from cachet_verify.solver.prover import Prover, ProverOptions

TEXTS = (Script("first text", ()), Script("second text", ()))
x = Var("x")
TRUE_ONE = Obligation("x is below x + 1", (), index.Compare("<", x, index.add(x, Const(1))))
FALSE_ONE = Obligation("x is below 10", (index.le(Const(5), x),), index.lt(x, Const(10)))


def pair(answer: str, reason: str = "", model: dict[str, int] | None = None) -> tuple[Reply, Reply]:
    made = [Reply(Answer(solver, "v", answer, reason, 7, "d"), model) for solver in ("z3", "cvc5")]  # type: ignore[arg-type]
    return made[0], made[1]


@pytest.mark.parametrize("replies", [pair("unsat"), pair("sat", model={"x": -(2**70), "i'0": 3}), pair("unknown", "rlimit")])
def test_what_is_stored_comes_back(tmp_path: Path, replies: tuple[Reply, Reply]) -> None:
    with Cache(tmp_path) as cache:
        cache.store("key", replies)
        assert cache.find("key") == replies
    with Cache(tmp_path) as cache:
        assert cache.find("key") == replies
        assert cache.find("other key") is None


@pytest.mark.parametrize(("answer", "reason"), [("failed", "killed"), ("failed", "memory"), ("failed", "solver-error"), ("unknown", "memory")])
def test_what_might_not_come_again_is_not_stored(tmp_path: Path, answer: str, reason: str) -> None:
    with Cache(tmp_path) as cache:
        cache.store("key", (pair("unsat")[0], pair(answer, reason)[1]))
        assert cache.find("key") is None


def test_each_part_of_the_question_is_in_the_key() -> None:
    limits = Limits()
    base = key_of(TEXTS, limits, ("z3 1 a", "cvc5 1 b"), "sources")
    others = [
        key_of((TEXTS[1], TEXTS[0]), limits, ("z3 1 a", "cvc5 1 b"), "sources"),
        key_of((Script("first text ", ()), TEXTS[1]), limits, ("z3 1 a", "cvc5 1 b"), "sources"),
        key_of((TEXTS[0], Script("second", ())), limits, ("z3 1 a", "cvc5 1 b"), "sources"),
        key_of(TEXTS, Limits(resource=1), ("z3 1 a", "cvc5 1 b"), "sources"),
        key_of(TEXTS, Limits(megabytes=100), ("z3 1 a", "cvc5 1 b"), "sources"),
        key_of(TEXTS, limits, ("z3 2 a", "cvc5 1 b"), "sources"),
        key_of(TEXTS, limits, ("z3 1 c", "cvc5 1 b"), "sources"),
        key_of(TEXTS, limits, ("z3 1 a", "cvc5 2 b"), "sources"),
        key_of(TEXTS, limits, ("z3 1 a", "cvc5 1 b"), "other sources"),
    ]
    assert len({base, *others}) == 1 + len(others)
    assert key_of(TEXTS, Limits(), ("z3 1 a", "cvc5 1 b"), "sources") == base


def test_builds_name_the_pinned_versions() -> None:
    first, other = solver_builds()
    assert first.startswith("z3-solver 5.4.1.0 ")
    assert other.startswith("cvc5 1.4.2 ")


def test_the_source_digest_covers_encoders_and_prover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = source_digest()
    package = Path(cache_module.__file__).parent.parent
    for name in ("encodings/first.py", "encodings/second.py", "solver/policy.py", "solver/worker.py", "core/index.py", "kernel/obligation.py"):
        copy = tmp_path / name.replace("/", "_")
        for folder in ("core", "kernel", "encodings", "solver"):
            (copy / folder).mkdir(parents=True)
            for path in (package / folder).glob("*.py"):
                (copy / folder / path.name).write_bytes(path.read_bytes())
        monkeypatch.setattr(cache_module, "__file__", str(copy / "solver" / "cache.py"))
        assert source_digest.__wrapped__() == before
        with (copy / name).open("a") as file:
            file.write("\n")
        assert source_digest.__wrapped__() != before, name


def change(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path / FILE)
    assert connection.execute(statement, values).rowcount > 0
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE reply SET body = replace(body, 'sat', 'unsat')",
        "UPDATE reply SET body = replace(body, '\"resource\": 7', '\"resource\": 8')",
        "UPDATE reply SET body = ''",
        "UPDATE reply SET body = x'00ff'",
        "UPDATE reply SET seal = upper(seal)",
        "UPDATE reply SET seal = ''",
        "UPDATE reply SET key = 'other key'",
    ],
)
def test_a_changed_row_is_not_believed(tmp_path: Path, statement: str) -> None:
    with Cache(tmp_path) as cache:
        cache.store("key", pair("sat", model={"x": 1}))
    change(tmp_path, statement)
    with Cache(tmp_path) as cache:
        assert cache.find("key") is None
        assert cache.find("other key") is None
        cache.store("key", pair("unsat"))
        assert cache.find("key") == pair("unsat")


@pytest.mark.parametrize("body", ["[]", "{}", "[1, 2]", "[{}, {}]", "[null]", "not JSON", '[{"answer": "unsat"}, {"answer": "unsat"}]'])
def test_a_sealed_row_of_another_shape_is_not_believed(tmp_path: Path, body: str) -> None:
    with Cache(tmp_path) as cache:
        cache.store("key", pair("unsat"))
    change(tmp_path, "UPDATE reply SET body = ?, seal = ?", body, cache_module._seal("key", body))
    with Cache(tmp_path) as cache:
        assert cache.find("key") is None


@pytest.mark.parametrize("content", [b"", b"not a database at all" * 400, b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_broken_file_is_rebuilt(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with Cache(tmp_path) as cache:
        assert cache.find("key") is None
        cache.store("key", pair("unsat"))
    with Cache(tmp_path) as cache:
        assert cache.find("key") == pair("unsat")


def test_a_file_damaged_in_the_middle_is_rebuilt(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        for number in range(2000):
            cache.store(f"key {number}", pair("unsat"))
    data = bytearray((tmp_path / FILE).read_bytes())
    data[8192:-4096] = b"\xa5" * (len(data) - 12288)
    (tmp_path / FILE).write_bytes(data)
    with Cache(tmp_path) as cache:
        found = [cache.find(f"key {number}") for number in range(2000)]
        assert all(replies in (None, pair("unsat")) for replies in found)
        assert None in found
        cache.store("new key", pair("unsat"))
        assert cache.find("new key") == pair("unsat")


def test_a_table_of_another_shape_is_rebuilt(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE reply (something TEXT)")
    connection.commit()
    connection.close()
    with Cache(tmp_path) as cache:
        cache.store("key", pair("unsat"))
        assert cache.find("key") == pair("unsat")


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with Cache(tmp_path / "file" / "folder") as cache:
        cache.store("key", pair("unsat"))
        assert cache.find("key") is None


def test_two_may_write_at_once(tmp_path: Path) -> None:
    with Cache(tmp_path) as one, Cache(tmp_path) as other:
        one.store("a", pair("unsat"))
        one.commit()
        other.store("b", pair("unsat"))
        other.commit()
        assert one.find("b") == other.find("a") == pair("unsat")


def test_a_second_run_asks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ProverOptions(cache_dir=tmp_path)
    with Prover(options) as prover:
        before = prover.prove([TRUE_ONE, FALSE_ONE])
    assert isinstance(before[0], Proved)
    assert isinstance(before[1], Refuted)

    def refuse(*_: object) -> None:
        raise AssertionError("asked although cached")

    monkeypatch.setattr(Pool, "ask", refuse)
    with Prover(options) as prover:
        assert prover.prove([TRUE_ONE, FALSE_ONE]) == before
    with pytest.raises(AssertionError, match="asked although cached"), Prover(ProverOptions(cache_dir=tmp_path, rlimit=9)) as prover:
        prover.prove([TRUE_ONE])


def test_a_cached_model_is_evaluated_again(tmp_path: Path) -> None:
    options = ProverOptions(cache_dir=tmp_path)
    with Prover(options) as prover:
        scripts = prover.encode(FALSE_ONE)
        key = prover.key(scripts)
        wrong = [Reply(Answer(name, "v", "sat", "", 1, script.digest()), {"x": 7}) for name, script in zip(("z3", "cvc5"), scripts, strict=True)]
        with Cache(tmp_path) as cache:
            cache.store(key, (wrong[0], wrong[1]))
        (verdict,) = prover.prove([FALSE_ONE])
    assert not isinstance(verdict, (Proved, Refuted))


def test_nobody_waits_for_what_a_run_has_stored_and_not_yet_committed(tmp_path: Path) -> None:
    with Cache(tmp_path) as ours, Cache(tmp_path) as theirs:
        ours.store("ours", pair("unsat"))
        with sqlite3.connect(tmp_path / FILE, timeout=0.0) as other:
            other.execute("DELETE FROM reply")  # raises at once where somebody else is writing
        theirs.store("theirs", pair("unsat"))
        theirs.commit()
        ours.commit()
        assert theirs.find("ours") == ours.find("theirs") == pair("unsat")
