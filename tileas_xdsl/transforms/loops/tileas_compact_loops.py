"""The pass `tileas-compact-loops`: loops whose rounds are skipped by a branch do the others alone.

    %r = scf.for %z = %first to %end step %step iter_args(%c = %x) {
      %j = load %blocks[%z]
      %p = cmpi sge, %j, %zero
      %y = scf.if %p { B(%j, %c) } else { %c }
      scf.yield %y
    }

becomes

    %n = scf.for %z = %first to %end step %step iter_args(%k = 0) { %k + 1 where %p(%z) }
    %r, _ = scf.for %t = 0 to %n step 1 iter_args(%c = %x, %z = %first) {
      %w, %j = scf.while (%w = %z) { %j, %p = ...; condition(not %p and more) %w, %j }
               do { %w + %step }
      %y = B(%j, %c)
      scf.yield %y, %w + %step
    }

Stages are filled and read in all rounds of a loop, by a producer that runs ahead and by products
that are late by a round.  What the branch depends on is read twice, by the warps that count and by
those that need it.  This is an inspector and an executor (Saltz), with the list of rounds left
where it is.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import MemoryWriteEffect

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

MAX_ELEMENTS = 1
"""Of a tile that every round reads to know whether it is one to do."""


@dataclass(frozen=True)
class TileasCompactLoops(ModulePass):
    """Run the rounds of a loop that a branch does not skip, and no others.

    Needs: kernels of tiles, before chunks, TMA or stages are chosen.

    Leaves: loops that are a branch around loads and products, which no value of the round before
    decides, as a loop that counts the rounds to do and one that does them, without the branch.
    Every round looks for its number behind that of the round before.  Loops that write memory,
    other than at their end, stay, and so do those whose branch has another side.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "tileas-compact-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in instances_in(op, scf.ForOp):
            branch = _only_branch(loop)
            if branch is not None:
                _Compaction(loop, branch).write()


def _only_branch(loop: scf.ForOp) -> scf.IfOp | None:
    """The branch that does all that a round does, where it may be left out of the loop."""
    body = loop.body.block
    branches = [op for op in body.ops if isinstance(op, scf.IfOp)]
    if len(branches) != 1 or not isinstance(end := body.last_op, scf.YieldOp):
        return None
    branch, carried = branches[0], body.args[1:]
    inside = operations_in(branch.true_region)
    if not any(isinstance(op, DotOp) for op in inside):
        return None
    if not any(isinstance(op, TiledLoadOp) for op in branch.true_region.block.ops):
        return None
    if any(op.has_trait(MemoryWriteEffect) for op in inside):
        return None
    if not all(op in (branch, end) or _may_run_ahead(op) for op in body.ops):
        return None
    decides = _operations_behind([branch.cond], body)
    if any(value in carried for op in decides for value in op.operands) or branch.cond in carried:
        return None
    return branch if _is_carried_through(branch, end, carried) else None


def _is_carried_through(branch: scf.IfOp, end: scf.YieldOp, carried: Sequence[SSAValue]) -> bool:
    """Whether a round that the branch skips hands on what it got."""
    other = branch.false_region.first_block
    kept = () if other is None or other.last_op is None else other.last_op.operands
    if other is not None and len(list(other.ops)) > 1:
        return False
    results: dict[SSAValue, SSAValue] = dict(zip(branch.results, kept, strict=True))
    return all(
        results.get(value, value) is argument
        for value, argument in zip(end.operands, carried, strict=True)
    )


def _may_run_ahead(op: Operation) -> bool:
    """Whether an operation may run once more, before any round: it is of numbers, and writes none.

    A tile that is read comes after nothing, as its token says.
    """
    shapes = [shape_of(type_) or () for type_ in op.result_types]
    if op.regions or any(any(extent > MAX_ELEMENTS for extent in shape) for shape in shapes):
        return False
    if isinstance(op, TiledLoadOp):
        is_weak = op.mem_semantic is None or op.mem_semantic.data is MemSemantic.WEAK
        return is_weak and op.token is not None and isinstance(op.token.owner, CreateNoneOp)
    return is_side_effect_free(op)


def _operations_behind(
    values: Sequence[SSAValue], body: Block, known: Container[SSAValue] = ()
) -> list[Operation]:
    """The operations of a body that values are computed by, in their order; of known ones, none."""
    found: set[Operation] = set()
    pending = [*values]
    while pending:
        value = pending.pop()
        made = value.owner
        if value not in known and _is_in(made, body) and made not in found:
            assert isinstance(made, Operation)
            found.add(made)
            pending += made.operands
    return [op for op in body.ops if op in found]


class _Compaction:
    """A loop, and what decides which of its rounds there are."""

    def __init__(self, loop: scf.ForOp, branch: scf.IfOp) -> None:
        self.loop, self.branch = loop, branch
        self.body = loop.body.block
        self.decides = _operations_behind([branch.cond], self.body)
        self.index = self.body.args[0]
        self.type = self.index.type

    def write(self) -> None:
        """Write both loops in the place of the one."""
        loop, builder = self.loop, Builder(InsertPoint.before(self.loop))
        self._hoist(builder)
        zero, one = (builder.insert(arith.ConstantOp(IntegerAttr(k, i32))).result for k in (0, 1))
        count = self._count(zero, one, builder)
        carried = [*loop.iter_args, loop.lb]
        made = scf.ForOp(zero, count, one, carried, self._rounds(carried))
        made.location = loop.location
        made.attributes |= loop.attributes
        builder.insert(made)
        for before, now in zip(loop.results, made.results, strict=False):
            now.name_hint = before.name_hint
            before.replace_all_uses_with(now)
        Rewriter.erase_op(loop)

    def _hoist(self, builder: Builder) -> None:
        """Compute in front of the loops what is the same in all rounds."""
        for op in list(self.body.ops)[:-1]:
            made = [value.owner for value in op.operands]
            if op.regions or not is_side_effect_free(op):
                continue
            if not any(one is self.body or _is_in(one, self.body) for one in made):
                op.detach()
                builder.insert(op)
        self.decides = [op for op in self.decides if op.parent is self.body]

    def _decide(self, index: SSAValue, builder: Builder) -> Mapping[SSAValue, SSAValue]:
        """What decides a round, written once more; by value of the loop."""
        known: dict[SSAValue, SSAValue] = {self.index: index}
        for op in self.decides:
            builder.insert(op.clone(known))
        return known

    def _count(self, zero: SSAValue, one: SSAValue, builder: Builder) -> SSAValue:
        """How many rounds there are to do."""
        block = Block(arg_types=[self.type, i32])
        inner = Builder(InsertPoint.at_end(block))
        index, before = block.args
        known = self._decide(index, inner)
        chosen = inner.insert(arith.SelectOp(self._now(self.branch.cond, known), one, zero))
        inner.insert(scf.YieldOp(inner.insert(arith.AddiOp(before, chosen.result)).result))
        loop = self.loop
        made = builder.insert(scf.ForOp(loop.lb, loop.ub, loop.step, [zero], block))
        made.location = loop.location
        return made.results[0]

    def _rounds(self, carried: Sequence[SSAValue]) -> Block:
        """The body of the loop that has no branch: it looks for its round, and does it."""
        old, step = self.branch.true_region.block, self.loop.step
        block = Block(arg_types=[i32, *(value.type for value in carried)])
        builder = Builder(InsertPoint.at_end(block))
        index, known = self._next(block.args[-1], builder)
        arguments: dict[SSAValue, SSAValue] = dict(
            zip(self.body.args[1:], block.args[1:-1], strict=True)
        )
        values: dict[SSAValue, SSAValue] = {self.index: index, **arguments, **known}
        for before, now in arguments.items():
            now.name_hint = before.name_hint
        read = [value for op in operations_in(old) for value in op.operands]
        for op in _operations_behind(read, self.body, values):
            builder.insert(op.clone(values))
        for op in list(old.ops)[:-1]:
            builder.insert(op.clone(values))
        done, end = old.last_op, self.body.last_op
        assert done is not None
        assert end is not None
        given: dict[SSAValue, SSAValue] = dict(zip(self.branch.results, done.operands, strict=True))
        yielded = [given.get(value, value) for value in end.operands]
        following = builder.insert(arith.AddiOp(index, step)).result
        builder.insert(scf.YieldOp(*(values.get(v, v) for v in yielded), following))
        return block

    def _next(
        self, first: SSAValue, builder: Builder
    ) -> tuple[SSAValue, Mapping[SSAValue, SSAValue]]:
        """The first index from one on whose round there is, and numbers that told so."""
        kept = [v for op in self.decides for v in op.results if self._is_read_further(v)]
        types = [self.type, *(value.type for value in kept)]
        before, after = Block(arg_types=[self.type]), Block(arg_types=types)
        inner = Builder(InsertPoint.at_end(before))
        index = before.args[0]
        known = self._decide(index, inner)
        # The last index ends the search, whatever memory says by now.
        further = inner.insert(arith.AddiOp(index, self.loop.step)).result
        more = inner.insert(arith.CmpiOp(further, self.loop.ub, "slt")).result
        true = inner.insert(arith.ConstantOp.from_int_and_width(1, 1)).result
        chosen = self._now(self.branch.cond, known)
        skipped = inner.insert(arith.XOrIOp(chosen, true)).result
        goes_on = inner.insert(arith.AndIOp(skipped, more)).result
        inner.insert(scf.ConditionOp(goes_on, index, *(known[value] for value in kept)))
        inner = Builder(InsertPoint.at_end(after))
        inner.insert(scf.YieldOp(inner.insert(arith.AddiOp(after.args[0], self.loop.step)).result))
        made = builder.insert(scf.WhileOp([first], types, Region(before), Region(after)))
        made.location = self.loop.location
        return made.results[0], dict(zip(kept, made.results[1:], strict=True))

    def _is_read_further(self, value: SSAValue) -> bool:
        """Whether a round needs a number that decides whether there is one."""
        users = {self.body.find_ancestor_op_in_block(use.operation) for use in value.uses}
        is_condition_alone = value is self.branch.cond and value.has_one_use()
        is_tile = isinstance(value.type, TensorType)
        return not is_tile and not is_condition_alone and not users <= {*self.decides}

    @staticmethod
    def _now(value: SSAValue, known: Mapping[SSAValue, SSAValue]) -> SSAValue:
        return known.get(value, value)


def _is_in(made: Operation | Block, body: Block) -> bool:
    return isinstance(made, Operation) and made.parent is body
