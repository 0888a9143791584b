"""Shared-memory layouts prescribed by the program: by tile types, or by the users of tiles.

The encoding of a type decides.  Without one it is the attribute `nv_tileas.layout` of a load, a
store or a copy, or the type of a view.  All statements must agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import ASSIGNED_LAYOUT
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.attributes import LayoutAttr, SharedEncoding
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import scale_tile
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.layout.layout import make_ordered_layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.threads.smem.smem_layout import (
    SharedLayout,
    panels_of,
    shared_layout,
)

Claim = tuple[Operation, MemoryLayout]
"""An operation that states the layout of a tile, and the layout."""


def layout_of_buffer(op: Operation, type_: Attribute, values: Sequence[SSAValue]) -> SharedLayout:
    """Return the layout of a new buffer that is all of `values`; a default if none is stated.

    Raises an error at an operation that states another layout, or one not supported here.
    """
    shape, bits = shape_of(type_) or (), bits_of(element_of(type_))
    claims = [*_claims_of_type(op, type_)]
    for value in values:
        claims += [*_claims_of_type(op, value.type), *_claims_of_users(value, shape)]
    decided: tuple[SharedLayout, MemoryLayout] | None = None
    for who, memory in claims:
        found = panels_of(memory, shape, bits)
        if isinstance(found, str):
            raise op_error(who, f"tiles do not lie in shared memory as {memory}: {found}")
        if decided is None:
            decided = (found, memory)
        elif decided[0] != found and not np.array_equal(decided[0].addresses(), found.addresses()):
            raise op_error(who, f"says that a tile lies as {memory}, but it lies as {decided[1]}")
    return shared_layout(shape, bits) if decided is None else decided[0]


def encoding_of(type_: Attribute) -> MemoryLayout | None:
    """Return the shared-memory layout that a type states, None without one."""
    tile = as_tile(type_)
    if tile is not None and isinstance(tile.encoding, SharedEncoding):
        return tile.encoding.data
    if isinstance(type_, TiledViewType) and isinstance(type_.layout, LayoutAttr):
        return type_.layout.data
    return None


def _claims_of_type(op: Operation, type_: Attribute) -> Iterator[Claim]:
    memory = encoding_of(type_)
    if memory is not None:
        yield op, memory


def _claims_of_users(value: SSAValue, shape: tuple[int, ...]) -> Iterator[Claim]:
    """Yield the layouts stated by operations that move the whole tile, also through views of it."""
    for use in value.uses:
        user = use.operation
        attribute = user.attributes.get(ASSIGNED_LAYOUT)
        if isinstance(attribute, LayoutAttr):
            yield user, attribute.data
        if not isinstance(user, ViewOp) or is_transposed(user.result.type):
            continue
        if scale_tile(user.result.type) is not None:
            order = tuple(reversed(range(len(shape))))
            yield user, MemoryLayout(make_ordered_layout(shape, order))
            continue
        if user.is_whole and shape_of(user.result.type) == shape:
            yield from _claims_of_type(user, user.result.type)
            yield from _claims_of_users(user.result, shape)
