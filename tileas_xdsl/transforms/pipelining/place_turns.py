"""The pass `place-turns`: a turn is passed on among the powers that the next product is made of.

    %p = math.exp2 %s : vector<64xf32>            %l = math.exp2 %s[0..15]
    barrier_arrive of %next {turn}                barrier_arrive of %next again %never
    ...                                     ->    %a = wgmma_wait_group 0, %acc
    %a = wgmma_wait_group 0, %acc                 mbarrier_arrive %stage
    mbarrier_arrive %stage                        %h = math.exp2 %s[16..63];  %p = %l, %h
    ...                                           ...

While one warpgroup computes powers, the other one multiplies.  ptxas decides by itself what it
computes in front of an arrival: no power, or all of them, and then both warpgroups do the same at
one time.  An arrival in a loop stays where it is.  The product that is under way is waited for
right behind it: its stage is released while powers are computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, VectorType, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierArriveOp,
    BlockIdxOp,
    ElectOneOp,
    GridDimOp,
    MbarrierArriveOp,
    WgmmaWaitOp,
)
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import TURN
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.threads.registers.vector_values import length

PART_BEFORE = 4
"""A turn is passed on behind one power of so many.

On an H200, attention of 4,096 keys, d 64, 128x128 tiles, behind 8, 12, 16, 20, 24 and 32 of 64
powers: 458, 476, 478, 484, 471, 446 TFLOP/s (463 where ptxas has it); causal 473 behind 16 (375).
"""


_Power: TypeAlias = math.Exp2Op | math.ExpOp


@dataclass(frozen=True)
class PlaceTurns(ModulePass):
    """Pass turns on behind a quarter of the powers, and wait there for the product under way.

    It is right anywhere: an arrival lets others issue their products, and no product is issued
    between the wait and where it was.
    """

    name = "place-turns"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for turn in instances_in(op, BarrierArriveOp):
            if TURN in turn.attributes and turn.again is None:
                _place(turn)


def _place(turn: BarrierArriveOp) -> None:
    if (found := _power_at(_powers_before(turn))) is None:
        return
    power, first = found
    wait = _wait_behind(turn)
    moved = _moved([turn, *wait], power) or _moved([turn], power)
    if moved is None:
        return
    build = Builder(InsertPoint.before(power))
    before = [_part(build, power, 0, first)] if first else []
    for op in moved:
        op.detach()
        build.insert(op)
    _fix(turn)
    if before:
        behind = _part(build, power, first, length(power.result) - first)
        Rewriter.replace_op(power, MakeFragmentOp([*before, behind]))


def _powers_before(turn: Operation) -> Sequence[_Power]:
    """Return the powers in front of a turn, in order: no access to memory is between them."""
    found: list[_Power] = []
    op = turn.prev_op
    while op is not None and is_side_effect_free(op):
        if isinstance(op, _Power) and isinstance(op.result.type, VectorType):
            found.append(op)
        op = op.prev_op
    return found[::-1]


def _power_at(powers: Sequence[_Power]) -> tuple[_Power, int] | None:
    """Return the operation, and the element of it, that a turn is passed on in front of."""
    left = sum(length(power.result) for power in powers) // PART_BEFORE
    if not left:
        return None
    for power in powers:
        if left < length(power.result):
            return power, left
        left -= length(power.result)
    return None


def _wait_behind(turn: Operation) -> Sequence[Operation]:
    """Return the next wait for all products, and the releases right behind it."""
    op = turn.next_op
    while op is not None and is_side_effect_free(op):
        op = op.next_op
    if not isinstance(op, WgmmaWaitOp) or op.count.value.data:
        return []
    found: list[Operation] = [op]
    while (op := op.next_op) is not None and _releases(op):
        found.append(op)
    while not isinstance(found[-1], WgmmaWaitOp | MbarrierArriveOp):
        found.pop()
    return found


def _releases(op: Operation) -> bool:
    """Whether an operation is part of a release."""
    return isinstance(op, ElectOneOp | MbarrierArriveOp) or is_side_effect_free(op)


def _moved(ops: Sequence[Operation], power: Operation) -> Sequence[Operation] | None:
    """Return operations and what they need, to be put before a power; None where they read it."""
    behind = dict.fromkeys(_from(power))
    needed: dict[Operation, None] = {}
    pending = list(ops)
    while pending:
        op = pending.pop()
        if isinstance(op, _Power) or (op not in ops and not is_side_effect_free(op)):
            return None
        needed[op] = None
        for value in op.operands:
            owner = value.owner
            if isinstance(owner, Operation) and owner in behind and owner not in needed:
                pending.append(owner)
    return [op for op in behind if op in needed]


def _from(op: Operation | None) -> Iterator[Operation]:
    """Yield the operations of a block from one on, in order."""
    while op is not None:
        yield op
        op = op.next_op


def _part(build: Builder, power: _Power, first: int, count: int) -> SSAValue:
    """Compute some of the elements of a power."""
    cut = build.insert(SliceFragmentOp(power.operand, first, count)).result
    part = build.insert(type(power)(cut, power.fastmath))
    part.attributes |= power.attributes
    return part.result


def _fix(turn: BarrierArriveOp) -> None:
    """Let an arrival be a block of code of its own: a CTA behind the last one would repeat it."""
    build = Builder(InsertPoint.before(turn))
    number, count = (build.insert(kind("x")).result for kind in (BlockIdxOp, GridDimOp))
    never = build.insert(arith.CmpiOp(number, count, "eq")).result
    counts = [1, len(turn.operands)]
    turn.operands = [never, *turn.operands]
    turn.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, counts)
