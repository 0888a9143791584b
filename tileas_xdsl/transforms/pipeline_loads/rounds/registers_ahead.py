"""Load what the next rounds of a loop read in registers while these are computed.

    scf.for %i = %low to %high step %s {      %f = scf.if %low < %high { load %p[%low] } else { 0 }
      %x = load %p[%i]                        scf.for %i = %low to %high step %s iter_args(%x = %f)
      ...                              ->       %j = select (%i + %s < %high), %i + %s, %i
    }                                           %n = load %p[%j]
                                                ...
                                                yield %n

A launch with a multiprocessor for each block has no other block that computes while one waits, and
registers for the tiles of two rounds.  So has a recurrence: its state leaves room for few blocks,
and what it loads is small.  The last round loads its own tiles once more, which are in cache, so
that nothing else is read than before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.liveness.tiles import peak_registers, tile_registers
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.kernel_abi import RUNS_AT_ONCE
from tileas_xdsl.threads.pipeline.occupancy import REGISTER_HEADROOM, resident_registers
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import is_awaited
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import (
    LOADED_TOGETHER,
    MAX_REGISTERS,
    Load,
    behind,
    early_in_round,
    first_loads,
)
from tileas_xdsl.transforms.pipeline_loads.rounds.rounds import (
    begin_of,
    carrying,
    computed_again,
    next_round,
)

STATE_OF_LOADS = 4
"""How much larger the state of a recurrence is, at least, than what a step of it loads: sums carry
as much as they load, and many blocks of theirs share a multiprocessor.
"""

_REST = IntegerAttr(1, i32)
"""What loops over the rounds that are left have as `LOADED_TOGETHER`."""


def load_next_in_registers(function: func.FuncOp, target: Target) -> None:
    """Carry the tiles of the next round through loops where a block waits alone, and has room."""
    for loop in instances_in(function, scf.ForOp):
        loads = [op for op in first_loads(loop) if not is_awaited(op)]
        is_rest = loop.attributes.get(LOADED_TOGETHER) == _REST
        if not loads or is_rest:
            continue
        waits = RUNS_AT_ONCE in function.attributes or _is_recurrence(loop, loads)
        if waits and _has_room(function, loads, target):
            _carry_next(loop, loads)


def _is_recurrence(loop: scf.ForOp, loads: Sequence[Load]) -> bool:
    """Whether a loop carries a tile much larger than what it loads for each of its steps."""
    together = loop.attributes.get(LOADED_TOGETHER)
    steps = together.value.data if isinstance(together, IntegerAttr) else 1
    loaded = sum(tile_registers(op.result) for op in loads)
    state = max(map(tile_registers, loop.body.block.args[1:]), default=0)
    return state > 0 and state * steps >= STATE_OF_LOADS * loaded


def _has_room(function: func.FuncOp, loads: Sequence[Load], target: Target) -> bool:
    threads = spec_of(function).num_warps * WARP
    available = min(target.registers_per_multiprocessor // threads, MAX_REGISTERS)
    tiles = peak_registers(function.body, resident_registers)
    tiles += sum(tile_registers(op.result) for op in loads)
    return tiles // threads + REGISTER_HEADROOM <= available


def _carry_next(loop: scf.ForOp, loads: Sequence[Load]) -> None:
    begun = _first(loop, loads)
    made = carrying(loop, begun)
    assert isinstance(made, scf.ForOp)
    block = made.body.block
    build = Builder(InsertPoint.before(loads[0]))
    is_there, known = next_round(made, build)
    _, passed = early_in_round(made, loads)
    known |= {arg: computed_again(value, made, build) for arg, value in passed.items()}
    after = {
        arg: build.insert(arith.SelectOp(is_there, value, arg)).result
        for arg, value in known.items()
    }
    following = _loaded(block, loads, build, after)
    last = block.last_op
    assert last is not None
    last.operands = [*last.operands[: -len(begun)], *following]
    for op, tile in zip(loads, block.args[-len(begun) :], strict=True):
        if op.out_token is not None and op.token is not None:
            op.out_token.replace_all_uses_with(op.token)
        op.result.replace_all_uses_with(tile)
        Rewriter.erase_op(op)


def _first(loop: scf.ForOp, loads: Sequence[Load]) -> Sequence[SSAValue]:
    """Load the tiles of the first round in front of the loop, if there is a round."""
    build = Builder(InsertPoint.before(loop))
    is_there = build.insert(arith.CmpiOp(loop.lb, loop.ub, "slt")).result
    then, otherwise = Block(), Block()
    inner = Builder(InsertPoint.at_end(then))
    block = loop.body.block
    inner.insert(scf.YieldOp(*_loaded(block, loads, inner, begin_of(loop))))
    zeros = Builder(InsertPoint.at_end(otherwise))
    zeros.insert(scf.YieldOp(*(constant(zeros, 0, op.result.type) for op in loads)))
    types = [op.result.type for op in loads]
    return build.insert(scf.IfOp(is_there, types, Region(then), Region(otherwise))).results


def _loaded(
    block: Block, loads: Sequence[Load], build: Builder, known: Mapping[SSAValue, SSAValue]
) -> Sequence[SSAValue]:
    """Load the same tiles of another round."""
    values = dict(known)
    needed = {*loads, *behind(value for op in loads for value in op.operands)}
    for op in [op for op in block.ops if op in needed]:
        build.insert(op.clone(values))
    return [values[op.result] for op in loads]
