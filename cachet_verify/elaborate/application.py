"""Calls that give a word: operations of the language, of interfaces, and functions to inline.

Takes a call and the type wanted; gives a core value. Must not elaborate calls that write memory.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from cachet_verify.core.ir import Op, Value, Word
from cachet_verify.core.ir import values as parts
from cachet_verify.core.outer import PRIMITIVES
from cachet_verify.elaborate import operation
from cachet_verify.elaborate.context import Context
from cachet_verify.elaborate.item import Entry
from cachet_verify.elaborate.lane import check_arity, outer_product, sliced
from cachet_verify.elaborate.place import Place, source_text
from cachet_verify.elaborate.problem import StopError, UnsupportedError
from cachet_verify.elaborate.scope import GenericEntity, PoisonEntity, Scope, ValueEntity, ValueType
from cachet_verify.elaborate.term import elaborate_index, is_index_expression
from cachet_verify.elaborate.value import Values, is_infinity
from cachet_verify.syntax import ast

_NOTHING = (ast.Tuple(()),)
MOST_CALLS = 20_000
"""Calls of words that one item may inline, counted where they are put in place."""
MOST_PARTS = 50_000
"""Operations that one inlined value may consist of."""


def apply_function(values: Values, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    """The value of a call that must have the type `wanted`. Raises StopError."""
    function = expr.function
    if isinstance(function, ast.Field):
        return _member(values, function, expr, wanted, place)
    if not isinstance(function, ast.Name):
        raise values.context.stop("elaborate.name.kind", "the name of a function is wanted here", expr.span)
    name = function.name
    if name in operation.ELEMENTARY:
        return _elementary(values, name, expr, wanted, place)
    if name in operation.LATER:
        raise UnsupportedError(f"`{name}`", expr.span)
    if name in operation.UNIFORM:
        core, count = operation.UNIFORM[name]
        check_arity(values, expr, name, count)
        values.defined(core, wanted, expr)
        return Op(core, wanted.elem, tuple(values.check(arg, wanted, place) for arg in expr.args))
    if name == "splat":
        return _splat(values, expr, wanted, place)
    if name == "slice_lanes" or name in PRIMITIVES:
        return sliced(values, expr, wanted, place) if name == "slice_lanes" else outer_product(values, name, expr, wanted, place)
    if name == "select":
        check_arity(values, expr, name, 3)
        decided = values.check(expr.args[0], ValueType("bool", wanted.width), place)
        return Op("select", wanted.elem, (decided, *(values.check(arg, wanted, place) for arg in expr.args[1:])))
    if name in ("from_bits", "to_bits"):
        return _bits(values, name, expr, wanted, place)
    return _inlined(values, function, expr, wanted, place)


def _product(values: Values, name: str, expr: ast.Apply) -> StopError:
    """The refusal of a product of tiles where a word is wanted."""
    says = "multiplies tiles, and gives one" if name == "mma" else "is the whole body of an `instr fn`"
    hint = "`let t: [f32; 16, 16] = mma x y t`" if name == "mma" else "`mma_block a b acc`"
    return values.context.stop("elaborate.name.kind", f"`{name}` {says}", expr.span, hint)


def _elementary(values: Values, name: str, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    """A function of numbers that the standard library defines for each element type."""
    context = values.context
    check_arity(values, expr, name, 1)
    implementation = context.unit.implementation(("Standard", wanted.elem), "Elementary")
    if implementation is None or name not in implementation.members:
        raise context.stop("elaborate.type.operation", f"`{name}` is not defined on `{wanted.elem}`", expr.span)
    kind = ValueType(wanted.elem, wanted.width)
    argument = values.named_once(values.check(expr.args[0], kind, place), kind, "x", place)
    body = inline_function(values, implementation.members[name], implementation.path, [ValueEntity(argument, kind)], kind, place)
    return Op(name, wanted.elem, (body, argument))


def _splat(values: Values, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    check_arity(values, expr, "splat", 1)
    if wanted.width is None or place.lane is None:
        raise values.context.stop("elaborate.type.mismatch", "`splat` gives a vector, and one word is wanted here", expr.span)
    return values.check(expr.args[0], ValueType(wanted.elem), place.scalar())


def _bits(values: Values, name: str, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    from cachet_verify.core.element import ELEMENTS

    check_arity(values, expr, name, 1)
    if name == "from_bits":
        values.defined("from_bits", wanted, expr)
        value = values.check(expr.args[0], ValueType(operation.carrier(wanted.elem), wanted.width), place)
        if isinstance(value, Word):
            return Word(wanted.elem, value.bits & ELEMENTS[wanted.elem].mask)
        return Op(f"from_bits {wanted.elem}", wanted.elem, (value,))
    source = values.known_type(expr.args[0], place.scope, "give a name its type with `let x: f32 = …`")
    values.defined("to_bits", source, expr)
    values.expect(ValueType(operation.carrier(source.elem), wanted.width), wanted, expr)
    return Op(f"to_bits {source.elem}", wanted.elem, (values.check(expr.args[0], source, place),))


def _member(values: Values, function: ast.Field, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    """`S.mul_add a b acc`, or `Num.infinity ()`."""
    if is_infinity(expr):
        if not operation.is_float(wanted.elem):
            raise values.context.stop("elaborate.type.literal", f"`{wanted.elem}` has no infinity", expr.span)
        return operation.infinity(wanted.elem, negative=False)
    base = function.base
    entity = place.scope.find(base.name) if isinstance(base, ast.Name) else None
    if isinstance(entity, PoisonEntity):
        raise StopError(function.name)
    if not isinstance(entity, GenericEntity):
        if isinstance(base, ast.Name) and values.context.unit.find(base.name) is None:
            raise values.context.unknown(base.name, base.span, place.scope)
        raise UnsupportedError(f"a call of `{source_text(function)}`", expr.span)
    member = interface_member(values, entity, function.name, expr)
    check_arity(values, expr, f"{entity.name}.{function.name}", len(member.params))
    own = ValueType(f"{entity.name}.Value", wanted.width)
    values.expect(own, wanted, expr)
    args = () if expr.args == _NOTHING else expr.args
    return Op(f"{entity.name}.{function.name}", own.elem, tuple(values.check(arg, own, place) for arg in args))


def interface_member(values: Values, generic: GenericEntity, name: str, expr: ast.Expr) -> ast.Fn:
    """The signature of an operation of a generic's interface. Reports when it has none of that name."""
    entry = values.context.unit.find(generic.interface)
    members = entry.declaration.members if entry is not None and isinstance(entry.declaration, ast.Interface) else ()
    for member in members:
        if isinstance(member, ast.Fn) and member.name == name:
            return member
    known = ", ".join(f"`{member.name}`" for member in members if isinstance(member, ast.Fn))
    message = f"`{generic.interface}` has no operation `{name}`"
    raise values.context.stop("elaborate.generic.member", message, expr.span, f"it has {known}" if known else "")


def _found(values: Values, function: ast.Name, expr: ast.Apply, place: Place) -> Entry:
    """The declaration that a call names. Raises StopError where there is none."""
    if function.name in operation.PRODUCTS:
        raise _product(values, function.name, expr)
    entry = values.context.unit.find(function.name)
    if entry is None:
        raise values.context.unknown(function.name, function.span, place.scope)
    return entry


def _inlined(values: Values, function: ast.Name, expr: ast.Apply, wanted: ValueType, place: Place) -> Value:
    context = values.context
    if place.scope.find(function.name) is not None:
        if is_index_expression(expr, place.scope, context):
            elaborate_index(expr, place.scope, context)
        raise context.stop("elaborate.name.kind", f"`{function.name}` is not a function", expr.span)
    entry = _found(values, function, expr, place)
    fn = entry.declaration
    if isinstance(fn, ast.Fn) and fn.is_instr:
        from cachet_verify.elaborate.instruction import applied_instruction, apply_instruction

        reference = applied_instruction(values, expr, place.scope)
        if reference is not None:
            return apply_instruction(values, reference, expr, wanted, place)
    if not isinstance(fn, ast.Fn):
        if isinstance(fn, (ast.Contraction, ast.Schedule)):
            message = f"`{function.name}` writes memory, and gives no word"
            raise context.stop("elaborate.name.kind", message, expr.span, "call it as a statement, with the buffer it fills")
        raise context.stop("elaborate.name.kind", f"`{function.name}` is not a function", expr.span)
    if any(param.mode or _is_array(param) for param in fn.params):
        raise _of_memory(values, fn, expr)
    check_arity(values, expr, function.name, len(fn.params))
    args = () if expr.args == _NOTHING else expr.args
    by_lane = not is_vector_function(values, fn)
    arguments: list[ValueEntity] = []
    for param, arg in zip(fn.params, args, strict=True):
        kind = parameter_type(values, param) or values.infer(arg, place.scope) or wanted
        if by_lane and place.lane is not None:
            kind = ValueType(kind.elem, wanted.width)
        arguments.append(ValueEntity(values.check(arg, kind, place if kind.width is not None else place.scalar()), kind))
    return inline_function(values, fn, entry.path, arguments, wanted, place)


def _of_memory(values: Values, fn: ast.Fn, expr: ast.Apply) -> Exception:
    """The refusal of a function of arrays: of memory, or of values where words alone are elaborated."""
    if not any(param.mode for param in fn.params):
        return UnsupportedError(f"`{fn.name}`, a function of arrays that are values,", expr.span)
    return values.context.stop("elaborate.name.kind", f"`{fn.name}` takes memory, and gives no word", expr.span, "call it as a statement")


def _is_array(param: ast.Param) -> bool:
    return param.storage is not None and isinstance(param.storage.type, ast.ArrayType)


def parameter_type(values: Values, param: ast.Param) -> ValueType | None:
    """The declared type of a value parameter; None when it is bare."""
    return values.type_of(param.storage.type, Scope()) if param.storage is not None else None


def is_vector_function(values: Values, fn: ast.Fn) -> bool:
    """Whether a function's header names vectors; one that does not applies to vectors lane by lane."""
    kinds = [parameter_type(values, param) for param in fn.params]
    if fn.result is not None:
        kinds.append(values.type_of(fn.result.storage.type, Scope()))
    return any(kind is not None and kind.width is not None for kind in kinds)


def inline_function(values: Values, fn: ast.Fn, path: str, arguments: list[ValueEntity], wanted: ValueType, place: Place) -> Value:
    """The body of a function of words, with its parameters standing for the arguments."""
    context = values.context
    key = f"{path} {fn.name if fn.span is None else fn.span}"
    if key in context.inlining:
        raise context.stop("elaborate.call.recursion", f"`{fn.name}` calls itself", fn.span, "a function cannot be recursive; use a `fold`")
    count_call(context, fn)
    if fn.body is None:
        raise context.stop("elaborate.name.kind", f"`{fn.name}` is a signature, without a body", fn.span)
    if fn.generics:
        raise UnsupportedError("a generic function of words", fn.span)
    inner = values.inside(context.within(context.unit_of(path), key))
    place = replace(place, is_each=not is_vector_function(values, fn))
    names = {param.name: argument for param, argument in zip(fn.params, arguments, strict=True)}
    scope = Scope(dict(names), place.scope.facts)
    if fn.result is not None:
        result = values.type_of(fn.result.storage.type, scope)
        lanes = result.width if is_vector_function(values, fn) else wanted.width
        values.expect(ValueType(result.elem, lanes), wanted, ast.Name(fn.name, span=fn.span))
    return _body(inner, fn, scope, wanted, place)


def count_call(context: Context, fn: ast.Fn) -> None:
    """Note that a function is put in place. Reports when that is done too often."""
    context.inlined.append(fn.span)
    if len(context.inlined) > MOST_CALLS:
        raise context.stop(
            "elaborate.size", f"more than {MOST_CALLS} calls are inlined here", fn.span, "name intermediate results with `let` in a loop body"
        )


def is_larger(value: Value, most: int) -> bool:
    """Whether a value consists of more than `most` operations."""
    return next(islice(parts(value), most, None), None) is not None


def _body(values: Values, fn: ast.Fn, scope: Scope, wanted: ValueType, place: Place) -> Value:
    *first, last = fn.body or ()
    for statement in first:
        if not isinstance(statement, ast.Let):
            raise UnsupportedError("a statement in a function of words", statement.span)
        if statement.storage is not None:
            kind = ValueType(values.elem_name(statement.storage.type, scope), wanted.width)
        else:
            kind = values.infer(statement.value, scope) or wanted
        value = values.check(statement.value, kind, Place(scope, place.lane, place.before, place.is_each))
        if is_larger(value, MOST_PARTS):
            message = f"`{statement.name}` grows to more than {MOST_PARTS} operations when it is inlined"
            raise values.context.stop("elaborate.size", message, statement.span, "store intermediate results in locals of a `fn` over buffers")
        scope = scope.bind(statement.name, ValueEntity(value, kind))
    value_of = last_value(last)
    if value_of is None:
        raise values.context.stop("elaborate.type.unknown", f"`{fn.name}` gives no value", last.span, "its last line is its value")
    return values.check(value_of, wanted, Place(scope, place.lane, place.before, place.is_each))


def last_value(last: ast.Statement | None) -> ast.Expr | None:
    """The value that the last line of a function states; a guard there with one value on each side is a choice."""
    if isinstance(last, ast.ExprStatement):
        return last.value
    if not isinstance(last, ast.If) or len(last.then) != 1 or len(last.otherwise) != 1:
        return None
    then, otherwise = last_value(last.then[0]), last_value(last.otherwise[0])
    return None if then is None or otherwise is None else ast.IfExpr(last.condition, then, otherwise, span=last.span)
