"""Handlers of TMA descriptors and of copies of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from xdsl.ir import SSAValue

from tileas_xdsl.analysis.memory.tma_descriptors import constant_box, window_of
from tileas_xdsl.analysis.values.listed_arrays import listed_array
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import TmaLoadOp, TmaStoreOp
from tileas_xdsl.dialects.nv_tileas.enums import OobMode
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import OF_LIST, MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.index import tma_counts
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaLoadOp, AsyncTiledTmaStoreOp
from tileas_xdsl.dialects.nv_tileas.tma.slices import SliceTmaDescOp, sliced_axis
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Descriptor, Lowered, SliceRows
from tileas_xdsl.threads.tma.boxes import load_for_pair, panels
from tileas_xdsl.threads.tma.bulk_load import load_by
from tileas_xdsl.threads.tma.descriptor_args import (
    commit,
    hidden_argument,
    is_for_pair,
    mask_of,
    prefetch_descriptor,
    transfer,
)
from tileas_xdsl.threads.tma.device_descriptors import made_on_device
from tileas_xdsl.threads.tma.table_descriptors import map_in_table


def make_descriptor(e: ThreadBuilder, op: MakeTiledTmaDescOp) -> Sequence[Lowered]:
    """A hidden argument, with the recipe of its tensor map; of a window, the template of one."""
    window, element, box = window_of(op.view), op.element_type, constant_box(op)
    if OF_LIST in op.attributes:
        return [_of_list(e, op)]
    if (given := _template(e, op)) is not None:
        return [made_on_device(e, op, given)]
    if window is None or element is None:
        raise op_error(op, "describes an array argument, from a beginning of its own on at most")
    fills = op.oob_mode is not None and op.oob_mode.data is OobMode.NAN
    argument, extents = window.argument.index, window.extents
    recipe = TensorMapRecipe(
        argument,
        box,
        element,
        fills,
        pixels=op.pixels,
        extents=extents,
        slices=sliced_axis(op.result),
        is_written=op.is_written,
    )
    descriptor = hidden_argument(e, recipe)
    if not window.is_whole:
        return [made_on_device(e, op, descriptor)]
    prefetch_descriptor(e, descriptor)
    return [descriptor]


def _of_list(e: ThreadBuilder, op: MakeTiledTmaDescOp) -> Descriptor:
    """The tensor map of an array of a list, which is in its table."""
    listed, element = listed_array(op.view), op.element_type
    if listed is None or element is None:
        raise op_error(op, "describes an array of a list, which has no table")
    argument, box = listed.parameter.index, constant_box(op)
    recipe = TensorMapRecipe(argument, box, element, is_of_list=True, is_written=op.is_written)
    return map_in_table(e, listed, recipe)


def slice_descriptor(e: ThreadBuilder, op: SliceTmaDescOp) -> Sequence[Lowered]:
    """Return the descriptor of a slice: the same one, with the rows that copies move."""
    found = e.get(op.source)
    if not isinstance(found, Descriptor) or found.recipe.slices is None:
        raise op_error(op, "slices what this kernel describes otherwise")
    rows = SliceRows(op.axis.value.data, e.scalar(op.start), e.scalar(op.extent))
    return [replace(found, rows=rows)]


def _template(e: ThreadBuilder, op: MakeTiledTmaDescOp) -> Descriptor | None:
    """The template that a launch gives for a descriptor of the device's table."""
    counts, index = tma_counts(op), number_of(op.tma_index)
    if counts is None or index is None:
        return None
    arguments = e.plan.kernel.body.block.args
    found = e.get(arguments[len(arguments) - counts.host - counts.device + index])
    return found if isinstance(found, Descriptor) else None


def load_boxes(e: ThreadBuilder, op: AsyncTiledTmaLoadOp) -> Sequence[Lowered]:
    """Issue one bulk copy for each panel, whose bytes a barrier counts."""
    descriptor, tile = transfer(e, op, op.desc, op.destination, op.atom.data)
    if is_for_pair(e, op):
        return [load_by(e, op, partial(load_for_pair, e, op, descriptor, tile))]
    mask = mask_of(e, op)
    boxes = panels(e, tile, op.coords, op.offsets, descriptor.rows)

    def copies(barrier: SSAValue, elected: SSAValue | None) -> None:
        for pointer, coordinates in boxes:
            e.insert(
                TmaLoadOp(descriptor.argument, pointer, barrier, coordinates, mask, pred=elected)
            )

    return [load_by(e, op, copies)]


def store_boxes(e: ThreadBuilder, op: AsyncTiledTmaStoreOp) -> Sequence[Lowered]:
    """Fence and synchronise the writers; then one thread stores and commits."""
    return [commit(e, op, TmaStoreOp)]


HANDLERS: Handlers = {
    AsyncTiledTmaStoreOp: store_boxes,
    MakeTiledTmaDescOp: make_descriptor,
    SliceTmaDescOp: slice_descriptor,
}
