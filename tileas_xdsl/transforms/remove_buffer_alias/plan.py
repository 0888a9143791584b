"""Which merges of buffers can become numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue, Use

from tileas_xdsl.analysis.buffer_aliases import BufferAliases
from tileas_xdsl.analysis.buffer_layouts import shows_in_place
from tileas_xdsl.analysis.buffer_places import BufferPlaces, Offset, Place, step_of
from tileas_xdsl.analysis.carried import Carried, Feed
from tileas_xdsl.dialects.nv_tileas.compute import DotOp, ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp, ShuffleOp
from tileas_xdsl.dialects.nv_tileas.memory import TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.memory_copy import CopyOp

_READERS = (ConvertLayoutOp, DotOp, ReduceOp, ScanOp, ShuffleOp)
_ELEMENTWISE = ("arith", "math")


@dataclass(frozen=True)
class Renaming:
    """An alias under another layout than its buffer, where no copy can take its place."""

    buffer: SSAValue
    alias: SSAValue
    user: Operation


@dataclass(frozen=True)
class Plan:
    """The merges of a program that can become numbers, and where they are."""

    aliases: BufferAliases
    places: BufferPlaces
    removable: Sequence[Carried]
    renamings: Mapping[Carried, Renaming]
    """The merges for which a copy is needed that cannot be made; views under their layout stay."""

    @staticmethod
    def of(root: Operation) -> Plan:
        """What can be done in `root`; what cannot leaves the rest as it is."""
        aliases = BufferAliases(root)
        lost = {m for m in aliases.merges if aliases.allocation_of(m.heads[0]) is None}
        renamings: dict[Carried, Renaming] = {}
        beginnings: set[SSAValue] = set()
        while True:
            places = BufferPlaces(aliases, lost, beginnings)
            removable = [m for m in aliases.merges if m in places.found]
            plan = Plan(aliases, places, removable, renamings)
            refused = {m: r for m in removable if (r := plan.renaming(m)) is not None}
            if not refused:
                return plan
            renamings = {**refused, **renamings}
            for merge in refused:
                views = {v for feed in merge.feeds for v in _renaming_views(feed.value)}
                if views <= beginnings:
                    lost.add(merge)
                beginnings |= views

    @cached_property
    def feeds(self) -> frozenset[Feed]:
        """The operands that flow into merges which go."""
        return frozenset(feed for merge in self.removable for feed in merge.feeds)

    def place_of(self, merge: Carried, head: SSAValue) -> Place:
        """Where a merge is; where that changes, a number that stands for `head` tells."""
        merged = self.places.found[merge]
        return merged.place or Place(merged.base, Offset().plus(head))

    def renaming(self, merge: Carried) -> Renaming | None:
        """A use of an alias that needs a copy in another layout and cannot have one."""
        for head in merge.heads:
            if not self.needs_copies(merge, head):
                continue
            for use in head.uses:
                if Feed(use.operation, use.index) in self.feeds or _reads_at_once(use, head.type):
                    continue
                return Renaming(self.places.found[merge].base, head, use.operation)
        return None

    def needs_copies(self, merge: Carried, head: SSAValue) -> bool:
        """Whether an alias shows its allocation under another layout."""
        place = self.place_of(merge, head)
        return not shows_in_place(place.base.type, head.type, place.offset.known)


def _renaming_views(value: SSAValue) -> Iterator[SSAValue]:
    """The views on the way of a buffer that show it under another layout."""
    while (step := step_of(value)) is not None:
        source, offset = step
        if not shows_in_place(source.type, value.type, offset.known):
            yield value
        value = source


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
