"""Find the merges of buffers (selects, loop-carried buffers) that reach one allocation only.

A merge is removable if every value that flows into it is a part of the same allocation: it is then
determined by an offset.  `offset_rewriting` has the example.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue, Use

from tileas_xdsl.analysis.memory.buffer_aliases import BufferAliases
from tileas_xdsl.analysis.memory.buffer_allocation import BufferOffset, BufferOffsets, Offset
from tileas_xdsl.analysis.memory.buffer_layouts import shows_in_place
from tileas_xdsl.analysis.values.loop_carried_values import Carried, ForwardedOperand
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ShuffleOp

_READERS = (ConvertLayoutOp, DotOp, ReduceOp, ScanOp, ShuffleOp)
_ELEMENTWISE = ("arith", "math")


@dataclass(frozen=True)
class Plan:
    """The merges of a program that can become numbers, and where they are."""

    aliases: BufferAliases
    places: BufferOffsets
    removable: Sequence[Carried]

    @staticmethod
    def of(root: Operation) -> Plan:
        """What can be done in `root`; what cannot leaves the rest as it is."""
        aliases = BufferAliases(root)
        lost = [m for m in aliases.merges if aliases.allocation_of(m.heads[0]) is None]
        places = BufferOffsets(aliases, lost)
        return Plan(aliases, places, [m for m in aliases.merges if m in places.found])

    @cached_property
    def feeds(self) -> frozenset[ForwardedOperand]:
        """The operands that flow into merges which go."""
        return frozenset(feed for merge in self.removable for feed in merge.feeds)

    def offset_of(self, merge: Carried, head: SSAValue) -> BufferOffset:
        """Where a merge is; where that changes, a number that stands for `head` tells."""
        merged = self.places.found[merge]
        return merged.offset or BufferOffset(merged.base, Offset().plus(head))

    def outer_uses(self, head: SSAValue) -> Sequence[Use]:
        """The uses of an alias, in order, but for those that flow into merges which go too."""
        uses = [
            use for use in head.uses if ForwardedOperand(use.operation, use.index) not in self.feeds
        ]
        return uses[::-1]

    def is_copied(self, merge: Carried, head: SSAValue) -> bool:
        """Whether users get copies: they see another layout than the buffer's, and only read.

        Where one of them does more, all of them see the buffer as they did before.
        """
        offset = self.offset_of(merge, head)
        if shows_in_place(offset.base.type, head.type, offset.offset.known):
            return False
        return all(_reads_at_once(use, head.type) for use in self.outer_uses(head))


def _reads_at_once(use: Use, type_: Attribute) -> bool:
    """Whether an operation reads a tile when it runs, and does nothing else with it.

    Only then is a copy as good as the tile: nobody can write between the copy and the read, or
    write to the tile through this use.
    """
    op = use.operation
    if not isinstance(type_, TensorType) or isinstance(op, arith.SelectOp):
        return False
    match op:
        case CopyOp():
            return use.index == 0
        case TiledStoreOp():
            return use.index == 1
        case _:
            return isinstance(op, _READERS) or op.dialect_name() in _ELEMENTWISE
