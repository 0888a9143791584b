"""Loop rotation (retiming): late operations run one iteration behind the others.

    for i in 0..n { x = early(i); y = late(x) }          with n > 0:

    x = early(0)
    for i in 0..n-1 carrying x { x' = early(i+1); late(x) }
    late(x)

What crosses from early to late operations is carried by the loop; in the rotated body both stand
in the order of the schedule.  A loop of more than two stages is rotated once for each.
Operations without a schedule (scalars, addresses) are computed anew wherever an iteration needs
them.

Loops that follow one another, and whose late operations are the same, are rotated as one: the late
operations of a loop's last iteration run in the first one of the next loop.

    for i in 0..n { y = late(early(i)) }            x = if n > 0 { early(0) } else { other(n) }
    for i in n..m { y = late(other(i)) }     ->     for i in 0..n-1 { x' = early(i+1); late(x) }
                                                    for i in (n > 0 ? n-1 : n)..m-1
                                                                    { x' = other(i+1); late(x) }
    with m > 0                                      late(x)

Source: modulo scheduling (Rau), where early and late are the stages of the software pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from itertools import takewhile

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.scheduling.schedule import SCHEDULE
from tileas_xdsl.scheduling.schedule_attributes import read_pin
from tileas_xdsl.transforms.materialize_schedule.alike_loops import (
    LoopEnd,
    captured_values,
    corresponding,
)


def rotate(loops: Sequence[scf.ForOp]) -> Sequence[scf.ForOp] | str:
    """Rotate a loop, and those behind it that go on with it, as the stages of operations ask for.

    Returns the loops of the steady state, the same ones where all is in one stage, or why the first
    one cannot be rotated.
    """
    last = max((_stage(op) for op in _fixed(loops[0])), default=0)
    first = min((_stage(op) for op in _fixed(loops[0])), default=0)
    for stage in range(first + 1, last + 1):
        problem = _problem(loops[0], _late(loops[0], stage))
        if problem is not None:
            return problem
        chain = _chain(loops, stage)
        if (tile := next(filter(_is_in_shared_memory, chain[0].carried), None)) is not None:
            return f"an operation of a later stage reads {tile.type}, of which there is one"
        loops = _write(chain)
    return loops


def _is_in_shared_memory(value: SSAValue) -> bool:
    return space_of(value.type) is Space.SMEM


def _late(loop: scf.ForOp, stage: int) -> set[Operation]:
    return {op for op in _fixed(loop) if _stage(op) >= stage}


def _chain(loops: Sequence[scf.ForOp], stage: int) -> Sequence[_Rotation]:
    """The first loop and those that are rotated as one with it, each behind the one before."""
    chain = [_Rotation(loops[0], _late(loops[0], stage))]
    for loop in loops[1:]:
        late = _late(loop, stage)
        if not late or _problem(loop, late) or not _goes_on(chain[-1].loop, loop):
            break
        other = _Rotation(loop, late)
        carried = corresponding(chain[0].carried, chain[0].end, other.end)
        if carried is None:
            break
        other.carried = carried
        chain.append(other)
    return chain


def _goes_on(before: scf.ForOp, loop: scf.ForOp) -> bool:
    """Whether a loop begins with what another one ends with, which nothing else reads.

    What stands between them is moved in front of both.
    """
    if loop.parent is not before.parent or list(loop.iter_args) != list(before.results):
        return False
    is_alone = all(v.has_one_use() for v in before.results)
    return is_alone and all(map(is_side_effect_free, _between(before)))


def _between(loop: scf.ForOp) -> Sequence[Operation]:
    """The operations behind a loop and in front of the next one."""
    block = loop.parent_block()
    operations = [] if block is None else list(block.ops)
    behind = operations[operations.index(loop) + 1 :]
    return list(takewhile(lambda op: not isinstance(op, scf.ForOp), behind))


def _fixed(loop: scf.ForOp) -> Sequence[Operation]:
    """The operations of the body that have a place in the schedule."""
    return [op for op in loop.body.block.ops if SCHEDULE in op.attributes]


def _stage(op: Operation) -> int:
    return read_pin(op).stage or 0


def _order(op: Operation) -> int:
    return read_pin(op).order or 0


def _problem(loop: scf.ForOp, late: set[Operation]) -> str | None:
    """Why late operations cannot run behind the others."""
    body = loop.body.block
    for op in body.ops:
        if op is body.last_op:
            continue
        if SCHEDULE not in op.attributes and not is_side_effect_free(op):
            return f"'{op.name}' has effects, and no place in the schedule"
        if op in late or SCHEDULE not in op.attributes:
            continue
        if any(source in late for source in _sources(op, body)):
            return f"'{op.name}' reads what an operation of a later stage makes"
    return None


def _sources(op: Operation, body: Block) -> Iterator[Operation]:
    """The scheduled operations that an operation reads, also by way of others."""
    pending, seen = [op], {op}
    while pending:
        for value in captured_values(pending.pop()):
            owner = value.owner
            if isinstance(owner, Block) or owner.parent is not body or owner in seen:
                continue
            seen.add(owner)
            if SCHEDULE in owner.attributes:
                yield owner
            else:
                pending.append(owner)


@dataclass
class _Frame:
    """The values of one iteration while operations are copied for it."""

    body: Block
    builder: Builder
    known: dict[SSAValue, SSAValue]
    otherwise: Callable[[SSAValue], SSAValue | None] = field(default=lambda _: None)
    """Gives the values that no operation of this frame makes."""

    def get(self, value: SSAValue) -> SSAValue:
        """The value in this iteration; copies what it is computed from, if that is missing."""
        if value in self.known:
            return self.known[value]
        owner = value.owner
        is_inside = owner is self.body or (
            isinstance(owner, Operation) and owner.parent is self.body
        )
        if not is_inside:
            return value
        given = self.otherwise(value)
        if given is not None:
            self.known[value] = given
            return given
        assert isinstance(owner, Operation)
        self.copy(owner)
        return self.known[value]

    def copy(self, op: Operation) -> None:
        """Copy an operation for this iteration, unless it is there already."""
        if op.results and op.results[0] in self.known:
            return
        for value in captured_values(op):
            self.get(value)
        self.builder.insert(op.clone(self.known))


class _Rotation:
    """A loop and what its rotated form carries."""

    def __init__(self, loop: scf.ForOp, late: set[Operation]) -> None:
        self.loop, self.body = loop, loop.body.block
        self.order = sorted(_fixed(loop), key=_order)
        self.late = late
        self.early = [op for op in self.order if op not in late]
        end = self.body.last_op
        assert isinstance(end, scf.YieldOp)
        self.yielded = list(end.operands)
        self.carried = self._crossing()

    @property
    def end(self) -> LoopEnd:
        """What runs behind the early operations."""
        return LoopEnd(self.body, [op for op in self.order if op in self.late], self.yielded)

    def _crossing(self) -> Sequence[SSAValue]:
        """The arguments, and the values of early operations, that late ones or yields read."""
        found: dict[SSAValue, None] = {}
        pending = [v for op in self.order if op in self.late for v in captured_values(op)]
        pending += self.yielded
        seen: set[SSAValue] = set()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            owner = value.owner
            if owner is self.body:
                found[value] = None
            elif isinstance(owner, Operation) and owner.parent is self.body:
                # An operation without a stage is cloned where it is read, so what it reads crosses
                # instead.
                if SCHEDULE not in owner.attributes:
                    pending += captured_values(owner)
                elif owner not in self.late:
                    found[value] = None
        results = [v for op in self.body.ops for v in op.results if v in found]
        return *(v for v in self.body.args if v in found), *results

    def prologue(self, builder: Builder, given: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Early operations of the first iteration, of what the loops begin with."""
        first = _Frame(self.body, builder, {})
        first.known |= dict(zip(self.body.args, (self.loop.lb, *given), strict=True))
        for op in self.early:
            first.copy(op)
        return [first.get(value) for value in self.carried]

    def steady(self, builder: Builder, lb: SSAValue, begin: Sequence[SSAValue]) -> scf.ForOp:
        """The loop of an iteration's late operations and the next one's early operations."""
        loop = self.loop
        bound = builder.insert(arith.SubiOp(loop.ub, loop.step)).result
        made = builder.insert(scf.ForOp(lb, bound, loop.step, begin, self._rotated_body(begin)))
        made.location = loop.location
        return made

    def epilogue(self, builder: Builder, left: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Late operations of the last iteration; returns what the loop gives."""
        last = _Frame(self.body, builder, dict(zip(self.carried, left, strict=True)))
        for op in self.order:
            if op in self.late:
                last.copy(op)
        return [last.get(value) for value in self.yielded]

    def _rotated_body(self, begin: Sequence[SSAValue]) -> Block:
        """Late operations of an iteration and early ones of the next, in the schedule's order."""
        index, *arguments = self.body.args
        block = Block(arg_types=[index.type, *(value.type for value in begin)])
        for value, argument in zip(self.carried, block.args[1:], strict=True):
            argument.name_hint = value.name_hint
        builder = Builder(InsertPoint.at_end(block))
        now = _Frame(self.body, builder, dict(zip(self.carried, block.args[1:], strict=True)))
        now.known.setdefault(index, block.args[0])
        yields: dict[SSAValue, SSAValue] = dict(zip(arguments, self.yielded, strict=True))

        def of_next(value: SSAValue) -> SSAValue | None:
            return now.get(yields[value]) if value in yields else None

        following = builder.insert(arith.AddiOp(block.args[0], self.loop.step)).result
        after = _Frame(self.body, builder, {index: following}, of_next)
        for op in self.order:
            (now if op in self.late else after).copy(op)
        block.add_op(scf.YieldOp(*(after.get(v) for v in self.carried)))
        return block


def _write(chain: Sequence[_Rotation]) -> Sequence[scf.ForOp]:
    """Write rotated loops in the place of loops, for one iteration of any of them or more."""
    first, last = chain[0].loop, chain[-1].loop
    given = list(first.iter_args)
    loops = [one.loop for one in chain]
    for op in [op for one in loops[:-1] for op in _between(one)]:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(first))
    builder = Builder(InsertPoint.before(first))
    some = [builder.insert(arith.CmpiOp(one.loop.lb, one.loop.ub, "slt")).result for one in chain]
    any_before: list[SSAValue] = [some[0]]
    for one in some[1:]:
        any_before.append(builder.insert(arith.OrIOp(any_before[-1], one)).result)
    used = [k for k, result in enumerate(last.results) if result.uses.get_length()]
    rotated, left = Block(), Block([scf.YieldOp(*(given[k] for k in used))])
    made, results = _rotated(Builder(InsertPoint.at_end(rotated)), chain, some, any_before)
    rotated.add_op(scf.YieldOp(*(results[k] for k in used)))
    types = [last.results[k].type for k in used]
    chosen = builder.insert(scf.IfOp(any_before[-1], types, Region(rotated), Region(left)))
    for k, result in zip(used, chosen.results, strict=True):
        result.name_hint = last.results[k].name_hint
        last.results[k].replace_all_uses_with(result)
    for one in reversed(chain):
        Rewriter.erase_op(one.loop)
    return made


def _rotated(
    builder: Builder,
    chain: Sequence[_Rotation],
    some: Sequence[SSAValue],
    any_before: Sequence[SSAValue],
) -> tuple[Sequence[scf.ForOp], Sequence[SSAValue]]:
    """Prologue, loops and epilogue; returns the loops and what the whole gives."""
    begin = _prologue(builder, chain, some, chain[0].loop.iter_args)
    made: list[scf.ForOp] = []
    for k, one in enumerate(chain):
        lb = one.loop.lb
        if k > 0:
            before = builder.insert(arith.SubiOp(lb, one.loop.step)).result
            lb = builder.insert(arith.SelectOp(any_before[k - 1], before, lb)).result
        made.append(one.steady(builder, lb, begin))
        begin = made[-1].results
    return made, chain[-1].epilogue(builder, begin)


def _prologue(
    builder: Builder,
    chain: Sequence[_Rotation],
    some: Sequence[SSAValue],
    given: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """Early operations of the first iteration there is, of the loop that has it."""
    if len(chain) == 1:
        return chain[0].prologue(builder, given)
    types = [value.type for value in chain[0].carried]
    here, behind = Block(), Block()
    begun = chain[0].prologue(Builder(InsertPoint.at_end(here)), given)
    here.add_op(scf.YieldOp(*begun))
    later = _prologue(Builder(InsertPoint.at_end(behind)), chain[1:], some[1:], given)
    behind.add_op(scf.YieldOp(*later))
    return builder.insert(scf.IfOp(some[0], types, Region(here), Region(behind))).results
