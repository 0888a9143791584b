"""Loop rotation (retiming): late operations run one iteration behind the others.

    for i in 0..n { x = early(i); y = late(x) }          with n > 0:

    x = early(0)
    for i in 0..n-1 carrying x { x' = early(i+1); late(x) }
    late(x)

What crosses from early to late operations is carried by the loop; in the rotated body both stand
in the order of the schedule.  A loop of more than two stages is rotated once for each.
Operations without a schedule (scalars, addresses) are computed anew wherever an iteration needs
them.

Source: modulo scheduling (Rau), where early and late are the stages of the software pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.scheduling.schedule import SCHEDULE, read_pin


def rotate(loop: scf.ForOp) -> scf.ForOp | str:
    """Rotate a loop as the stages of its operations ask for.

    Returns the loop of the steady state, the same one where all is in one stage, or why it cannot
    be rotated.
    """
    last = max((_stage(op) for op in _fixed(loop)), default=0)
    first = min((_stage(op) for op in _fixed(loop)), default=0)
    for stage in range(first + 1, last + 1):
        late = {op for op in _fixed(loop) if _stage(op) >= stage}
        problem = _problem(loop, late)
        if problem is not None:
            return problem
        loop = _Rotation(loop, late).write()
    return loop


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
        for value in _captured(pending.pop()):
            owner = value.owner
            if isinstance(owner, Block) or owner.parent is not body or owner in seen:
                continue
            seen.add(owner)
            if SCHEDULE in owner.attributes:
                yield owner
            else:
                pending.append(owner)


def _captured(op: Operation) -> Iterator[SSAValue]:
    """The operands of an operation and of those in its regions, where they come from outside."""
    for inner in op.walk():
        for value in inner.operands:
            owner = value.owner
            block = owner if isinstance(owner, Block) else owner.parent
            parent = None if block is None else block.parent_op()
            if parent is None or not op.is_ancestor(parent):
                yield value


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
        for value in _captured(op):
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
        self.arguments, self.crossing = self._crossing()

    def _crossing(self) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
        """The arguments, and the values of early operations, that late ones or yields read."""
        found: dict[SSAValue, None] = {}
        pending = [v for op in self.order if op in self.late for v in _captured(op)]
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
                    pending += _captured(owner)
                elif owner not in self.late:
                    found[value] = None
        arguments = [v for v in self.body.args if v in found]
        results = [v for op in self.body.ops for v in op.results if v in found]
        return arguments, results

    def write(self) -> scf.ForOp:
        """Write the rotated loop in the place of the loop, for one iteration or more."""
        loop = self.loop
        builder = Builder(InsertPoint.before(loop))
        some = builder.insert(arith.CmpiOp(loop.lb, loop.ub, "slt")).result
        used = [k for k, result in enumerate(loop.results) if result.uses.get_length()]
        rotated, left = Block(), Block([scf.YieldOp(*(loop.iter_args[k] for k in used))])
        made, results = self._rotated(Builder(InsertPoint.at_end(rotated)))
        rotated.add_op(scf.YieldOp(*(results[k] for k in used)))
        types = [loop.results[k].type for k in used]
        chosen = builder.insert(scf.IfOp(some, types, Region(rotated), Region(left)))
        for k, result in zip(used, chosen.results, strict=True):
            result.name_hint = loop.results[k].name_hint
            loop.results[k].replace_all_uses_with(result)
        Rewriter.erase_op(loop)
        return made

    def _rotated(self, builder: Builder) -> tuple[scf.ForOp, Sequence[SSAValue]]:
        """Prologue, loop and epilogue; returns the loop and what the whole gives."""
        loop = self.loop
        first = _Frame(self.body, builder, {})
        first.known |= dict(zip(self.body.args, (loop.lb, *loop.iter_args), strict=True))
        for op in self.early:
            first.copy(op)
        carried = [*self.arguments, *self.crossing]
        begin = [first.get(value) for value in carried]
        bound = builder.insert(arith.SubiOp(loop.ub, loop.step)).result
        inner = self._rotated_body(carried, begin)
        made = builder.insert(scf.ForOp(loop.lb, bound, loop.step, begin, inner))
        made.location = loop.location
        last = _Frame(self.body, builder, dict(zip(carried, made.results, strict=True)))
        for op in self.order:
            if op in self.late:
                last.copy(op)
        return made, [last.get(value) for value in self.yielded]

    def _rotated_body(self, carried: Sequence[SSAValue], begin: Sequence[SSAValue]) -> Block:
        """Late operations of an iteration and early ones of the next, in the schedule's order."""
        index, *arguments = self.body.args
        block = Block(arg_types=[index.type, *(value.type for value in begin)])
        for value, argument in zip(carried, block.args[1:], strict=True):
            argument.name_hint = value.name_hint
        builder = Builder(InsertPoint.at_end(block))
        now = _Frame(self.body, builder, dict(zip(carried, block.args[1:], strict=True)))
        now.known.setdefault(index, block.args[0])
        yields: dict[SSAValue, SSAValue] = dict(zip(arguments, self.yielded, strict=True))

        def of_next(value: SSAValue) -> SSAValue | None:
            return now.get(yields[value]) if value in yields else None

        following = builder.insert(arith.AddiOp(block.args[0], self.loop.step)).result
        after = _Frame(self.body, builder, {index: following}, of_next)
        for op in self.order:
            (now if op in self.late else after).copy(op)
        frames = [after.get(v) for v in self.arguments] + [after.get(v) for v in self.crossing]
        block.add_op(scf.YieldOp(*frames))
        return block
