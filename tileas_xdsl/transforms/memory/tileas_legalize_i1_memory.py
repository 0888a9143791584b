"""The pass `tileas-legalize-i1-memory`: replace `i1` arrays in global memory by arrays of bytes.

    %t = nv_tileas.load %p : !nv_tileaa.ptr<i1, 1> -> i1

    %b = nv_tileas.load %p : !nv_tileaa.ptr<i8, 1> -> i8
    %t = arith.cmpi ne, %b, %zero : i8

    nv_tileas.store %t, %p : i1, !nv_tileaa.ptr<i1, 1>

    %b = arith.extui %t : i1 to i8
    nv_tileas.store %b, %p : i8, !nv_tileaa.ptr<i8, 1>

torch and numpy store a boolean as a byte, and no instruction addresses a bit. A load compares
with zero, since a program may have stored any byte; a store writes exactly 0 or 1. On tiles both
are a `generate`, fused with neighbours later. The types of pointers, views and arguments change
first, which leaves loads of `i1` from byte memory: that mismatch is what the other patterns
match.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, TensorType, i1, i8
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    TypeConversionPattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    GatherLoadOp,
    LoadOp,
    ScatterStoreOp,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.memory.structure import MemoryOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.transforms.extension import apply_added, sweep
from tileas_xdsl.transforms.tileaa_to_tileas.rules import INDEX, Insert

LOADS = (GatherLoadOp, LoadOp, TiledLoadOp)
STORES = (ScatterStoreOp, StoreOp, TiledStoreOp)

Memory: TypeAlias = MemRefType[Attribute] | TiledViewType

PADDING = "padding_value"

_MEMORY = Kinds(PtrType, MemRefType, TiledViewType, TensorType)


def _in_bytes(type_: Attribute) -> Attribute | None:
    """Return the type of the same memory with bytes; None if it reaches no `i1` memory."""
    if not _MEMORY[type(type_)]:
        return None
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


def _with_element(type_: Attribute, element: Attribute) -> Attribute:
    return _tile_of(type_, element) if isa(type_, TensorType[Attribute]) else element


def _tile_of(type_: TensorType[Attribute], element: Attribute) -> TensorType[Attribute]:
    return TensorType(element, type_.get_shape(), type_.encoding)


def _map_elements(
    insert: Insert,
    value: SSAValue,
    element: Attribute,
    make: Callable[[Insert, SSAValue], SSAValue],
) -> SSAValue:
    """Apply `make` to a scalar, or to each element of a tile."""
    type_ = value.type
    if not isa(type_, TensorType[Attribute]):
        return make(insert, value)
    block = Block(arg_types=[INDEX] * len(type_.get_shape()))
    inside = Insert(block.add_op)
    taken = inside(tensor.ExtractOp(value, block.args, type_.element_type)).result
    inside(YieldOp(make(inside, taken)))
    return insert(GenerateOp(_tile_of(type_, element), block)).result


def _is_set(insert: Insert, byte: SSAValue) -> SSAValue:
    zero = insert(arith.ConstantOp(IntegerAttr(0, i8))).result
    return insert(arith.CmpiOp(byte, zero, "ne")).result


def _byte(insert: Insert, boolean: SSAValue) -> SSAValue:
    return insert(arith.ExtUIOp(boolean, i8)).result


def _check_accesses(module: ModuleOp) -> None:
    """Raise `OpError` at an operation, other than a load or store, that accesses `i1` memory."""
    for op in module.walk():
        if not isinstance(op, MemoryOp) or isinstance(op, (*LOADS, *STORES)):
            continue
        reaches = any(_in_bytes(operand.type) for operand in op.operands)
        if reaches and not any(_in_bytes(result.type) for result in op.results):
            raise op_error(
                op, "reaches `i1` elements of memory, which only plain loads and stores do"
            )


def _has_i1_memory(module: ModuleOp) -> bool:
    """Whether some value of a function is a pointer or view of `i1` memory."""
    return any(
        _in_bytes(value.type)
        for op in operations_in(module)
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args))
    )


def _accesses_bytes(op: Operation, value: SSAValue) -> bool:
    """Whether a load or store of `i1` accesses memory whose type was changed to bytes."""
    return _element(value.type) == i1 and any(_pointee(v.type) == i8 for v in op.operands)


def _pointee(type_: Attribute) -> Attribute | None:
    """Return the element type behind a pointer, tile of pointers or view; None for other types."""
    element = _element(type_)
    if isinstance(element, PtrType):
        return element.pointee
    if isinstance(type_, MemRefType | TiledViewType):
        return cast("Memory", type_).element_type
    return None


def _element(type_: Attribute) -> Attribute:
    return type_.element_type if isa(type_, TensorType[Attribute]) else type_


class ByteArguments(RewritePattern):
    """Change function arguments that reach `i1` memory to bytes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter) -> None:
        if op.is_declaration:
            return
        for argument in op.body.blocks[0].args:
            if (type_ := _in_bytes(argument.type)) is not None:
                rewriter.replace_value_with_new_type(argument, type_)
        op.update_function_type()


class BytePointers(TypeConversionPattern):
    """Change results and block arguments that reach `i1` memory to bytes."""

    def convert_type(self, typ: Attribute, /) -> Attribute | None:
        return _in_bytes(typ)


class LoadBytes(RewritePattern):
    """Load bytes, and compare them with zero."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: GatherLoadOp | LoadOp | TiledLoadOp, rewriter: PatternRewriter
    ) -> None:
        if not _accesses_bytes(op, op.result):
            return
        properties: dict[str, Attribute] = {}
        if isinstance(padding := op.properties.get(PADDING), IntegerAttr):
            properties[PADDING] = IntegerAttr(int(padding.value.data != 0), i8)
        types = [_with_element(op.result.type, i8), *op.result_types[1:]]
        loaded = on_types(op, op.operands, types, **properties)
        loaded.results[0].name_hint = op.result.name_hint
        insert = Insert(rewriter.insert)
        insert(loaded)
        booleans = _map_elements(insert, loaded.results[0], i1, _is_set)
        rewriter.replace(op, [], [booleans, *loaded.results[1:]])


class StoreBytes(RewritePattern):
    """Extend `i1` values to bytes before they are stored."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: ScatterStoreOp | StoreOp | TiledStoreOp, rewriter: PatternRewriter
    ) -> None:
        if not _accesses_bytes(op, op.value):
            return
        position = list(op.operands).index(op.value)
        op.operands[position] = _map_elements(Insert(rewriter.insert), op.value, i8, _byte)
        rewriter.notify_op_modified(op)


PATTERNS: tuple[RewritePattern, ...] = (
    ByteArguments(),
    BytePointers(),
    LoadBytes(),
    StoreBytes(),
)
"""The patterns of `tileas-legalize-i1-memory`."""


@dataclass(frozen=True)
class TileasLegalizeI1Memory(ModulePass):
    """Replace arrays of `i1` in memory by arrays of bytes: zero is false, stores write one.

    Pointers, views and arguments reach bytes afterwards; tiles of `i1` stay.  An operation that is
    neither a load nor a store of such an array is an error.  Idempotent.
    """

    name = "tileas-legalize-i1-memory"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(TileasLegalizeI1Memory.name, op)
        if _has_i1_memory(op):
            _check_accesses(op)
            sweep(op, PATTERNS)
