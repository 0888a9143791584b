"""Propose layouts of buffers in shared memory, and cost each for every operation on the buffer.

Candidates are rows in panels as wide as a swizzle span, for each byte swizzle that divides a row,
and plain rows. Every access says whether it can use one: TMA by box rules, an MMA by canonical
matrix layouts, threads by wavefronts counted on the actual addresses. For a 64x64 f16 buffer that
TMA fills and wgmma reads:

    128B swizzle   one panel of 64 columns     TMA: a box of 64x64     MMA: K-major, 128B
    64B, 32B       2, 4 panels of 32, 16       TMA: 2, 4 boxes         MMA: K-major, 64B, 32B
    none           plain rows of 128 bytes     TMA: a box              MMA: refused

All operations must agree, so the group gets the first of the cheapest: the 128-byte swizzle. Slices
and transposes of the buffer (`SubTile`) are accesses to a part of its addresses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import is_by_threads, tiling_of
from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, placed_tile
from tileas_xdsl.analysis.memory.accumulators import is_of_two_blocks
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp, MatrixProduct
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import scale_tile
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import major_of
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import descriptor_of
from tileas_xdsl.dialects.nv_tileas.tma.layout import shared_layout as written_layout
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaTransferOp
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT
from tileas_xdsl.target.tma.tma_box import BOX_ROW_BYTES
from tileas_xdsl.threads.smem.smem_layout import SPANS, SharedLayout
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    Candidate,
    Cost,
    Family,
    SubAxis,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.thread_access import (
    Ints,
    ThreadAccess,
    thread_accesses,
)
from tileas_xdsl.transforms.assign_layouts.request import Assignment

BULK = "cp.async.bulk.tensor"


@dataclass(frozen=True)
class Use:
    """The use of a tile in memory, or of a part of it, by an operation."""

    op: Operation
    value: SSAValue
    axis: SubAxis = SubAxis.NONE


def memory_candidates(a: Assignment, group: TileGroup) -> Sequence[Candidate]:
    """Cost every layout of a buffer for every operation on it."""
    uses = list(_uses(a, group))
    return [
        candidate
        for shared in _layouts(a, group)
        for use in uses
        for candidate in _candidates(a, group, use, shared)
    ]


def memory_layout(shared: SharedLayout) -> MemoryLayout:
    """Return panels of rows as one layout of the tile."""
    step = shared.rows * shared.panel
    columns = (
        Layout(shared.panel, 1)
        if shared.panels == 1
        else Layout((shared.panel, shared.panels), (1, step))
    )
    leading = shared.shape[:-1]
    strides = [shared.panel * prod(leading[k + 1 :]) for k in range(len(leading))]
    layout = Layout((*leading, columns.shape), (*strides, columns.stride))
    swizzle = None if shared.swizzle == "none" else BYTE_SWIZZLES[shared.swizzle]
    return MemoryLayout(layout, swizzle)


def _layouts(a: Assignment, group: TileGroup) -> Iterator[SharedLayout]:
    """Yield the layouts to try, the widest swizzle first; one that a type states is the only one.

    Scales are read in atoms of plain rows, which no swizzle may permute.
    """
    found = shared_layouts(group.shape, bits_of(_element(group)))
    if (written := _written(group)) is not None:
        yield from (shared for shared in found if memory_layout(shared) == written)
    elif any(map(_is_seen_as_scales, group.values)):
        yield from found[-1:]
    elif a.preferences.always_swizzle and len(found) > 1:
        yield from found[:-1]
    else:
        yield from found


def _is_seen_as_scales(value: SSAValue) -> bool:
    """Whether a view shows a tile as scales in atoms, which no swizzle permutes."""
    return any(
        isinstance(use.operation, ViewOp) and scale_tile(use.operation.result.type) is not None
        for use in value.uses
    )


def shared_layouts(shape: tuple[int, ...], bits: int) -> Sequence[SharedLayout]:
    """Return the layouts of a tile in panels, the widest swizzle first, no swizzle last.

    A line that is one box of TMA has no rows to exchange units between.
    """
    if not shape or DYNAMIC_INDEX in shape or min(shape) < 1:
        return ()
    if prod(shape) == shape[-1] <= BOX_LIMIT:
        return (SharedLayout(shape, bits, "none", shape[-1]),)
    row = shape[-1] * bits // 8
    swizzled = [
        SharedLayout(shape, bits, name, span * 8 // bits)
        for name, span in SPANS
        if row % span == 0 and span * 8 % bits == 0
    ]
    return (*swizzled, SharedLayout(shape, bits, "none", shape[-1]))


def _written(group: TileGroup) -> MemoryLayout | None:
    """Return the layout that a type of the group states, if one does."""
    for value in group.values:
        if (found := written_layout(value.type)) is not None:
            return found
    return None


def _element(group: TileGroup) -> Attribute:
    element = element_of(group.values[0].type)
    tile = placed_tile(group.values[0].type)
    found = element if tile is None else tile.element_type
    assert found is not None
    return found


def _uses(a: Assignment, group: TileGroup) -> Iterator[Use]:
    """The accesses to a buffer and to its parts, each once."""
    seen: dict[tuple[Operation, SubAxis], Use] = {}
    pending = list(group.values)
    while pending:
        value = pending.pop(0)
        if isinstance(value.owner, TiledLoadBase | ConvertLayoutOp):
            seen.setdefault((value.owner, SubAxis.NONE), Use(value.owner, value))
        for use in value.uses:
            op = use.operation
            if op in a.groups.parts.values() and op.results[0] in a.groups.parts:
                pending.append(op.results[0])
            elif isinstance(op, MatrixProduct) and use.index < len(_OPERANDS):
                axis = _OPERANDS[use.index]
                seen.setdefault((op, axis), Use(op, value, axis))
            elif isinstance(op, _ACCESSES):
                seen.setdefault((op, SubAxis.NONE), Use(op, value))
    yield from seen.values()


_OPERANDS = (SubAxis.A, SubAxis.B)
_ACCESSES = (TmaTransferOp, TiledLoadBase, TiledStoreOp, ConvertLayoutOp)


def _candidates(
    a: Assignment, group: TileGroup, use: Use, shared: SharedLayout
) -> Iterator[Candidate]:
    op, layout = use.op, memory_layout(shared)

    def made(atom: str, alignment: int, transactions: float, refused: str = "") -> Candidate:
        cost = Cost(transactions, None, 0)
        return Candidate(
            op, atom, Space.SMEM, use.axis, Family.SHARED, alignment, layout, cost, refused
        )

    rows = shared.panels * max(shared.row_bytes // _span(shared), 1)
    if isinstance(op, TmaTransferOp) or _is_moved_by_tma(op, use.value):
        yield made(BULK, 128, rows, _refused_by_tma(op, shared))
    elif isinstance(op, MatrixProduct) and not is_by_threads(op):
        refused = _refused_by_product(a, op, use, shared)
        yield made(op.atom.data.keyword if op.atom else "-", 128, rows, refused)
    elif (fragment := _fragment(a, use)) is not None:
        stores = isinstance(op, TiledStoreOp) or use.value in op.results
        window = SubTile(layout, group.shape, shared.bits, tuple(_cuts(a, use.value)))
        for access in accesses(fragment, window, stores):
            yield made(access.atom, access.alignment, access.transactions, access.refused)


def _is_moved_by_tma(op: Operation, tile: SSAValue) -> bool:
    """Whether a tile in shared memory is what an access loads or stores, not where it does."""
    if isinstance(op, TiledLoadBase):
        return tile is op.result
    return isinstance(op, TiledStoreOp) and tile is op.value


def _span(shared: SharedLayout) -> int:
    """Return the swizzle span in bytes, or 16 without a swizzle."""
    return dict(SPANS).get(shared.swizzle, BOX_ROW_BYTES)


def _refused_by_tma(op: Operation, shared: SharedLayout) -> str:
    if shared.row_bytes % BOX_ROW_BYTES:
        return f"TMA moves rows of multiples of {BOX_ROW_BYTES} bytes, not of {shared.row_bytes}"
    if any(extent > BOX_LIMIT for extent in (shared.panel, *shared.shape[:-1])):
        return f"TMA moves boxes of at most {BOX_LIMIT} elements along each dimension"
    descriptor = descriptor_of(op.operands[0]) if isinstance(op, TmaTransferOp) else None
    if descriptor is None or descriptor.swizzle in (None, shared.swizzle):
        return ""
    return f"the descriptor swizzles by {descriptor.swizzle.value}"


def _refused_by_product(a: Assignment, op: MatrixProduct, use: Use, shared: SharedLayout) -> str:
    """Return why the tensor core cannot read an operand in a layout; empty if it can."""
    major = major_of(use.value.type, of_b=use.axis is SubAxis.B)
    mn, k = (shared.columns, shared.rows) if major == "mn" else (shared.rows, shared.columns)
    if use.axis is SubAxis.B and is_of_two_blocks(op):
        mn //= PAIR
        if major == "mn" and mn % shared.panel and _has_halves(shared):
            return f"half of its columns for each of two CTAs is no whole panel of {shared.panel}"
    if use.axis is SubAxis.A and (unit := a.plan.target.matrix_unit).repeats_rows:
        mn = min(mn, *unit.rows)
    try:
        shared.canonical(op, mn, k, a.plan.target, major=major)
    except DiagnosticError as error:
        return _sentence(error)
    return ""


def _has_halves(shared: SharedLayout) -> bool:
    """Whether some layout of a tile has half of its columns in whole panels."""
    half = shared.columns // PAIR
    return any(half % one.panel == 0 for one in shared_layouts(shared.shape, shared.bits))


def _sentence(error: DiagnosticError) -> str:
    found = error.diagnostics[0].message
    return found.rsplit("' op ", 1)[-1]


def _fragment(a: Assignment, use: Use) -> RegisterLayout | None:
    """Return the register layout on the other side of an access, if one is chosen.

    Of an operand of `mma.sync` or `fma` it is what the instruction wants.
    """
    op = use.op
    if isinstance(op, DotOp | AsyncDotOp):
        tiling = tiling_of(op, a.agent(op).threads // WARP)
        if tiling is None:
            return None
        side = tiling.right if use.axis is SubAxis.B else tiling.left
        return side(tiling.extents.k)
    other = _other_side(op, use.value)
    choice = None if other is None else a.choice(other)
    tile = None if other is None else placed_tile(other.type)
    if choice is None or tile is None or not isinstance(choice.layout, Layout):
        return None
    if choice.kind is not Space.RMEM:
        return None
    return RegisterLayout(choice.layout, tuple(tile.get_shape()), a.agent(op).threads)


def _other_side(op: Operation, value: SSAValue) -> SSAValue | None:
    match op:
        case TiledLoadBase():
            return op.result
        case TiledStoreOp():
            return op.value
        case ConvertLayoutOp():
            return op.source if value is op.result else op.result
        case _:
            return None


Bounds: TypeAlias = tuple[int, int, int]
"""Begin, end and stride."""

Cut: TypeAlias = tuple[Bounds, ...] | tuple[int, ...]
"""Bounds of each dimension, or other extents of the same rows; an empty one transposes."""


@dataclass(frozen=True)
class SubTile:
    """A tile in memory, or a part of one that slices, reshapes and transposes lead to."""

    layout: MemoryLayout
    shape: tuple[int, ...]
    bits: int
    cuts: tuple[Cut, ...]

    def addresses(self) -> Ints:
        """Return the byte address of each element, by column-major index."""
        found = self.layout.addresses(self.bits).reshape(self.shape, order="F")
        for cut in self.cuts:
            found = _apply_cut(found, cut)
        return found.ravel(order="F")


def _apply_cut(addresses: Ints, cut: Cut) -> Ints:
    """Return the addresses of the elements that a slice, reshape or transpose selects."""
    if not cut:
        return addresses.T
    if isinstance(cut[0], int):
        return addresses.reshape(cast("tuple[int, ...]", cut))
    return addresses[tuple(slice(*bounds) for bounds in cast("tuple[Bounds, ...]", cut))]


@lru_cache(maxsize=1024)
def accesses(fragment: RegisterLayout, window: SubTile, stores: bool) -> Sequence[ThreadAccess]:
    """Return how threads access a part of a buffer (cached: agents of equal size ask the same)."""
    return tuple(thread_accesses(fragment, window.addresses(), window.bits, stores=stores))


def _cuts(a: Assignment, value: SSAValue) -> list[Cut]:
    """Return the cuts from a buffer to a part of it; dynamic offsets count as 0."""
    cut = a.groups.parts.get(value)
    if cut is None:
        return []
    before = _cuts(a, cut.source)
    if not isinstance(cut, ExtractSliceOp):
        return [*before, (shape_of(cut.result.type) or ()) if keeps_rows(cut) else ()]
    sizes, strides = cut.static_sizes.get_values(), cut.static_strides.get_values()
    starts = [0 if n == DYNAMIC_INDEX else n for n in cut.static_offsets.get_values()]
    parts = [
        (start, start + size * step, step)
        for start, size, step in zip(starts, sizes, strides, strict=True)
    ]
    return [*before, tuple(parts)]
