"""Handlers of counted loops; a short loop that slices registers is unrolled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    DotToken,
    Lowered,
    RegisterTile,
    Scalar,
    flatten,
    unflatten,
)
from tileas_xdsl.threads.dot.dot_tcgen05 import products_only
from tileas_xdsl.threads.dot.mma_issuer_warp import only_multiplies
from tileas_xdsl.threads.tma.bulk_load import carried_loads
from tileas_xdsl.threads.tmem.accumulator_barriers import rings_closed_in
from tileas_xdsl.transforms.lower_tiles.control.loop_carried import (
    barrier_state,
    initial_value,
    like_models,
    set_barrier_state,
)

MAX_UNROLLED = 16
"""Trip count up to which a loop that slices registers is unrolled."""


def loop(e: ThreadBuilder, op: scf.ForOp) -> Sequence[Lowered]:
    """A loop that carries what its values have become; a short one of slices is written out."""
    if (iterations := _iterations_to_unroll(op)) is not None:
        return _unrolled(e, op, iterations)
    begin = [initial_value(e, op, k) for k in range(len(op.iter_args))]
    if not e.by_one_warp and only_multiplies(e.plan, op):
        return products_only(e, op, begin, _loop)
    return _loop(e, op, begin)


def _loop(e: ThreadBuilder, op: scf.ForOp, begin: Sequence[Lowered]) -> Sequence[Lowered]:
    """The loop with what its values begin with, and the parities that change in it."""
    loads, rings, count = carried_loads(e, op), rings_closed_in(e, op), len(begin)
    begin = [*begin, *barrier_state(e, loads, rings)]
    flat = flatten(begin)
    bounds = [e.scalar(v) for v in (op.lb, op.ub, op.step)]
    body = Block(arg_types=[bounds[0].type, *(v.type for v in flat)])
    made = scf.ForOp(bounds[0], bounds[1], bounds[2], flat, Region(body))
    e.values[op.body.block.args[0]] = Scalar(body.args[0])
    carried = [_from_before(e, one) for one in unflatten(begin, body.args[1:])]
    e.values.update(zip(op.body.block.args[1:], carried[:count], strict=True))
    set_barrier_state(e, loads, rings, carried[count:])
    with e.within(body):
        ended = like_models(e, op, e.run(op.body.block), begin[:count])
        e.insert(scf.YieldOp(*flatten([*ended, *barrier_state(e, loads, rings)])))
    e.insert(made)
    left = unflatten(begin, made.results)
    set_barrier_state(e, loads, rings, left[count:])
    return left[:count]


def _from_before(e: ThreadBuilder, value: Lowered) -> Lowered:
    """What is carried into a round: products were issued before all that the round issues."""
    is_wgmma = isinstance(value, DotToken) and isinstance(value.fragment, RegisterTile)
    return replace(value, group=len(e.wgmma_groups) - 1) if is_wgmma else value


def _iterations_to_unroll(op: scf.ForOp) -> int | None:
    """Return the trip count of a loop to unroll; None for one that stays a loop."""
    if not _slices_registers(op):
        return None
    first, end, step = (constant_integer(v) for v in (op.lb, op.ub, op.step))
    if first is None or end is None or step is None or step < 1:
        return None
    iterations = len(range(first, end, step))
    return None if iterations > MAX_UNROLLED else iterations


def _slices_registers(loop: scf.ForOp) -> bool:
    """Whether a loop slices tiles in registers at offsets that change between iterations."""
    return any(
        isinstance(inner, ExtractSliceOp)
        and space_of(inner.source.type) in (None, Space.RMEM)
        and not isinstance(inner.source.owner, Block)
        and any(_differs(offset, loop) for offset in inner.offsets)
        for inner in loop.body.walk()
    )


def _differs(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a value may change between iterations of a loop."""
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


def _unrolled(e: ThreadBuilder, op: scf.ForOp, iterations: int) -> Sequence[Lowered]:
    first, step = constant_integer(op.lb) or 0, constant_integer(op.step) or 1
    values = [initial_value(e, op, k) for k in range(len(op.iter_args))]
    for round_ in range(iterations):
        number = e.insert(arith.ConstantOp(IntegerAttr(first + round_ * step, IndexType()))).result
        e.values[op.body.block.args[0]] = Scalar(number)
        e.values.update(zip(op.body.block.args[1:], values, strict=True))
        values = list(like_models(e, op, e.run(op.body.block), values))
    return values


HANDLERS: Handlers = {
    scf.ForOp: loop,
}
