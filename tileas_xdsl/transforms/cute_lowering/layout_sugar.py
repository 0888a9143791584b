"""Desugar layouts, views, comparisons and atoms to primitives with SSA operands.

cute.make_layout(shape = (4, %m))          cute.make_layout_raw(%s, %d)
                                             %s = cute.make_int_tuple(%m) : "(4,?)"
                                    ->       %d = cute.make_int_tuple() : "(1,4)"
cute.equal(%l, %m), of two layouts         arith.andi of tuple_eq of shapes, of strides
cute.tensor(%view)                         cute.make_view(get_iter %view, get_layout %view)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import DictionaryAttr, UnitAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.calls import MakeAtomOp
from tileas_xdsl.dialects.cute.atom.interfaces import AtomType
from tileas_xdsl.dialects.cute.base.operands import layout_of
from tileas_xdsl.dialects.cute.base.operation import built
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Tree,
    is_integer,
    leaf_of,
    leaves,
    symbol,
    type_of,
)
from tileas_xdsl.dialects.cute.layout_algebra.composed_layouts import (
    MakeComposedLayoutOp,
    MakeComposedLayoutRawOp,
    MakeSwizzleOp,
)
from tileas_xdsl.dialects.cute.layout_algebra.construction import MakeLayoutOp, MakeLayoutRawOp
from tileas_xdsl.dialects.cute.layout_algebra.divisibility import AssumeOp
from tileas_xdsl.dialects.cute.layout_algebra.queries import (
    EqualOp,
    GetIterOp,
    GetLayoutOp,
    GetShapeOp,
    GetStrideOp,
)
from tileas_xdsl.dialects.cute.layout_algebra.tuples import MakeIntTupleOp, TupleEqOp
from tileas_xdsl.dialects.cute.layout_algebra.unpacking import GetScalarsOp
from tileas_xdsl.dialects.cute.memory.views import MakeTensorOp, MakeViewOp, TensorOp
from tileas_xdsl.dialects.cute.printing import PrintOp, PrintViewOp
from tileas_xdsl.dialects.cute.types.integers import DIVISIBLE, width_and_divisor
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.expr.expression import Expression, Variable
from tileas_xdsl.threads.index.expression_codegen import ARITH, NumberEmitter
from tileas_xdsl.transforms.cute_lowering.print_view import print_view
from tileas_xdsl.transforms.cute_lowering.tuple_sugar import Rewrite


def scalars(builder: Builder, value: SSAValue) -> Sequence[SSAValue]:
    """The integers that a value carries at run time."""
    found = built(GetScalarsOp, [value], only_dynamic=UnitAttr())
    builder.insert(found)
    return list[SSAValue](found.results)


def _tuple(builder: Builder, tree: Any) -> SSAValue:
    """A tuple of integers with the numbers of `tree`, whose unknown leaves are SSA values'."""
    carried: dict[SSAValue, Sequence[SSAValue]] = {}

    def leaf(number: Variable) -> SSAValue:
        owner, index = leaf_of(number)
        if is_integer(owner.type):
            return owner
        if owner not in carried:
            carried[owner] = scalars(builder, _as_tuple(builder, owner))
        return carried[owner][index]

    emitter = NumberEmitter(ARITH, builder.insert, leaf)
    value = Tree(IntTupleType, tree)
    elements = [_element(builder, emitter, number) for number in leaves(value)]
    return builder.insert(MakeIntTupleOp(elements, type_of(value))).result


def _as_tuple(builder: Builder, owner: SSAValue) -> SSAValue:
    """A value of which there are scalars: an integer with a divisor becomes a tuple of one."""
    facts = width_and_divisor(owner.type)
    if facts is None:
        return owner
    return builder.insert(MakeIntTupleOp([owner], IntTupleType(Variable(*facts)))).result


def _element(builder: Builder, emitter: NumberEmitter, number: Expression) -> SSAValue:
    """An element of a tuple, which says what it is known to be a multiple of."""
    if isinstance(number, Variable):
        owner, _ = leaf_of(number)
        if width_and_divisor(owner.type) is not None:
            return owner
    plain = emitter.emit(number, number.width)
    if number.divisor == 1:
        return plain
    divisible: Any = DIVISIBLE[number.width]
    made = AssumeOp.create(operands=[plain], result_types=[divisible(number.divisor)])
    return builder.insert(made).results[0]


def _make_layout(op: MakeLayoutOp, builder: Builder) -> list[SSAValue]:
    """Two tuples and `make_layout_raw`; strides that were left out are computed."""
    layout = op.result_value()
    assert isinstance(layout, Layout)
    if op.shape is None and len(op.parts) == 2:
        shape, stride = op.parts
    elif op.shape is None:
        shape, stride = op.parts[0], _tuple(builder, layout.stride)
    else:
        shape, stride = _tuple(builder, layout.shape), _tuple(builder, layout.stride)
    return [builder.insert(built(MakeLayoutRawOp, [shape, stride])).result]


def _make_composed_layout(op: MakeComposedLayoutOp, builder: Builder) -> list[SSAValue]:
    if op.swizzle is None or op.offset is None:
        inner, offset, outer = op.parts
    else:
        outer, *elements = op.parts
        inner = builder.insert(MakeSwizzleOp(op.swizzle.data)).result
        type_ = IntTupleType(op.offset.data)
        offset = builder.insert(MakeIntTupleOp(elements, type_)).result
    return [builder.insert(built(MakeComposedLayoutRawOp, [outer, inner, offset])).result]


def _view(op: MakeTensorOp | TensorOp, builder: Builder) -> list[SSAValue]:
    layout = builder.insert(built(GetLayoutOp, [op.input])).result
    iterator = builder.insert(built(GetIterOp, [op.input])).result
    return [builder.insert(built(MakeViewOp, [iterator, layout])).result]


def _equal(op: EqualOp, builder: Builder) -> list[SSAValue]:
    """Shapes and strides, each compared, and both answers together."""
    if layout_of(symbol(op.lhs)) is None:
        return [builder.insert(built(TupleEqOp, [op.lhs, op.rhs])).result]
    pair: list[SSAValue] = [op.lhs, op.rhs]
    shapes = [builder.insert(built(GetShapeOp, [value])).result for value in pair]
    strides = [builder.insert(built(GetStrideOp, [value])).result for value in pair]
    same_shape = builder.insert(built(TupleEqOp, shapes)).result
    same_stride = builder.insert(built(TupleEqOp, strides)).result
    return [builder.insert(arith.AndIOp(same_shape, same_stride)).result]


def _make_atom(op: MakeAtomOp, builder: Builder) -> list[SSAValue] | None:
    """The atom with what its type says of it as attributes."""
    atom = op.result.type
    if not isinstance(atom, AtomType):
        raise op_error(op, f"{atom} does not implement the interface of atoms")
    facts = DictionaryAttr(dict(atom.attributes))
    if op.atom == facts or not atom.attributes:
        return None
    return [builder.insert(MakeAtomOp(list(op.values), atom, facts)).result]


def _print(op: PrintOp, builder: Builder) -> list[SSAValue] | None:
    if op.view is None:
        return None
    print_view(op.values[0], builder, fmt=op.fmt)
    return []


def _print_view(op: PrintViewOp, builder: Builder) -> list[SSAValue]:
    print_view(op.source, builder, fmt=None, places=op.shows_coordinates)
    return []


CONSTRUCTIONS: Mapping[type[Operation], Rewrite] = {
    MakeLayoutOp: _make_layout,
    MakeComposedLayoutOp: _make_composed_layout,
    MakeTensorOp: _view,
    TensorOp: _view,
    EqualOp: _equal,
    PrintOp: _print,
    PrintViewOp: _print_view,
    MakeAtomOp: _make_atom,
}
"""The third phase: its operands are primitive by then."""
