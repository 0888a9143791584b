"""The pass `tileas-multicast-loads`: CTAs that load the same tile each load a part for all of them.

tiled_tma_load %desc, %s[%k, %j]           // 64x256, by each of two CTAs that share a tile block
    ->
%rows = extract_slice %s[32 * %part, 0][32, 256]
tiled_tma_load %half, %rows[2 * %k + %part, %j] {num_multicast = 2}      // box of 32 rows

B of a product that two CTAs make together (`cta_group = 2`) is divided along its columns: each CTA
keeps the half that it loads, from which the tensor core reads it for both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.copied_chunks import async_copies
from tileas_xdsl.analysis.memory.load_traffic import SAME_IN_CLUSTER
from tileas_xdsl.analysis.values.cluster_values import (
    Extents,
    is_same_in_cluster,
    runs_uniformly,
    tile_blocks_of_cluster,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import defined_functions, enclosing
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, SharedEncoding
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of, number_of
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.index import TMA_INDEX
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaLoadOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.threads.pipeline.stage_consumers import axis_of_halves
from tileas_xdsl.transforms.assign_layouts.writing.operations import (
    layout_of_panels,
    layout_of_rows,
)
from tileas_xdsl.transforms.plan_cta.cta_number import index_constant, part_of_cta
from tileas_xdsl.transforms.plan_cta.cta_pairs import keep_possible_pairs

ROWS = 8
"""Rows after which swizzles of shared memory repeat (PTX ISA, matrix descriptors)."""

ALIGNMENT = 1024
"""Bytes: a part begins where the swizzle of a whole tile would."""

NOT_SHARED = "nv_tileas.not_multicast"
"""Attribute of a load that each CTA of a tile block does for itself: why."""


@dataclass(frozen=True)
class TileasMulticastLoads(ModulePass):
    """Let CTAs of one tile block load what all of them need in parts, by multicast.

    In kernels whose tile blocks are computed by several CTAs (`tileas-plan-cta`), a bulk load into
    a stage of a pipeline that every CTA does with equal coordinates, in equal rounds, is divided:
    each CTA loads its share of the rows, and TMA writes it to the stages of all.  The CTAs become
    a cluster.  B of products of two CTAs (`cta_group = 2`) is divided along its columns; where
    such products cannot be, with the loads that there are, all are of one CTA, and say why
    (`nv_tileas.not_paired`).  Loads that may differ, or whose rows cannot be divided, stay as they
    are; a kernel without any to share gets no cluster, for its CTAs need not run at the same time.

    Analysis, then rewrite: all loads of a kernel are looked at before one changes.
    """

    name = "tileas-multicast-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in defined_functions(op):
            facts = KernelFacts(kernel)
            extents = _possible_cluster(kernel, facts)
            if prod(extents) > 1 and facts.cluster == (1, 1, 1):
                _share_loads(kernel, facts, extents)
                keep_possible_pairs(kernel, module_target(op))


def _possible_cluster(kernel: func.FuncOp, facts: KernelFacts) -> Extents:
    """Return the CTAs along x, y, z that may share loads."""
    extents = tile_blocks_of_cluster(kernel)
    return extents if prod(extents) > 1 else (facts.spec.tile_block_ctas, 1, 1)


@dataclass(frozen=True)
class _Shared:
    """A load that CTAs share, its descriptor, and which part each of them loads."""

    load: AsyncTiledTmaLoadOp
    descriptor: MakeTiledTmaDescOp
    axis: int
    """The dimension of the tile that is divided: -2 or -1."""
    part: TensorType[Attribute]
    """The type of the part of each CTA, in the stage."""

    @property
    def extent(self) -> int:
        """Rows or columns of a part."""
        return self.part.get_shape()[self.axis]


def _share_loads(kernel: func.FuncOp, facts: KernelFacts, extents: Extents) -> None:
    count = prod(extents)
    loads = [op for op in instances_in(kernel, AsyncTiledTmaLoadOp) if op.num_multicast is None]
    shared: list[_Shared] = []
    for load in loads:
        found = _shared(load, extents)
        if isinstance(found, str):
            load.attributes[NOT_SHARED] = StringAttr(found)
        else:
            shared.append(found)
    if not shared:
        return
    axis = next(axis for axis, extent in enumerate(extents) if extent > 1)
    part, index = part_of_cta(kernel, count, axis), _next_index(kernel)
    made: dict[MakeTiledTmaDescOp, MakeTiledTmaDescOp] = {}
    for one in shared:
        if one.descriptor not in made:
            made[one.descriptor] = _descriptor_of_part(one, count, index + len(made))
        _divide(one, made[one.descriptor], part, count)
    for descriptor in made:
        if not any(descriptor.result.uses):
            Rewriter.erase_op(descriptor)
    spec = (
        replace(facts.spec, num_ctas=count)
        if axis == 0
        else replace(facts.spec, cluster_dim=extents)
    )
    kernel.attributes[KERNEL_SPEC] = KernelSpecAttr(spec)


def _next_index(kernel: func.FuncOp) -> int:
    """The index of the next descriptor in the table of a kernel."""
    indices = [number_of(op.properties.get(TMA_INDEX)) for op in operations_in(kernel)]
    return max((index + 1 for index in indices if index is not None), default=0)


def _shared(load: AsyncTiledTmaLoadOp, extents: Extents) -> _Shared | str:
    """How CTAs share a load; or why each does it for itself."""
    stage, descriptor = enclosing(load, StageOp), load.desc.owner
    if stage is None or not isinstance(descriptor, MakeTiledTmaDescOp):
        return "it fills no stage of a pipeline"
    if has_instance(stage, CopyOp) and not async_copies(stage):
        return "threads fill a part of its stage"
    if SAME_IN_CLUSTER not in load.attributes:
        if not all(is_same_in_cluster(one, extents) for one in (*load.coords, *load.offsets)):
            return "CTAs load other tiles each"
        if not runs_uniformly(load, extents):
            return "CTAs may not load equally often"
    return _in_parts(load, descriptor, prod(extents))


def _in_parts(
    load: AsyncTiledTmaLoadOp, descriptor: MakeTiledTmaDescOp, count: int
) -> _Shared | str:
    """Divide the tile, where each part begins as a whole one does: its rows, or columns of B."""
    tile, atom = as_tile(load.destination.type), load.atom.data
    if tile is None or not isinstance(tile.encoding, SharedEncoding):
        return "its tile has no layout in shared memory yet"
    shape = tile.get_shape()
    if not isinstance(atom, TmaAtom) or atom.mode != "tiled" or atom.box or len(shape) < 2:
        return "its boxes have no rows"
    columns, rows = descriptor.box_extents[:2]
    row_bytes = (columns or 0) * bits_of(tile.element_type) // 8
    # Products of two CTAs read halves of the columns of B; without these they are of one CTA.
    axes = (axis_of_halves(load.destination) or -2, -2)
    for axis in axes if rows == shape[-2] else ():
        part = _part(tile, tile.encoding.data, axis, count)
        if part is not None and part.get_shape()[-2] * row_bytes % ALIGNMENT == 0:
            return _Shared(load, descriptor, axis, part)
    return f"its {shape[-2]} rows do not divide in {count} parts that begin as swizzles do"


def _part(
    tile: TensorType[Attribute], layout: MemoryLayout, axis: int, count: int
) -> TensorType[Attribute] | None:
    """Return the type of one part of a tile; None where it does not begin as the tile does."""
    shape, sizes = tile.get_shape(), [*tile.get_shape()]
    sizes[axis] //= count
    if shape[axis] % count or sizes[-2] % ROWS:
        return None
    if axis == -1:
        found = layout_of_panels(layout, sizes[-1])
    else:
        found = layout_of_rows(layout, _starts(shape, axis), sizes)
    return found and TensorType(tile.element_type, sizes, SharedEncoding(found))


def _starts(shape: Sequence[int], axis: int) -> Sequence[int]:
    """The static offsets of a slice that begins anywhere along one dimension of a tile."""
    starts = [0] * len(shape)
    starts[axis] = DYNAMIC_INDEX
    return starts


def _descriptor_of_part(one: _Shared, count: int, index: int) -> MakeTiledTmaDescOp:
    """Make a descriptor of boxes with the rows that each CTA loads, for multicast."""
    whole = one.descriptor
    rows = index_constant(one.part.get_shape()[-2])
    box = [whole.box[0], rows.result, *whole.box[2:]]
    made = whole.clone()
    made.operands = [whole.view, *box]
    made.atom = _multicast(whole.atom)
    made.num_multicast = IntegerAttr(count, i32)
    made.tma_index = IntegerAttr(index, i32)
    Rewriter.insert_op([rows, made], InsertPoint.after(whole))
    return made


def _multicast(atom: AtomAttr) -> AtomAttr:
    assert isinstance(atom.data, TmaAtom)
    return AtomAttr(replace(atom.data, multicast=True))


def _divide(one: _Shared, descriptor: MakeTiledTmaDescOp, part: SSAValue, count: int) -> None:
    """Let each CTA load its part for all."""
    load, sizes = one.load, one.part.get_shape()
    number, parts = index_constant(one.extent), index_constant(count)
    first = arith.MuliOp(part, number.result)
    starts = _starts(sizes, one.axis)
    offsets = [first.result if start == DYNAMIC_INDEX else start for start in starts]
    own = ExtractSliceOp(load.destination, offsets, sizes, result_type=one.part)
    coordinates = [*load.coords]
    before = arith.MuliOp(coordinates[one.axis], parts.result)
    own_offset = arith.AddiOp(before.result, part)
    coordinates[one.axis] = own_offset.result
    count_bytes = number_of(load.tx_count)
    made = AsyncTiledTmaLoadOp(
        descriptor,
        own.result,
        coordinates,
        load.barrier,
        atom=_multicast(load.atom),
        offsets=load.offsets,
        result_type=load.result.type,
        tx_count=None if count_bytes is None else count_bytes // count,
        num_multicast=count,
        internal_type=load.tma_internal_type,
        tma_index=number_of(descriptor.tma_index),
    )
    made.result.name_hint = load.result.name_hint
    Rewriter.insert_op([number, parts, first, own, before, own_offset], InsertPoint.before(load))
    Rewriter.replace_op(load, made)
