"""Tile blocks from a counter: one thread asks, all threads learn the ids of what it was given.

    first thread:   %n = atom.inc [%counter], %count + (%rounds - 1) * %ctas - 1
    ...
    first thread:   if (%rounds * %ctas + %n < %count) ids = ...; else ids = -1
                    st.shared [%ids], ids
    bar.sync                                                      of a reduction in between
    all threads:    ld.shared [%ids]

The counter is zero before a launch and behind it: each CTA asks in each round, and before the first
one as often as it has more rounds by its number, and the last one of as many requests finds the
limit there, behind which `atom.inc` goes on with 0.  Threads of one agent meet at its own barrier.
Source: PTX ISA, atom (.inc).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import AtomicRmwOp, BarrierOp, GetDynSmemOp, GridDimOp
from tileas_xdsl.target.kernel_abi import TILE_BLOCK_COUNTER, TRANSFER_FLAGS
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import HandedOut, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    i1_constant,
    i32_constant,
    is_less,
    multiply,
    subtract,
)
from tileas_xdsl.threads.codegen.kernel_signature import tile_blocks, transfer_memory
from tileas_xdsl.threads.codegen.lowered_values import AskedTileBlock, Scalar
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast
from tileas_xdsl.threads.codegen.thread_ids import is_first_thread

WORD = 4
"""Bytes of an id."""

NONE = -1
"""The id of a tile block where all are taken."""


def ask(e: ThreadBuilder, op: Operation, rounds: int) -> AskedTileBlock:
    """Ask for a tile block, those of so many rounds apart."""
    if (ctas := e.plan.facts.spec.tile_block_ctas) > 1:
        raise op_error(op, f"asks for one CTA, and {ctas} compute a tile block")
    counter = advance(e, transfer_memory(e), TILE_BLOCK_COUNTER, TRANSFER_FLAGS)
    extents = [tile_blocks(e, axis) for axis in range(len(AXES))]
    count = multiply(e, multiply(e, extents[0], extents[1]), extents[2])
    first, ctas = is_first_thread(e), e.insert(GridDimOp(AXES[0])).result
    by_number = multiply(e, ctas, rounds - 1)
    limit = add(e, add(e, count, by_number), NONE)
    asked = AtomicRmwOp("inc", limit, recast(e, counter, i32), first, order="relaxed", scope="gpu")
    behind = add(e, by_number, ctas)
    return AskedTileBlock(e.insert(asked).result, first, behind, count, tuple(extents))


def hand_out(e: ThreadBuilder, op: Operation, token: AskedTileBlock, axes: int) -> Sequence[Scalar]:
    """Broadcast the ids of the tile block along the first axes to all threads, by shared memory.

    `hand_out_with_barriers` lets barriers that are in between be those of this exchange.
    """
    offset = e.plan.shared.allocate(op, "exchange", axes * WORD, "ids of a tile block", WORD)
    put = Block()
    with e.within(put):
        memory = e.insert(GetDynSmemOp(offset, i32, WORD)).result
        for axis, number in enumerate(_ids(e, token, axes)):
            e.insert(StoreOp(number, advance(e, memory, axis, WORD)))
        e.insert(scf.YieldOp())
    if e.agent.number == 0:
        before, behind = BarrierOp(0), BarrierOp(0)
        e.insert(before)
        store = _if_first(e, token, put)
        e.insert(behind)
        e.handed_out.append(HandedOut(token.asked, before, store, behind))
    else:
        synchronize_agent(e)
        _if_first(e, token, put)
        synchronize_agent(e)
    memory = e.insert(GetDynSmemOp(offset, i32, WORD)).result
    pointers = [advance(e, memory, axis, WORD) for axis in range(axes)]
    return [Scalar(e.insert(LoadOp(pointer, i32)).result) for pointer in pointers]


def _ids(e: ThreadBuilder, token: AskedTileBlock, axes: int) -> Sequence[SSAValue]:
    """Return the ids of what was asked for, the first of which is `NONE` behind the last one.

    Most grids have one row: there is nothing to divide then.
    """
    number = add(e, token.behind, token.asked)
    row, other = Block(), Block()
    with e.within(row):
        zeros = [i32_constant(e, 0)] * (axes - 1)
        e.insert(scf.YieldOp(number, *zeros))
    with e.within(other):
        e.insert(scf.YieldOp(*_divided(e, number, token.extents)[:axes]))
    is_of_row = is_less(e, number, token.extents[0])
    types = [i32] * axes
    first, *others = e.insert(scf.IfOp(is_of_row, types, Region(row), Region(other))).results
    is_there = is_less(e, number, token.count)
    return e.insert(arith.SelectOp(is_there, first, i32_constant(e, NONE))).result, *others


def _divided(e: ThreadBuilder, number: SSAValue, extents: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Return where in a grid a number is: x runs fastest."""
    ids: list[SSAValue] = []
    for extent in extents[:-1]:
        quotient = e.insert(arith.DivUIOp(number, extent)).result
        ids.append(subtract(e, number, multiply(e, quotient, extent)))
        number = quotient
    return *ids, number


def _if_first(e: ThreadBuilder, token: AskedTileBlock, block: Block) -> Operation:
    condition = i1_constant(e, value=True) if token.first is None else token.first
    return e.insert(scf.IfOp(condition, [], Region(block)))
