"""Loops and branches that are left early become structured: every path ends at the end of a block.

A path through a block gives the values of its frame.  Where a branch may be left for a loop, or for
good, what comes behind it goes into the arm that falls through; if both arms may, a flag says which
did.  A loop that breaks carries a flag that says whether it goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.structure import control as ct
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import IntToPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import CreateMemTokenOp
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, PtrType
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.shapes import zeros

Values: TypeAlias = Sequence[SSAValue]
End: TypeAlias = Callable[[Values], Values]
"""The operands of a terminator give the values of the frame."""


@dataclass(frozen=True)
class Frame:
    """What the paths through a block give."""

    types: Sequence[Attribute]
    ends: Mapping[type[Operation], End]
    """By terminator that may end a path."""
    idle: Callable[[], Values]
    """Values where another path has been taken."""


def absent(c: Converter, type_: Attribute) -> SSAValue:
    """A value that nobody reads."""
    element = element_of(type_)
    if isinstance(type_, AAMemTokenType):
        return c.insert(CreateMemTokenOp()).result
    if isinstance(element, PtrType):
        zero = c.insert(arith.ConstantOp(IntegerAttr(0, i64))).result
        return c.splat(c.insert(IntToPtrOp(zero, element)).result, shape_of(type_))
    return zeros(c, type_)


def _jumps_out(op: Operation) -> bool:
    """Whether a path through a branch or a loop may end somewhere else."""
    inside = isinstance(op, ct.LoopOp | ct.ForOp)
    return any(_leaves(inner, inside) for region in op.regions for inner in _operations(region))


def _operations(region: Region) -> Sequence[Operation]:
    return [op for block in region.blocks for op in block.ops]


def _leaves(op: Operation, in_loop: bool) -> bool:
    """Whether `op` ends a path of what is around it; `in_loop` says that breaks stay inside."""
    if isinstance(op, ct.ReturnOp):
        return True
    if isinstance(op, ct.BreakOp | ct.ContinueOp):
        return not in_loop
    deeper = in_loop or isinstance(op, ct.LoopOp | ct.ForOp)
    nested = isinstance(op, ct.IfOp | ct.LoopOp | ct.ForOp)
    return nested and any(_leaves(o, deeper) for r in op.regions for o in _operations(r))


def _falls(region: Region) -> bool:
    """Whether the end of a branch goes on behind it."""
    operations = _operations(region)
    return not operations or isinstance(operations[-1], ct.YieldOp)


def finish(c: Converter, ops: Sequence[Operation], frame: Frame) -> Values:
    """Convert operations up to a terminator; what the path gives."""
    for k, op in enumerate(ops):
        c.location = op.location
        if (end := frame.ends.get(type(op))) is not None:
            return end(c.get_all(op.operands))
        rest = ops[k + 1 :]
        if isinstance(op, ct.IfOp) and _jumps_out(op):
            return _leave_branch(c, op, rest, frame)
        if isinstance(op, ct.LoopOp) and _jumps_out(op):
            return _leave_loop(c, op, rest, frame)
        c.convert(op)
    return frame.ends[ct.YieldOp]([])


def _arm(c: Converter, region: Region, frame: Frame) -> Region:
    """A branch in which every path gives the values of a frame."""
    block = Block()
    with c.at_end(block):
        c.insert(scf.YieldOp(*finish(c, _operations(region), frame)))
    return Region(block)


def _arms(c: Converter, op: ct.IfOp, frame: Frame) -> scf.IfOp:
    """Both arms of a branch, with the values of a frame."""
    then, otherwise = (_arm(c, region, frame) for region in (op.then_region, op.else_region))
    return c.insert(scf.IfOp(c.get(op.condition), frame.types, then, otherwise))


def _choice(
    c: Converter,
    condition: SSAValue,
    types: Sequence[Attribute],
    yes: Callable[[], Values],
    no: Callable[[], Values],
) -> Values:
    """`scf.if`, whose arms are made by functions that give its values."""
    blocks = (Block(), Block())
    for block, make in zip(blocks, (yes, no), strict=True):
        with c.at_end(block):
            c.insert(scf.YieldOp(*make()))
    return c.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1]))).results


def _leave_branch(c: Converter, op: ct.IfOp, rest: Sequence[Operation], frame: Frame) -> Values:
    """A branch whose arms may end elsewhere, and what is behind it."""
    both = _falls(op.then_region) and _falls(op.else_region)
    if both:
        return _leave_flagged(c, op, rest, frame)

    def fell(values: Values) -> Values:
        c.bind(op.results, values)
        return finish(c, rest, frame)

    inner = replace(frame, ends={**frame.ends, ct.YieldOp: fell})
    return _arms(c, op, inner).results


def _leave_flagged(c: Converter, op: ct.IfOp, rest: Sequence[Operation], frame: Frame) -> Values:
    """Both arms may fall through: a flag says whether one has."""
    types = [c.type(result) for result in op.results]

    def fell(values: Values) -> Values:
        return [c.flag(True), *values, *frame.idle()]

    def elsewhere(values: Values) -> Values:
        return [c.flag(False), *[absent(c, type_) for type_ in types], *values]

    def gone(end: End) -> End:
        return lambda values: elsewhere(end(values))

    ends: dict[type[Operation], End] = {kind: gone(end) for kind, end in frame.ends.items()}
    wide = Frame(
        [i1, *types, *frame.types], {**ends, ct.YieldOp: fell}, lambda: elsewhere(frame.idle())
    )
    flag, *values = _arms(c, op, wide).results
    mine, theirs = values[: len(types)], values[len(types) :]

    def go_on() -> Values:
        c.bind(op.results, mine)
        return finish(c, rest, frame)

    return _choice(c, flag, frame.types, go_on, lambda: theirs)


def branch(c: Converter, op: ct.IfOp) -> Values:
    """A branch that is not left."""
    types = [c.type(result) for result in op.results]
    frame = Frame(types, {ct.YieldOp: lambda values: values}, list)
    return _arms(c, op, frame).results


def for_loop(c: Converter, op: ct.ForOp) -> Values:
    """A counted loop; one that counts without sign counts in 64 bits, others in 32 or more."""
    bounds = c.get_all((op.lower_bound, op.upper_bound, op.step))
    number_type = cast("IntegerType[int]", bounds[0].type)
    if op.unsigned_cmp is not None:
        bounds = _without_sign(c, op, bounds)
    elif number_type.width.data < i32.width.data:
        bounds = [c.insert(arith.ExtSIOp(bound, i32)).result for bound in bounds]
    first, last, step = bounds
    inits = c.get_all(op.init_values)
    types = [value.type for value in inits]
    number, *carried = op.body.block.args
    block = Block(arg_types=[bounds[0].type, *types])
    with c.at_end(block):
        count, *values = block.args
        if count.type != number_type:
            count = c.insert(arith.TruncIOp(count, number_type)).result
        c.bind([number, *carried], [count, *values])
        frame = Frame(types, {ct.ContinueOp: lambda given: given}, lambda: values)
        c.insert(scf.YieldOp(*finish(c, _operations(op.body), frame)))
    return c.insert(scf.ForOp(first, last, step, inits, Region(block))).results


def _without_sign(c: Converter, op: ct.ForOp, bounds: Values) -> list[SSAValue]:
    if bounds[0].type == i64:
        raise op_error(op, "counts in 64 bits without a sign, which is not converted yet")
    return [c.insert(arith.ExtUIOp(bound, i64)).result for bound in bounds]


@dataclass(frozen=True)
class _Slots:
    """What a loop that breaks carries: whether it goes on, its values, results, and a return."""

    carried: Sequence[Attribute]
    results: Sequence[Attribute]
    """Empty where they are of the types of what is carried, and share its places."""
    returns: bool

    @property
    def types(self) -> Sequence[Attribute]:
        """Of all that is carried but the first flag."""
        return [*self.carried, *self.results, *([i1] if self.returns else ())]

    def split(self, values: Values) -> tuple[Values, Values, Values]:
        """What is carried, the results, and the flag of a return, if there is one."""
        a, b = len(self.carried), len(self.carried) + len(self.results)
        return values[:a], values[a:b], values[b:]


def _run_loop(c: Converter, op: ct.LoopOp, *, returns: bool) -> tuple[Values, Values]:
    """A loop that goes on until it is left; its results, and whether the kernel has ended."""
    inits = c.get_all(op.init_values)
    carried, results = [v.type for v in inits], [c.type(r) for r in op.results]
    shares = carried == results
    slots = _Slots(carried, [] if shares else results, returns)
    nothing = [absent(c, type_) for type_ in slots.results]
    flags = [c.flag(False)] if returns else []
    start = [c.flag(True), *inits, *nothing, *flags]
    before = Block(arg_types=[i1, *slots.types])
    before.add_op(scf.ConditionOp(*before.args))
    after = Block(arg_types=slots.types)
    with c.at_end(after):
        c.insert(scf.YieldOp(*_loop_iteration(c, op, slots, after)))
    loop = c.insert(scf.WhileOp(start, slots.types, Region(before), Region(after)))
    given, made, returned = slots.split(loop.results)
    return (given if shares else made), returned


def _loop_iteration(c: Converter, op: ct.LoopOp, slots: _Slots, block: Block) -> Values:
    """The body of a loop once; every path says whether the loop goes on, and with what."""
    now, made, returned = slots.split(block.args)
    c.bind(op.body.block.args, now)

    def go_on(values: Values) -> Values:
        return [c.flag(True), *values, *made, *returned]

    def leave(values: Values) -> Values:
        kept = [*now, *values] if slots.results else values
        return [c.flag(False), *kept, *returned]

    def end(_: Values) -> Values:
        return [c.flag(False), *now, *made, c.flag(True)]

    def idle() -> Values:
        return [c.flag(False), *now, *made, *returned]

    ends: dict[type[Operation], End] = {ct.BreakOp: leave, ct.ContinueOp: go_on, ct.ReturnOp: end}
    return finish(c, _operations(op.body), Frame([i1, *slots.types], ends, idle))


def _leave_loop(c: Converter, op: ct.LoopOp, rest: Sequence[Operation], frame: Frame) -> Values:
    """A loop out of which the kernel may end, and what is behind it."""
    results, (returned,) = _run_loop(c, op, returns=True)

    def go_on() -> Values:
        c.bind(op.results, results)
        return finish(c, rest, frame)

    return _choice(c, returned, frame.types, lambda: frame.ends[ct.ReturnOp]([]), go_on)


def _repeats(region: Region) -> bool:
    """Whether a path through the body of a loop goes on with it."""
    operations = _operations(region)
    return any(isinstance(op, ct.ContinueOp) for op in operations) or any(
        _repeats(arm) for op in operations if isinstance(op, ct.IfOp) for arm in op.regions
    )


def _run_once(c: Converter, op: ct.LoopOp) -> Values:
    """A loop that every path leaves, as functions become that return early."""
    c.bind(op.body.block.args, c.get_all(op.init_values))
    types = [c.type(result) for result in op.results]

    def idle() -> Values:
        return [absent(c, type_) for type_ in types]

    return finish(c, _operations(op.body), Frame(types, {ct.BreakOp: lambda v: v}, idle))


def loop(c: Converter, op: ct.LoopOp) -> Values:
    """A loop that ends by breaks alone."""
    return _run_loop(c, op, returns=False)[0] if _repeats(op.body) else _run_once(c, op)


CONTROL_FLOW: Mapping[type[Operation], Rule] = {
    ct.ForOp: for_loop,
    ct.IfOp: branch,
    ct.LoopOp: loop,
}
