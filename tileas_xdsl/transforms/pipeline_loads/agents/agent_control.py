"""Clone the control flow around loads into both agents, with the pipeline state as carried values.

    scf.for %t {                    producer                        consumer
      scf.for %k { load; dot }      scf.for %t iter_args(%s) {      scf.for %t iter_args(%s) {
      store                           scf.for %k { fill stage }       scf.for %k { read; dot }
    }                               }                                 store }

The stage that one loop ends at is the one that the next begins with, whatever stands between: both
agents carry the same iterators through the same loops and branches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator
from xdsl.transforms.dead_code_elimination import would_be_trivially_dead

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import has_trait
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import ProducerSlice

Stages: TypeAlias = Sequence[SSAValue]
"""The tokens and iterators of pipelines that control flow carries."""

Fill: TypeAlias = Callable[[Stages, dict[SSAValue, SSAValue], Builder], Stages]
"""Write what fills the stages of a round; the producer's value is known for each of the kernel."""

Consume: TypeAlias = Callable[[scf.ForOp, Stages, Builder], scf.ForOp]
"""Write a loop that reads stages in the place of one that loads: stages are its first results."""

Hand: TypeAlias = Callable[[Operation, Stages, dict[SSAValue, SSAValue], Builder], Stages]
"""Write what the producer does alone, and the stage that its result goes to."""

Take: TypeAlias = Callable[[Operation, Stages, Builder], Stages]
"""Write what reads that result in the place of the operation."""


def write_producer(
    operations: Sequence[Operation],
    needed: ProducerSlice,
    fills: Mapping[scf.ForOp, Fill],
    hands: Mapping[Operation, Hand],
    stages: Stages,
    builder: Builder,
    of_rounds: int,
) -> None:
    """Write the producer's part of these operations; rounds of loops in `fills` fill stages.

    These loops carry the first `of_rounds` of `stages`, the loops around them all.
    """
    _Producer(needed, fills, hands, of_rounds).write(operations, stages, builder)


class _Producer:
    def __init__(
        self,
        needed: ProducerSlice,
        fills: Mapping[scf.ForOp, Fill],
        hands: Mapping[Operation, Hand],
        of_rounds: int,
    ) -> None:
        self.needed, self.fills, self.hands = needed, fills, hands
        self.of_rounds = of_rounds
        self.values: dict[SSAValue, SSAValue] = {}

    def write(self, operations: Sequence[Operation], stages: Stages, builder: Builder) -> Stages:
        for op in operations:
            if op in self.needed.repeated:
                builder.insert(op.clone(self.values))
            elif op in self.hands:
                stages = self.hands[op](op, stages, self.values, builder)
            elif op in self.needed.control:
                count = self.of_rounds if op in self.fills else len(stages)
                stages = [*self._control(op, stages[:count], builder), *stages[count:]]
        return stages

    def _control(self, op: Operation, stages: Stages, builder: Builder) -> Stages:
        match op:
            case scf.ForOp():
                made: Operation = self._loop(op, stages)
            case scf.WhileOp():
                made = self._while(op, stages)
            case _:
                assert isinstance(op, scf.IfOp)
                made = self._branch(op, stages)
        made.location = op.location
        builder.insert(made)
        results = made.results[len(stages) :]
        for position, result in zip(self.needed.results(op), results, strict=True):
            self.values[op.results[position]] = result
        return made.results[: len(stages)]

    def _loop(self, op: scf.ForOp, stages: Stages) -> scf.ForOp:
        old = op.body.block
        kept = [old.args[1 + position] for position in self.needed.carried[op]]
        first = [self._now(op.iter_args[position]) for position in self.needed.carried[op]]
        types = [old.args[0].type, *(value.type for value in (*stages, *first))]
        body = Block(arg_types=types)
        self.values |= zip(
            (old.args[0], *kept), (body.args[0], *body.args[1 + len(stages) :]), strict=True
        )
        self._fill_block(op, old, body.args[1 : 1 + len(stages)], body)
        lower, upper, step = self._now(op.lb), self._now(op.ub), self._now(op.step)
        return scf.ForOp(lower, upper, step, [*stages, *first], body)

    def _while(self, op: scf.WhileOp, stages: Stages) -> scf.WhileOp:
        """Stages go through the condition as they are, and round by the body."""
        count = len(stages)
        carried, passed = self.needed.carried[op], self.needed.passed[op]
        first = [*stages, *(self._now(op.arguments[position]) for position in carried)]
        old, end = op.before_region.block, op.before_region.block.last_op
        assert isinstance(end, scf.ConditionOp)
        before = Block(arg_types=[value.type for value in first])
        kept = [old.args[position] for position in carried]
        self.values |= zip(kept, before.args[count:], strict=True)
        inner = Builder(InsertPoint.at_end(before))
        ended = self.write(list(old.ops), before.args[:count], inner)
        given = [*ended, *(self._now(end.args[position]) for position in passed)]
        inner.insert(scf.ConditionOp(self._now(end.condition), *given))
        after = Block(arg_types=[value.type for value in given])
        inside = [op.after_region.block.args[position] for position in passed]
        self.values |= zip(inside, after.args[count:], strict=True)
        self._fill_block(op, op.after_region.block, after.args[:count], after)
        types = [value.type for value in given]
        return scf.WhileOp(first, types, Region(before), Region(after))

    def _branch(self, op: scf.IfOp, stages: Stages) -> scf.IfOp:
        kept = [op.results[position].type for position in self.needed.carried[op]]
        blocks: list[Block] = []
        for region in (op.true_region, op.false_region):
            blocks.append(Block())
            self._fill_block(op, region.first_block, stages, blocks[-1])
        types = [*(value.type for value in stages), *kept]
        return scf.IfOp(self._now(op.cond), types, Region(blocks[0]), Region(blocks[1]))

    def _fill_block(self, op: Operation, old: Block | None, stages: Stages, block: Block) -> None:
        """What a round or a branch does, and hands on."""
        inner = Builder(InsertPoint.at_end(block))
        given: list[SSAValue] = []
        if old is not None:
            stages = self.write(list(old.ops), stages, inner)
            end = old.last_op
            assert isinstance(end, scf.YieldOp)
            given = [end.operands[position] for position in self.needed.carried[op]]
        if isinstance(op, scf.ForOp) and op in self.fills:
            stages = self.fills[op](stages, self.values, inner)
        inner.insert(scf.YieldOp(*stages, *map(self._now, given)))

    def _now(self, value: SSAValue) -> SSAValue:
        return self.values.get(value, value)


def carry_stages(
    block: Block,
    around: frozenset[Operation],
    loops: Mapping[scf.ForOp, Consume],
    taken: Mapping[Operation, Take],
    ends: Mapping[Operation, Take],
    stages: Stages,
    of_rounds: int,
) -> Stages:
    """Rewrite the consumer's loops that load, and let all control flow around them carry stages.

    Operations of `around` are replaced by ones whose first results are the stages, those of `taken`
    by what reads the producer's result; in front of those of `ends`, which may become known on the
    way, stages are released.  `loops` carry the first `of_rounds` of the stages.
    """
    return _Consumer(around, loops, taken, ends, of_rounds).carry(block, stages)


@dataclass(frozen=True)
class _Consumer:
    around: frozenset[Operation]
    loops: Mapping[scf.ForOp, Consume]
    taken: Mapping[Operation, Take]
    ends: Mapping[Operation, Take]
    of_rounds: int

    def carry(self, block: Block, stages: Stages) -> Stages:
        for op in list(block.ops):
            builder = Builder(InsertPoint.before(op))
            if op in self.ends:
                stages = self.ends[op](op, stages, builder)
            if op in self.taken:
                stages = self.taken[op](op, stages, builder)
                continue
            if isinstance(op, scf.ForOp) and op in self.loops:
                count = self.of_rounds
                read = self.loops[op](op, stages[:count], builder)
                Rewriter.erase_op(op)
                stages = [*read.results[:count], *stages[count:]]
                continue
            if isinstance(op, scf.ForOp) and op in self.around:
                made: Operation = self._loop(op, stages, builder)
            elif isinstance(op, scf.IfOp) and op in self.around:
                made = self._branch(op, stages, builder)
            elif isinstance(op, scf.WhileOp) and op in self.around:
                made = self._while(op, stages, builder)
            else:
                continue
            stages = made.results[: len(stages)]
        return stages

    def _loop(self, op: scf.ForOp, stages: Stages, builder: Builder) -> scf.ForOp:
        old, count = op.body.block, len(stages)
        carried = [*stages, *op.iter_args]
        body = Block(arg_types=[old.args[0].type, *(value.type for value in carried)])
        for before, now in zip(old.args, (body.args[0], *body.args[1 + count :]), strict=True):
            now.name_hint = before.name_hint
            before.replace_all_uses_with(now)
        _move_all(old, body)
        _yield_too(body, self.carry(body, body.args[1 : 1 + count]))
        made = builder.insert(scf.ForOp(op.lb, op.ub, op.step, carried, body))
        _replace(op, made, count)
        return made

    def _while(self, op: scf.WhileOp, stages: Stages, builder: Builder) -> scf.WhileOp:
        count, first = len(stages), [*stages, *op.arguments]
        before = _with_stages(op.before_region.block, stages)
        ended = self.carry(before, before.args[:count])
        end = before.last_op
        assert isinstance(end, scf.ConditionOp)
        given = [*ended, *end.args]
        Rewriter.replace_op(end, scf.ConditionOp(end.condition, *given))
        after = _with_stages(op.after_region.block, stages)
        _yield_too(after, self.carry(after, after.args[:count]))
        types = [value.type for value in given]
        made = builder.insert(scf.WhileOp(first, types, Region(before), Region(after)))
        _replace(op, made, count)
        return made

    def _branch(self, op: scf.IfOp, stages: Stages, builder: Builder) -> scf.IfOp:
        blocks: list[Block] = []
        for region in (op.true_region, op.false_region):
            blocks.append(Block())
            if region.first_block is not None:
                _move_all(region.block, blocks[-1])
            else:
                blocks[-1].add_op(scf.YieldOp())
            _yield_too(blocks[-1], self.carry(blocks[-1], stages))
        types = [value.type for value in (*stages, *op.results)]
        made = builder.insert(scf.IfOp(op.cond, types, Region(blocks[0]), Region(blocks[1])))
        _replace(op, made, len(stages))
        return made


def _with_stages(old: Block, stages: Stages) -> Block:
    """The operations of a block in one whose first arguments are stages."""
    block = Block(arg_types=[value.type for value in (*stages, *old.args)])
    for before, now in zip(old.args, block.args[len(stages) :], strict=True):
        now.name_hint = before.name_hint
        before.replace_all_uses_with(now)
    _move_all(old, block)
    return block


def _yield_too(block: Block, stages: Stages) -> None:
    end = block.last_op
    assert isinstance(end, scf.YieldOp)
    Rewriter.replace_op(end, scf.YieldOp(*stages, *end.operands))


def _move_all(old: Block, block: Block) -> None:
    for op in list(old.ops):
        op.detach()
        block.add_op(op)


def _replace(op: Operation, made: Operation, count: int) -> None:
    made.location = op.location
    made.attributes |= op.attributes
    for before, now in zip(op.results, made.results[count:], strict=True):
        now.name_hint = before.name_hint
    Rewriter.replace_op(op, [], made.results[count:])


def drop_dead(block: Block) -> None:
    """Erase what only reads and nothing uses any more, as the producer's pointers."""
    for op in reversed(list(block.ops)):
        if isinstance(op, scf.ForOp):
            _cut_cycles(op)
        for region in op.regions:
            for inner in region.blocks:
                drop_dead(inner)
        if op.results and all(v.first_use is None for v in op.results) and _only_reads(op):
            Rewriter.erase_op(op)


def _cut_cycles(loop: scf.ForOp) -> None:
    """Carry on unchanged what is read only to compute it anew, as the producer's indices."""
    end = loop.body.block.last_op
    assert end is not None
    for k, argument in enumerate(loop.body.block.args[1:]):
        if not loop.results[k].uses.get_length() and _feeds_only(argument, end, k):
            end.operands[k] = argument


def _only_reads(op: Operation) -> bool:
    """Whether an operation may go where nothing uses it; loops end, as in MLIR and C++.

    `scf.while` has the effects of what is in it, though xDSL does not declare that.
    """
    return all(
        would_be_trivially_dead(inner) or isinstance(inner, scf.WhileOp)
        for inner in operations_in(op)
        if not has_trait(inner, IsTerminator)
    )


def _feeds_only(argument: SSAValue, end: Operation, position: int) -> bool:
    """Whether an operand of the terminator is all that comes of a carried value."""
    block, seen, pending = end.parent, set[SSAValue](), [argument]
    assert block is not None
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = block.find_ancestor_op_in_block(use.operation)
            assert user is not None
            if user is end:
                if use.index != position:
                    return False
            elif not _only_reads(user):
                return False
            else:
                pending += user.results
    return True
