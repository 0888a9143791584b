"""What `cute.mma.make_fragment` makes of operands that are not in registers.

An operand in shared memory is a view of descriptors, one for each instruction that repeats; sums in
tensor memory are a view whose address the kernel allocates.
Source: CUTLASS include/cute/atom/mma_traits_sm90_gmma.hpp and mma_traits_sm100_frag.hpp.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from xdsl.ir import Attribute

from tileas_xdsl.dialects.cute.base.symbolic_values import map_tree
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr
from tileas_xdsl.dialects.cute.types.tuples import ShapeType
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu.types import SmemDescType, SmemDescViewType
from tileas_xdsl.layout import Layout, int_tuple
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.target.tensor_memory import LANE_STEP, accumulator, counted

UNIT_BITS = 128
"""What descriptors count in."""

PARTITIONED_RANK = 3
"""Modes of a partitioned operand, at least: what an instruction takes, and how it repeats."""


def descriptors_of(source: Attribute) -> SmemDescViewType:
    """Descriptors of an operand that is partitioned as `source`: mode 0 is one instruction's.

    `LayoutError` for what is not in shared memory, or not in steps of 16 bytes.
    """
    if not isinstance(source, MemRefType) or source.space is not AddressSpace.SMEM:
        raise LayoutError(f"descriptors are of views of smem, not {source}")
    layout = source.layout
    if not isinstance(layout, Layout) or layout.rank < PARTITIONED_RANK:
        raise LayoutError(f"a partitioned operand has three modes at least, not {layout}")
    bits = bit_width(source.element_type)
    _, *shape = int_tuple.wrap(layout.shape)
    _, *stride = int_tuple.wrap(layout.stride)
    steps = map_tree(partial(_in_units, bits), tuple(stride))
    return SmemDescViewType(SmemDescType(), LayoutAttr(Layout((1, *shape), (0, *steps))))


def _in_units(bits: int, stride: Any) -> int:
    """A stride in elements as a step of descriptors."""
    if not isinstance(stride, int) or stride * bits % UNIT_BITS:
        raise LayoutError(
            f"descriptors are known numbers of 16 bytes apart, not {stride} elements of {bits} bits"
        )
    return int(stride * bits // UNIT_BITS)


def accumulators_of(
    source: Attribute, element: Attribute, shape: tuple[int, int], blocks: int
) -> MemRefType:
    """Sums in tensor memory, of a partitioned view or shape; rests lie in columns beside.

    `LayoutError` for elements that do not fill a cell, or a shape that is not known.
    """
    if bit_width(element) != WORD_BITS:
        raise LayoutError(
            f"views of tensor memory have elements of {WORD_BITS} bits, not {element}"
        )
    modes: Any = source.data if isinstance(source, ShapeType) else None
    if isinstance(source, MemRefType):
        modes = source.layout.shape
    if not is_tuple(modes) or len(modes) < PARTITIONED_RANK:
        raise LayoutError(f"a partitioned operand has three modes at least, not {source}")
    rests = modes[1:]
    if not all(isinstance(extent, int) for extent in int_tuple.flat(rests)):
        raise LayoutError(f"tensor memory is allocated for known extents, not {source}")
    first = counted(accumulator(*shape, blocks), LANE_STEP)
    beside = Layout(rests)
    columns = (first.cosize() - 1) % LANE_STEP + 1
    steps = map_tree(lambda step: step * columns, beside.stride)
    make: Any = MemRefType
    layout = Layout((first.shape, *rests), (first.stride, *steps))
    return cast("MemRefType", make(element, AddressSpace.TMEM, layout))
