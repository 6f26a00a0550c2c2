"""The words of a built-in step's line: `into packA`, `along gi`, `rows 4`.

Takes a line; gives its clauses by word. A clause that is missing, doubled or of another shape is a
diagnostic that shows how the step is written.
"""

from __future__ import annotations

from dataclasses import dataclass

from cachet_verify.rewrite.error import StepError, refuse
from cachet_verify.rewrite.expression import counter_name
from cachet_verify.rewrite.parameter import shape_text
from cachet_verify.syntax import ast


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a built-in step, and how such a line is written."""

    step: ast.Step
    form: str

    def wrong(self, why: str) -> StepError:
        """The refusal of a line that is not written that way."""
        given = shape_text(self.step.name, self.step.args, self.step.clauses)
        return refuse("arguments", f"`{given}`: {why}", self.step.span, f"`{self.form}`")

    def check_words(self, *words: str) -> None:
        """Refuse clauses the step does not have."""
        given = [clause.word for clause in self.step.clauses]
        for word in given:
            if word not in words:
                raise self.wrong(f"{self.step.name} has no clause `{word}`")
            if given.count(word) > 1:
                raise self.wrong(f"`{word}` stands twice")

    def clause(self, word: str) -> tuple[ast.Expr, ...]:
        """What follows a word. Raises StepError when the word is missing."""
        for clause in self.step.clauses:
            if clause.word == word:
                return clause.args
        raise self.wrong(f"`{word}` is missing")

    def name(self, word: str) -> str:
        """The one name that follows a word."""
        args = self.clause(word)
        name = counter_name(args[0]) if len(args) == 1 else None
        if name is None:
            raise self.wrong(f"`{word}` is followed by one name")
        return name

    def number(self, word: str) -> ast.Expr:
        """The one expression that follows a word."""
        args = self.clause(word)
        if len(args) != 1:
            raise self.wrong(f"`{word}` is followed by one number")
        return args[0]

    def names(self, exprs: tuple[ast.Expr, ...], what: str) -> tuple[str, ...]:
        """Names in parentheses, or one name."""
        items = exprs[0].items if len(exprs) == 1 and isinstance(exprs[0], ast.Tuple) else exprs
        names = tuple(name for name in (counter_name(item) for item in items) if name is not None)
        if not names or len(names) != len(items) or len(set(names)) != len(names):
            raise self.wrong(f"{what} are names, each once")
        return names

    def first_name(self, what: str) -> str:
        """The name right after the step's own."""
        name = counter_name(self.step.args[0]) if len(self.step.args) == 1 else None
        if name is None:
            raise self.wrong(f"{self.step.name} is followed by {what}")
        return name
