"""The pass `tileas-legalize-i1-memory`: `i1` arrays in global memory are loaded as bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, TensorType, i1, i8
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.memory import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.memory_access import (
    GatherLoadOp,
    LoadOp,
    ScatterStoreOp,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.memory_structure import MemoryOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.transforms.tileaa_to_tileas.rules import INDEX, Insert

LOADS = (GatherLoadOp, LoadOp, TiledLoadOp)
STORES = (ScatterStoreOp, StoreOp, TiledStoreOp)

Memory: TypeAlias = MemRefType[Attribute] | TiledViewType

PADDING = "padding_value"


def _in_bytes(type_: Attribute) -> Attribute | None:
    """The type of the same memory with bytes; None for what reaches no truth values of memory."""
    if isinstance(type_, PtrType):
        return PtrType(i8, type_.address_space) if type_.pointee == i1 else None
    if isinstance(type_, MemRefType | TiledViewType):
        return _memory_in_bytes(cast("Memory", type_))
    if not isinstance(type_, TensorType):
        return None
    tile = cast("TensorType[Attribute]", type_)
    inside = tile.element_type
    if not isinstance(inside, PtrType) or inside.pointee != i1:
        return None
    return TensorType(PtrType(i8, inside.address_space), tile.get_shape(), tile.encoding)


def _memory_in_bytes(type_: Memory) -> Attribute | None:
    if type_.element_type != i1 or space_of(type_) is not Space.GMEM:
        return None
    if isinstance(type_, TiledViewType):
        return TiledViewType(type_.shape, i8, type_.residency, type_.layout)
    return MemRefType(i8, type_.shape, type_.layout, type_.memory_space)


def _values(kernel: Operation) -> Iterator[SSAValue]:
    for op in kernel.walk():
        yield from op.results
        for block in (block for region in op.regions for block in region.blocks):
            yield from block.args


def _accesses(kernel: Operation) -> list[Any]:
    """Loads and stores of truth values in memory; an error at what else reaches them."""
    found: list[Any] = []
    for op in kernel.walk():
        if not isinstance(op, MemoryOp):
            continue
        if not any(_in_bytes(operand.type) for operand in op.operands):
            continue
        if isinstance(op, (*LOADS, *STORES)):
            found.append(op)
        elif not any(_in_bytes(result.type) for result in op.results):
            raise op_error(
                op, "reaches truth values of memory, which only plain loads and stores do"
            )
    return found


def _widen_load(op: Any) -> None:
    """A load of bytes, and behind it whether they are other than zero."""
    padding = op.properties.get(PADDING)
    if isinstance(padding, IntegerAttr):
        op.properties[PADDING] = IntegerAttr(int(padding.value.data != 0), i8)
    found = Rewriter.replace_value_with_new_type(op.result, _with_element(op.result.type, i8))
    uses = list(found.uses)
    truths = _each(_insert(op, InsertPoint.after(op)), found, i1, _is_set)
    for use in uses:
        use.operation.operands[use.index] = truths


def _widen_store(op: Any) -> None:
    """Zero or one before a store of bytes."""
    position = list(op.operands).index(op.value)
    bytes_ = _each(_insert(op, InsertPoint.before(op)), op.value, i8, _byte)
    op.operands[position] = bytes_


def _insert(op: Operation, place: InsertPoint) -> Insert:
    """Puts operations there, located where an access is."""
    builder = Builder(place)

    def put(made: Operation) -> None:
        for inner in made.walk():
            inner.location = op.location
        builder.insert(made)

    return Insert(put)


def _with_element(type_: Attribute, element: Attribute) -> Attribute:
    if not isa(type_, TensorType[Attribute]):
        return element
    return TensorType(element, type_.get_shape(), type_.encoding)


def _each(
    insert: Insert,
    value: SSAValue,
    element: Attribute,
    make: Callable[[Insert, SSAValue], SSAValue],
) -> SSAValue:
    """What `make` makes of a scalar, or of each element of a tile."""
    type_ = value.type
    if not isa(type_, TensorType[Attribute]):
        return make(insert, value)
    block = Block(arg_types=[INDEX] * len(type_.get_shape()))
    inside = Insert(block.add_op)
    taken = inside(tensor.ExtractOp(value, block.args, type_.element_type)).result
    inside(YieldOp(make(inside, taken)))
    return insert(GenerateOp(_with_element(type_, element), block)).result


def _is_set(insert: Insert, byte: SSAValue) -> SSAValue:
    zero = insert(arith.ConstantOp(IntegerAttr(0, i8))).result
    return insert(arith.CmpiOp(byte, zero, "ne")).result


def _byte(insert: Insert, truth: SSAValue) -> SSAValue:
    return insert(arith.ExtUIOp(truth, i8)).result


@dataclass(frozen=True)
class TileasLegalizeI1Memory(ModulePass):
    """Arrays of truth values become arrays of bytes: what is not zero is true, and true is one.

    Pointers, views and arguments reach bytes afterwards; tiles of truth values stay.  An operation
    that is neither a load nor a store of such an array is an error.  Idempotent.
    """

    name = "tileas-legalize-i1-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass."""
        for kernel in [inner for inner in op.walk() if isinstance(inner, func.FuncOp)]:
            _widen(kernel)


def _widen(kernel: func.FuncOp) -> None:
    found = [(value, type_) for value in _values(kernel) if (type_ := _in_bytes(value.type))]
    if not found:
        return
    accesses = _accesses(kernel)
    for value, type_ in found:
        Rewriter.replace_value_with_new_type(value, type_)
    if not kernel.is_declaration:
        kernel.update_function_type()
    for access in accesses:
        if isinstance(access, LOADS):
            _widen_load(access)
        else:
            _widen_store(access)
