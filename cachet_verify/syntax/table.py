"""The parse table of the grammar.

Takes `cachet.lark`; gives the LALR table, read from `table.json` when that was made from this very grammar,
and otherwise built anew. Run as a module it writes `table.json`. Must not build any tree.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from lark import Lark
    from lark.grammar import Rule as LarkRule

_FOLDER: Final = Path(__file__).parent
_GRAMMAR: Final = _FOLDER / "cachet.lark"
_TABLE: Final = _FOLDER / "table.json"
_VERSION: Final = 1
_STARTS: Final = ("declaration", "expression", "statements", "step_lines")
_HOLE: Final = -1


class Rule(NamedTuple):
    """A rule of the grammar, as the parser needs it.

    `slots` are the children handed to the builder: a position among the symbols, or -1 for an
    absent optional part. `splice` says that the children join those of the rule above;
    `expand` that a lone child stands for itself.
    """

    name: str
    origin: str
    size: int
    slots: tuple[int, ...]
    splice: bool
    expand: bool


class Table(NamedTuple):
    """An LALR(1) table. An action >= 0 shifts to that state; an action < 0 reduces by rule `~action`."""

    rules: tuple[Rule, ...]
    actions: tuple[dict[str, int], ...]
    gotos: tuple[dict[str, int], ...]
    starts: dict[str, int]
    ends: dict[str, int]
    words: frozenset[str]


@lru_cache(maxsize=1)
def load_table() -> Table:
    """Return the table of the grammar this package holds."""
    digest = _grammar_digest()
    try:
        plain = json.loads(_TABLE.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        plain = None
    if not isinstance(plain, dict) or plain.get("version") != _VERSION or plain.get("grammar") != digest:
        plain = build_plain()
    return _from_plain(plain)


def _grammar_digest() -> str:
    return hashlib.sha256(_GRAMMAR.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def _from_plain(plain: dict[str, Any]) -> Table:
    """Return the table that `build_plain` made plain data of."""
    actions = tuple({kind: action for action, kinds in row for kind in kinds} for row in plain["actions"])
    return Table(
        rules=tuple(Rule(name, origin, size, tuple(slots), splice, expand) for name, origin, size, slots, splice, expand in plain["rules"]),
        actions=actions,
        gotos=tuple(plain["gotos"]),
        starts=plain["starts"],
        ends=plain["ends"],
        words=frozenset(plain["words"]),
    )


# --- building, only needed when the grammar has changed -----------------------------------------


def build_plain() -> dict[str, Any]:
    """Build the table from the grammar and return it as plain data, the same for the same grammar.

    Raises lark's GrammarError when the grammar has a conflict between two reductions.
    """
    parser = _compile_grammar()
    kinds = {term.name: _kind(term.name, getattr(term.pattern, "value", "")) for term in parser.terminals}
    table: Any = parser.parser.parser._parse_table
    rules = sorted(parser.rules, key=_rule_key)
    rule_number = {rule: number for number, rule in enumerate(rules)}
    number_of = _number_states(table)
    actions: list[list[Any]] = []
    gotos: list[dict[str, int]] = []
    for state in number_of:
        row: dict[int, list[str]] = {}
        goto: dict[str, int] = {}
        for symbol, (move, argument) in sorted(table.states[state].items()):
            if symbol not in kinds and symbol not in _DECLARED and symbol != "$END":
                goto[symbol] = number_of[argument]
            else:
                action = number_of[argument] if move.name == "Shift" else ~rule_number[argument]
                row.setdefault(action, []).append(kinds.get(symbol, _declared_kind(symbol)))
        actions.append([[action, symbols] for action, symbols in sorted(row.items())])
        gotos.append(goto)
    return {
        "version": _VERSION,
        "grammar": _grammar_digest(),
        "rules": [list(_plain_rule(rule)) for rule in rules],
        "actions": actions,
        "gotos": gotos,
        "starts": {start: number_of[table.start_states[start]] for start in _STARTS},
        "ends": {start: number_of[table.end_states[start]] for start in _STARTS},
        "words": sorted(kind for kind in kinds.values() if kind.isidentifier() and kind not in _DECLARED_KINDS),
    }


def _number_states(table: Any) -> dict[int, int]:
    """Return a new number for each state, in the order of a walk from the starts: lark's own varies from run to run."""
    number_of: dict[int, int] = {}
    waiting = [table.start_states[start] for start in _STARTS]
    for state in waiting:
        if state in number_of:
            continue
        number_of[state] = len(number_of)
        moves = sorted(table.states[state].items())
        waiting.extend(argument for _, (move, argument) in moves if move.name == "Shift")
    return number_of


_DECLARED: Final = ("NAME", "INT", "FLOAT", "STRING", "DOLLAR", "_TIGHT", "_BINDER_DOT", "_INDENT", "_SEP", "_DEDENT")


def _declared_kind(name: str) -> str:
    return "END" if name == "$END" else name.lstrip("_")


_DECLARED_KINDS: Final = frozenset(_declared_kind(name) for name in _DECLARED)


def _kind(name: str, text: str) -> str:
    """Return the kind the scanner gives a terminal: its text, or its declared name."""
    return _declared_kind(name) if name in _DECLARED else text


def _compile_grammar() -> Lark:
    from lark import Lark
    from lark.common import LexerConf
    from lark.lexer import Lexer, Token

    class NoLexer(Lexer):
        """Stands for our own scanner, which lark need not know."""

        def __init__(self, conf: LexerConf) -> None:
            """Take what lark hands a lexer."""

        def lex(self, *_state: object) -> Iterator[Token]:
            """Give no token: only the table is wanted."""
            return iter(())

    grammar = _GRAMMAR.read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=NoLexer, start=list(_STARTS), maybe_placeholders=True)


def _rule_key(rule: LarkRule) -> tuple[str, list[str], str]:
    return (rule.origin.name, [symbol.name for symbol in rule.expansion], rule.alias or "")


def _plain_rule(rule: LarkRule) -> Rule:
    """Return what the parser needs of a rule of lark's."""
    origin = str(rule.origin.name)
    gaps = "".join(str(int(absent)) for absent in rule.options.empty_indices).split("0")
    counts = [len(gap) for gap in gaps] if rule.options.empty_indices else [0] * (len(rule.expansion) + 1)
    slots: list[int] = []
    for position, symbol in enumerate(rule.expansion):
        slots.extend([_HOLE] * counts[position])
        if not getattr(symbol, "filter_out", False) or rule.options.keep_all_tokens:
            slots.append(position)
    slots.extend([_HOLE] * counts[len(rule.expansion)])
    return Rule(
        name=rule.alias or origin,
        origin=origin,
        size=len(rule.expansion),
        slots=tuple(slots),
        splice=origin.startswith("_"),
        expand=rule.options.expand1 and not rule.alias,
    )


def write_table() -> None:
    """Write `table.json` beside the grammar."""
    lines = json.dumps(build_plain(), separators=(",", ":"), ensure_ascii=True)
    _TABLE.write_text(lines + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_table()
