"""TMA: descriptors become hidden arguments, loads and stores one instruction for each panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    BulkCommitOp,
    BulkWaitOp,
    FenceProxyAsyncOp,
    PrefetchTmaDescOp,
    TmaDescriptorTiledType,
    TmaLoadOp,
    TmaReduceOp,
    TmaStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.enums import OobMode, RmwMode
from tileas_xdsl.dialects.nv_tileas.tma import (
    AsyncTiledAtomicRmwOp,
    AsyncTiledTmaLoadOp,
    AsyncTiledTmaStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.tma_checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma_descriptor import MakeTiledTmaDescOp
from tileas_xdsl.target.tensor_map_rules import BOX_LIMIT
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.bulk_loads import (
    begin_load,
    is_of_stage,
    is_written,
)
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter, Handler
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.plan import argument_of
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.tma_boxes import load_for_pair, panels
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import (
    Descriptor,
    Ghost,
    Lowered,
    SharedTile,
    StoreToken,
    TensorMapRecipe,
)

BOX_ROW_BYTES = 16
"""What the rows of a box are a multiple of (PTX ISA, cp.async.bulk.tensor)."""


def make_descriptor(e: Emitter, op: MakeTiledTmaDescOp) -> Sequence[Lowered]:
    """A hidden argument, with the recipe of its tensor map."""
    argument, element, box = argument_of(op.view), op.element_type, op.box_extents
    if argument is None or element is None:
        raise op_error(op, "describes an argument of the kernel as it is; this view is made here")
    if any(extent is None for extent in box):
        raise op_error(op, "has a box whose extents are not constants")
    fills = op.oob_mode is not None and op.oob_mode.data is OobMode.NAN
    recipe = TensorMapRecipe(argument, tuple(n for n in box if n is not None), element, fills)
    e.plan.recipes.append(recipe)
    value = e.add_argument(TmaDescriptorTiledType())
    e.insert(PrefetchTmaDescOp(value, e.is_equal(e.thread, 0)))
    return [Descriptor(value, recipe)]


def _transfer(
    e: Emitter, op: Operation, desc: SSAValue, tile: SSAValue, atom: object
) -> tuple[Descriptor, SharedTile]:
    """Descriptor and tile; the tile's swizzle and panels become those of the tensor map."""
    descriptor, shared = e.get(desc), e.shared_tile(tile)
    if not isinstance(descriptor, Descriptor):
        raise op_error(op, "uses a descriptor that this kernel does not make")
    if not isinstance(atom, TmaAtom) or atom.mode != "tiled":
        raise op_error(op, "moves tiles only; other modes are not lowered to threads yet")
    recipe, layout = descriptor.recipe, shared.layout
    is_cut = layout.swizzle != "none" and layout.row_bytes != layout.swizzle_span
    if is_cut or layout.row_bytes % BOX_ROW_BYTES:
        raise op_error(
            op,
            f"TMA fills rows of {BOX_ROW_BYTES} bytes or more, all that its swizzle permutes, not "
            f"{layout.describe()}",
        )
    box = (layout.panel, *reversed(shared.shape[:-1]))
    if recipe.swizzle is None:
        recipe.swizzle, recipe.panel, recipe.box = layout.swizzle, layout.panel, box
    elif (recipe.swizzle, recipe.box) != (layout.swizzle, box):
        raise op_error(op, f"moves boxes {box} through a descriptor of boxes {recipe.box}")
    if any(extent > BOX_LIMIT for extent in box):
        raise op_error(op, f"moves a box of {box}, of which an extent is beyond {BOX_LIMIT}")
    return descriptor, shared


def load(e: Emitter, op: AsyncTiledTmaLoadOp) -> Sequence[Lowered]:
    """One bulk copy for each panel, which completes the barrier of the stage."""
    descriptor, tile = _transfer(e, op, op.desc, op.destination, op.atom.data)
    if not is_of_stage(op):
        return [begin_load(e, op, descriptor.argument, panels(e, tile, op.coords))]
    assert e.stage is not None
    stages, index = e.stage
    barrier = e.advance(stages.full, index.stage)
    if stages.is_of_pair:
        load_for_pair(e, op, descriptor, tile, barrier)
        return [Ghost()]
    group = number_of(op.num_multicast) or 1
    mask = None
    if group > 1:
        mask = e.insert(arith.ConstantOp(IntegerAttr((1 << group) - 1, 16))).result
    elected = e.elected()
    for pointer, coordinates in panels(e, tile, op.coords):
        e.insert(TmaLoadOp(descriptor.argument, pointer, barrier, coordinates, mask, pred=elected))
    return [Ghost()]


def store(e: Emitter, op: AsyncTiledTmaStoreOp) -> Sequence[Lowered]:
    """The writers fence and meet; then one thread stores and commits."""
    return [_commit(e, op, TmaStoreOp)]


def reduce(e: Emitter, op: AsyncTiledAtomicRmwOp) -> Sequence[Lowered]:
    """As a store; global memory is updated instead of overwritten."""
    mode = op.rmw_mode.data
    if mode in (RmwMode.UMIN, RmwMode.UMAX):
        raise op_error(op, f"reduces by '{mode.value}', but tensor maps have signed integers")

    def make(
        desc: SSAValue, smem: SSAValue, coords: Sequence[SSAValue], pred: SSAValue | None
    ) -> Operation:
        return TmaReduceOp(desc, smem, coords, mode.value, pred)

    return [_commit(e, op, make)]


def _commit(
    e: Emitter,
    op: AsyncTiledTmaStoreOp | AsyncTiledAtomicRmwOp,
    make: Callable[[SSAValue, SSAValue, Sequence[SSAValue], SSAValue | None], Operation],
) -> StoreToken:
    """The writers fence and meet; then one thread issues the copies and commits."""
    descriptor, tile = _transfer(e, op, op.desc, op.source, op.atom.data)
    e.insert(FenceProxyAsyncOp("generic" if is_written(e, op) else "shared::cta"))
    e.meet()
    elected = e.elected()
    for pointer, coordinates in panels(e, tile, op.coords):
        e.insert(make(descriptor.argument, pointer, coordinates, elected))
    e.insert(BulkCommitOp(elected))
    if elected is None:
        elected = e.boolean(True)
    return StoreToken(elected)


def wait_for_store(e: Emitter, token: StoreToken) -> None:
    """The thread that committed waits, the others wait for it."""
    e.insert(BulkWaitOp(0, read=False, pred=token.elected))
    e.meet()


_TABLE: Any = {
    AsyncTiledAtomicRmwOp: reduce,
    AsyncTiledTmaLoadOp: load,
    AsyncTiledTmaStoreOp: store,
    MakeTiledTmaDescOp: make_descriptor,
}

TMA: Mapping[type[Operation], Handler] = _TABLE
"""The TMA operations that are lowered to threads."""
