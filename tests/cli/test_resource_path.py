"""Where `.cachet` files are: shipped names, and the files of a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from cachet_verify import resource_path
from cachet_verify.resource_path import find_shipped, list_sources, shipped_names


@pytest.fixture
def shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Stand a project of our own in the place of the checkout."""
    for name in ("stdlib/steps", "stdlib/shared", "laws/derived/monoid", "laws/axiom/exp", "platforms/some-machine", "platforms/steps"):
        path = tmp_path / f"{name}.cachet"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "secret.cachet").write_text("")
    (tmp_path / "package").mkdir()
    monkeypatch.setattr(resource_path, "_PACKAGE", tmp_path / "package")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("steps", "stdlib/steps.cachet"),
        ("monoid", "laws/derived/monoid.cachet"),
        ("exp", "laws/axiom/exp.cachet"),
        ("platforms/some-machine", "platforms/some-machine.cachet"),
        ("platforms/steps", "platforms/steps.cachet"),
    ],
)
def test_a_name_is_found(shipped: Path, name: str, path: str) -> None:
    assert find_shipped(name) == shipped / path


NOTHING = ["", "nothing", "some-machine", "platforms/nothing", "platforms/", "../secret", "platforms/../../secret", "/steps", "steps/", "a\x00b"]


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_else_is_found(shipped: Path, name: str) -> None:
    assert find_shipped(name) is None


def test_names_are_listed(shipped: Path) -> None:
    assert shipped_names() == ("exp", "monoid", "platforms/some-machine", "platforms/steps", "shared", "steps")
    assert all(find_shipped(name) is not None for name in shipped_names())


def test_a_wheel_s_own_copy_comes_first(shipped: Path) -> None:
    packed = shipped / "package" / "_shipped" / "stdlib" / "steps.cachet"
    packed.parent.mkdir(parents=True)
    packed.write_text("")
    assert find_shipped("steps") == packed
    assert find_shipped("monoid") is None


def test_no_shipped_name_means_two_files() -> None:
    root = resource_path.shipped_root()
    stems = [path.stem for place in ("stdlib", "laws", "laws/axiom", "laws/derived") for path in (root / place).glob("*.cachet")]
    assert len(stems) == len(set(stems))


def test_sources_of_a_command_line(tmp_path: Path) -> None:
    for name in ("b.cachet", "a.cachet", "sub/c.cachet", ".hidden/d.cachet", "note.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    (tmp_path / "folder.cachet").mkdir()
    missing, text = tmp_path / "missing.cachet", tmp_path / "note.txt"
    assert list_sources([tmp_path]) == (tmp_path / "a.cachet", tmp_path / "b.cachet", tmp_path / "sub" / "c.cachet")
    assert list_sources([missing, text]) == (missing, text)
    assert list_sources([tmp_path / "b.cachet", tmp_path, tmp_path / "b.cachet"])[0] == tmp_path / "b.cachet"
    assert len(list_sources([tmp_path / "b.cachet", tmp_path])) == 3
