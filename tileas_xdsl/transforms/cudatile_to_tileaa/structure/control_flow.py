"""Convert Tile IR control flow to `scf`: breaks, continues and early returns become structured.

`scf` regions have one exit, Tile IR's may be left in the middle. The conversion is by
continuations: `finish` converts a list of operations in a `Frame`, which says what each terminator
yields. Where a branch may be left, the operations behind it are converted inside the arm that
falls through; where both arms may fall through, a flag says which did. A loop that breaks carries
a flag:

    %r = loop iter_values(%i = %n) {          %r = scf.while (%1 = true, %2 = %n) {
      if %c { break %i }                        scf.condition(%1) %2
      continue %i                             } do { ^bb0(%i):
    }                                           %3, %4 = scf.if %c { scf.yield false, %i }
    if %c { return }                                       else  { scf.yield true, %i }
    store_ptr_tko %p, %r                        scf.yield %3, %4
    return                                    }
                                              scf.if %c {} else { nv_tileaa.store %r, %p }
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.structure import control as ct
from tileas_xdsl.dialects.cuda_tile.tiles.constants import constant_number
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import IntToPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import CreateMemTokenOp
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType, PtrType
from tileas_xdsl.transforms.cudatile_to_tileaa.converter import Converter, Rule
from tileas_xdsl.transforms.cudatile_to_tileaa.shapes import zeros

Values: TypeAlias = Sequence[SSAValue]
End: TypeAlias = Callable[[Values], Values]
"""Maps the operands of a terminator to the values that the frame yields."""


@dataclass(frozen=True)
class Frame:
    """What every path through a block yields, by the terminator that ends it."""

    types: Sequence[Attribute]
    ends: Mapping[type[Operation], End]
    """The continuation of each terminator that may end a path."""
    idle: Callable[[], Values]
    """The values to yield on a path that is not taken."""


def absent(c: Converter, type_: Attribute) -> SSAValue:
    """Return a placeholder value that no taken path reads."""
    element = element_of(type_)
    if isinstance(type_, AAMemTokenType):
        return c.insert(CreateMemTokenOp()).result
    if isinstance(element, PtrType):
        zero = c.insert(arith.ConstantOp(IntegerAttr(0, i64))).result
        return c.splat(c.insert(IntToPtrOp(zero, element)).result, shape_of(type_))
    return zeros(c, type_)


def _jumps_out(op: Operation) -> bool:
    """Whether a path through a branch or loop may leave it for an enclosing construct."""
    inside = isinstance(op, ct.LoopOp | ct.ForOp)
    return any(_leaves(inner, inside) for region in op.regions for inner in _operations(region))


def _operations(region: Region) -> Sequence[Operation]:
    return [op for block in region.blocks for op in block.ops]


def _leaves(op: Operation, in_loop: bool) -> bool:
    """Whether `op` leaves an enclosing construct; `in_loop`: breaks are of an inner loop."""
    if isinstance(op, ct.ReturnOp):
        return True
    if isinstance(op, ct.BreakOp | ct.ContinueOp):
        return not in_loop
    deeper = in_loop or isinstance(op, ct.LoopOp | ct.ForOp)
    nested = isinstance(op, ct.IfOp | ct.LoopOp | ct.ForOp)
    return nested and any(_leaves(o, deeper) for r in op.regions for o in _operations(r))


def _falls(region: Region) -> bool:
    """Whether the last operation of an arm falls through to what follows the branch."""
    operations = _operations(region)
    return not operations or isinstance(operations[-1], ct.YieldOp)


def finish(c: Converter, ops: Sequence[Operation], frame: Frame) -> Values:
    """Convert operations up to a terminator and return what the path yields."""
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
    """Convert an arm in which every path yields the values of a frame."""
    block = Block()
    with c.at_end(block):
        c.insert(scf.YieldOp(*finish(c, _operations(region), frame)))
    return Region(block)


def _arms(c: Converter, op: ct.IfOp, frame: Frame) -> scf.IfOp:
    """Convert both arms of a branch to an `scf.if` that yields the values of a frame."""
    then, otherwise = (_arm(c, region, frame) for region in (op.then_region, op.else_region))
    return c.insert(scf.IfOp(c.get(op.condition), frame.types, then, otherwise))


def _choice(
    c: Converter,
    condition: SSAValue,
    types: Sequence[Attribute],
    yes: Callable[[], Values],
    no: Callable[[], Values],
) -> Values:
    """Insert an `scf.if` whose arms are emitted by functions that return its values."""
    blocks = (Block(), Block())
    for block, make in zip(blocks, (yes, no), strict=True):
        with c.at_end(block):
            c.insert(scf.YieldOp(*make()))
    return c.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1]))).results


def _leave_branch(c: Converter, op: ct.IfOp, rest: Sequence[Operation], frame: Frame) -> Values:
    """Convert a branch that may be left, with the operations behind it."""
    both = _falls(op.then_region) and _falls(op.else_region)
    if both:
        return _leave_flagged(c, op, rest, frame)

    def fell(values: Values) -> Values:
        c.bind(op.results, values)
        return finish(c, rest, frame)

    inner = replace(frame, ends={**frame.ends, ct.YieldOp: fell})
    return _arms(c, op, inner).results


def _leave_flagged(c: Converter, op: ct.IfOp, rest: Sequence[Operation], frame: Frame) -> Values:
    """Convert a branch both of whose arms may fall through: a flag says whether one did."""
    types = [c.type(result) for result in op.results]

    def fell(values: Values) -> Values:
        return [c.flag(True), *values, *frame.idle()]

    def elsewhere(values: Values) -> Values:
        return [c.flag(False), *[absent(c, type_) for type_ in types], *values]

    def left_by(end: End) -> End:
        return lambda values: elsewhere(end(values))

    ends: dict[type[Operation], End] = {kind: left_by(end) for kind, end in frame.ends.items()}
    wide = Frame(
        [i1, *types, *frame.types], {**ends, ct.YieldOp: fell}, lambda: elsewhere(frame.idle())
    )
    flag, *values = _arms(c, op, wide).results
    own, of_frame = values[: len(types)], values[len(types) :]

    def fall_through() -> Values:
        c.bind(op.results, own)
        return finish(c, rest, frame)

    return _choice(c, flag, frame.types, fall_through, lambda: of_frame)


def branch(c: Converter, op: ct.IfOp) -> Values:
    """Convert a branch that no path leaves."""
    types = [c.type(result) for result in op.results]
    frame = Frame(types, {ct.YieldOp: lambda values: values}, list)
    return _arms(c, op, frame).results


def runs_once(op: ct.ForOp) -> bool:
    """Whether a loop is its body: 64 pairs of a head in blocks of 64 are `for 0 to 1`."""
    first, last, step = map(constant_number, (op.lower_bound, op.upper_bound, op.step))
    if first is None or last is None or step is None or op.unsigned_cmp is not None:
        return False
    return first < last <= first + step


def for_loop(c: Converter, op: ct.ForOp) -> Values:
    """Convert a counted loop; unsigned counters are extended to 64 bits, others to 32 or more.

    `scf.for` compares signed: an unsigned 32-bit counter is non-negative in 64 bits.  A loop that
    runs once is its body, whose accesses no token of a round before orders.
    """
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
    if runs_once(op):
        c.bind(op.body.block.args, [c.get(op.lower_bound), *inits])
        frame = Frame(types, {ct.ContinueOp: lambda given: given}, lambda: inits)
        return finish(c, _operations(op.body), frame)
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
    """The values that a loop with breaks carries: iteration values, results, a return flag.

    In front of these it carries the flag that says whether it continues.
    """

    carried: Sequence[Attribute]
    results: Sequence[Attribute]
    """Empty where they have the types of the iteration values, whose slots they then share."""
    returns: bool

    @property
    def types(self) -> Sequence[Attribute]:
        """The types of all that is carried behind the first flag."""
        return [*self.carried, *self.results, *([i1] if self.returns else ())]

    def split(self, values: Values) -> tuple[Values, Values, Values]:
        """Split values into iteration values, results, and the flag of a return if there is one."""
        a, b = len(self.carried), len(self.carried) + len(self.results)
        return values[:a], values[a:b], values[b:]


def _run_loop(c: Converter, op: ct.LoopOp, *, returns: bool) -> tuple[Values, Values]:
    """Convert a loop to `scf.while`; return its results, and the flag of a return (or nothing)."""
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
    """Convert the body; every path yields whether the loop continues, and its values."""
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
    """Convert a loop in which the kernel may return, with the operations behind it."""
    results, (returned,) = _run_loop(c, op, returns=True)

    def go_on() -> Values:
        c.bind(op.results, results)
        return finish(c, rest, frame)

    return _choice(c, returned, frame.types, lambda: frame.ends[ct.ReturnOp]([]), go_on)


def _repeats(region: Region) -> bool:
    """Whether a path through the body of a loop continues it."""
    operations = _operations(region)
    return any(isinstance(op, ct.ContinueOp) for op in operations) or any(
        _repeats(arm) for op in operations if isinstance(op, ct.IfOp) for arm in op.regions
    )


def _run_once(c: Converter, op: ct.LoopOp) -> Values:
    """Convert a loop that every path leaves: cuTile makes these of functions with early returns."""
    c.bind(op.body.block.args, c.get_all(op.init_values))
    types = [c.type(result) for result in op.results]

    def idle() -> Values:
        return [absent(c, type_) for type_ in types]

    return finish(c, _operations(op.body), Frame(types, {ct.BreakOp: lambda v: v}, idle))


def loop(c: Converter, op: ct.LoopOp) -> Values:
    """Convert a loop that no path leaves but by its breaks."""
    return _run_loop(c, op, returns=False)[0] if _repeats(op.body) else _run_once(c, op)


CONTROL_FLOW: Mapping[type[Operation], Rule] = {
    ct.ForOp: for_loop,
    ct.IfOp: branch,
    ct.LoopOp: loop,
}
