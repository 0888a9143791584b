"""Which iterations a CTA adds up, and whose sums it adds to its own.

    seven parts, groups of three:   0 1 2 | 3 4 5 | 6      2 adds 0 and 1; 5 adds 3 and 4
                                        +-------+-----+    6, the last one, adds 2 and 5

The last part of a group adds up its group, the last of all the groups in front of its own.  A CTA
waits for those with lower numbers alone, which hardware starts before it.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.builders.arith import add, constant, mul, select, sub
from tileas_xdsl.target.launches.divided_sums import GROUPS
from tileas_xdsl.transforms.deal_iterations.items import compared, divided, unsigned


@dataclass(frozen=True)
class Part:
    """The part of a tile block's iterations that a CTA has, as numbers of 32 bits."""

    number: SSAValue
    of_all: SSAValue
    tile_block: SSAValue
    is_last: SSAValue
    others: SSAValue
    """How many parts of other CTAs it adds to its own."""
    _of_group: SSAValue
    _first: SSAValue
    _group: SSAValue

    def added(self, build: Builder, index: SSAValue) -> SSAValue:
        """Return the number of a part that it adds: those of its group, then ends of groups."""
        one = constant(build, 1, i32)
        in_group = compared(build, index, self._of_group, "ult")
        of_group = add(build, self._first, index)
        ends = add(build, sub(build, index, self._of_group), one)
        end = sub(build, mul(build, ends, self._group), one)
        return select(build, in_group, of_group, end)


def part_of_cta(build: Builder, cta: SSAValue, ctas: SSAValue, count: SSAValue) -> Part:
    """Return the part of one of so many CTAs, a multiple of the `count` of tile blocks."""
    number, tile_block = divided(build, cta, count)
    zero, one = (constant(build, n, i32) for n in (0, 1))
    parts = unsigned(build, arith.DivUIOp, ctas, count)
    last = sub(build, parts, one)
    is_last = compared(build, number, last, "eq")
    group = _group(build, parts)
    index, in_group = divided(build, number, group)
    end = sub(build, group, one)
    is_end = unsigned(build, arith.OrIOp, compared(build, in_group, end, "eq"), is_last)
    of_group = select(build, is_end, in_group, zero)
    others = select(build, is_last, index, zero)
    first = mul(build, index, group)
    added = add(build, of_group, others)
    return Part(number, parts, tile_block, is_last, added, of_group, first, group)


def _group(build: Builder, parts: SSAValue) -> SSAValue:
    """Return how many parts are a group (`group_of`)."""
    number = partial(constant, build, type_=i32)
    found = number(GROUPS[0])
    for smaller, larger in pairwise(GROUPS):
        is_more = compared(build, parts, number(smaller * smaller), "ugt")
        found = select(build, is_more, number(larger), found)
    return found
