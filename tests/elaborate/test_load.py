"""Imports: relative, shipped, missing and circular; what each file sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify.diagnostic import CachetError
from cachet_verify.elaborate.load import load_file
from cachet_verify.elaborate.module import Module, elaborate


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name}.cachet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "main.cachet"


def codes(path: Path) -> list[tuple[str, str, int]]:
    with pytest.raises(CachetError) as caught:
        elaborate(load_file(path))
    return [(item.code, Path(item.span.path).name, item.span.line) for item in caught.value.diagnostics if item.span is not None]


def load(path: Path) -> Module:
    return elaborate(load_file(path))


def test_a_relative_import_counts_from_the_file_that_names_it(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "lib/one.cachet"\nconst B : Nat = A + 1\n')
    write(tmp_path / "lib", one='import "two.cachet"\nconst A : Nat = C\n', two="const C : Nat = 3\n")
    assert load(path).constants == {"A": 3, "B": 4}


def test_imports_are_not_passed_on_and_the_message_says_what_to_import(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "one.cachet"\nconst B : Nat = C\n', one='import "two.cachet"\nconst A : Nat = C\n', two="const C : Nat = 3\n")
    with pytest.raises(CachetError) as caught:
        load(path)
    (item,) = caught.value.diagnostics
    assert item.code == "elaborate.name.unknown"
    assert item.hint == f'import "{tmp_path / "two.cachet"}"'


def test_a_circle_of_imports_is_reported_where_it_closes(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "one.cachet"\n', one='import "main.cachet"\n')
    assert codes(path) == [("elaborate.import.cycle", "one.cachet", 1)]


def test_a_file_that_imports_itself_is_a_circle(tmp_path: Path) -> None:
    assert codes(write(tmp_path, main='import "main.cachet"\n')) == [("elaborate.import.cycle", "main.cachet", 1)]


def test_missing_files_are_reported_at_their_imports_all_of_them(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "no.cachet"\nimport "cachet:no"\nimport "."\n')
    assert codes(path) == [
        ("file.missing", "main.cachet", 1),
        ("elaborate.import.missing", "main.cachet", 2),
        ("file.directory", "main.cachet", 3),
    ]


def test_a_fault_in_an_imported_file_is_shown_there(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "one.cachet"\nconst B : Nat = A\n', one="\nconst A : Nat = 1 - 2\n")
    assert codes(path) == [("elaborate.constant", "one.cachet", 2)]


def test_one_name_from_two_imports_is_a_fault_and_one_file_twice_is_not(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "one.cachet"\nimport "two.cachet"\nconst B : Nat = A\n', one="const A : Nat = 1\n", two="const A : Nat = 2\n")
    assert codes(path) == [("elaborate.name.duplicate", "main.cachet", 2)]
    write(tmp_path, main='import "one.cachet"\nimport "one.cachet"\nimport "cachet:semiring"\nconst B : Nat = A\n')
    assert load(path).constants == {"A": 1, "B": 1}


def test_what_a_file_declares_hides_what_it_imports(tmp_path: Path) -> None:
    path = write(tmp_path, main='import "one.cachet"\nconst A : Nat = 2\n', one="const A : Nat = 1\nconst C : Nat = A\n")
    assert load(path).constants == {"A": 2, "C": 1}


def test_shipped_files_elaborate() -> None:
    from cachet_verify.resource_path import find_shipped, shipped_names

    names = shipped_names()
    assert {"layouts", "monoid", "platforms/apple-silicon", "prelude", "semiring", "simd", "steps"} <= set(names)
    for name in names:
        found = find_shipped(name)
        assert found is not None
        load(found)


def test_the_platform_states_what_the_article_says_of_it(tmp_path: Path) -> None:
    path = write(tmp_path, main='module (platform = AppleSilicon)\nimport "cachet:platforms/apple-silicon"\n')
    platform = load(path).platform
    assert platform is not None
    assert platform.levels["L1"] == {"capacity": 128 * 1024, "line": 128, "sharers": 1}
    assert platform.levels["L2"]["capacity"] == 16 * 1024 * 1024
    assert platform.levels["L2"]["sharers"] == 6
    assert tuple(platform.levels) == ("threadgroup", "shared", "Shared", "L1", "L2", "DRAM")  # the first three are one: of the GPU
    assert platform.levels["threadgroup"] == {"capacity": 32 * 1024}
    assert (platform.facts["lanes", "Vec", "f32"], platform.facts["fma_pipes", "Vec"], platform.facts["fma_latency", "Vec"]) == (4, 4, 4)
    assert platform.devices["M4Gpu"]["arithmetic"] == "flush"
