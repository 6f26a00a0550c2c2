"""What to say where the grammar ends.

Takes the place and state of the parser; gives one diagnostic: what was expected, in words, and what to type instead.
Must not parse any further and not change what is accepted.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from itertools import pairwise
from typing import Final, NamedTuple

from cachet_verify.diagnostic import Diagnostic
from cachet_verify.source import SourceFile, Span
from cachet_verify.syntax.build_statement import FOREIGN_WORDS, STATEMENT_WORDS
from cachet_verify.syntax.engine import Stuck, can_take
from cachet_verify.syntax.layout import CONTRACT_WORDS, DECLARATION_WORDS
from cachet_verify.syntax.table import Table
from cachet_verify.syntax.token import KEYWORDS, Token

_LAYOUT_KINDS = frozenset(["INDENT", "SEP", "DEDENT", "END"])
_OPERATORS = frozenset(["+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "and", "or"])
_STATEMENT_START = frozenset(["let", "var", "store", "for", "grid"])
_STARTERS = frozenset("NAME INT FLOAT STRING DOLLAR ( [ - not load if sum reduce fold true false".split())
_WORDS = {
    "NAME": "a name",
    "TIGHT": "an index",
    "BINDER_DOT": "a dot and a blank",
    "INT": "a number",
    "STRING": "a text in quotes",
    "DOLLAR": "a pattern variable",
    "INDENT": "an indented block",
    "SEP": "the next line",
    "END": "the end of the declaration",
    "DEDENT": "the end of the block",
}
_QUIET = frozenset(["TIGHT", "@", "as", ".", "{", "where", "SEP", "DEDENT", "END"]) | CONTRACT_WORDS
_MAX_EXPECTED = 6
_PROOF_WORDS = frozenset(["assert", "relate", "admit", "family", "invariant"])


class Place(NamedTuple):
    """Where the parser stopped: the token, the ones before it, its line so far, what could stand."""

    token: Token
    before: Token | None
    line: list[Token]
    chunk: list[Token]
    expected: frozenset[str]
    start: str
    position: int

    @property
    def first(self) -> str:
        """The first word of the line."""
        return self.line[0].text if self.line else ""


def explain_stuck(table: Table, start: str, stuck: Stuck, tokens: list[Token], source: SourceFile) -> Diagnostic:
    """Return the diagnostic for a parser that stopped."""
    place = _place(table, start, stuck, tokens)
    bare = _bare_proof(place)
    if bare is not None:
        return Diagnostic("syntax.expected", f"expected `=` before `{bare.text}`", source.span(bare.start, bare.end), _SHAPES["proof"])
    rule, remedy = next(((rule, found) for rule in _RULES if (found := rule(place)) is not None), (None, ""))
    above = _line_above(place) if rule in _AT_LINE_END and remedy.split(" ")[0] in _LINE_ENDS else None
    if above is not None:
        message = f"expected {remedy.split(' ')[0]} at the end of the line"
        return Diagnostic("syntax.expected", message, source.span(above.end, min(above.end + 1, len(source.text))), remedy)
    message = f"expected {_expected_words(place)}, found {_found(place.token)}"
    return Diagnostic("syntax.expected", message, _span_of(place, source), remedy)


def _bare_proof(place: Place) -> Token | None:
    """The word that says how a proof goes, where its header has no `=` in front of it; None elsewhere."""
    read = place.chunk[2 : place.position + 1] if place.chunk and place.chunk[0].text == "proof" else []
    words = [token for token in read if token.text in _PROOF_WORDS]
    return words[0] if words and "=" not in {token.kind for token in read[: read.index(words[0])]} else None


def _line_above(place: Place) -> Token | None:
    """The last token of the line above, where the parser went on from it into the next line; None where it did not."""
    position = place.position
    while position > 0 and not place.chunk[position].column:
        position -= 1
    above = place.chunk[position - 1] if position else None
    return None if above is None or above.kind in _LAYOUT_KINDS else above


def _place(table: Table, start: str, stuck: Stuck, tokens: list[Token]) -> Place:
    kinds = table.actions[stuck.states[-1]]
    expected = frozenset(kind for kind in kinds if can_take(table, stuck.states, kind))
    position = stuck.position
    line_start = position
    while line_start > 0 and tokens[line_start - 1].kind not in _LAYOUT_KINDS:
        line_start -= 1
    line = tokens[line_start:position] or tokens[line_start : position + 1]
    before = tokens[position - 1] if position else None
    return Place(tokens[position], before, line, tokens, expected, start, position)


def _span_of(place: Place, source: SourceFile) -> Span:
    if place.token.end > place.token.start:
        return source.span(place.token.start, place.token.end)
    return source.span(place.token.start, min(place.token.start + 1, len(source.text)))


def _found(token: Token) -> str:
    if token.kind in ("SEP", "INDENT"):
        return "the end of the line"
    if token.kind in ("DEDENT", "END"):
        return "the end of the block" if token.kind == "DEDENT" else "the end"
    return f"`{token.text if len(token.text) <= 30 else token.text[:27] + '…'}`"


def _expected_words(place: Place) -> str:
    """Return what could stand here, the classes in words and the rest as it is typed."""
    expected = place.expected
    if place.start == "declaration" and len(place.chunk) and place.token is place.chunk[0]:
        return "a declaration"
    words: list[str] = []
    rest = set(expected)
    if expected >= _STATEMENT_START:
        words.append("a statement")
        rest -= _STARTERS | {*_STATEMENT_START, "lease", "view", "barrier"}
    elif "load" in expected:
        words.append("an expression")
        rest -= _STARTERS
    if len(rest & _OPERATORS) >= 3:
        words.append("an operator")
        rest -= _OPERATORS | _STARTERS
    if "NAME" in rest:
        rest -= {"DOLLAR", "FLOAT", "STRING", "true", "false"}
    shown = rest - _QUIET
    if words == ["an operator"] and not shown and rest & {"SEP", "DEDENT", "END"}:
        words.append("the end of the line")
    elif not shown and not words:
        shown = rest
    words.extend(_WORDS.get(kind, f"`{kind}`") for kind in sorted(shown, key=lambda kind: (kind in _WORDS, kind)))
    words = [word for word in dict.fromkeys(words) if word]
    if len(words) > _MAX_EXPECTED:
        words = [*words[:_MAX_EXPECTED], "…"]
    if len(words) > 1:
        return ", ".join(words[:-1]) + " or " + words[-1] if words[-1] != "…" else ", ".join(words)
    return words[0] if words else "nothing more"


# --- remedies: each looks at the place and says what to type, or leaves it to the next -----------


def _c_style_for(place: Place) -> str | None:
    words = [token.text for token in place.line]
    if words[:1] == ["for"] and (place.token.text in ("(", "=") or "(" in words[1:2]):
        return "`for i in 0 .. M do`, with the body indented below"
    return None


def _keyword_as_name(place: Place) -> str | None:
    if place.token.kind in KEYWORDS and "NAME" in place.expected and place.token.kind not in place.expected:
        line = place.first
        if place.before is not None and place.before.text in ("let", "var", "for", "fn", "const", "(", ",", "$", "as", "into"):
            return f"another name: `{place.token.text}` is a keyword" if line else None
    return None


def _word_for_statement(place: Place) -> str | None:
    """A first word one slip away from a word that starts a statement or a declaration."""
    if place.first in FOREIGN_WORDS and place.first not in place.expected:
        return FOREIGN_WORDS[place.first]
    at_top = bool(place.line) and place.start == "declaration" and place.line[0] is place.chunk[0]
    if at_top and place.line[0].kind in KEYWORDS:
        return "statements stand inside a function: `fn main () =`"
    pool = sorted(DECLARATION_WORDS) if at_top else [*STATEMENT_WORDS, "else"]
    if not place.line or place.line[0].kind != "NAME" or place.first in pool:
        return None
    near = get_close_matches(place.first, pool, n=1, cutoff=0.6)
    if near:
        return f"`{near[0]}` in place of `{place.first}`"
    if at_top:
        return "a file holds declarations: contraction, fn, schedule, proof, const, import and the like"
    return None


def _missing_do(place: Place) -> str | None:
    if "do" not in place.expected:
        return None
    if place.token.text == ":":
        return "`do` in place of `:`"
    if place.token.text == "{":
        return "`do` in place of `{`; a block is the indented lines below"
    if place.token.kind in _LAYOUT_KINDS or place.token.column or place.first in ("for", "grid"):
        return "`do` at the end of the header: `for i in 0 .. M do`"
    return None


def _missing_then(place: Place) -> str | None:
    if "then" in place.expected and (place.token.kind in _LAYOUT_KINDS or place.token.text in (":", "{") or place.token.column):
        return "`then` after the condition"
    return None


def _missing_equals(place: Place) -> str | None:
    if "=" not in place.expected:
        return None
    if place.token.text in ("==", ":="):
        return f"`=` in place of `{place.token.text}`"
    if place.token.text in ("{", ":") and place.first in DECLARATION_WORDS:
        return "`=` at the end of the header, and the body indented below"
    if place.token.kind in _LAYOUT_KINDS or place.token.column or place.first in ("let", "var", "store", "const"):
        return "`=` before the value or body"
    return None


def _unfinished_line(place: Place) -> str | None:
    for before, token in pairwise(place.line):
        if token.column and before.text in _OPERATORS:
            return f"finish the line above: it ends in `{before.text}`, so this line goes on with it"
    return None


def _equals_for_equal(place: Place) -> str | None:
    if place.token.text == "=" and "==" in place.expected:
        return "`==` to compare; `=` binds a name"
    return None


def _compound_assignment(place: Place) -> str | None:
    if place.token.text == "=" and place.before is not None and place.before.text in ("+", "-", "*", "/"):
        return f"`x = x {place.before.text} e`"
    if place.before is not None and place.before.text == place.token.text == "+":
        return "`x = x + 1`"
    return None


def _chained_comparison(place: Place) -> str | None:
    comparisons = ("==", "!=", "<", "<=", ">", ">=")
    if place.token.text in comparisons and any(token.text in comparisons for token in place.line):
        return "join two comparisons with `and`: `lo <= i and i < hi`"
    return None


def _near_mode(place: Place) -> str | None:
    before, opened = place.before, place.chunk[place.position - 2] if place.position > 1 else None
    if ":" not in place.expected or before is None or opened is None or opened.text != "(":
        return None
    near = get_close_matches(before.text, ["reads", "mut"], n=1, cutoff=0.6)
    return f"`{near[0]}` in place of `{before.text}`" if near else None


def _missing_block(place: Place) -> str | None:
    ends = place.before is not None and place.before.text in ("do", "then", "else", "=", "where", "from", "to", "relate")
    if ends and place.token.kind in _LAYOUT_KINDS and "INDENT" in place.expected:
        text = place.before.text if place.before is not None else ""
        return f"indent the lines that belong to `{text}` further than its own line"
    return None


def _deeper_line(place: Place) -> str | None:
    if place.token.column and place.token.kind not in _LAYOUT_KINDS and place.line:
        return "a line indented further goes on with the one above: indent it the same, if it is a line of its own"
    return None


def _missing_range(place: Place) -> str | None:
    if place.first in ("for", "grid") and ".." in place.expected and place.token.text in ("do", ",", "to", "until"):
        return "a range, `0 .. N`"
    return None


def _missing_blank_after_dot(place: Place) -> str | None:
    if "BINDER_DOT" in place.expected and any(token.text in ("sum", "reduce") for token in place.line):
        if place.token.text in ("if", "when", "for", "in", "<", "<=", "=="):
            return "a condition on the index stands after `where`: `sum k where k <= i. a[i, k]`"
        return "a dot and a blank after the index: `sum k. a[i, k]`"
    return None


def _curly_block(place: Place) -> str | None:
    if place.token.text == "{" and place.line and place.first in ("if", "else", "for", "fn"):
        return "a block is the indented lines below, without braces"
    return None


def _line_end_sign(place: Place) -> str | None:
    if place.token.text == ";":
        return "leave out the `;`: a statement ends with its line"
    if place.token.text == "," and place.before is not None and place.before.text in ("(", "[", "{", ","):
        return "leave out the comma, or put an item before it"
    return None


def _comma_between(place: Place) -> str | None:
    closing = {")", "]", "}"} & set(place.expected)
    if closing and "," in place.expected and place.token.kind not in _LAYOUT_KINDS and not place.token.column:
        return f"a comma, or `{min(closing)}` before it"
    return None


def _header_part(place: Place) -> str | None:
    if place.chunk[0].text not in ("fn", "contraction", "schedule", "instr") or "=" in {token.kind for token in place.chunk[: place.position]}:
        return None
    if place.token.column > 1 or any(token.column > 1 and token.kind == "NAME" for token in place.line):
        return "`=` at the end of the header"
    if place.token.text == "," and place.chunk[0].text != "schedule":
        return "each parameter in parentheses of its own: `(reads a: f32) (reads b: f32)`"
    if ":" in place.expected:
        return "a parameter has a type: `(reads a: [f32; M, K])`"
    return None


def _nameless_result(place: Place) -> str | None:
    arrow = place.chunk[place.position - 2] if place.position > 1 else None
    if place.token.text == ":" and place.before is not None and arrow is not None and arrow.text == "->":
        return f"`-> out {place.before.text}: TYPE`"
    return None


def _near_total(place: Place) -> str | None:
    following = place.chunk[place.position + 1] if place.position + 1 < len(place.chunk) else None
    if place.token.text != "." or following is None or place.position < 2:
        return None
    word = place.chunk[place.position - 2]
    near = get_close_matches(word.text, ["sum", "reduce"], n=1, cutoff=0.6) if word.kind == "NAME" else []
    return f"`{near[0]}` in place of `{word.text}`" if near else None


def _near_word(place: Place) -> str | None:
    words = sorted(kind for kind in place.expected if kind.isalpha() and kind.islower())
    near = get_close_matches(place.token.text, words, n=1, cutoff=0.7) if place.token.kind == "NAME" else []
    return f"`{near[0]}` in place of `{place.token.text}`" if near else None


def _shape_of_line(place: Place) -> str | None:
    if place.expected == {"SEP"} and place.chunk[0].text == "step":
        return "a step has `from` and `to`, each with an indented block, and may have `relate`"
    return _SHAPES.get(place.first)


_SHAPES: Final = {
    "split": "`split k by 16 as gk ragged`",
    "import": '`import "cachet:steps"`',
    "proof": "`proof p = assert E` or `proof p = relate F to G`",
    "schedule": "`schedule name of contraction =`",
    "record": "`record Weights = { m: f32, l: f32 }`",
    "layout": "`layout RowMajor : [R, C] (i, j) = i * C + j`",
    "law": "`law add associative over reals`",
    "synth": "`synth const N : Nat = minimize n in (n): n where n > 0`",
    "lease": "`lease mut name = buffer at L1`",
    "view": "`view v[i, j] = c[i, 2 * j]`",
    "impl": "`impl Semiring for PlusTimes f32 where`",
    "interface": "`interface Semiring where`",
    "traffic": "`traffic 8 * lines (span_bytes a.span) from DRAM to L1`",
    "family": "`family (MC, NC) in {4, 8} * {8, 16}`",
    "invariant": "`invariant c in M`",
}


_RULES: Final[tuple[Callable[[Place], str | None], ...]] = (
    _c_style_for,
    _line_end_sign,
    _compound_assignment,
    _missing_block,
    _missing_range,
    _missing_do,
    _missing_then,
    _keyword_as_name,
    _curly_block,
    _word_for_statement,
    _near_mode,
    _nameless_result,
    _near_total,
    _header_part,
    _missing_equals,
    _unfinished_line,
    _equals_for_equal,
    _chained_comparison,
    _missing_blank_after_dot,
    _near_word,
    _comma_between,
    _deeper_line,
    _shape_of_line,
)

_AT_LINE_END: Final = frozenset([_missing_do, _missing_then, _missing_equals, _header_part])
"""Rules about a word that is missing where the line before the place ends."""
_LINE_ENDS: Final = frozenset(["`do`", "`then`", "`=`"])
