"""Malformed files: texts of the corpus with characters, tokens and lines changed, and what the command makes of them.

Takes texts and a generator; gives edited texts, and one record of `check` for each. A text that still
reads as a program is no concern here: only that reading it raises nothing but diagnostics.
"""

from __future__ import annotations

import io
import re
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random

from cachet_verify.cli import main
from cachet_verify.diagnostic import CachetError
from cachet_verify.judge.file import open_file
from cachet_verify.solver.prover import Prover

ROOT = Path(__file__).parents[2]
LIMIT_S = 5.0
_TOKEN = re.compile(r"[A-Za-z_][\w']*|\d+(?:\.\d+)?|\.\.|[-+*/%=<>!]+|[()\[\]{}:,.@$]")
_STRANGE = (
    "0", "1", "-1", "99999999999999999999999", "1e400", "0x", "''", '"', "$", "$x", "@", "..", "...", "é", "\0", "\x1b", "\ufeff", "\u2028",
    "(", ")", "[", "]", "{", "}", "=", "for", "in", "do", "sum", "fold", "if", "then", "else", "let", "load", "store", "ragged", "relate",
    "S.zero ()", "Vec f32 8", "f32", "requires", "import", "module", "fma", "% 0", "/ 0", "//", "\t", "\r",
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What `check` made of a text: `kind` is `malformed`, `reads` (a program still) or `fault` with a reason."""

    kind: str
    why: str
    seconds: float
    lines: int = 0


def corpus() -> list[tuple[Path, str]]:
    """Every file of the corpus and every listing, with its text."""
    folders = (ROOT / "proofs", ROOT / "stdlib", ROOT / "platforms", ROOT / "tests" / "syntax" / "listing", ROOT / "bench")
    paths = [path for folder in folders for path in sorted(folder.rglob("*.cachet"))]
    return [(path, path.read_text(encoding="utf-8")) for path in paths]


def malform(text: str, chance: Random) -> str:
    """The text with one to three edits."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        text = chance.choice((_characters, _tokens, _tokens, _tokens, _lines))(text, chance)
    return text


def _characters(text: str, chance: Random) -> str:
    place = chance.randrange(len(text) + 1)
    end = min(len(text), place + chance.choice((0, 0, 1, 3, 30)))
    return text[:place] + chance.choice(("", *_STRANGE)) + text[end:]


def _tokens(text: str, chance: Random) -> str:
    found = list(_TOKEN.finditer(text))
    if len(found) < 2:
        return text + chance.choice(_STRANGE)
    first, second = sorted(chance.sample(found, 2), key=lambda match: match.start())
    edit = chance.randrange(5)
    if edit == 0:  # one dropped
        return text[: first.start()] + text[first.end() :]
    if edit == 1:  # one doubled
        return text[: first.end()] + " " + first.group() + text[first.end() :]
    if edit == 2:  # two exchanged
        return text[: first.start()] + second.group() + text[first.end() : second.start()] + first.group() + text[second.end() :]
    if edit == 3:  # one in the place of another
        return text[: first.start()] + second.group() + text[first.end() :]
    return text[: first.start()] + chance.choice(_STRANGE) + text[first.end() :]


def _lines(text: str, chance: Random) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    place = chance.randrange(len(lines))
    edit = chance.randrange(5)
    if edit == 0:
        del lines[place]
    elif edit == 1:
        lines.insert(place, lines[chance.randrange(len(lines))])
    elif edit == 2:
        lines[place] = chance.choice((" ", "   ", "\t")) + lines[place]
    elif edit == 3:
        lines[place] = lines[place].lstrip()
    else:
        lines = lines[: place + 1]
    return "".join(lines)


def seen(path: Path, text: str) -> Seen:
    """Write a text to a path and see what becomes of it. Faults: a traceback, no place, another exit code, too slow."""
    path.write_text(text, encoding="utf-8")
    began = time.perf_counter()
    try:
        open_file(path)
    except CachetError:
        pass
    except Exception as error:  # noqa: BLE001 - any other exception is what this looks for
        return Seen("fault", f"raised {error!r}", time.perf_counter() - began)
    else:
        spent = time.perf_counter() - began
        return Seen("reads", "", spent) if spent < LIMIT_S else Seen("fault", "read too slowly", spent)
    return _checked(path)


def _checked(path: Path) -> Seen:
    """Run the whole command on a file that cannot be read as a program."""
    out, err = io.StringIO(), io.StringIO()
    start, Prover.start = Prover.start, lambda self: None  # type: ignore[method-assign]
    began = time.perf_counter()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["check", str(path), "--no-cache"])
    finally:
        Prover.start = start  # type: ignore[method-assign]
    spent = time.perf_counter() - began
    text = out.getvalue() + err.getvalue()
    located = [line for line in text.splitlines() if re.match(r"\S.*:\d+:\d+: error\[[a-z_.-]+\]: .", line)]
    if "Traceback" in text:
        return Seen("fault", "a traceback", spent)
    if code != 2:
        return Seen("fault", f"exit code {code}", spent)
    if not located:
        return Seen("fault", f"no place: {text[:200]!r}", spent)
    return Seen("malformed", located[0], spent, len(located)) if spent < LIMIT_S else Seen("fault", "too slow", spent)
