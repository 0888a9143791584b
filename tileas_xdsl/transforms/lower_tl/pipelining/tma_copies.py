"""Which global-to-shared copies TMA can do, as one bulk tensor copy per panel.

A tensor map is a hidden argument of the kernel.  Only arrays qualify whose rows the type promises
to be multiples of 16 bytes apart.  What is outside of the array arrives as 0, and counts as bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import TmaLoadOp
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe
from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.moves import CopyOp
from tileas_xdsl.inference.gemm_layouts import shared_layout
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT
from tileas_xdsl.threads.codegen.integer_ops import add, cast_index, index_constant
from tileas_xdsl.threads.codegen.lowered_values import Descriptor, GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.convert.element_conversion import CARRIERS
from tileas_xdsl.threads.tma.descriptor_args import hidden_argument
from tileas_xdsl.transforms.lower_tl.buffer_locations import SharedLocation
from tileas_xdsl.transforms.lower_tl.lowering_state import State

UNIT = 16
"""Bytes that rows of arrays and of boxes are multiples of (PTX ISA, cp.async.bulk.tensor)."""

MODES = ("none", "32B", "64B", "128B")
"""Swizzles of a tensor map by the bits that they permute."""

MAX_RANK = 5

PATTERN = 1024
"""Bytes after which every swizzle repeats, at multiples of which panels begin."""


@dataclass(frozen=True)
class Panels:
    """The layout of a tile in shared memory: `count` consecutive panels of `columns` columns."""

    columns: int
    count: int
    swizzle: str
    bytes: int
    """Of a panel."""


@dataclass(frozen=True)
class Transfer:
    """A copy from global to shared memory by TMA."""

    copy: CopyOp
    panels: Panels
    descriptor: Descriptor

    @property
    def bytes(self) -> int:
        """What arrives, with what is outside of the array."""
        return self.panels.count * self.panels.bytes

    def start(self, state: State, barrier: SSAValue) -> None:
        """One thread starts the bulk copies of all panels."""
        e, copy = state.e, self.copy
        place = state.places[copy.target]
        assert isinstance(place, SharedLocation)
        side, pointer = copy.source_side, place.pointer(e)
        starts = [state.scalar(value) for value in side.offsets]
        starts = starts or [index_constant(e, 0)] * len(side.variables)
        for number in range(self.panels.count):
            inner = add(e, starts[-1], number * self.panels.columns) if number else starts[-1]
            at = [cast_index(e, value, i32) for value in (inner, *reversed(starts[:-1]))]
            target = advance(e, pointer, number * self.panels.bytes, PATTERN)
            e.insert(TmaLoadOp(self.descriptor.argument, target, barrier, at))


def transfers_of(state: State, copies: Sequence[CopyOp]) -> list[Transfer] | None:
    """The copies as TMA makes them; None where it cannot make all of them."""
    found = [_panels_of(state, copy) for copy in copies]
    panels = [one for one in found if one is not None]
    if len(panels) < len(copies):
        return None
    return [
        Transfer(copy, one, _descriptor(state, copy, one))
        for copy, one in zip(copies, panels, strict=True)
    ]


def _descriptor(state: State, copy: CopyOp, panels: Panels) -> Descriptor:
    source = copy.source
    assert isinstance(source, BlockArgument)
    recipe = TensorMapRecipe(source.index, _box(copy, panels), element_of(source.type))
    recipe.swizzle, recipe.panel = panels.swizzle, panels.columns
    return hidden_argument(state.e, recipe)


def _box(copy: CopyOp, panels: Panels) -> tuple[int, ...]:
    """Innermost first."""
    extents = copy.loop_extents
    lines = [1 if k is None else extents[k] for k in copy.source_side.variables[:-1]]
    return (panels.columns, *reversed(lines))


def _panels_of(state: State, copy: CopyOp) -> Panels | None:
    """Return the panels of the destination; None where TMA cannot make the copy."""
    source, target = state.places[copy.source], state.places[copy.target]
    element = element_of(copy.source.type)
    if not isinstance(source, GlobalView) or not isinstance(target, SharedLocation):
        return None
    if element != element_of(copy.target.type) or element in CARRIERS:
        return None
    if not isinstance(copy.source, BlockArgument) or not _is_regular(source, bits_of(element) // 8):
        return None
    extents, kept = copy.loop_extents, [k for k in copy.source_side.variables if k is not None]
    if kept != list(range(len(extents))) or extents != target.shape or not copy.fills_target:
        return None
    if copy.source_side.variables[-1] is None:
        return None
    panels = _panels(target, bits_of(element))
    is_small = panels is not None and all(n <= BOX_LIMIT for n in _box(copy, panels))
    return panels if is_small else None


def _is_regular(source: GlobalView, size: int) -> bool:
    """Return whether the type of an array permits a tensor map (strides, rank)."""
    *outer, inner = source.strides
    is_row = isinstance(inner, int) and inner == 1
    steps = [stride for stride in outer if isinstance(stride, int) and stride * size % UNIT == 0]
    return is_row and len(steps) == len(outer) and 1 <= len(source.extents) <= MAX_RANK


def _panels(place: SharedLocation, bits: int) -> Panels | None:
    """Return the panels of a tile in a TMA swizzle layout; None for any other layout."""
    offsets = table(place.layout)
    for permuted, mode in enumerate(MODES):
        whole = shared_layout(place.shape, bits, permuted)
        span = (UNIT << permuted) * 8 // bits if permuted else place.shape[-1]
        row = min(span, place.shape[-1])
        is_whole = not permuted or row == span
        if is_whole and row * bits // 8 % UNIT == 0 and np.array_equal(table(whole), offsets):
            count = place.shape[-1] // row
            size = row * bits // 8 * int(np.prod(place.shape[:-1], dtype=np.int64))
            return Panels(row, count, mode, size) if count == 1 or size % PATTERN == 0 else None
    return None
