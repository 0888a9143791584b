"""The pass `tileas-materialize-constants`: non-splat constants become selects or loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from math import prod
from typing import Any, cast

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GetGlobalOp, GlobalOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.transforms.extension import apply_added, sweep
from tileas_xdsl.transforms.tileaa_to_tileas.rules import INDEX, Element, Insert

MAX_SELECTED = 8
"""Elements of a tile that are selected by their positions; more are loaded."""

Dense = DenseIntOrFPElementsAttr[Any]


@dataclass
class Globals:
    """The globals that hold the constants of a module, one for each value."""

    module: ModuleOp
    names: dict[Dense, str] = field(default_factory=dict[Dense, str])

    def name_of(self, value: Dense) -> str:
        """The global that begins with these elements, in whatever registers they are used."""
        value = DenseIntOrFPElementsAttr(
            TensorType(value.get_element_type(), value.get_shape()), value.data
        )
        if value not in self.names:
            self.names[value] = self._free_name()
            made = GlobalOp(self.names[value], value)
            Rewriter.insert_op(made, InsertPoint.at_start(self.module.body.block))
        return self.names[value]

    def _free_name(self) -> str:
        symbols = [op.properties.get("sym_name") for op in self.module.ops]
        taken = {str(symbol).strip('"') for symbol in symbols if symbol is not None}
        number = len(self.names)
        while f"constant_{number}" in taken:
            number += 1
        return f"constant_{number}"


@dataclass
class MaterializeConstant(RewritePattern):
    """Materialize a non-splat constant in registers, or without a layout."""

    globals: Globals

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.ConstantOp, rewriter: PatternRewriter) -> None:
        if (value := _non_splat(op)) is None:
            return
        insert = Insert(rewriter.insert)
        if prod(value.get_shape()) <= MAX_SELECTED:
            made = _selected(insert, value)
        elif value.get_element_type() == i1:
            made = _booleans(insert, self.globals, value)
        else:
            made = _loaded(insert, self.globals, value)
        made.name_hint = op.result.name_hint
        rewriter.replace(op, (), [made])


def _non_splat(op: arith.ConstantOp) -> Dense | None:
    """The elements of a tile, if they are not all alike."""
    value: Any = op.value
    if not isinstance(value, DenseIntOrFPElementsAttr):
        return None
    several = cast(Dense, value)
    if is_splat(several):
        return None
    if space_of(op.result.type) not in (None, Space.RMEM):
        return None
    is_small = prod(several.get_shape()) <= MAX_SELECTED
    return several if is_small or all(n & (n - 1) == 0 for n in several.get_shape()) else None


def _like(value: Dense, element: Attribute) -> Any:
    """The type of a tile in the same registers."""
    type_: Any = value.type
    return TensorType(element, type_.get_shape(), type_.encoding)


def _by_position(insert: Insert, value: Dense, element: Attribute, at: Element) -> SSAValue:
    """A tile like a constant whose elements are computed from their numbers."""
    shape = value.get_shape()
    block = Block(arg_types=[INDEX] * len(shape))
    inside = Insert(block.add_op)
    inside(YieldOp(at(inside, block.args)))
    return insert(GenerateOp(_like(value, element), block)).result


def _linear_index(
    insert: Insert, shape: Sequence[int], coordinates: Sequence[SSAValue]
) -> SSAValue:
    """The number of an element, the last dimension running fastest."""
    total = coordinates[0]
    for extent, index in zip(shape[1:], coordinates[1:], strict=True):
        row = insert(arith.MuliOp(total, insert.index(extent))).result
        total = insert(arith.AddiOp(row, index)).result
    return total


def _selected(insert: Insert, value: Dense) -> SSAValue:
    """Each element by comparing its position."""
    numbers: Sequence[Any] = list(value.iter_attrs())

    def element(inside: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        position = _linear_index(inside, value.get_shape(), coordinates)
        found = inside(arith.ConstantOp(numbers[0])).result
        for k, number in enumerate(numbers[1:], 1):
            here = inside(arith.CmpiOp(position, inside.index(k), "eq")).result
            other = inside(arith.ConstantOp(number)).result
            found = inside(arith.SelectOp(here, other, found)).result
        return found

    return _by_position(insert, value, value.get_element_type(), element)


def _loaded(insert: Insert, memory: Globals, value: Dense) -> SSAValue:
    """All elements out of a global."""
    pointer = PtrType(value.get_element_type())
    base = insert(GetGlobalOp(memory.name_of(value), pointer)).result

    def number(inside: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        return inside.cast(_linear_index(inside, value.get_shape(), coordinates), i32)

    first = insert(tensor.SplatOp(base, [], _like(value, pointer))).result
    here = insert(AddPtrOp(first, _by_position(insert, value, i32, number))).result
    type_ = _like(value, pointer.pointee)
    return insert(LoadOp(here, atom=AtomAttr.of("ldg"), result_type=type_)).result


def _booleans(insert: Insert, memory: Globals, value: Dense) -> SSAValue:
    """Elements of `i1` are bytes in memory."""
    numbers = [int(number != 0) for number in value.get_values()]
    bytes_ = DenseIntOrFPElementsAttr.from_list(_like(value, i8), numbers)
    tile = _loaded(insert, memory, bytes_)

    def is_set(inside: Insert, coordinates: Sequence[SSAValue]) -> SSAValue:
        byte = inside(tensor.ExtractOp(tile, coordinates, i8)).result
        zero = inside(arith.ConstantOp(IntegerAttr(0, i8))).result
        return inside(arith.CmpiOp(byte, zero, "ne")).result

    return _by_position(insert, value, i1, is_set)


def patterns(module: ModuleOp) -> tuple[RewritePattern, ...]:
    """Return the patterns of `tileas-materialize-constants` for one module and its globals."""
    return (MaterializeConstant(Globals(module)),)


@dataclass(frozen=True)
class TileasMaterializeConstants(ModulePass):
    """Materialize non-splat constant tiles: by selects if they are small, else by loads.

    Leaves: constants of one value, those in shared or tensor memory, and those that no load has the
    extents for, as they are; a global of the module for each other one of more than 8 elements.

    Idempotent; it has no diagnostics.
    """

    name = "tileas-materialize-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(TileasMaterializeConstants.name, op)
        sweep(op, patterns(op))
