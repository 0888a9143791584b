"""Register coalescing: values that flow into one another share registers where they can.

PTX has no block arguments and no tied operands, so the printer must write moves for both, unless
both sides have one register. Two values are coalesced if their live ranges do not interfere
(Chaitin et al., "Register allocation via coloring", 1981), in order of benefit: in-place operands
(accumulators of wgmma) first, then loop-carried values, then other block arguments.

    ^loop(%a):                          %r2 is %n at entry, %a and %b:
      %b = mul.lo.s32 %a, %a            $L1: mul.lo.s32 %r2, %r2, %r2;
      bra ^loop(%b)                          @%p0 bra $L1;

Were %a used after %b, both would be live at once: `mov.b32` then carries %b to %a. All other
values have virtual registers of their own, which ptxas allocates.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Block, SSAValue

from tileas_xdsl.backend.ptx.printer_liveness import Liveness, Range
from tileas_xdsl.backend.ptx.printer_views import whole
from tileas_xdsl.dialects.ptx.base import PtxOp
from tileas_xdsl.dialects.ptx.structure.control import BraOp, CondBraOp

Pair = tuple[SSAValue, SSAValue]


def edges(op: object) -> Iterator[tuple[Block, Sequence[SSAValue]]]:
    """Yield the successors of a terminator, with the values passed to their arguments."""
    if isinstance(op, BraOp):
        yield op.target, op.arguments
    elif isinstance(op, CondBraOp):
        yield op.then_target, op.then_arguments
        yield op.else_target, op.else_arguments


def shared_registers(blocks: Sequence[Block]) -> Mapping[SSAValue, SSAValue]:
    """Map each value to the value whose registers it shares, where that is another one."""
    in_place = [*_in_place(blocks)]
    candidates = [*in_place, *_passed(blocks, {value for pair in in_place for value in pair})]
    if not candidates:
        return {}
    liveness = Liveness(blocks, dict.fromkeys(value for pair in candidates for value in pair))
    classes = _Classes(liveness)
    for one, other in candidates:
        classes.join(one, other)
    return classes.leaders()


def _in_place(blocks: Sequence[Block]) -> Iterator[Pair]:
    """Yield operands and results that are the same registers of an instruction."""
    for block in blocks:
        for op in block.ops:
            if getattr(op, "IN_PLACE", False):
                assert isinstance(op, PtxOp)
                for operand, result in op.in_place():
                    source = whole(op.operands[operand])
                    if source is not None:
                        yield source, op.results[result]


def _passed(blocks: Sequence[Block], accumulators: set[SSAValue]) -> Iterator[Pair]:
    """Yield block arguments and the values passed to them, back edges (of loops) first.

    Accumulators that a loop begins with are moved once, in front of it, where branches chose them:
    of registers that several branches write ptxas 13.5 lets no product run on (C7515).
    """
    order = {block: index for index, block in enumerate(blocks)}
    forward: list[Pair] = []
    carried, flowing = set[SSAValue](), set[SSAValue]()
    for index, block in enumerate(blocks):
        for target, values in edges(block.last_op):
            pairs = [
                (argument, source)
                for argument, value in zip(target.args, values, strict=True)
                if (source := whole(value)) is not None and source is not argument
            ]
            of_products = [
                argument
                for argument, source in pairs
                if source in accumulators or source in flowing
            ]
            if order[target] <= index:
                yield from pairs
                carried.update(of_products)
            else:
                forward += pairs
                flowing.update(of_products)
    flowing |= carried
    for argument, source in forward:
        is_chosen = isinstance(source.owner, Block) and source not in flowing
        if argument not in carried or not is_chosen:
            yield argument, source


class _Class:
    """Values that share registers: no two interfere, so at most one is live at any position."""

    def __init__(self, found: Range) -> None:
        self.leader = found
        self.members = [found]
        self.by_block: dict[Block, list[Range]] = {found.block: [found]}
        """Members by the block that writes them, in the order in which it does."""

    def takes(self, found: Range, liveness: Liveness) -> bool:
        """Return whether a value interferes with no member.

        In its own block only the members written just before and after it matter: the ranges of the
        others end before or begin after those.
        """
        for block, members in self.by_block.items():
            near = members
            if block is found.block:
                at = bisect_left(members, found.start, key=_start)
                near = members[max(0, at - 1) : at + 2]
            if any(liveness.interfere(found, member) for member in near):
                return False
        return True

    def add(self, found: Range) -> None:
        """Make a value a member."""
        self.members.append(found)
        insort(self.by_block.setdefault(found.block, []), found, key=_start)


def _start(found: Range) -> int:
    return found.start


class _Classes:
    """A partition of values into those that share registers."""

    def __init__(self, liveness: Liveness) -> None:
        self._liveness = liveness
        self._classes = {value: _Class(found) for value, found in liveness.ranges.items()}

    def join(self, one: SSAValue, other: SSAValue) -> None:
        """Make one class of two if no members of them interfere."""
        first, second = self._classes[one], self._classes[other]
        if first is second or not self._compatible(first, second):
            return
        if len(first.members) < len(second.members):
            first, second = second, first
        for member in second.members:
            first.add(member)
            self._classes[member.value] = first

    def _compatible(self, first: _Class, second: _Class) -> bool:
        if first.leader.value.type != second.leader.value.type:
            return False
        small, large = sorted((first, second), key=lambda found: len(found.members))
        if any(found.leader.read_in_background for found in (small, large)):
            return False
        return all(large.takes(member, self._liveness) for member in small.members)

    def leaders(self) -> Mapping[SSAValue, SSAValue]:
        """Map each value to the leader of its class, where that is another value."""
        return {
            value: found.leader.value
            for value, found in self._classes.items()
            if found.leader.value is not value
        }
