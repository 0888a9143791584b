"""How CTAs walk through the tile blocks of a grid: where they begin, and how they go on.

    8 tile blocks, 3 CTAs     CTA 0    CTA 1    CTA 2
    straight                  0 3 6    1 4 7    2 5
    serpentine                0 5 6    1 4 7    2 3

Places in the grid are carried from one tile block to the next: a division takes some hundred
cycles, in which nothing is multiplied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul, select, sub

Place: TypeAlias = Sequence[SSAValue]
"""Coordinates of a tile block in the grid, or how far apart two of them are."""


REMAINDERS = 8
"""Rows that follow one another may begin at so many elements of a vector: 16 bytes of 16 bits."""


@dataclass(frozen=True)
class Tour:
    """The loop of a CTA: tile blocks `first`, `first + step`, ... below `count`."""

    first: SSAValue
    step: SSAValue
    count: SSAValue
    extents: Place


@dataclass(frozen=True)
class StraightWalk:
    """Each round goes through the grid in its order."""

    begin: Place
    """What the loop over tile blocks carries into its first round, the place in front."""
    by: Place
    extents: Place

    @staticmethod
    def of(build: Builder, tour: Tour) -> StraightWalk:
        """Compute where a CTA begins, and how far it goes."""
        begin, by = (places(build, number, tour.extents) for number in (tour.first, tour.step))
        return StraightWalk(begin, by, tour.extents)

    def following(self, build: Builder, carried: Place) -> Place:
        """Return what the next round gets."""
        return moved(build, carried, self.by, self.extents)


@dataclass(frozen=True)
class SerpentineWalk:
    """Every other round goes through its tile blocks backwards.

    A CTA that gets one of the longest in a round gets one of the shortest in the next: lengths that
    rise or fall along an axis add up to nearly the same.  The last round, which need not have one
    for each CTA, goes forwards.
    """

    begin: Place
    """The place, and whether the next round goes forwards."""
    forwards: Place
    """How far it is to the same CTA's tile block in a round that goes forwards."""
    backwards: Place
    extents: Place

    @staticmethod
    def of(build: Builder, tour: Tour) -> SerpentineWalk:
        """Compute where a CTA begins, and how far it goes in either direction.

        forwards, round r:   r step + first                    2 (step - first) - 1 to the next
        backwards:           r step + (step - 1 - first)       2 first + 1 to the next
        """
        one = constant(build, 1, i32)
        last = build.insert(arith.DivUIOp(sub(build, tour.count, one), tour.step)).result
        turned = build.insert(arith.AndIOp(last, one)).result
        is_turned = build.insert(arith.CmpiOp(turned, one, "eq")).result
        twice = add(build, add(build, tour.first, tour.first), one)
        rest = sub(build, add(build, tour.step, tour.step), twice)
        mirrored = sub(build, sub(build, tour.step, one), tour.first)
        begin = select(build, is_turned, mirrored, tour.first)
        place, forwards, backwards = (
            places(build, number, tour.extents) for number in (begin, twice, rest)
        )
        return SerpentineWalk((*place, turned), forwards, backwards, tour.extents)

    def following(self, build: Builder, carried: Place) -> Place:
        """Return what the next round gets."""
        *place, turned = carried
        one = constant(build, 1, i32)
        is_turned = build.insert(arith.CmpiOp(turned, one, "eq")).result
        pairs = zip(self.forwards, self.backwards, strict=True)
        by = [select(build, is_turned, ahead, back) for ahead, back in pairs]
        other = build.insert(arith.XOrIOp(turned, one)).result
        return *moved(build, place, by, self.extents), other


def strided_loop(
    build: Builder, walk: StraightWalk | SerpentineWalk, tour: Tour, inside: Sequence[Operation]
) -> tuple[scf.ForOp, Place]:
    """Put what depends on the tile block into a loop that walks; return it and the place in it."""
    body = Block(arg_types=[i32] * (1 + len(walk.begin)))
    carried = body.args[1:]
    made = scf.ForOp(tour.first, tour.count, tour.step, walk.begin, Region(body))
    build.insert(made)
    for op in inside:
        op.detach()
        body.add_op(op)
    end = Builder(InsertPoint.at_end(body))
    end.insert(scf.YieldOp(*walk.following(end, carried)))
    return made, carried


def loops_of_equal_remainders(
    build: Builder, tour: Tour, inside: Sequence[Operation]
) -> tuple[scf.ForOp, Place]:
    """Put tile blocks into a loop of those along x whose numbers are equal modulo `REMAINDERS`.

    scf.for %s = %cta to %step step %ctas {          // one round: %step is %ctas, rounded down
      scf.for %i = %s to %nx step %step { ... } }

    Rows that many tile blocks apart begin as far behind a vector, whatever their stride is, so that
    how they are rotated is the same in all rounds.  With fewer CTAs each goes through several.
    Tile blocks read x alone: those of other planes of the grid would do the same once more.
    """
    down = build.insert(arith.AndIOp(tour.step, constant(build, -REMAINDERS, i32))).result
    step = build.insert(arith.MaxUIOp(down, constant(build, REMAINDERS, i32))).result
    outer, body = Block(arg_types=[i32]), Block(arg_types=[i32])
    made = scf.ForOp(outer.args[0], tour.extents[0], step, [], Region(body))
    build.insert(scf.ForOp(tour.first, step, tour.step, [], Region(outer)))
    outer.add_ops([made, scf.YieldOp()])
    for op in inside:
        op.detach()
        body.add_op(op)
    body.add_op(scf.YieldOp())
    zero = constant(build, 0, i32)
    return made, (body.args[0], zero, zero)


def places(build: Builder, number: SSAValue, extents: Place) -> Place:
    """Return where in the grid a number of tile blocks is: x runs fastest, as in hardware."""
    place: list[SSAValue] = []
    for extent in extents[:-1]:
        quotient = build.insert(arith.DivUIOp(number, extent)).result
        place.append(sub(build, number, mul(build, quotient, extent)))
        number = quotient
    return *place, number


def moved(build: Builder, place: Place, by: Place, extents: Place) -> Place:
    """Return the sum of two places, with what exceeds an extent carried to the next axis."""
    found: list[SSAValue] = []
    carried: SSAValue | None = None
    for at, distance, extent in zip(place, by, extents, strict=True):
        added = add(build, at, distance)
        if carried is not None:
            added = add(build, added, carried)
        is_beyond = build.insert(arith.CmpiOp(added, extent, "uge")).result
        found.append(select(build, is_beyond, sub(build, added, extent), added))
        if len(found) < len(extents):
            carried = build.insert(arith.ExtUIOp(is_beyond, i32)).result
    return found
