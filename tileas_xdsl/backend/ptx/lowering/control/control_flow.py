"""Lower loops and branches of `scf` to blocks; values that a loop carries are block arguments.

A loop that is known to run is tested at its bottom, one branch per iteration; any other at its top:

    scf.for %i = 0 to 8 iter_args(%a = %n)        mov.b32 %r1, 0;
                                                  mov.b32 %r2, %r0;
      %b = arith.muli %a, %a                  $L1: mul.lo.s32 %r2, %r2, %r2;
      scf.yield %b                                add.s32 %r1, %r1, 1;
                                                  setp.lt.s32 %p0, %r1, 8;
                                                  @%p0 bra $L1;

A branch of a few cheap operations without effects computes both arms and selects (`selp`), because
a divergent branch costs more: two passes, and the reconvergence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, func, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.integers import constant_integer, select
from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering, block_of
from tileas_xdsl.dialects import ptx
from tileas_xdsl.dialects.ptx.types import RegType

CHEAP_OPS = 4
"""Operations up to which both arms of a branch are computed and the results selected."""

CHEAP = (
    arith.AddiOp,
    arith.SubiOp,
    arith.AndIOp,
    arith.OrIOp,
    arith.XOrIOp,
    arith.CmpiOp,
    arith.ShLIOp,
    arith.SelectOp,
    arith.AddfOp,
    arith.MulfOp,
)
"""Operations without effects or traps that cost an instruction or two."""


def _types(low: Lowering, values: Sequence[SSAValue]) -> list[RegType]:
    return [low.form(value).register for value in values]


def _region(low: Lowering, region: Region) -> list[SSAValue]:
    """Lower the only block of a region and return the registers that it yields."""
    block = region.block
    last = block.last_op
    low.lower(op for op in block.ops if op is not last)
    assert last is not None
    return [low.value(value) for value in last.operands]


def _define_all(low: Lowering, values: Sequence[SSAValue], registers: Sequence[SSAValue]) -> None:
    for value, register in zip(values, registers, strict=True):
        low.define(value, register)


def _for(op: scf.ForOp, low: Lowering) -> None:
    step = constant_integer(op.step)
    if step is not None and step < 1:
        raise low.error(f"counts up by 1 or more, not by {step}")
    form = low.form(op.lb)
    if form.bits not in (32, 64):
        raise low.error(f"counts in 32 or 64 bits, not in {form.element}")
    trip_count = _trip_count(op, step)
    if trip_count == 0:
        _define_all(low, op.res, [low.value(value) for value in op.iter_args])
    elif trip_count == 1:
        _once(op, low)
    elif trip_count is None:
        _loop(op, low, form.bits)
    else:
        _counted_loop(op, low, form.bits)


def _trip_count(op: scf.ForOp, step: int | None) -> int | None:
    lower, upper = constant_integer(op.lb), constant_integer(op.ub)
    if lower is None or upper is None or step is None:
        return None
    return max(0, -((lower - upper) // step))


def _once(op: scf.ForOp, low: Lowering) -> None:
    arguments = [low.value(value) for value in (op.lb, *op.iter_args)]
    _define_all(low, op.body.block.args, arguments)
    _define_all(low, op.res, _region(low, op.body))


def _loop(op: scf.ForOp, low: Lowering, bits: int) -> None:
    """Lower a loop tested at its top; the header's arguments are the results after the loop."""
    header, body, after = block_of(_types(low, (op.lb, *op.iter_args))), block_of(), block_of()
    low.act(ptx.BraOp(header, *[low.value(value) for value in (op.lb, *op.iter_args)]))
    with low.looping(op):
        low.enter(header)
        counter, *carried = header.args
        more = low.emit(ptx.SetpOp(counter, low.value(op.ub), "lt", f"s{bits}"))
        low.act(ptx.CondBraOp(more, body, (), after, ()))
        low.enter(body)
        _define_all(low, op.body.block.args, header.args)
        yields = _region(low, op.body)
        low.act(ptx.BraOp(header, _next(op, low, counter, bits), *yields))
    low.enter(after)
    _define_all(low, op.res, carried)


def _next(op: scf.ForOp, low: Lowering, counter: SSAValue, bits: int) -> SSAValue:
    low.op, low.location = op, op.location
    return low.emit(ptx.AddOp(counter, low.value(op.step), f"s{bits}"))


def _counted_loop(op: scf.ForOp, low: Lowering, bits: int) -> None:
    """Lower a loop that runs at least once, tested at its bottom."""
    body, after = block_of(_types(low, (op.lb, *op.iter_args))), block_of()
    low.act(ptx.BraOp(body, *[low.value(value) for value in (op.lb, *op.iter_args)]))
    with low.looping(op):
        low.enter(body)
        counter = body.args[0]
        _define_all(low, op.body.block.args, body.args)
        yields = _region(low, op.body)
        following = _next(op, low, counter, bits)
        more = low.emit(ptx.SetpOp(following, low.value(op.ub), "lt", f"s{bits}"))
        low.act(ptx.CondBraOp(more, body, (following, *yields), after, ()))
    low.enter(after)
    _define_all(low, op.res, yields)


def _if(op: scf.IfOp, low: Lowering) -> None:
    if op.output and _is_cheap(op, low):
        _select(op, low)
        return
    then_block, merge = block_of(), block_of(_types(low, op.output))
    has_else = bool(op.false_region.blocks)
    else_block = block_of() if has_else else merge
    low.act(ptx.CondBraOp(low.value(op.cond), then_block, (), else_block, ()))
    low.enter(then_block)
    low.act(ptx.BraOp(merge, *_region(low, op.true_region)))
    if has_else:
        low.enter(else_block)
        low.act(ptx.BraOp(merge, *_region(low, op.false_region)))
    low.enter(merge)
    _define_all(low, op.output, merge.args)


def _is_cheap(op: scf.IfOp, low: Lowering) -> bool:
    """Whether computing both arms costs less than a branch."""
    ops = [inner for region in op.regions for inner in region.block.ops]
    work = [inner for inner in ops if not isinstance(inner, scf.YieldOp | arith.ConstantOp)]
    return (
        len(work) + len(op.output) <= CHEAP_OPS
        and all(isinstance(inner, CHEAP) for inner in work)
        and all(low.form(value).count == 1 for value in op.output)
    )


def _select(op: scf.IfOp, low: Lowering) -> None:
    condition = low.value(op.cond)
    taken, other = _region(low, op.true_region), _region(low, op.false_region)
    low.op, low.location = op, op.location
    for result, lhs, rhs in zip(op.output, taken, other, strict=True):
        low.define(result, select(low, condition, lhs, rhs, low.form(result).kind))


def _while(op: scf.WhileOp, low: Lowering) -> None:
    header, body, after = block_of(_types(low, op.arguments)), block_of(), block_of()
    low.act(ptx.BraOp(header, *[low.value(value) for value in op.arguments]))
    with low.looping(op):
        low.enter(header)
        _define_all(low, op.before_region.block.args, header.args)
        condition, *passed = _region(low, op.before_region)
        low.act(ptx.CondBraOp(condition, body, (), after, ()))
        low.enter(body)
        _define_all(low, op.after_region.block.args, passed)
        low.act(ptx.BraOp(header, *_region(low, op.after_region)))
    low.enter(after)
    _define_all(low, op.res, passed)


def _switch(op: scf.IndexSwitchOp, low: Lowering) -> None:
    """Lower a switch to a chain of comparisons."""
    merge = block_of(_types(low, op.output))
    index = low.value(op.arg)
    for case, region in zip(op.cases.get_values(), op.case_regions, strict=True):
        taken, others = block_of(), block_of()
        label = low.constant(int(case))
        matches = low.emit(ptx.SetpOp(index, label, "eq", "s32"))
        low.act(ptx.CondBraOp(matches, taken, (), others, ()))
        _arm(low, taken, region, merge)
        low.enter(others)
        low.op, low.location = op, op.location
    low.act(ptx.BraOp(merge, *_region(low, op.default_region)))
    low.enter(merge)
    _define_all(low, op.output, merge.args)


def _arm(low: Lowering, block: Block, region: Region, merge: Block) -> None:
    low.enter(block)
    low.act(ptx.BraOp(merge, *_region(low, region)))


def _return(op: func.ReturnOp, low: Lowering) -> None:
    low.act(ptx.RetOp())


HANDLERS: Mapping[type[Operation], Handler] = {
    scf.ForOp: _for,
    scf.IfOp: _if,
    scf.WhileOp: _while,
    scf.IndexSwitchOp: _switch,
    func.ReturnOp: _return,
}
