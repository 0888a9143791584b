"""Allocate a block's buffers: register tiles of threads, offsets in shared memory.

tl.alloc_fragment : memref<64x64xf32>, 128 threads        %r = zeros : vector<32xf32>
tl.alloc_local : memref<4xi32>                      ->    %r = zeros : vector<4xi32>
tl.alloc_shared : memref<64x64xf16>                       8192 bytes at an aligned offset
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of, shape_of
from tileas_xdsl.dialects.tl.buffers import (
    AllocFragmentOp,
    AllocLocalOp,
    AllocSharedOp,
    ReshapeOp,
    ViewOp,
    storage_of,
)
from tileas_xdsl.dialects.tl.fragments import layout_of
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.swizzle import Swizzle
from tileas_xdsl.layout.tables import table
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.target.isa.tables.warps import MAX_REGISTERS
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.convert.element_conversion import storage_type
from tileas_xdsl.threads.registers.vector_values import joined, zero
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT
from tileas_xdsl.transforms.lower_tl.buffer_locations import (
    FragmentLocation,
    LocalLocation,
    SharedLocation,
)
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import packed_in_word, padded
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State


def alloc_fragment(state: State, op: AllocFragmentOp) -> None:
    """Allocate the registers of a fragment; elements never written read as zero."""
    if op.layout is None:
        raise op_error(op, "has no layout: tl-layout-inference gives it one")
    layout = layout_of(op.layout, shape_of(op.buffer.type), state.threads)
    location = fragment_location(op.buffer, op.buffer, layout)
    if location.registers > (most := MAX_REGISTERS * _packed(location.element)):
        raise op_error(
            op, f"gives each thread {layout.slots} elements, and at most {most} fit in registers"
        )
    state.locations[op.buffer] = location
    state.registers[op.buffer] = joined(
        state.e, [zero(state.e, location.element)] * location.registers
    )


def fragment_location(buffer: SSAValue, storage: SSAValue, layout: FragmentMap) -> FragmentLocation:
    """Return the registers that hold a fragment in a register layout."""
    element = element_of(buffer.type)
    return FragmentLocation(storage, layout, element, padded(layout.slots, _packed(element)))


def _packed(element: Attribute) -> int:
    return packed_in_word(bits_of(element))


def alloc_local(state: State, op: AllocLocalOp) -> None:
    """Registers of each thread."""
    shape, element = shape_of(op.buffer.type), element_of(op.buffer.type)
    count = padded(prod(shape), _packed(element))
    state.locations[op.buffer] = LocalLocation(op.buffer, shape, element, count)
    state.registers[op.buffer] = joined(state.e, [zero(state.e, element)] * count)


def alloc_shared(state: State, op: AllocSharedOp) -> None:
    """Allocate a buffer in shared memory, row-major unless it has a layout."""
    shape, element = shape_of(op.buffer.type), element_of(op.buffer.type)
    kept = storage_type(element)
    size = bits_of(kept) // BYTE_BITS
    if not size:
        raise op_error(op, f"has elements of {element}, and memory holds whole bytes")
    layout = row_major(shape, size) if op.layout is None else op.layout.data
    offsets = table(layout)
    if (offsets % size).any() or (offsets < 0).any():
        raise op_error(op, f"has a layout that puts elements elsewhere than at multiples of {size}")
    bytes_ = int(offsets.max()) + size
    name = op.buffer.name_hint or "shared"
    what = f"{'x'.join(map(str, shape))} {element}, {layout}"
    stages = state.stages.get(op.buffer, 1)
    stage_bytes = align_up(bytes_, ALIGNMENT)
    if stages > 1:
        bytes_, what = stages * stage_bytes, f"{stages} stages of {what}"
    offset = state.e.plan.shared.allocate(op, name, bytes_, what)
    state.locations[op.buffer] = SharedLocation(offset, shape, layout, element, stage_bytes)


def row_major(shape: tuple[int, ...], size: int) -> Layout:
    """Elements of `size` bytes, those of the last dimension next to one another."""
    strides = [size * prod(shape[axis + 1 :]) for axis in range(len(shape))]
    if len(shape) == 1:
        return Layout(shape[0], size)
    return Layout(tuple(shape), tuple(strides)) if shape else Layout(1, size)


def alias(state: State, op: ReshapeOp | ViewOp) -> None:
    """Record a reshape or a view as another name of its storage: the same bits, row-major."""
    location, shape = state.locations[op.source], shape_of(op.buffer.type)
    element = element_of(op.buffer.type)
    match location:
        case LocalLocation() if location.element == element:
            made = LocalLocation(location.storage, shape, element, location.registers)
        case SharedLocation() if (layout := _of_row_major(location, shape, element)) is not None:
            made = SharedLocation(location.offset, shape, layout, element)
        case GlobalView() if location.element == element and _is_dense(location):
            made = replace(location, extents=shape, strides=_steps(shape), starts=(0,) * len(shape))
        case FragmentLocation() if op.layout is not None:
            layout = layout_of(op.layout, shape, state.threads)
            if not _is_same(location.layout, layout) or bits_of(location.element) != bits_of(
                element
            ):
                raise op_error(op, "has another layout than its source: both name the registers")
            made = fragment_location(op.buffer, storage_of(op.buffer), layout)
        case _:
            raise op_error(
                op, f"shows {op.source.type} as {op.buffer.type}, which does not lie row-major"
            )
    state.locations[op.buffer] = made


def _is_dense(location: GlobalView) -> bool:
    """Whether the elements of an array lie one behind the other."""
    extents = [n for n in location.extents if isinstance(n, int)]
    return len(extents) == len(location.extents) and location.strides == _steps(tuple(extents))


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


def _of_row_major(
    location: SharedLocation, shape: tuple[int, ...], element: Attribute
) -> AnyLayout | None:
    """Return the layout of a view of row-major (perhaps swizzled) elements; else None."""
    layout, swizzle = location.layout, None
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle):
        if layout.offset:
            return None
        swizzle, layout = layout.outer, layout.inner
    linear = table(layout).reshape(location.shape[::-1]).transpose().ravel()
    sizes = [bits_of(type_) // BYTE_BITS for type_ in (location.element, element)]
    if not all(sizes) or not np.array_equal(linear, sizes[0] * np.arange(len(linear))):
        return None
    plain = row_major(shape, sizes[1])
    return plain if swizzle is None else ComposedLayout(swizzle, 0, plain)


def _is_same(a: FragmentMap, b: FragmentMap) -> bool:
    """Whether elements of the same row-major number are in the same registers."""
    return (
        a.replicas == b.replicas
        and bool((a.slot_table.ravel() == b.slot_table.ravel()).all())
        and bool((a.held == b.held).all() if a.held.shape == b.held.shape else False)
    )


_TABLE: Any = {
    AllocFragmentOp: alloc_fragment,
    AllocLocalOp: alloc_local,
    AllocSharedOp: alloc_shared,
    ReshapeOp: alias,
    ViewOp: alias,
}

ALLOCATIONS: Mapping[type[Operation], Handler] = _TABLE
"""Buffers of the block."""
