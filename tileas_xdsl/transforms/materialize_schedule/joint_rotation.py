"""Rotation through a loop that goes on with what a rotated one carries: masked iterations.

    for i in 0..n { x = early(i); late(x) }             x = early(0)                    with n > 0
    for j in n..m { x = other(j); late(x) }      ->     for i in 0..n-1 { x' = early(i+1); late(x) }
                                                        for j in n..m   { x' = other(j); late(x) }
                                                        late(x)

The late operations of the last iteration stand in the second loop, behind the early ones of its
first iteration, as within each loop; both loops need the same late operations.  Where the first
loop has no iteration, the second one has a prologue of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.scheduling.schedule import PLACEMENT, clear_placement
from tileas_xdsl.transforms.materialize_schedule.rotation import (
    Rotation,
    captured,
    fixed_operations,
    obstacle,
    stage_of,
)


def rotate_through(loop: scf.ForOp) -> Sequence[scf.ForOp]:
    """Rotate a loop of two stages, and the one behind it that goes on with all that it carries.

    Returns both loops of the steady state; nothing, and changes nothing, where there is no such
    loop behind.
    """
    behind = _behind(loop)
    if behind is None or {stage_of(op) for op in fixed_operations(loop)} != {0, 1}:
        return ()
    late = {op for op in fixed_operations(loop) if stage_of(op) == 1}
    for op in loop.body.block.ops:
        for inside in op.walk():
            if inside is not op:  # The operation that has it on its stage is scheduled.
                clear_placement(inside)
    pairs = _same_operations(loop, behind)
    if pairs is None or obstacle(loop, late) is not None:
        return ()
    if _place(behind, pairs, late):
        later = {pairs[op] for op in late}
        first, second = Rotation(loop, late), Rotation(behind, later)
        if obstacle(behind, later) is None and _carry_the_same(first, second, pairs):
            return _write(first, second)
    for op in behind.body.block.ops:
        clear_placement(op)
    return ()


def _behind(loop: scf.ForOp) -> scf.ForOp | None:
    """Return the loop in the same block whose carried values begin as the results of this one."""
    users = {use.operation for result in loop.results for use in result.uses}
    if len(users) != 1:
        return None
    (user,) = users
    if not isinstance(user, scf.ForOp) or user.parent is not loop.parent:
        return None
    goes_on = tuple(user.iter_args) == tuple(loop.results)
    return user if goes_on and user.step is loop.step else None


def _same_operations(loop: scf.ForOp, other: scf.ForOp) -> Mapping[Operation, Operation] | None:
    """Return the operation of the other loop for each scheduled one, in order; None without one.

    The other loop may have more between them.
    """
    found: dict[Operation, Operation] = {}
    left = iter(other.body.block.ops)
    for op in fixed_operations(loop):
        same = next((one for one in left if _is_like(op, one)), None)
        if same is None:
            return None
        found[op] = same
    return found


def _is_like(op: Operation, other: Operation) -> bool:
    return (
        type(op) is type(other)
        and op.properties == other.properties
        and _described(op) == _described(other)
        and [one.name for one in op.walk()] == [one.name for one in other.walk()]
        and [value.type for value in op.results] == [value.type for value in other.results]
    )


def _described(op: Operation) -> Mapping[str, Attribute]:
    """The attributes of an operation but those of its place in a schedule."""
    return {name: value for name, value in op.attributes.items() if name not in PLACEMENT}


def _place(
    behind: scf.ForOp, pairs: Mapping[Operation, Operation], late: Collection[Operation]
) -> bool:
    """Schedule the second loop as the first one, and what it has besides in front of what follows.

    Returns whether all of that is early: in the second loop late operations are those of the first.
    """
    sources = {other: op for op, other in pairs.items()}
    besides: list[Operation] = []
    for op in behind.body.block.ops:
        if op not in sources:
            besides += [] if is_side_effect_free(op) or op.has_trait(IsTerminator) else [op]
            continue
        if besides and sources[op] in late:
            return False
        for one in (*besides, op):
            one.attributes |= {
                name: sources[op].attributes[name]
                for name in PLACEMENT
                if name in sources[op].attributes
            }
        besides.clear()
    return not besides


def _carry_the_same(
    first: Rotation, second: Rotation, pairs: Mapping[Operation, Operation]
) -> bool:
    """Whether late operations of both loops read the same of an iteration, and compute the same.

    They may not read the index: it is another one where the second loop begins.
    """
    known: dict[SSAValue, SSAValue] = dict(zip(first.body.args, second.body.args, strict=True))
    for op, other in pairs.items():
        known |= dict(zip(op.results, other.results, strict=True))
    if first.body.args[0] in first.arguments:
        return False
    if [known.get(value) for value in first.carried] != list(second.carried):
        return False
    same = _SameValues(first.body, second.body, known)
    return all(same.computed(op, pairs[op]) for op in first.order if op in first.late) and all(
        same.value(one, other) for one, other in zip(first.yielded, second.yielded, strict=True)
    )


@dataclass
class _SameValues:
    """Values of the body of one loop, and those that are computed alike in another one."""

    body: Block
    other: Block
    known: dict[SSAValue, SSAValue]

    def value(self, one: SSAValue, other: SSAValue) -> bool:
        """Return whether two values are the same of both loops."""
        if one in self.known:
            return self.known[one] is other
        if not isinstance(one, OpResult) or one.op.parent is not self.body:
            return one is other
        if not isinstance(other, OpResult) or other.op.parent is not self.other:
            return False
        if one.index != other.index or not self.computed(one.op, other.op):
            return False
        self.known[one] = other
        return True

    def computed(self, op: Operation, other: Operation) -> bool:
        """Return whether two operations compute the same of the same."""
        ours, theirs = [*captured(op)], [*captured(other)]
        if len(ours) != len(theirs) or not all(map(self.value, ours, theirs)):
            return False
        return op.is_structurally_equivalent(other, {self.body: self.other, **self.known})


def _write(first: Rotation, second: Rotation) -> Sequence[scf.ForOp]:
    """Write both loops in the place of the second one, for one iteration or more of either."""
    loop, behind = first.loop, second.loop
    build = Builder(InsertPoint.before(behind))
    some = build.insert(arith.CmpiOp(loop.lb, loop.ub, "slt")).result
    others = build.insert(arith.CmpiOp(behind.lb, behind.ub, "slt")).result
    any_ = build.insert(arith.OrIOp(some, others)).result
    rotated, left = Block(), Block([scf.YieldOp(*loop.iter_args)])
    inner = Builder(InsertPoint.at_end(rotated))
    begun, steady = _begun(inner, some, first, second)
    made, results = _goes_on(inner, begun, second)
    rotated.add_op(scf.YieldOp(*results))
    types = [result.type for result in behind.results]
    chosen = build.insert(scf.IfOp(any_, types, Region(rotated), Region(left)))
    for result, value in zip(behind.results, chosen.results, strict=True):
        value.name_hint = result.name_hint
        result.replace_all_uses_with(value)
    for op in (behind, loop):
        Rewriter.erase_op(op)
    return steady, made


def _begun(
    build: Builder, some: SSAValue, first: Rotation, second: Rotation
) -> tuple[Sequence[SSAValue], scf.ForOp]:
    """Begin with the first iteration there is, and run the first loop.

    Returns the index behind which the second loop goes on, then what an iteration leaves to its
    late operations; and the loop.
    """
    loop, behind = first.loop, second.loop
    whole, alone = Block(), Block()
    of_first, of_second = Builder(InsertPoint.at_end(whole)), Builder(InsertPoint.at_end(alone))
    begin = first.prologue(of_first, loop.lb, loop.iter_args)
    steady = first.steady_state(of_first, loop.lb, begin)
    before = of_first.insert(arith.SubiOp(behind.lb, behind.step)).result
    of_first.insert(scf.YieldOp(before, *steady.results))
    begin = second.prologue(of_second, behind.lb, loop.iter_args)
    of_second.insert(scf.YieldOp(behind.lb, *begin))
    types = [behind.lb.type, *(value.type for value in begin)]
    chosen = build.insert(scf.IfOp(some, types, Region(whole), Region(alone)))
    return chosen.results, steady


def _goes_on(
    build: Builder, begun: Sequence[SSAValue], second: Rotation
) -> tuple[scf.ForOp, Sequence[SSAValue]]:
    """Run the second loop from there; returns it, and what the whole gives."""
    made = second.steady_state(build, begun[0], begun[1:])
    return made, second.epilogue(build, made.results)
