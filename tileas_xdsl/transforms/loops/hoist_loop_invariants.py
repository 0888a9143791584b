"""The pass `hoist-loop-invariants`: loop-invariant code motion within the registers that are left.

    scf.for ... {                               %c = ...   // one register: in front of the loop
      %c = arith.muli %a, %b : i32              scf.for ... {
      %i = arith.addi %x, %y : vector<64xi32>     %i = arith.addi %x, %y : vector<64xi32>
      ... 200 registers live ...          ->      ... 200 registers live ...
    }                                           }

Sums are regrouped first, so that what does not change is added in front of the loop:

    %s = arith.addi %rows, %column            %first = %base + %rows * %size    // in front
    %t = arith.muli %s, %size           ->    %m = arith.muli %column, %size
    %p = arith.addi %base, %t                 %p = arith.addi %first, %m

A value in front of a loop occupies its registers in all of the loop.  Where they are not left,
ptxas spills: a load of each iteration instead of an instruction.  Innermost loops come first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import field
from math import prod
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import IsTerminator
from xdsl.transforms.loop_invariant_code_motion import can_be_hoisted

from tileas_xdsl.analysis.values.liveness.registers import own_registers, registers_in_loops
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import (
    operands_of,
    operations_in,
    operations_inside_out,
    operations_of,
)
from tileas_xdsl.dialects.cute_nvgpu import SetMaxRegisterOp
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import (
    IN_FRONT_OF_LOOPS,
    LOOPS,
    is_innermost,
    set_registers_left,
)
from tileas_xdsl.dialects.ir_queries import has_trait, is_side_effect_free, is_speculatable
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.warp_allocation import registers_at_entry

THREADS, BLOCKS = "nvvm.reqntid", "nvvm.minctasm"

FEW_REGISTERS = 8
"""Of a value that may leave innermost loops even so: addresses, descriptors, conditions, which each
iteration would compute anew.  An outer loop computes them rarely."""

MAX_OVERDRAFT = 8
"""Registers of all such values of a loop together, those of the lowering to PTX too, where none are
left: ptxas computes that many anew where they are used.  Of more it spills."""

REGISTER_HEADROOM = 16
"""Of a thread, beside the values that are live: what an instruction needs while it is computed."""


@dataclass(frozen=True)
class HoistLoopInvariants(ModulePass):
    """Move what a loop does not change in front of it, as far as registers are left."""

    name = "hoist-loop-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op)
        for function in op.ops:
            if isinstance(function, func.FuncOp):
                _Hoisting(function, target).run()


@dataclass
class _Hoisting:
    """The loops of a function, each with the registers that it may take."""

    function: func.FuncOp
    target: Target
    overdraft: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """By innermost loop, what is left of its overdraft."""
    peaks: Mapping[Operation, int] | None = None
    """Registers that are live at once in each loop; None once something has moved."""
    counted: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The registers of values that have been counted."""

    def run(self) -> None:
        """Hoist out of every loop, innermost ones first."""
        if not has_instance(self.function, *LOOPS):
            return
        for loop in operations_inside_out(self.function):
            if type(loop) is scf.ForOp:
                self._hoist(loop)
        self._record()

    def _record(self) -> None:
        """Write on innermost loops what the lowering to PTX, which hoists too, may still take."""
        for loop, taken in self._peaks().items():
            if isinstance(loop, LOOPS) and is_innermost(loop):
                left = self._limit(loop) - REGISTER_HEADROOM - taken
                overdraft = self.overdraft.get(loop, MAX_OVERDRAFT)
                set_registers_left(loop, max(left, overdraft), max(left, 0))

    def _hoist(self, loop: scf.ForOp) -> None:
        self._move(loop)
        sums = [op for op in operations_of(loop.body.block) if type(op) is arith.AddiOp]
        if [op for op in sums if _regroup(op, loop)]:
            self.peaks = None
            self._move(loop)

    def _move(self, loop: scf.ForOp) -> None:
        overdraft = self.overdraft.get(loop, MAX_OVERDRAFT if is_innermost(loop) else 0)
        left: int | None = None
        body = loop.body.block
        for op in [op for op in operations_in(loop) if IN_FRONT_OF_LOOPS in op.attributes]:
            self._move_with_operands(op, loop)
        waiting = deque(operations_of(body))
        while waiting:
            op = waiting.popleft()
            if op.parent is not body or not _is_invariant(op, body):
                continue
            taken = _taken(op, loop)
            if taken > min(FEW_REGISTERS, overdraft):
                left = self._left(loop) if left is None else left
                if taken > left:
                    continue
                left -= taken
            elif taken > 0:
                overdraft -= taken
            op.detach()
            self.peaks = None
            Rewriter.insert_op(op, InsertPoint.before(loop))
            waiting.extend(_users(op))
        self.overdraft[loop] = overdraft

    def _move_with_operands(self, op: Operation, loop: scf.ForOp) -> None:
        """Hoist an operation that is worth its registers, and what it is computed of."""
        made = {op, *(one for one in operations_behind(op.operands) if loop.is_ancestor(one))}
        used = [value for one in made for value in operands_of(one)]
        if any(isinstance(v.owner, Block) and loop.is_ancestor(v.owner) for v in used):
            return
        if not all(is_side_effect_free(one) and is_speculatable(one) for one in made):
            return
        for one in [one for one in operations_in(loop) if one in made]:
            one.detach()
            Rewriter.insert_op(one, InsertPoint.before(loop))
        self.peaks = None

    def _left(self, loop: scf.ForOp) -> int:
        """Return the registers that nothing in a loop takes."""
        return self._limit(loop) - REGISTER_HEADROOM - self._peaks()[loop]

    def _peaks(self) -> Mapping[Operation, int]:
        if self.peaks is None:
            self.peaks = registers_in_loops(self.function.body, self.counted)
        return self.peaks

    def _limit(self, op: Operation) -> int:
        """Return the registers of a thread: of its agent, else of the kernel."""
        inner: Operation | None = op
        while inner is not None:
            for before in _before(inner):
                if type(before) is SetMaxRegisterOp:
                    return before.count.value.data
            inner = inner.parent_op()
        return self._at_entry()

    def _at_entry(self) -> int:
        threads = self.function.attributes.get(THREADS)
        if not isinstance(threads, DenseArrayBase):
            return self.target.registers_per_thread
        blocks = self.function.attributes.get(BLOCKS)
        count = blocks.value.data if isinstance(blocks, IntegerAttr) else 1
        return registers_at_entry(prod(threads.get_values()), self.target, count)


def _regroup(op: arith.AddiOp, loop: scf.ForOp) -> bool:
    """Add what a loop does not change before the rest, where nothing else needs the old sum."""
    base, scaled = op.lhs, op.rhs
    if _is_inside(base, loop):
        base, scaled = scaled, base
    product = scaled.owner if isinstance(scaled.owner, arith.MuliOp) else None
    found = scaled if product is None else product.lhs
    size = None if product is None else product.rhs
    if not isinstance(inner := found.owner, arith.AddiOp):
        return False
    fixed, moving = inner.lhs, inner.rhs
    if _is_inside(fixed, loop):
        fixed, moving = moving, fixed
    known = [value for value in (base, fixed, size) if value is not None]
    if any(_is_inside(value, loop) for value in known) or not _is_inside(moving, loop):
        return False
    if not (_is_last_use(scaled, op, loop) and _is_last_use(fixed, inner, loop)):
        return False
    if product is not None and not _is_last_use(found, product, loop):
        return False
    if size is not None:
        scaled_parts = [arith.MuliOp(part, size) for part in (fixed, moving)]
        Rewriter.insert_op(scaled_parts, InsertPoint.before(op))
        fixed, moving = (part.result for part in scaled_parts)
    first = arith.AddiOp(base, fixed)
    total = arith.AddiOp(first, moving)
    Rewriter.insert_op([first, total], InsertPoint.before(op))
    op.result.replace_all_uses_with(total.result)
    for old in (op, product, inner):
        if old is not None and not any(old.results[0].uses):
            Rewriter.erase_op(old)
    return True


def _is_inside(value: SSAValue, loop: scf.ForOp) -> bool:
    owner = value.owner
    block = owner.parent_block() if isinstance(owner, Operation) else owner
    return block is not None and loop.body.block.is_ancestor(block)


def _taken(op: Operation, loop: scf.ForOp) -> int:
    """Return the registers that results take in a loop, less those of operands it needs no more."""
    given = sum(own_registers(value) for value in {*op.operands} if _is_last_use(value, op, loop))
    return sum(map(own_registers, op.results)) - given


def _is_last_use(value: SSAValue, op: Operation, loop: scf.ForOp) -> bool:
    users = (use.operation for use in value.uses)
    return all(user is op or not loop.is_ancestor(user) for user in users)


def _is_invariant(op: Operation, body: Block) -> bool:
    for value in operands_of(op):
        if (owner := value.owner) is body or owner.parent is body:
            return False  # most are not: the questions below cost more
    is_pure = not has_trait(op, IsTerminator) and is_side_effect_free(op) and is_speculatable(op)
    return is_pure and bool(can_be_hoisted(op, cast("Region", body.parent)))


def _users(op: Operation) -> Iterator[Operation]:
    for result in op.results:
        yield from (use.operation for use in result.uses)


def _before(op: Operation) -> Iterator[Operation]:
    """The operations before one in its block, the nearest first."""
    while (previous := op.prev_op) is not None:
        op = previous
        yield op
