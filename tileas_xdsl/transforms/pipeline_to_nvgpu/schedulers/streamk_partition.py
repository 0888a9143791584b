"""Stream-K work units: the K range of each, and the tile and part of the tile that it covers.

The tiles along K of all shared tiles lie in a row, tile after tile; units share the row evenly, the
first ones have one more where it does not divide.  A unit does the tiles of its range from the last
to the first: what it has of its last tile is the beginning of that tile, which others wait for.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


@dataclass(frozen=True)
class Units:
    """Parameters of stream-K; see `parts` for what each is."""

    m: SSAValue
    n: SSAValue
    l: SSAValue
    k: SSAValue
    units: SSAValue
    shared: SSAValue
    each: SSAValue
    more: SSAValue


@dataclass(frozen=True)
class Part:
    """What a unit is at: tiles along K of one tile."""

    tile: SSAValue
    """Its number."""
    start: SSAValue
    """The first one along K."""
    count: SSAValue


def total(w: Writer, params: Values) -> SSAValue:
    """The number of tiles."""
    m, n, l = params[:3]
    return w.multiply(w.multiply(m, n), l)


def shared_by(
    w: Writer, tiles: tuple[SSAValue, SSAValue, SSAValue], k: SSAValue, waves: SSAValue, least: int
) -> Values:
    """The parts of parameters: `waves` units run at once, `least` tiles along K are worth while.

    Tiles are shared where the last wave is not full, then those of the wave before too.
    """
    count = total(w, tiles)
    full = w.divide(count, waves)
    rest = w.subtract(count, w.multiply(full, waves))
    several = w.compare("ugt", full, 1)
    whole = w.pick(several, w.multiply(w.subtract(full, 1), waves), w.number(0))
    splits = w.both(w.compare("ne", rest, 0), w.compare("ugt", k, least))
    shared = w.pick(splits, w.subtract(count, whole), w.number(0))
    row = w.multiply(shared, k)
    units = w.least(waves, w.divide(row, least))
    some = w.compare("ne", units, 0)
    each = w.divide(row, w.pick(some, units, w.number(1)))
    return (*tiles, k, units, shared, each, w.subtract(row, w.multiply(each, units)))


def unit(w: Writer, u: Units, number: SSAValue) -> Values:
    """The parts of the unit that has a number: at first all of its range is left."""
    begin = w.add(w.multiply(number, u.each), w.least(number, u.more))
    extra = w.insert(arith.ExtUIOp(w.compare("ult", number, u.more), i32)).result
    is_shared = w.compare("ult", number, u.units)
    single = w.multiply(w.add(w.subtract(number, u.units), u.shared), u.k)
    count = w.subtract(w.add(total(w, (u.m, u.n, u.l)), u.units), u.shared)
    return (
        number,
        w.compare("ult", number, count),
        w.pick(is_shared, begin, single),
        w.pick(is_shared, w.add(u.each, extra), u.k),
    )


def part(w: Writer, u: Units, work: Values) -> Part:
    """The last part of what is left of a unit."""
    _, _, start, left = work
    end = w.add(start, left)
    tile = w.divide(w.subtract(end, 1), u.k)
    begin = w.multiply(tile, u.k)
    first = w.pick(w.compare("ult", start, begin), begin, start)
    return Part(tile, w.subtract(first, begin), w.subtract(end, first))


def following(w: Writer, u: Units, work: Values, blocks: SSAValue) -> Values:
    """The next part of the unit; behind its first one comes the unit `blocks` further on."""
    number, valid, start, left = work
    rest = w.subtract(left, part(w, u, work).count)
    again = w.compare("ne", rest, 0)
    this = (number, valid, start, rest)
    that = unit(w, u, w.add(number, blocks))
    return tuple(w.pick(again, mine, next_) for mine, next_ in zip(this, that, strict=True))


def is_last(w: Writer, u: Units, part: Part) -> SSAValue:
    """Whether a part is the last one of its tile."""
    return w.compare("eq", w.add(part.start, part.count), u.k)
