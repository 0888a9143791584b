"""Loops that know what their next round is given while they are in the one before.

scf.for %t = %low to %high step %s            round %t + %s, if that is less than %high
    iter_args(%x = ...) { ... yield %y }      has %y for %x

scf.while (%t = %a, %n = %b) {                round %n, if %n is at least 0,
  condition (%t >= 0) %t, %n                  has %n for %t, and %m for %n
} do { ... yield %n, %m }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars, operations_behind

RoundLoop: TypeAlias = scf.ForOp | scf.WhileOp


def is_of_rounds(loop: RoundLoop) -> bool:
    """Whether what decides about a round is made of the numbers that it is given, and passed on."""
    if isinstance(loop, scf.ForOp):
        return True
    block = loop.before_region.block
    *behind, last = block.ops
    is_passed = isinstance(last, scf.ConditionOp) and list(last.args) == list(block.args)
    return is_passed and all(map(is_of_scalars, behind))


def round_of(loop: RoundLoop) -> Block:
    """Return the block of a round."""
    return loop.body.block if isinstance(loop, scf.ForOp) else loop.after_region.block


def begin_of(loop: RoundLoop) -> Mapping[SSAValue, SSAValue]:
    """Return what the first round is given, by the arguments of its block."""
    is_counted = isinstance(loop, scf.ForOp)
    given = (loop.lb, *loop.iter_args) if is_counted else tuple(loop.arguments)
    return dict(zip(round_of(loop).args, given, strict=True))


def carried_by(loop: RoundLoop) -> Mapping[SSAValue, SSAValue]:
    """Return what a round gives the next one, by what that has of it."""
    block = round_of(loop)
    args = block.args[1:] if isinstance(loop, scf.ForOp) else block.args
    assert block.last_op is not None
    return dict(zip(args, block.last_op.operands, strict=False))


def next_round(loop: RoundLoop, build: Builder) -> tuple[SSAValue, dict[SSAValue, SSAValue]]:
    """Compute whether there is a next iteration, and its index from that of this one."""
    if isinstance(loop, scf.ForOp):
        number = build.insert(arith.AddiOp(loop.body.block.args[0], loop.step)).result
        is_there = build.insert(arith.CmpiOp(number, loop.ub, "slt")).result
        return is_there, {loop.body.block.args[0]: number}
    before, given = loop.before_region.block, list(carried_by(loop).values())
    last = before.last_op
    assert isinstance(last, scf.ConditionOp)
    behind = set(operations_behind([last.condition]))
    used = {value for op in behind for value in op.operands}
    values: dict[SSAValue, SSAValue] = {
        arg: computed_again(value, loop, build)
        for arg, value in zip(before.args, given, strict=False)
        if arg in used
    }
    for op in [op for op in before.ops if op in behind]:
        build.insert(op.clone(values))
    return values.get(last.condition, last.condition), {}


def computed_again(value: SSAValue, loop: RoundLoop, build: Builder) -> SSAValue:
    """Compute a number of a round where it is not computed yet."""
    behind, values = set(operations_behind([value])), dict[SSAValue, SSAValue]()
    for one in round_of(loop).ops:
        if one in behind:
            build.insert(one.clone(values))
    return values.get(value, value)


def carrying(loop: RoundLoop, values: Sequence[SSAValue]) -> RoundLoop:
    """The loop with more values that it carries; it yields what it is given of them."""
    blocks = [_with_more(region.block, values) for region in loop.regions]
    if isinstance(loop, scf.ForOp):
        given = [*loop.iter_args, *values]
        made: RoundLoop = scf.ForOp(loop.lb, loop.ub, loop.step, given, Region(blocks[0]))
    else:
        types = [value.type for value in (*loop.results, *values)]
        regions = [Region(block) for block in blocks]
        made = scf.WhileOp([*loop.arguments, *values], types, *regions)
    made.attributes |= loop.attributes
    made.location = loop.location
    Rewriter.insert_op(made, InsertPoint.before(loop))
    for before, after in zip(loop.results, made.results, strict=False):
        before.replace_all_uses_with(after)
    Rewriter.erase_op(loop)
    return made


def _with_more(old: Block, values: Sequence[SSAValue]) -> Block:
    """Return the block with more arguments, which its last operation gives away."""
    made = Block(arg_types=[value.type for value in (*old.args, *values)])
    for arg, now in zip(old.args, made.args, strict=False):
        now.name_hint = arg.name_hint
        arg.replace_all_uses_with(now)
    for op in list(old.ops):
        op.detach()
        made.add_op(op)
    last = made.last_op
    assert last is not None
    last.operands = [*last.operands, *made.args[len(old.args) :]]
    return made
