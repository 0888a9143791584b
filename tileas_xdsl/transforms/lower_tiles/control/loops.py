"""Handlers of counted loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import scf
from xdsl.ir import Block, Region

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
from tileas_xdsl.transforms.lower_tiles.control.stage_release import (
    begin_late_products,
    finish_behind_loop,
)


def loop(e: ThreadBuilder, op: scf.ForOp) -> Sequence[Lowered]:
    """A loop that carries what its values have become."""
    begin = [initial_value(e, op, k) for k in range(len(op.iter_args))]
    begin_late_products(e, op, begin)
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
    finish_behind_loop(e, op, left)
    return left[:count]


def _from_before(e: ThreadBuilder, value: Lowered) -> Lowered:
    """What is carried into a round: products were issued before all that the round issues."""
    is_wgmma = isinstance(value, DotToken) and isinstance(value.fragment, RegisterTile)
    return replace(value, group=len(e.wgmma_groups) - 1) if is_wgmma else value


HANDLERS: Handlers = {
    scf.ForOp: loop,
}
