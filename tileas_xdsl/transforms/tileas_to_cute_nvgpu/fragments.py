"""Vectors of registers: made of pieces or of one number, and taken apart again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, VectorType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.positions import Piece, pieces
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import Fragment, RegisterLayout, Splat


def assembled(
    e: Emitter,
    layout: RegisterLayout,
    element: Attribute,
    make: Callable[[Piece], SSAValue],
) -> Fragment:
    """A tile of pieces, each an element or a vector that `make` gives."""
    found = [(piece, make(piece)) for piece in pieces(e, layout)]
    parts: list[SSAValue] = []
    for block in range(layout.blocks):
        mine = [(piece.register, value) for piece, value in found if piece.block == block]
        parts.append(joined(e, [value for _, value in sorted(mine, key=lambda pair: pair[0])]))
    return Fragment(layout, element, tuple(parts))


def joined(e: Emitter, values: Sequence[SSAValue]) -> SSAValue:
    """Elements and vectors as one vector."""
    if len(values) == 1 and isinstance(values[0].type, VectorType):
        return values[0]
    return e.insert(MakeFragmentOp(values)).result


def strip(e: Emitter, part: SSAValue, first: int, count: int) -> SSAValue:
    """Some elements of a vector that are next to one another, as a vector."""
    if first == 0 and part.type == VectorType(element_type(part), [count]):
        return part
    return e.insert(SliceFragmentOp(part, first, count)).result


def element(e: Emitter, part: SSAValue, position: int) -> SSAValue:
    """One element of a vector."""
    made = vector.ExtractOp(part, [position], element_type(part))
    return e.insert(made).results[0]


def element_type(value: SSAValue) -> Attribute:
    """The type of the elements of a vector, that of a scalar itself."""
    type_: Any = value.type
    return type_.element_type if isinstance(type_, VectorType) else type_


def length(value: SSAValue) -> int:
    """The elements of a vector."""
    return value.type.get_shape()[0] if isinstance(value.type, VectorType) else 1


def repeated(e: Emitter, value: SSAValue, count: int) -> SSAValue:
    """A scalar in all elements of a vector."""
    return e.insert(vector.BroadcastOp(value, VectorType(value.type, [count]))).vector


def numbers(e: Emitter, values: Sequence[int | float], element: Attribute) -> SSAValue:
    """A constant vector; one number stands for all of its elements."""
    dense: Any = DenseIntOrFPElementsAttr
    attribute = dense.from_list(VectorType(element, [len(values)]), values)
    return e.insert(arith.ConstantOp(attribute)).result


def splat(e: Emitter, tile: Splat, layout: RegisterLayout) -> Fragment:
    """A tile of one number in registers."""
    constant, count = tile.constant, layout.registers
    if isinstance(constant, SSAValue):
        part = repeated(e, constant, count)
    else:
        assert isinstance(constant, FloatAttr | IntegerAttr)
        part = numbers(e, [constant.value.data] * count, tile.element)
    return Fragment(layout, tile.element, (part,) * layout.blocks)
