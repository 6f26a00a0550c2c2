"""Integer expressions and conditions: sizes, bounds, indices, guards.

Takes syntax and a scope; gives core terms and formulas, and notes where `/` must be exact.
Must not elaborate words: a word used as an integer is an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from cachet_verify.core.index import (
    ZERO,
    Compare,
    Const,
    Formula,
    Index,
    Max,
    Product,
    Sum,
    Truth,
    Var,
    add,
    ceil_div,
    compare,
    conj,
    disj,
    div,
    eq,
    le,
    lt,
    maximum,
    minimum,
    mod,
    mul,
    ne,
    neg,
    negate,
    sub,
)
from cachet_verify.core.spell import spell
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.problem import StopError, UnsupportedError
from cachet_verify.elaborate.scope import DOTTED, BlockEntity, BufferEntity, CountEntity, Entity, IndexEntity, PoisonEntity, Scope
from cachet_verify.syntax import ast

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_ROUNDINGS = ("floor", "ceil")


def elaborate_index(expr: ast.Expr, scope: Scope, context: Context) -> Index:
    """The integer term an expression stands for. Raises StopError."""
    if isinstance(expr, ast.IntLit):
        return Const(expr.value)
    if isinstance(expr, ast.Name):
        return _named(expr, scope, context)
    if isinstance(expr, ast.Field):
        return _field(expr, scope, context)
    if isinstance(expr, ast.Index):
        return _in_block(expr, scope, context)
    if isinstance(expr, ast.Binary):
        return _binary(expr, scope, context)
    if isinstance(expr, ast.Unary) and expr.operator == "-":
        return negate(elaborate_index(expr.operand, scope, context))
    if isinstance(expr, ast.Apply):
        return _applied(expr, scope, context)
    if isinstance(expr, ast.Cast) and isinstance(expr.type, ast.Name) and expr.type.name in ("Nat", "Int"):
        term = elaborate_index(expr.value, scope, context)
        if expr.type.name == "Nat":
            check_natural(term, expr, scope, context)
        return term
    raise context.stop("elaborate.index.kind", "an integer is wanted here: a size, a counter or arithmetic on them", expr.span)


def check_natural(term: Index, expr: ast.Expr, scope: Scope, context: Context) -> None:
    """Note that what is used as a `Nat` must not be negative: a difference, or anything that is no natural by its form."""
    is_difference = any(isinstance(part, ast.Binary) and part.operator == "-" for part in _arithmetic(expr))
    if is_difference or not is_natural(term, scope):
        context.require(scope, le(ZERO, term), f"`{spell(term)}` is at least 0", expr.span)


def is_natural(term: Index, scope: Scope, passed: frozenset[str] = frozenset()) -> bool:
    """Whether a term is at least 0 by its form, given what its variables are known to be; False may still be at least 0.

    `passed` are variables that the question is about already.
    """
    if isinstance(term, Const):
        return term.value >= 0
    if isinstance(term, Var):
        inner = passed | {term.name}
        return term.name not in passed and any(_bounds_below(fact, term, scope, inner) for fact in scope.facts)
    if isinstance(term, Sum):
        return all(is_natural(part, scope, passed) for part in term.terms)
    left, right = is_natural(term.left, scope, passed), is_natural(term.right, scope, passed)
    return left or right if isinstance(term, Max) else left and right


def _bounds_below(fact: Formula, name: Var, scope: Scope, passed: frozenset[str]) -> bool:
    """Whether a fact puts a natural below a variable, or says that the variable is one."""
    if not isinstance(fact, Compare) or fact.relation == "!=":
        return False
    if fact.relation == "==" and fact.left == name:
        return is_natural(fact.right, scope, passed)
    return fact.right == name and is_natural(fact.left, scope, passed)


def _arithmetic(expr: ast.Expr) -> Sequence[ast.Expr]:
    found: list[ast.Expr] = []
    stack = [expr]
    while stack:
        item = stack.pop()
        found.append(item)
        if isinstance(item, ast.Binary):
            stack.extend((item.left, item.right))
        elif isinstance(item, ast.Unary):
            stack.append(item.operand)
        elif isinstance(item, ast.Apply):
            stack.extend(item.args)
    return found


def _named(expr: ast.Name, scope: Scope, context: Context) -> Index:
    entity = scope.find(expr.name)
    if isinstance(entity, IndexEntity):
        return entity.term
    if isinstance(entity, BlockEntity):
        raise context.stop(
            "elaborate.index.kind",
            f"`{expr.name}` is a block of indices, not one index",
            expr.span,
            f"`{expr.name}.lo` is its first index, `{expr.name}[k]` the k-th, `{expr.name}.len` their number",
        )
    if isinstance(entity, PoisonEntity):
        raise StopError(expr.name)
    if entity is not None:
        raise context.stop("elaborate.index.kind", f"`{expr.name}` is a word, not an integer; an index cannot depend on it", expr.span)
    if context.unit.is_symbolic(expr.name):
        return Var(expr.name)
    value = context.unit.constant(expr.name, expr.span)
    if value is not None:
        return Const(value)
    raise context.unknown(expr.name, expr.span, scope, is_index=True)


def _field(expr: ast.Field, scope: Scope, context: Context) -> Index:
    base = expr.base
    if isinstance(base, ast.Name):
        entity = scope.find(base.name)
        if isinstance(entity, PoisonEntity):
            raise StopError(base.name)
        if isinstance(entity, BlockEntity) and expr.name in ("lo", "len"):
            return entity.low if expr.name == "lo" else entity.length
        if isinstance(entity, BlockEntity):
            raise context.stop("elaborate.index.kind", f"a block has no part `{expr.name}`", expr.span, f"`{base.name}.lo` or `{base.name}.len`")
        counted = scope.find(DOTTED)
        if entity is None and isinstance(counted, CountEntity) and (size := counted.apply(expr, scope)) is not None:
            return size
        if entity is None and base.name == "platform":
            return Const(context.unit.platform_fact(expr.name, (), expr.span))
    raise context.stop("elaborate.index.kind", "an integer is wanted here, and this is not one", expr.span)


def _in_block(expr: ast.Index, scope: Scope, context: Context) -> Index:
    base = expr.base
    if isinstance(base, ast.Name):
        entity = scope.find(base.name)
        if isinstance(entity, PoisonEntity):
            raise StopError(base.name)
        if isinstance(entity, BlockEntity):
            if len(expr.items) != 1 or isinstance(expr.items[0], ast.Slice):
                raise context.stop("elaborate.index.rank", f"a block takes one index, as `{base.name}[k]`", expr.span)
            return add(entity.low, elaborate_index(expr.items[0], scope, context))
        if entity is None:
            raise context.unknown(base.name, base.span, scope)
    raise context.stop("elaborate.index.kind", "a word read from memory cannot be an index", expr.span)


def _binary(expr: ast.Binary, scope: Scope, context: Context) -> Index:
    if expr.operator not in ("+", "-", "*", "/", "%"):
        raise context.stop("elaborate.index.kind", f"`{expr.operator}` gives no integer", expr.span)
    left = elaborate_index(expr.left, scope, context)
    right = elaborate_index(expr.right, scope, context)
    if expr.operator == "+":
        return add(left, right)
    if expr.operator == "-":
        return sub(left, right)
    if expr.operator == "*":
        return mul(left, right)
    if expr.operator == "%":
        _check_divisor(right, expr, context)
        return mod(left, right)
    _check_divisor(right, expr, context)
    quotient = div(left, right)
    text = f"`{spell(left)}` is a multiple of `{spell(right)}`, as `/` asks: `{spell(quotient)}` rounds down"
    context.require(scope, eq(mod(left, right), ZERO), text, expr.span)
    return quotient


def _check_divisor(right: Index, expr: ast.Expr, context: Context) -> None:
    if right == ZERO:
        raise context.stop("elaborate.index.zero-divisor", "the divisor is 0", expr.span)


def _applied(expr: ast.Apply, scope: Scope, context: Context) -> Index:
    function = expr.function
    if isinstance(function, ast.Field) and isinstance(function.base, ast.Name) and function.base.name == "platform":
        words = tuple(_word(arg.value, context) for arg in expr.implicit)
        return Const(context.unit.platform_fact(function.name, words, expr.span))
    if not isinstance(function, ast.Name) or expr.implicit:
        raise context.stop("elaborate.index.kind", "an integer is wanted here, and this call gives none", expr.span)
    if function.name in _ROUNDINGS:
        return _rounded(function.name, expr, scope, context)
    if function.name == "line_ceil":
        return _lines(expr, scope, context)
    if function.name in ("min", "max"):
        if len(expr.args) != 2:
            raise context.stop("elaborate.call.arity", f"`{function.name}` takes two integers", expr.span)
        left, right = (elaborate_index(arg, scope, context) for arg in expr.args)
        return minimum(left, right) if function.name == "min" else maximum(left, right)
    entity: Entity | None = scope.find(function.name)
    if isinstance(entity, CountEntity) and (counted := entity.apply(expr, scope)) is not None:
        return counted
    if isinstance(entity, BufferEntity):
        raise context.stop("elaborate.index.kind", f"`{function.name}` is memory, not an integer", expr.span)
    raise context.stop("elaborate.index.kind", f"`{function.name}` gives no integer", expr.span, "floor (a / b), ceil (a / b), min a b, max a b")


def _lines(expr: ast.Apply, scope: Scope, context: Context) -> Index:
    """`line_ceil b n`: how many lines of `n` bytes hold `b`."""
    if len(expr.args) != 2:
        raise context.stop("elaborate.call.arity", "`line_ceil` takes bytes, and the bytes of a line", expr.span, "`line_ceil b 128`")
    size, line = (elaborate_index(arg, scope, context) for arg in expr.args)
    if line == ZERO:
        raise context.stop("elaborate.index.zero-divisor", "a line has at least one byte", expr.args[1].span)
    if not isinstance(line, Const) or line.value < 1:
        context.require(scope, lt(ZERO, line), f"`{spell(line)}`, the bytes of a line, is above 0", expr.args[1].span)
    return ceil_div(size, line)


def _word(expr: ast.Expr, context: Context) -> str:
    if isinstance(expr, ast.Name):
        return expr.name
    raise context.stop("elaborate.platform.fact", "the name of a unit or of an element type is wanted here", expr.span, "platform.lanes @Vec @f32")


def _rounded(name: str, expr: ast.Apply, scope: Scope, context: Context) -> Index:
    if len(expr.args) != 1:
        raise context.stop("elaborate.call.arity", f"`{name}` takes one quotient", expr.span, f"{name} (a / b)")
    inner = expr.args[0]
    if not (isinstance(inner, ast.Binary) and inner.operator == "/"):
        if any(isinstance(part, ast.Binary) and part.operator == "/" for part in _arithmetic(inner)):
            raise UnsupportedError(f"`{name}` of more than one quotient", expr.span)
        return elaborate_index(inner, scope, context)
    left = elaborate_index(inner.left, scope, context)
    right = elaborate_index(inner.right, scope, context)
    _check_divisor(right, inner, context)
    return div(left, right) if name == "floor" else ceil_div(left, right)


# --- conditions --------------------------------------------------------------------------------


def is_index_expression(expr: ast.Expr, scope: Scope, context: Context) -> bool:
    """Whether an expression is about integers: no word is read anywhere in it."""
    if isinstance(expr, ast.IntLit):
        return True
    if isinstance(expr, ast.Name):
        entity = scope.find(expr.name)
        if entity is None:
            return not context.unit.is_word(expr.name)
        return isinstance(entity, (IndexEntity, BlockEntity, PoisonEntity))
    if isinstance(expr, ast.Field):
        return isinstance(expr.base, ast.Name) and (expr.base.name == "platform" or isinstance(scope.find(expr.base.name), BlockEntity))
    if isinstance(expr, ast.Index):
        return isinstance(expr.base, ast.Name) and isinstance(scope.find(expr.base.name), BlockEntity)
    if isinstance(expr, ast.Binary):
        return is_index_expression(expr.left, scope, context) and is_index_expression(expr.right, scope, context)
    if isinstance(expr, ast.Unary):
        return is_index_expression(expr.operand, scope, context)
    if isinstance(expr, ast.Apply):
        if isinstance(expr.function, ast.Field):
            return isinstance(expr.function.base, ast.Name) and expr.function.base.name == "platform"
        known = isinstance(expr.function, ast.Name) and expr.function.name in ("floor", "ceil", "min", "max", "line_ceil")
        return known and all(is_index_expression(arg, scope, context) for arg in expr.args)
    return isinstance(expr, ast.BoolLit)


def elaborate_condition(expr: ast.Expr, scope: Scope, context: Context) -> Formula:
    """The formula a condition on integers stands for. Raises StopError."""
    if isinstance(expr, ast.BoolLit):
        return Truth(expr.value)
    if isinstance(expr, ast.Unary) and expr.operator == "not":
        return neg(elaborate_condition(expr.operand, scope, context))
    if isinstance(expr, ast.Binary) and expr.operator in ("and", "or"):
        left = elaborate_condition(expr.left, scope, context)
        right = elaborate_condition(expr.right, scope.assume(left if expr.operator == "and" else neg(left)), context)
        return conj((left, right)) if expr.operator == "and" else disj((left, right))
    if isinstance(expr, ast.Binary) and expr.operator in COMPARISONS:
        return _compared(expr.operator, elaborate_index(expr.left, scope, context), elaborate_index(expr.right, scope, context))
    raise context.stop("elaborate.condition", "a condition on integers is wanted here", expr.span, "a comparison such as `i < n`")


def _compared(operator: str, left: Index, right: Index) -> Formula:
    if operator == "==":
        return eq(left, right)
    if operator == "!=":
        return ne(left, right)
    if operator in ("<", "<="):
        return compare("<" if operator == "<" else "<=", left, right)
    return compare("<" if operator == ">" else "<=", right, left)


# --- comparing terms ---------------------------------------------------------------------------


def same_term(left: Index, right: Index) -> bool:
    """Whether two terms are equal as polynomials over their other parts; False may still be equal."""
    return left == right or _polynomial(left) == _polynomial(right)


def difference(high: Index, low: Index) -> Index:
    """`high - low`, with the parts that both sums share left out."""
    left: list[Index] = list(high.terms) if isinstance(high, Sum) else [high]
    right: list[Index] = []
    for part in low.terms if isinstance(low, Sum) else (low,):
        if part in left:
            left.remove(part)
        else:
            right.append(part)
    return sub(add(*left), add(*right))


Monomial = tuple[str, ...]


def _polynomial(term: Index) -> dict[Monomial, int]:
    """The term as a sum of monomials; a part that is no polynomial counts as a variable."""
    if isinstance(term, Const):
        return {(): term.value} if term.value else {}
    if isinstance(term, Var):
        return {(term.name,): 1}
    total: dict[Monomial, int] = {}
    if isinstance(term, Sum):
        for part in term.terms:
            for key, count in _polynomial(part).items():
                total[key] = total.get(key, 0) + count
    elif isinstance(term, Product):
        for first, one in _polynomial(term.left).items():
            for second, other in _polynomial(term.right).items():
                key = tuple(sorted((*first, *second)))
                total[key] = total.get(key, 0) + one * other
    else:
        return {(f"({spell(term)})",): 1}
    return {key: count for key, count in total.items() if count}
