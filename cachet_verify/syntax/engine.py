"""The LALR machine: tokens to one value, by the table and the builders.

Takes the tokens of a declaration; gives what the builders made, or stops at the first token that cannot stand.
Must not word any message (see malformed.py) and not know any rule by name but the few below.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from cachet_verify.diagnostic import fail
from cachet_verify.source import SourceFile
from cachet_verify.syntax.build_declaration import BUILDERS
from cachet_verify.syntax.expression import Node
from cachet_verify.syntax.statement import If
from cachet_verify.syntax.table import Rule, Table
from cachet_verify.syntax.token import Token

MAX_DEPTH: Final = 120
"""The deepest tree that is built, so that those who walk it may recurse."""

_TAKES_STATEMENTS = frozenset(["expr_statement", "body", "statements", "instr_body"])


class _Spliced(list[Any]):
    """Children of a helper rule, to be joined to those of the rule above."""


class Stuck(Exception):
    """No rule goes on at the token number `position`, from the states `states`."""

    def __init__(self, position: int, states: list[int]) -> None:
        super().__init__(position)
        self.position = position
        self.states = states


class _Entry(NamedTuple):
    """A value on the stack, the characters it covers (start -1: none), and how deep its tree is."""

    value: Any
    start: int
    end: int
    depth: int


def can_take(table: Table, states: list[int], kind: str) -> bool:
    """Say whether the machine in these states can go on with a token of this kind."""
    action = table.actions[states[-1]].get(kind)
    if action is None or action >= 0:
        return action is not None
    stack = list(states)
    while action is not None and action < 0:
        rule = table.rules[~action]
        if rule.size:
            del stack[-rule.size :]
        stack.append(table.gotos[stack[-1]][rule.origin])
        if kind == "END" and len(stack) == 2 and stack[1] in table.ends.values():
            return True
        action = table.actions[stack[-1]].get(kind)
    return action is not None


def run(table: Table, start: str, tokens: list[Token], source: SourceFile) -> Any:
    """Parse tokens that end in END from the rule `start`.

    Raises Stuck where the grammar ends, CachetError where a builder refuses.
    """
    return _Machine(table, start, source).run(tokens)


class _Machine:
    """The stacks of one parse."""

    def __init__(self, table: Table, start: str, source: SourceFile) -> None:
        self.table = table
        self.source = source
        self.states = [table.starts[start]]
        self.goal = table.ends[start]
        self.entries: list[_Entry] = []

    def run(self, tokens: list[Token]) -> Any:
        """Feed all tokens and return the value of the start rule."""
        for position, token in enumerate(tokens):
            if self.feed(position, token):
                return self.entries[-1].value
        raise Stuck(len(tokens) - 1, self.states)

    def feed(self, position: int, token: Token) -> bool:
        """Take one token; True when the text is complete."""
        kind = token.kind
        if kind == "NAME" and token.text in self.table.words and can_take(self.table, self.states, token.text):
            kind = token.text
        actions = self.table.actions
        action = actions[self.states[-1]].get(kind)
        before = self.states if action is None or action >= 0 else self.states.copy()
        while True:
            action = actions[self.states[-1]].get(kind)
            if action is None:
                raise Stuck(position, before)
            if action >= 0:
                self.states.append(action)
                width = token.end - token.start
                value = token._replace(kind=kind) if kind != token.kind else token
                self.entries.append(_Entry(value, token.start if width else -1, token.end, 0))
                return False
            self.reduce(self.table.rules[~action])
            if kind == "END" and self.states[-1] == self.goal and len(self.states) == 2:
                return True

    def reduce(self, rule: Rule) -> None:
        """Replace the symbols of a rule by what it builds."""
        size = rule.size
        if rule.expand and size == 1:
            self.states[-1] = self.table.gotos[self.states[-2]][rule.origin]
            return
        taken = self.entries[len(self.entries) - size :]
        del self.entries[len(self.entries) - size :]
        del self.states[len(self.states) - size :]
        self.entries.append(self.build(rule, taken))
        self.states.append(self.table.gotos[self.states[-1]][rule.origin])

    def build(self, rule: Rule, taken: list[_Entry]) -> _Entry:
        """Return the entry a rule makes of the entries of its symbols."""
        children: list[Any] = []
        for slot in rule.slots:
            value = None if slot < 0 else taken[slot].value
            if type(value) is _Spliced:
                children.extend(value)
            else:
                children.append(value)
        start = end = -1
        depth = 0
        for entry in taken:
            if entry.start >= 0:
                start = entry.start if start < 0 else start
                end = entry.end
            if entry.depth > depth:
                depth = entry.depth
        if rule.splice:
            return _Entry(_Spliced(children), start, end, depth)
        if rule.expand and len(children) == 1:
            return _Entry(children[0], start, end, depth)
        return self.construct(rule, children, start, end, depth)

    def construct(self, rule: Rule, children: list[Any], start: int, end: int, depth: int) -> _Entry:
        """Call the builder of a rule."""
        where = self.source.span(max(start, 0), max(end, 0))
        if rule.name not in _TAKES_STATEMENTS:
            for child in children:
                if type(child) is If:
                    hint = "a value needs `then x else y`, each one expression"
                    raise fail("syntax.value", "an `if` statement stands where a value is needed", child.span or where, hint)
        value = BUILDERS[rule.name](children, where)
        if isinstance(value, Node):
            depth += 1
            if depth > MAX_DEPTH:
                hint = "name a part of it with `let`"
                raise fail("syntax.too-deep", f"nested more than {MAX_DEPTH} deep", where, hint)
        return _Entry(value, start, end, depth)
