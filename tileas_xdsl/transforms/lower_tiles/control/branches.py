"""Handler of `scf.if`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Region

from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    OrderToken,
    RegisterTile,
    flatten,
    held_as,
    unflatten,
)
from tileas_xdsl.threads.registers.register_tile import common_layout
from tileas_xdsl.threads.tma.bulk_load import carried_loads
from tileas_xdsl.threads.tmem.accumulator_barriers import rings_closed_in
from tileas_xdsl.transforms.lower_tiles.control.loop_carried import (
    barrier_state,
    like_models,
    set_barrier_state,
)


def branch(e: ThreadBuilder, op: scf.IfOp) -> Sequence[Lowered]:
    """Lower an `scf.if` whose branches yield the same kinds of values."""
    blocks = (Block(), Block())
    given: list[Sequence[Lowered]] = []
    loads, count = carried_loads(e, op), len(op.results)
    rings = rings_closed_in(e, op)
    before = barrier_state(e, loads, rings)
    after: list[Sequence[Lowered]] = []
    for region, block in zip((op.true_region, op.false_region), blocks, strict=True):
        with e.within(block):
            given.append(e.run(region.block) if region.blocks else ())
        after.append(barrier_state(e, loads, rings))
        set_barrier_state(e, loads, rings, before)
    models = [_model(e, op, k, [values[k] for values in given]) for k in range(len(op.results))]
    ended: list[Sequence[Lowered]] = []
    for values, flips, block in zip(given, after, blocks, strict=True):
        with e.within(block):
            ended.append([*like_models(e, op, values, models), *flips])
            e.insert(scf.YieldOp(*flatten(ended[-1])))
    types = [part.type for part in flatten(ended[0])]
    made = e.insert(scf.IfOp(e.scalar(op.cond), types, Region(blocks[0]), Region(blocks[1])))
    left = unflatten(ended[0], made.results)
    set_barrier_state(e, loads, rings, left[count:])
    return left[:count]


def _model(e: ThreadBuilder, op: scf.IfOp, position: int, given: Sequence[Lowered]) -> Lowered:
    """The kind of value that both arms give; for tiles only their registers count.

    A token holds a stage where both arms hold one.
    """
    tile = as_tile(op.results[position].type)
    empty = next((one for one in given if isinstance(one, OrderToken) and one.index is None), None)
    if empty is not None:
        return empty
    if tile is None:
        return given[0]
    layout = common_layout(e, op, tile, given)
    return RegisterTile(layout, held_as(tile.element_type), ())


HANDLERS: Handlers = {
    scf.IfOp: branch,
}
