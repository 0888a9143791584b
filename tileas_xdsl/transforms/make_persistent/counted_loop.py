"""The loop of CTAs that take their tile blocks from a counter: those that are faster take more.

    %a, %b = ids of tile block %cta, and of %cta + %ctas        -1 where there are not as many
    %first = nv_tileas.async.next_tile_block {rounds = 2}
    scf.while (%i = %a, %next = %b, %asked = %first) {
      condition (%i >= 0) %i, %next, %asked
    } do {
      %x = tiled_load %v[%i]                                    a load may be that of %next
      %s = reduce %x
      %last = nv_tileas.async.wait %asked
      %more = nv_tileas.async.next_tile_block {rounds = 2}
      tiled_store ...
      yield %next, %last, %more }

With a stride of all CTAs each waits for the slowest: of two CTAs on a multiprocessor, the one that
came first takes 4,580 cycles a row of softmax, the other one 6,400.  While a round computes, it
knows the next one.  It learns what comes then where threads meet anyway, and asks for one more in
front of its stores, a round before that is handed out: updates wait for stores in front of them.

A producer that loads for products is ahead by its stages.  It asks at the beginning of a round,
waits at the end, and transfers the ids to the consumer (`pipeline_loads/agents/handed_values.py`):

    scf.while (%i = ids of tile block %cta) {
      condition (%i >= 0) %i
    } do {
      %asked = nv_tileas.async.next_tile_block {rounds = 1}
      scf.for %j = ... to %bound[%i] { tiled_load; dot }
      %next = nv_tileas.async.wait %asked
      yield %next }

Tile blocks may differ in length there by what only their data say.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import TupleType, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, select
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import AsyncNextTileBlockOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.transforms.make_persistent.walks import Place, Tour, places

ROUNDS = 2
"""Rounds whose tile blocks a CTA has by its number: one that it computes, one that it loads."""


def counted_loop(build: Builder, tour: Tour, inside: Sequence[Operation]) -> Place:
    """Put what depends on the tile block into a loop over those that a CTA is given.

    Returns its place in the grid.
    """
    axes = _read_axes(inside)
    second = add(build, tour.first, tour.step)
    asked = build.insert(_asking(axes, ROUNDS)).token
    begin = [one for n in (tour.first, second) for one in _taken(build, n, tour)[:axes]]
    after = _while_there(build, [*begin, asked], inside)
    last, asked = WaitOp(after.args[-1]), _asking(axes, ROUNDS)
    Rewriter.insert_op([last, asked], _behind_last_reduction(after))
    after.add_op(scf.YieldOp(*after.args[axes:-1], *last.values, asked.token))
    return _place(build, after.args[:axes])


def counted_loop_of_producer(build: Builder, tour: Tour, inside: Sequence[Operation]) -> Place:
    """Build the counted loop for tile blocks whose loads a producer is to issue ahead."""
    axes = _read_axes(inside)
    after = _while_there(build, _taken(build, tour.first, tour)[:axes], inside)
    asked = _asking(axes, 1)
    last = WaitOp(asked.token)
    Rewriter.insert_op(asked, InsertPoint.at_start(after))
    after.add_ops([last, scf.YieldOp(*last.values)])
    return _place(build, after.args)


def _while_there(build: Builder, begin: Sequence[SSAValue], inside: Sequence[Operation]) -> Block:
    """Put operations into a loop whose first value says whether there is a tile block.

    Returns its body, which has no terminator yet.
    """
    types = [value.type for value in begin]
    before, after = Block(arg_types=types), Block(arg_types=types)
    test = Builder(InsertPoint.at_end(before))
    is_there = test.insert(arith.CmpiOp(before.args[0], constant(test, 0, i32), "sge")).result
    test.insert(scf.ConditionOp(is_there, *before.args))
    for op in inside:
        op.detach()
        after.add_op(op)
    build.insert(scf.WhileOp(begin, types, Region(before), Region(after)))
    return after


def _read_axes(inside: Sequence[Operation]) -> int:
    """Return along how many axes, from x on, tile blocks read their ids; one at least."""
    read = [op for op in inside if isinstance(op, gpu.BlockIdOp) and _is_read(op.result)]
    return 1 + max((AXES.index(str(op.dimension.data)) for op in read), default=0)


def _asking(axes: int, rounds: int) -> AsyncNextTileBlockOp:
    """Return a request for a tile block, of which as many ids are wanted."""
    return AsyncNextTileBlockOp(rounds, AsyncTokenType(TupleType((i32,) * axes)))


def _place(build: Builder, ids: Sequence[SSAValue]) -> Place:
    """Return ids along all axes of the grid: zero along those that no tile block reads."""
    return [*ids, *[constant(build, 0, i32)] * (len(AXES) - len(ids))]


def _behind_last_reduction(block: Block) -> InsertPoint:
    """Return where all threads have met in a round, and nothing is stored yet."""
    last = next((op for op in reversed(block.ops) if isinstance(op, ReduceOp)), None)
    return InsertPoint.at_end(block) if last is None else InsertPoint.after(last)


def _taken(build: Builder, number: SSAValue, tour: Tour) -> Sequence[SSAValue]:
    """Return the ids of a tile block, the first of which is -1 where there is none."""
    is_there = build.insert(arith.CmpiOp(number, tour.count, "slt")).result
    first, *others = places(build, number, tour.extents)
    return select(build, is_there, first, constant(build, -1, i32)), *others


def _is_read(value: SSAValue) -> bool:
    """Whether anything but numbers that nobody reads is computed of a value."""
    users = [use.operation for use in value.uses]
    return any(
        not user.results or bool(user.regions) or any(map(_is_read, user.results)) for user in users
    )
