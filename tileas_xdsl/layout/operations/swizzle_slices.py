"""Slices of swizzled layouts, as plain layouts where no two of their bits are swizzled together.

The swizzle xors bit `y` of an offset onto bit `z`.  Where the part that is sliced away decides one
of each pair, the other is worth the same in the whole slice: `z` is added, or taken away if `y` is
set; `y` is worth `y + z`, or `y - z` if `z` is set.

>>> make_swizzle_strides(Swizzle(2, 4, 3), 128)
((-16, 32), (144, 288))
>>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 128), (128, 1)))
>>> print(*slice_and_offset((2, None), tile))
((32,2,2)):((1,-32,64)) 288
>>> print(*slice_and_offset((None, None), tile))
S<3,4,3> o 0 o (8,128):(128,1) 0

CuTe writes such offsets as `MixedBits`: bits that are known when C++ is compiled, and a mask of
those that are not.  Here integers are known, and of symbolic ones no bit is: their slices stay
swizzled.  Source: CUTLASS include/cute/swizzle_layout.hpp, swizzle.hpp.
"""

from __future__ import annotations

from typing import Any

from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import Coord
from tileas_xdsl.layout.integers import Symbolic
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.operations.compose import composition
from tileas_xdsl.layout.swizzle import Swizzle


def make_swizzle_strides(swizzle: Swizzle, offset: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return what the lower and the upper bits of a swizzle are worth from `offset` on.

    Each is the difference that the bit makes, with the other bits as `offset` has them.
    """
    low = 1 << swizzle.base
    high = low << abs(swizzle.shift)
    bits = range(swizzle.bits)
    return (
        tuple(_worth(swizzle, offset, low << i) for i in bits),
        tuple(_worth(swizzle, offset, high << i) for i in bits),
    )


def slice_and_offset(crd: Coord, layout: AnyLayout) -> tuple[Any, Any]:
    """The sub-layout under the `None`s of `crd`, and the offset of its first element.

    A swizzled slice is a plain layout if it can be one.  Else what is composed outside does not add
    up: the composed layout keeps the offset inside, and 0 is returned.
    """
    found = layout.slice(crd)
    if not isinstance(found, ComposedLayout):
        return found, layout.index(crd)
    return _unswizzled(found) or (found, 0)


def _unswizzled(layout: ComposedLayout) -> tuple[Layout, int] | None:
    """Return a swizzled layout as a plain one and its offset; None if it is none.

    Its bits, whose last element has them all, must be none of the offset's, and no two of a pair.
    """
    swizzle, inner, offset = layout.outer, layout.inner, layout.offset
    if not (isinstance(swizzle, Swizzle) and isinstance(inner, Layout)):
        return None
    leaves = inner.leaves()
    if isinstance(offset, Symbolic) or any(not isinstance(d, int) or d < 0 for _, d in leaves):
        return None
    bits = inner(inner.size() - 1)
    if bits & offset or bits & swizzle.target_mask & ~swizzle(bits) or bits != _united(leaves):
        return None
    low, high = make_swizzle_strides(swizzle, offset)
    twos, gap = (2,) * swizzle.bits, abs(swizzle.shift) - swizzle.bits
    above = swizzle.base + swizzle.bits
    shape = (1 << swizzle.base, *twos, 1 << gap, *twos, 1)
    strides = (1, *low, 1 << above, *high, 1 << (above + gap + swizzle.bits))
    try:
        return composition(Layout(shape, strides), inner), swizzle(offset)
    except LayoutError:
        return None


def _united(leaves: Any) -> int:
    """Return the bits that powers of two with strides of powers of two may set; -1 for others."""
    found = 0
    for extent, stride in leaves:
        reach = (extent - 1) * stride
        if extent & (extent - 1) or stride & (stride - 1) or found & reach:
            return -1
        found |= reach
    return found


def _worth(swizzle: Swizzle, offset: int, bit: int) -> int:
    return swizzle(offset | bit) - swizzle(offset & ~bit)
