"""Scalars as they are, elementwise work on registers, and structured control flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, gpu, math, memref, scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    TensorType,
    VectorType,
    f32,
    f64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BlockIdxOp, GridDimOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.threads.codegen.builder import Handler, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, cast_index, index_constant
from tileas_xdsl.threads.codegen.lowered_values import (
    GlobalView,
    Lowered,
    PendingTile,
    RegisterTile,
    Scalar,
    SharedTile,
    Splat,
    flatten,
    held_as,
    unflatten,
)
from tileas_xdsl.threads.dot.dot_tcgen05 import products_only
from tileas_xdsl.threads.dot.mma_issuer_warp import only_multiplies
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import (
    alike,
    as_fragment,
    common_layout,
    in_registers,
)
from tileas_xdsl.threads.registers.vector_values import length
from tileas_xdsl.threads.tma.bulk_load import (
    carried_loads,
    parities,
    set_parities,
)
from tileas_xdsl.threads.tmem.accumulator_barriers import (
    begin_sums,
    changing,
    take_turns,
)
from tileas_xdsl.threads.tmem.tmem_layout import Turns

KEEP_BYTES = (
    arith.BitcastOp,
    arith.NegfOp,
    arith.SelectOp,
    math.AbsFOp,
    math.CopySignOp,
)
"""What 8-bit floats may do without being extended."""

MOST_UNROLLED = 16
"""Rounds of a loop that is written out because it slices registers."""


def constant(e: ThreadBuilder, op: arith.ConstantOp) -> Sequence[Lowered]:
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


def elementwise(e: ThreadBuilder, op: Operation) -> Sequence[Lowered]:
    """An operation of `arith` or `math`: on scalars as it is, on tiles register by register."""
    if not is_on_tiles(op):
        return [Scalar(v) for v in _on_scalars(e, op, [e.scalar(v) for v in op.operands])]
    result: Any = op.results[0].type
    found = [e.get(v) for v in op.operands]
    layout = common_layout(e, op, result, found)
    tiles = [
        None if isinstance(value, Scalar) else in_registers(e, op, operand, layout)
        for operand, value in zip(op.operands, found, strict=True)
    ]
    elements = [held_as(cast(Any, value.type).element_type) for value in op.results]
    vectors = [VectorType(element, [layout.registers]) for element in elements]
    blocks: list[Sequence[SSAValue]] = []
    for k in range(layout.blocks):
        operands = [
            e.scalar(operand) if tile is None else tile.parts[k]
            for operand, tile in zip(op.operands, tiles, strict=True)
        ]
        if len(vectors) == 1:
            blocks.append([on_vectors(e, op, operands, vectors[0])])
        else:
            blocks.append(_again(e, op, operands, vectors))
    parts = zip(*blocks, strict=True)
    return [RegisterTile(layout, *part) for part in zip(elements, parts, strict=True)]


def is_on_tiles(op: Operation) -> bool:
    """Whether an operation takes or gives tiles."""
    return any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results))


def on_vectors(
    e: ThreadBuilder, op: Operation, operands: Sequence[SSAValue], result: VectorType[Attribute]
) -> SSAValue:
    """The operation on vectors of registers; floats of 8 bits are computed with as f32.

    f32 holds what two such floats give without an error that a second rounding would show, f64 what
    three do.
    """
    if isinstance(op, KEEP_BYTES) or not all(_is_byte(v.type) for v in (*operands, *op.results)):
        return _again(e, op, operands, [result])[0]
    real = _computed_in(op)
    wide = [e.insert(arith.ExtFOp(v, VectorType(real, [length(v)]))).result for v in operands]
    made = _again(e, op, wide, [VectorType(real, result.get_shape())])[0]
    return e.insert(arith.TruncFOp(made, result)).result


def _computed_in(op: Operation) -> Float32Type | Float64Type:
    """The float that an operation on floats of 8 bits is computed in."""
    return f64 if isinstance(op, math.FmaOp) else f32


def _held(op: Operation) -> Sequence[Attribute]:
    """The types that the results have in registers."""
    return [held_as(value.type) for value in op.results]


def _on_scalars(
    e: ThreadBuilder, op: Operation, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The operation on scalars, with floats of 8 bits as f32 too."""
    narrow = bool(operands) and all(_is_byte(v.type) for v in operands)
    if not narrow or isinstance(op, (*KEEP_BYTES, arith.ExtFOp)):
        return _again(e, op, operands, _held(op))
    real = _computed_in(op)
    wide = [e.insert(arith.ExtFOp(v, real)).result for v in operands]
    if not all(_is_byte(v.type) for v in op.results):
        return _again(e, op, wide, _held(op))
    made = _again(e, op, wide, [real])
    return [
        e.insert(arith.TruncFOp(value, result.type)).result
        for value, result in zip(made, op.results, strict=True)
    ]


def _is_byte(type_: Attribute) -> bool:
    """Whether elements are floats of 8 bits."""
    tile: Any = type_
    element = tile.element_type if isinstance(type_, TensorType | VectorType) else tile
    return isinstance(element, AnyFloat) and bits_of(element) == 8


def _again(
    e: ThreadBuilder, op: Operation, operands: Sequence[SSAValue], types: Sequence[Attribute]
) -> Sequence[SSAValue]:
    made = type(op).create(
        operands=operands,
        result_types=types,
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    return e.insert(made).results


def rounded_up(e: ThreadBuilder, op: arith.CeilDivUIOp) -> Sequence[Lowered]:
    """A quotient rounded up; an index does not come near the end of its range."""
    if not isinstance(op.result.type, IndexType):
        return elementwise(e, op)
    a, b = e.scalar(op.lhs), e.scalar(op.rhs)
    above = e.insert(arith.SubiOp(b, index_constant(e, 1))).result
    return [Scalar(e.insert(arith.DivUIOp(add(e, a, above), b)).result)]


def block_id(e: ThreadBuilder, op: gpu.BlockIdOp) -> Sequence[Lowered]:
    """Where in the grid the block is."""
    value = e.insert(BlockIdxOp(str(op.dimension.data))).result
    return [Scalar(cast_index(e, value, IndexType()))]


def grid_dim(e: ThreadBuilder, op: gpu.GridDimOp) -> Sequence[Lowered]:
    """How many blocks there are."""
    value = e.insert(GridDimOp(str(op.dimension.data))).result
    return [Scalar(cast_index(e, value, IndexType()))]


def dim(e: ThreadBuilder, op: memref.DimOp) -> Sequence[Lowered]:
    """An extent of an argument."""
    source, axis = e.get(op.source), _number(op.index)
    if not isinstance(source, GlobalView) or axis is None or axis >= len(source.extents):
        raise op_error(op, "asks for a constant dimension of an argument of the kernel")
    extent = source.extents[axis]
    return [Scalar(index_constant(e, extent) if isinstance(extent, int) else extent)]


def _number(value: SSAValue) -> int | None:
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return owner.value.value.data
    return None


def loop(e: ThreadBuilder, op: scf.ForOp) -> Sequence[Lowered]:
    """A loop that carries what its values have become; a short one of slices is written out."""
    if (rounds := _rounds_to_unroll(op)) is not None:
        return _unrolled(e, op, rounds)
    begin = [_initial(e, op, k) for k in range(len(op.iter_args))]
    if not e.by_one_warp and only_multiplies(e.plan, op):
        return products_only(e, op, begin, _loop)
    return _loop(e, op, begin)


def _loop(e: ThreadBuilder, op: scf.ForOp, begin: Sequence[Lowered]) -> Sequence[Lowered]:
    """The loop with what its values begin with, and the parities that change in it."""
    loads, mine, count = carried_loads(e, op), changing(e, op), len(begin)
    begin = [*begin, *hidden(e, loads, mine)]
    flat = flatten(begin)
    bounds = [e.scalar(v) for v in (op.lb, op.ub, op.step)]
    body = Block(arg_types=[bounds[0].type, *(v.type for v in flat)])
    made = scf.ForOp(bounds[0], bounds[1], bounds[2], flat, Region(body))
    e.values[op.body.block.args[0]] = Scalar(body.args[0])
    carried = unflatten(begin, body.args[1:])
    e.values.update(zip(op.body.block.args[1:], carried[:count], strict=True))
    set_hidden(e, loads, mine, carried[count:])
    with e.within(body):
        ended = [*like_models(e, op, e.run(op.body.block), begin[:count]), *hidden(e, loads, mine)]
        e.insert(scf.YieldOp(*flatten(ended)))
    e.insert(made)
    left = unflatten(begin, made.results)
    set_hidden(e, loads, mine, left[count:])
    return left[:count]


def hidden(
    e: ThreadBuilder, loads: Sequence[Operation], turns: Sequence[Turns]
) -> Sequence[Lowered]:
    """The state of barriers that a loop carries beside its values."""
    return [*parities(e, loads), *(e.turns[one] for one in turns)]


def set_hidden(
    e: ThreadBuilder, loads: Sequence[Operation], turns: Sequence[Turns], found: Sequence[Lowered]
) -> None:
    """The state of barriers after something has carried it."""
    count = len(found) - len(turns)
    set_parities(e, loads, found[:count])
    take_turns(e, turns, found[count:])


def _initial(e: ThreadBuilder, op: scf.ForOp, position: int) -> Lowered:
    """What a loop begins with: a constant tile needs the registers that the loop keeps it in."""
    value = op.iter_args[position]
    found = e.get(value)
    if space_of(value.type) is Space.SMEM:
        raise op_error(op, f"carries {value.type}, a tile in shared memory")
    if isinstance(found, Splat) and space_of(value.type) is Space.TMEM:
        return begin_sums(e, op, op.body.block.args[position + 1], found)
    if isinstance(found, Splat):
        layout = encoded_layout(e, op, value.type)
        if layout is None:
            layout = e.plan.accumulator(op.body.block.args[position + 1])
        return as_fragment(e, op, found, layout)
    if isinstance(found, PendingTile | SharedTile):
        return in_registers(e, op, value)
    return found


def like_models(
    e: ThreadBuilder, op: Operation, found: Sequence[Lowered], models: Sequence[Lowered]
) -> Sequence[Lowered]:
    """Values in the registers of their models."""
    return [alike(e, op, value, model) for value, model in zip(found, models, strict=True)]


def _rounds_to_unroll(op: scf.ForOp) -> int | None:
    """How often a loop runs that is written out; None for one that stays a loop."""
    if not _slices_registers(op):
        return None
    first, end, step = (_number(v) for v in (op.lb, op.ub, op.step))
    if first is None or end is None or step is None or step < 1:
        return None
    rounds = len(range(first, end, step))
    return None if rounds > MOST_UNROLLED else rounds


def _slices_registers(loop: scf.ForOp) -> bool:
    """Whether registers are taken out of a tile by numbers that each round has its own of."""
    return any(
        isinstance(inner, ExtractSliceOp)
        and space_of(inner.source.type) in (None, Space.RMEM)
        and not isinstance(inner.source.owner, Block)
        and any(_differs(offset, loop) for offset in inner.offsets)
        for inner in loop.body.walk()
    )


def _differs(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a value may be another one in each round of a loop."""
    pending, seen = [value], {value}
    while pending:
        found = pending.pop()
        if found.owner is loop.body.block:
            return True
        inputs = [operand for operand in _inputs(found, loop) if operand not in seen]
        pending += inputs
        seen.update(inputs)
    return False


def _inputs(value: SSAValue, loop: scf.ForOp) -> Sequence[SSAValue]:
    """What a value may be computed from."""
    owner = value.owner
    if isinstance(owner, Operation):
        return [operand for op in owner.walk() for operand in op.operands]
    parent = owner.parent_op()
    if parent is None or parent.is_ancestor(loop):
        return ()
    if isinstance(parent, scf.ForOp) and value is parent.body.block.args[0]:
        return (parent.lb, parent.ub, parent.step)
    return [operand for op in parent.walk() for operand in op.operands]


def _unrolled(e: ThreadBuilder, op: scf.ForOp, rounds: int) -> Sequence[Lowered]:
    first, step = _number(op.lb) or 0, _number(op.step) or 1
    values = [_initial(e, op, k) for k in range(len(op.iter_args))]
    for round_ in range(rounds):
        number = e.insert(arith.ConstantOp(IntegerAttr(first + round_ * step, IndexType()))).result
        e.values[op.body.block.args[0]] = Scalar(number)
        e.values.update(zip(op.body.block.args[1:], values, strict=True))
        values = list(like_models(e, op, e.run(op.body.block), values))
    return values


def branch(e: ThreadBuilder, op: scf.IfOp) -> Sequence[Lowered]:
    """An `scf.if` whose arms give the same kinds of values."""
    blocks = (Block(), Block())
    given: list[Sequence[Lowered]] = []
    loads, count = carried_loads(e, op), len(op.results)
    turns = changing(e, op)
    before = hidden(e, loads, turns)
    after: list[Sequence[Lowered]] = []
    for region, block in zip((op.true_region, op.false_region), blocks, strict=True):
        with e.within(block):
            given.append(e.run(region.block) if region.blocks else ())
        after.append(hidden(e, loads, turns))
        set_hidden(e, loads, turns, before)
    models = [_model(e, op, k, [values[k] for values in given]) for k in range(len(op.results))]
    ended: list[Sequence[Lowered]] = []
    for values, flips, block in zip(given, after, blocks, strict=True):
        with e.within(block):
            ended.append([*like_models(e, op, values, models), *flips])
            e.insert(scf.YieldOp(*flatten(ended[-1])))
    types = [part.type for part in flatten(ended[0])]
    made = e.insert(scf.IfOp(e.scalar(op.cond), types, Region(blocks[0]), Region(blocks[1])))
    left = unflatten(ended[0], made.results)
    set_hidden(e, loads, turns, left[count:])
    return left[:count]


def _model(e: ThreadBuilder, op: scf.IfOp, position: int, given: Sequence[Lowered]) -> Lowered:
    """The kind of value that both arms give; for tiles only their registers count."""
    type_ = op.results[position].type
    if not isa(type_, TensorType[Attribute]):
        return given[0]
    layout = common_layout(e, op, type_, given)
    return RegisterTile(layout, held_as(type_.element_type), ())


def truncate_index(e: ThreadBuilder, op: arith.IndexCastOp) -> Sequence[Lowered]:
    """An index as an integer, or back."""
    if is_on_tiles(op):
        return elementwise(e, op)
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
