"""Convert `tl` operations on whole buffers to tile operations: copy, fill, gemm, reduce, cumsum.

Buffers of a block are variables that hold a tile (`Raising.held`), as memory is promoted to SSA
values by mem2reg: reading a buffer is its current tile, writing it defines a new one.

    tl.copy %A[%y, %k] to %a                  %0 = nv_tileaa.tiled_load %view[%i, %j] ; %a is %0
    tl.gemm %a, %b, %c                        %2 = nv_tileaa.dot %0, %1, %acc         ; %c is %2
    tl.reduce max %x to %m axis 1             %3 = nv_tileaa.reduce %x {axis = 1, ...} ; %m is %3
    tl.copy %c to %C[%y, %x]                  nv_tileaa.tiled_store %2, %view[%i, %j]

Only copies from and to arrays touch memory; a copy between buffers is a second name for a tile.
Accesses to part of a buffer are refused (`Raising.refuse`): the kernel then keeps the path
through `tl-lower`. Floats are reduced in f32, as `tl-lower` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FloatTF32Type,
    StringAttr,
    TensorType,
    f16,
    f32,
    f64,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import reductions, shapes
from tileas_xdsl.dialects.nv_tileaa.compute.bodies import YieldOp
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import FpToFpOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import ROUNDING
from tileas_xdsl.dialects.nv_tileas.enums import Signedness
from tileas_xdsl.dialects.tl.base import element_of as buffer_element
from tileas_xdsl.dialects.tl.base import scope_of
from tileas_xdsl.dialects.tl.base import shape_of as buffer_shape
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.combiners import Combine, Rule, rule_of
from tileas_xdsl.dialects.tl.compute import CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.enums import Reduction
from tileas_xdsl.dialects.tl.moves import CopyOp, FillOp, Side
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.transforms.tl_to_tiles import array_tiles
from tileas_xdsl.transforms.tl_to_tiles.raising import Handler, Raising, check_extents
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import IndexForm


def read(state: Raising, buffer: SSAValue) -> SSAValue:
    """Return the tile that a buffer holds now."""
    return state.reshaped(state.tile(storage_of(buffer)), buffer_shape(buffer.type))


def write(state: Raising, buffer: SSAValue, tile: SSAValue) -> None:
    """Record that a buffer holds another tile from here on."""
    storage = storage_of(buffer)
    check_extents(state, buffer_shape(storage.type))
    state.held[storage] = state.reshaped(tile, buffer_shape(storage.type))


def copy(state: Raising, op: CopyOp) -> None:
    """Convert a copy: a load, a store, or a second name of a tile; elements may be converted."""
    sides = (op.source_side, op.target_side)
    extents = op.loop_extents
    source, target = sides
    if scope_of(op.source.type) is Scope.GLOBAL:
        shape = [1 if k is None else extents[k] for k in source.variables]
        tile = array_tiles.load(state, op.source, _starts(state, source), shape)
        tile = _ordered(state, tile, source, extents)
    else:
        tile, part = read(state, op.source), _part(state, source, extents)
        if part is not None:
            tile = state.insert(shapes.ExtractOp(tile, *part)).result
        tile = _ordered(state, tile, source, extents)
    tile = converted(state, tile, buffer_element(op.target.type))
    if scope_of(op.target.type) is Scope.GLOBAL:
        shape = [1 if k is None else extents[k] for k in target.variables]
        tile = state.reshaped(tile, shape)
        array_tiles.store(state, tile, op.target, _starts(state, target))
        return
    part = _part(state, target, extents)
    if part is None:
        write(state, op.target, state.reshaped(tile, buffer_shape(op.target.type)))
        return
    numbers, lengths = part
    tile = state.reshaped(tile, lengths)
    write(
        state,
        op.target,
        state.insert(shapes.InsertOp(tile, read(state, op.target), numbers)).result,
    )


def _starts(state: Raising, side: Side) -> list[IndexForm]:
    offsets = [state.indices.of(offset) for offset in side.offsets]
    return offsets or [IndexForm(0)] * len(side.variables)


def _ordered(state: Raising, tile: SSAValue, side: Side, extents: tuple[int, ...]) -> SSAValue:
    """Return the tile of a region, shaped by the extents of the copy.

    Both sides index by the variables of one loop; a side that permutes them is refused.
    """
    kept = [k for k in side.variables if k is not None]
    if kept != sorted(kept):
        raise state.refuse("copies dimensions in another order")
    return state.reshaped(tile, extents)


def _part(
    state: Raising, side: Side, extents: tuple[int, ...]
) -> tuple[Sequence[SSAValue], Sequence[int]] | None:
    lengths = [1 if k is None else extents[k] for k in side.variables]
    return part_of(state, _starts(state, side), lengths, buffer_shape(side.buffer.type))


def part_of(
    state: Raising, starts: Sequence[IndexForm], lengths: Sequence[int], whole: Sequence[int]
) -> tuple[Sequence[SSAValue], Sequence[int]] | None:
    """Return which part of a buffer is accessed, by number, and its extents; None for all of it."""
    if list(lengths) == list(whole) and all(
        start.is_constant and not start.constant for start in starts
    ):
        return None
    numbers = [
        _number_of_part(state, start, length, extent)
        for start, length, extent in zip(starts, lengths, whole, strict=True)
    ]
    return [array_tiles.code(state, number) for number in numbers], lengths


def _number_of_part(state: Raising, start: IndexForm, length: int, extent: int) -> IndexForm:
    """Return which of the parts that a dimension divides into begins at an index."""
    ends = start.range(state.indices.intervals.get)
    if ends is None or not 0 <= ends[0] <= ends[1] < extent:
        raise state.refuse("accesses a part of a buffer that run time chooses")
    number = start.divided(length)
    if number is None or start.remainder(length) or extent % length:
        raise state.refuse("accesses a part of a buffer between those that tiles divide into")
    return number


def converted(state: Raising, tile: SSAValue, element: Attribute) -> SSAValue:
    """Return a tile with elements of another type."""
    given = element_of(tile.type)
    if given == element:
        return tile
    if not isa(given, AnyFloat) or not isa(element, AnyFloat):
        raise state.refuse(f"converts {given} to {element}")
    return state.insert(FpToFpOp(tile, TensorType(element, shape_of(tile.type)))).result


def fill(state: Raising, op: FillOp) -> None:
    """Convert a fill to a splat."""
    if scope_of(op.buffer.type) is Scope.LOCAL:
        for at in product(*map(range, buffer_shape(op.buffer.type))):
            state.held[op.buffer, at] = state.scalar(op.value)
        return
    if scope_of(op.buffer.type) is Scope.GLOBAL:
        raise state.refuse("fills an array")
    write(state, op.buffer, state.splat(state.scalar(op.value), buffer_shape(op.buffer.type)))


def gemm(state: Raising, op: GemmOp) -> None:
    """Convert C += A B to a dot."""
    a, b = read(state, op.a), read(state, op.b)
    elements = [element_of(tile.type) for tile in (a, b)]
    if elements[0] != elements[1]:
        raise state.refuse(f"multiplies {elements[0]} by {elements[1]}")
    if op.transpose_a is not None:
        a = state.permuted(a, (1, 0))
    if op.transpose_b is not None:
        b = state.permuted(b, (1, 0))
    a, b = _multiplied(state, a), _multiplied(state, b)
    shape, element = buffer_shape(op.c.type), buffer_element(op.c.type)
    if element not in (f32, f16) and isa(element, AnyFloat):
        raise state.refuse(f"sums products in {element}")
    is_float = isa(elements[0], AnyFloat)
    c = state.constant_tile(0, element, shape) if op.clear is not None else read(state, op.c)
    sign = None if is_float else Signedness.SIGNED
    made = reductions.DotOp(a, b, c, signedness_a=sign, signedness_b=sign)
    write(state, op.c, state.insert(made).result)


def _multiplied(state: Raising, tile: SSAValue) -> SSAValue:
    """Return an operand of a product: of f32 the bits that tf32 has, which instructions read."""
    if element_of(tile.type) != f32:
        return tile
    made = FpToFpOp(tile, TensorType(FloatTF32Type(), shape_of(tile.type)))
    made.attributes[ROUNDING] = StringAttr("rz")
    return state.insert(made).result


def reduce(state: Raising, op: ReduceOp) -> None:
    """Convert a reduction along an axis."""
    rule, wide = _rule(state, op)
    tile = converted(state, read(state, op.source), wide)
    if op.reduction in (Reduction.ABSSUM, Reduction.ABSMAX):
        absolute = math.AbsFOp if wide == f32 else math.AbsIOp
        tile = state.insert(absolute(tile)).result
    body = _combining(rule.combine, wide)
    made = reductions.ReduceOp([tile], op.axis.value.data, [rule.identity], body)
    found = state.insert(made).values[0]
    if not isinstance(found.type, TensorType):
        found = state.splat(found, buffer_shape(op.target.type))
    found = state.reshaped(found, buffer_shape(op.target.type))
    if not op.is_cleared:
        before = converted(state, read(state, op.target), wide)
        found = state.insert(rule.combine(before, found)).results[0]
    elif rule.start is not None:
        start = state.constant_tile(rule.start.value.data, wide, buffer_shape(op.target.type))
        found = state.insert(rule.combine(start, found)).results[0]
    write(state, op.target, converted(state, found, buffer_element(op.target.type)))


def _rule(state: Raising, op: ReduceOp) -> tuple[Rule, Attribute]:
    """Return how elements combine, and the type they do so in."""
    element = buffer_element(op.source.type)
    wide = f32 if _is_float(element) else i32
    rule = rule_of(op.reduction, wide, nan_propagate=op.nan_propagate is not None)
    if rule is None or (wide == i32 and element != i32):
        raise state.refuse(f"combines {element} by {op.reduction}")
    return rule, wide


def cumsum(state: Raising, op: CumSumOp) -> None:
    """Convert running sums along an axis to a scan."""
    element = buffer_element(op.source.type)
    if not _is_float(element):
        raise state.refuse(f"sums {element}")
    tile = converted(state, read(state, op.source), f32)
    identity = FloatAttr(0.0, f32)
    made = reductions.ScanOp(
        [tile],
        op.axis.value.data,
        [identity],
        _combining(arith.AddfOp, f32),
        reverse=_is_reverse(op),
    )
    found = converted(state, state.insert(made).values[0], buffer_element(op.target.type))
    write(state, op.target, found)


def _is_float(element: Attribute) -> bool:
    """Whether all values of a float type are exact in f32."""
    return isa(element, AnyFloat) and element != f64


def _is_reverse(op: CumSumOp) -> bool:
    return op.properties.get("reverse") is not None


def _combining(combine: Combine, element: Attribute) -> Block:
    block = Block(arg_types=[element, element])
    made = combine(block.args[0], block.args[1])
    block.add_ops([made, YieldOp(made.results[0])])
    return block


WHOLE: Mapping[type[Operation], Handler] = {
    CopyOp: copy,
    FillOp: fill,
    GemmOp: gemm,
    ReduceOp: reduce,
    CumSumOp: cumsum,
}
"""Operations on whole buffers."""
