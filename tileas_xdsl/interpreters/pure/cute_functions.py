"""The layout algebra of `cute` for xDSL's interpreter.

An operation of the algebra defines its result symbolically, over the dynamic leaves (`?`) of its
operands: the verifier infers result types from that definition, the lowering its code, and this
interpreter its values, by substituting numbers for the leaves:

    %i = cute.crd2idx(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(8,4):(1,8)">) -> ...
    symbolic result   c0 + 8 * c1          with %c = (3, 2): 19

Values are Python's: a tuple of integers (None for `_`), a `Layout`, `ComposedLayout` or `Swizzle`,
a tuple of layouts for a tile, an integer for a scalar; a view of coordinates is a `View`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import i1
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls
from xdsl.ir import Operation, SSAValue
from xdsl.traits import Pure
from xdsl.utils.exceptions import InterpretationError

from tileas_xdsl.dialects.cute import Cute
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, CuteOp
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Number,
    Tile,
    Tree,
    View,
    leaf_of,
    map_layout,
    map_tree,
    numbers,
    symbol,
)
from tileas_xdsl.dialects.cute.layout_algebra.divisibility import AssumeOp, DerefineOp
from tileas_xdsl.dialects.cute.layout_algebra.tuples import MakeTupleBase, StaticOp
from tileas_xdsl.dialects.cute.layout_algebra.unpacking import (
    GetLayoutsFromTileOp,
    GetLeavesOp,
    GetScalarsOp,
    UnpackTupleOp,
)
from tileas_xdsl.layout import ComposedLayout, Layout, Swizzle
from tileas_xdsl.layout.expr.expression import Expression, Variable, evaluate

Leaf = Callable[[Any], Any]

PartsOp = GetLayoutsFromTileOp | GetLeavesOp | GetScalarsOp | UnpackTupleOp
"""Operations that take a value apart."""


def symbolic_results(op: CuteOp) -> Sequence[Any]:
    """Return the results of an operation over the dynamic leaves of its operands."""
    if isinstance(op, AlgebraOp):
        return [op.result_value()]
    if isinstance(op, PartsOp):
        return op.values()
    if isinstance(op, MakeTupleBase):
        given = iter(op.given)
        return [
            _mapped(lambda n: next(given) if isinstance(n, Expression) else n, symbol(op.result))
        ]
    if isinstance(op, StaticOp):
        return [symbol(op.result)]
    return [symbol(operand) for operand in op.operands]


def _mapped(leaf: Leaf, value: Any) -> Any:
    """Return an algebra value with every number replaced, in the order of `numbers`."""
    match value:
        case Tree():
            return replace(value, tree=map_tree(leaf, value.tree))
        case Tile():
            return Tile(tuple(map_layout(leaf, mode) for mode in value.modes))
        case Number():
            return replace(value, number=leaf(value.number))
        case View(iterator=Tree() as origin):
            return View(_mapped(leaf, origin), map_layout(leaf, value.layout))
        case Layout() | ComposedLayout() | Swizzle():
            return map_layout(leaf, value)
        case _:
            raise InterpretationError(f"{value} has no value without memory")


def to_python(value: Any) -> Any:
    """Return an algebra value as Python code has it."""
    match value:
        case Tree():
            return value.tree
        case Tile():
            return value.modes
        case Number():
            return bool(value.number) if value.type == i1 else value.number
        case _:
            return value


def _numbers(shape: Any, value: Any) -> Iterable[Any]:
    """Return the numbers of a Python value, in the order of those of the symbolic `shape`."""
    match shape:
        case Tree():
            return numbers(replace(shape, tree=value))
        case Tile():
            return numbers(Tile(tuple(value)))
        case Number():
            return (int(value),)
        case _:
            return numbers(value)


def _value_of(operands: Sequence[SSAValue], args: PythonValues) -> Callable[[Variable], int]:
    """Return the function from dynamic leaves to their numbers, for these arguments."""
    found: dict[SSAValue, list[int]] = {}
    for operand, arg in zip(operands, args, strict=True):
        shape = symbol(operand)
        pairs = zip(numbers(shape), _numbers(shape, arg), strict=True)
        found[operand] = [number for leaf, number in pairs if isinstance(leaf, Expression)]

    def value_of(leaf: Variable) -> int:
        owner, index = leaf_of(leaf)
        return found[owner][index]

    return value_of


def _run(
    _: InterpreterFunctions, interpreter: Interpreter, op: Operation, args: PythonValues
) -> PythonValues:
    assert isinstance(op, CuteOp)
    value_of = _value_of(op.operands, args)
    results = [_mapped(lambda n: evaluate(n, value_of), r) for r in symbolic_results(op)]
    return tuple(map(to_python, results))


def algebra_operations() -> list[type[Operation]]:
    """Return the operations of `cute` that compute without memory."""
    others = (AssumeOp, DerefineOp, MakeTupleBase, PartsOp, StaticOp)
    return [
        kind
        for kind in Cute.operations
        if kind.has_trait(Pure) and issubclass(kind, (AlgebraOp, *_flat(others)))
    ]


def _flat(kinds: Sequence[Any]) -> list[type[Operation]]:
    return [k for kind in kinds for k in getattr(kind, "__args__", (kind,))]


CuteFunctions = register_impls(
    type(
        "CuteFunctions",
        (InterpreterFunctions,),
        {kind.name: impl(kind)(_run) for kind in algebra_operations()},
    )
)
"""The implementations of the layout algebra."""
