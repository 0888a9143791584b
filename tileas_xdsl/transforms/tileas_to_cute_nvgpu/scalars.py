"""Scalars as they are, elementwise work on registers, and structured control flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, gpu, math, memref, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BlockIdxOp, GridDimOp
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import (
    Emitter,
    Handler,
    parts_of,
    rebuilt,
)
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import (
    Fragment,
    GlobalView,
    Lowered,
    Scalar,
    Splat,
)

MOST_UNROLLED = 16
"""Rounds of a loop that is written out because it slices registers."""


def constant(e: Emitter, op: arith.ConstantOp) -> Sequence[Lowered]:
    """A number, or a tile of one number that waits for its registers."""
    type_ = op.result.type
    if not isa(type_, TensorType[Attribute]):
        return [Scalar(e.insert(arith.ConstantOp(op.value)).result)]
    value = op.value
    if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        raise op_error(op, "a constant tile has one value in all of its elements")
    number: Any = value.get_values()[0]
    element: Any = type_.element_type
    attribute = (
        FloatAttr(number, element) if isinstance(number, float) else IntegerAttr(number, element)
    )
    return [Splat(tuple(type_.get_shape()), element, attribute)]


def elementwise(e: Emitter, op: Operation) -> Sequence[Lowered]:
    """An operation of `arith` or `math`: on scalars as it is, on tiles register by register."""
    if not any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)):
        return [Scalar(v) for v in _again(e, op, [e.scalar(v) for v in op.operands], None)]
    layout = next(
        (found.layout for v in op.operands if isinstance(found := e.get(v), Fragment)), None
    )
    if layout is None:
        raise op_error(op, "works on a tile whose registers are not known")
    tiles = [e.fragment(v, layout) for v in op.operands]
    result: Any = op.results[0].type
    vector = VectorType(result.element_type, [layout.registers])
    blocks = [
        _again(e, op, [tile.parts[k] for tile in tiles], vector)[0] for k in range(layout.blocks)
    ]
    return [Fragment(layout, result.element_type, tuple(blocks))]


def _again(
    e: Emitter, op: Operation, operands: Sequence[SSAValue], result: Attribute | None
) -> Sequence[SSAValue]:
    types = [value.type if result is None else result for value in op.results]
    made = type(op).create(
        operands=operands,
        result_types=types,
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    return e.insert(made).results


def rounded_up(e: Emitter, op: arith.CeilDivUIOp) -> Sequence[Lowered]:
    """A quotient rounded up, of numbers that do not come near the end of their range."""
    a, b = e.scalar(op.lhs), e.scalar(op.rhs)
    one = e.index(1) if isinstance(a.type, IndexType) else e.int32(1)
    above = e.insert(arith.SubiOp(b, one)).result
    return [Scalar(e.insert(arith.DivUIOp(e.add(a, above), b)).result)]


def block_id(e: Emitter, op: gpu.BlockIdOp) -> Sequence[Lowered]:
    """Where in the grid the block is."""
    value = e.insert(BlockIdxOp(str(op.dimension.data))).result
    return [Scalar(e.as_type(value, IndexType()))]


def grid_dim(e: Emitter, op: gpu.GridDimOp) -> Sequence[Lowered]:
    """How many blocks there are."""
    value = e.insert(GridDimOp(str(op.dimension.data))).result
    return [Scalar(e.as_type(value, IndexType()))]


def dim(e: Emitter, op: memref.DimOp) -> Sequence[Lowered]:
    """An extent of an argument."""
    source, axis = e.get(op.source), _number(op.index)
    if not isinstance(source, GlobalView) or axis is None or axis >= len(source.extents):
        raise op_error(op, "asks for a constant dimension of an argument of the kernel")
    extent = source.extents[axis]
    return [Scalar(e.index(extent) if isinstance(extent, int) else extent)]


def _number(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def loop(e: Emitter, op: scf.ForOp) -> Sequence[Lowered]:
    """A loop that carries what its values have become; one that slices registers is written out."""
    if (rounds := _rounds_to_unroll(op)) is not None:
        return _unrolled(e, op, rounds)
    begin = [_initial(e, op, k) for k in range(len(op.iter_args))]
    flat = parts_of(begin)
    bounds = [e.scalar(v) for v in (op.lb, op.ub, op.step)]
    body = Block(arg_types=[bounds[0].type, *(v.type for v in flat)])
    made = scf.ForOp(bounds[0], bounds[1], bounds[2], flat, Region(body))
    e.values[op.body.block.args[0]] = Scalar(body.args[0])
    e.values.update(zip(op.body.block.args[1:], rebuilt(begin, body.args[1:]), strict=True))
    with e.within(body):
        ended = e.run(op.body.block)
        e.insert(scf.YieldOp(*parts_of(ended)))
    e.insert(made)
    return rebuilt(begin, made.results)


def _initial(e: Emitter, op: scf.ForOp, position: int) -> Lowered:
    """What a loop begins with: a constant tile needs the registers that the loop keeps it in."""
    value = op.iter_args[position]
    found = e.get(value)
    if not isinstance(found, Splat):
        return found
    layout = e.plan.accumulator(op.body.block.args[position + 1])
    if layout is None:
        raise op_error(op, "carries a constant tile whose registers are not known")
    return e.splat(found, layout)


def _rounds_to_unroll(op: scf.ForOp) -> int | None:
    """How often a loop runs that must be written out; None for one that stays a loop."""
    if not _slices_registers(op):
        return None
    numbers = [_number(v) for v in (op.lb, op.ub, op.step)]
    first, end, step = numbers
    if first is None or end is None or step is None or step < 1:
        raise op_error(op, "slices registers, so that its bounds must be constants")
    rounds = len(range(first, end, step))
    if rounds > MOST_UNROLLED:
        raise op_error(op, f"slices registers in {rounds} rounds, more than {MOST_UNROLLED}")
    return rounds


def _slices_registers(op: scf.ForOp) -> bool:
    from tileas_xdsl.dialects.nv_tileas.slices import ExtractSliceOp
    from tileas_xdsl.dialects.nv_tileas.spaces import space_of

    return any(
        isinstance(inner, ExtractSliceOp)
        and bool(inner.offsets)
        and space_of(inner.source.type) is None
        and not isinstance(inner.source.owner, Block)
        for inner in op.body.walk()
    )


def _unrolled(e: Emitter, op: scf.ForOp, rounds: int) -> Sequence[Lowered]:
    first, step = _number(op.lb) or 0, _number(op.step) or 1
    values = [_initial(e, op, k) for k in range(len(op.iter_args))]
    for round_ in range(rounds):
        number = e.insert(arith.ConstantOp(IntegerAttr(first + round_ * step, IndexType()))).result
        e.values[op.body.block.args[0]] = Scalar(number)
        e.values.update(zip(op.body.block.args[1:], values, strict=True))
        values = list(e.run(op.body.block))
    return values


def branch(e: Emitter, op: scf.IfOp) -> Sequence[Lowered]:
    """An `scf.if` whose arms give the same kinds of values."""
    regions: list[Block] = []
    given: list[Sequence[Lowered]] = []
    for region in (op.true_region, op.false_region):
        block = Block()
        with e.within(block):
            ended: Sequence[Lowered] = e.run(region.block) if region.blocks else ()
            e.insert(scf.YieldOp(*parts_of(ended)))
        regions.append(block)
        given.append(ended)
    types = [part.type for part in parts_of(given[0])]
    made = e.insert(scf.IfOp(e.scalar(op.cond), types, Region(regions[0]), Region(regions[1])))
    return rebuilt(given[0], made.results)


def truncate_index(e: Emitter, op: arith.IndexCastOp) -> Sequence[Lowered]:
    """An index as an integer, or back."""
    return [Scalar(e.insert(arith.IndexCastOp(e.scalar(op.input), op.result.type)).result)]


def _all_of(module: Any) -> dict[type[Operation], Handler]:
    known: Any = module
    return dict.fromkeys(known.operations, elementwise)


SCALARS: Mapping[type[Operation], Handler] = {
    **_all_of(arith.Arith),
    **_all_of(math.Math),
    arith.CeilDivUIOp: rounded_up,
    arith.ConstantOp: constant,
    arith.IndexCastOp: truncate_index,
    gpu.BlockIdOp: block_id,
    gpu.GridDimOp: grid_dim,
    memref.DimOp: dim,
    scf.ForOp: loop,
    scf.IfOp: branch,
}
