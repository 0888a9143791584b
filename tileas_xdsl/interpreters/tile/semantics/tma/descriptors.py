"""TMA descriptors at run time: the tensor, its box, and the out-of-bounds fill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.enums import OobMode, Space
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.im2col import Pixels
from tileas_xdsl.dialects.nv_tileas.tma.slices import SliceTmaDescOp
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_sizes import bits_of_element, unspecified
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tma.tensor_map import PixelBox, TensorMap, tensor_map_element
from tileas_xdsl.target.tma.tensor_map_rules import check_tensor_map


@dataclass(frozen=True)
class Descriptor:
    """A tensor in global memory and the box that an instruction transfers."""

    view: View
    box: tuple[int, ...]
    """Box extents in the order of the shape: the innermost last."""
    tensor_map: TensorMap
    pixels: Pixels | None = None
    """The im2col parameters; None for tiled mode."""

    def outside(self, shape: Sequence[int], element: Attribute) -> Array:
        """Return a tile of the out-of-bounds fill of loads."""
        if self.tensor_map.nan_fill:
            return unspecified(shape, element)
        return np.zeros(tuple(shape), dtype_of(element))


def make_descriptor(
    agent: TileAgent, op: MakeTiledTmaDescOp, inputs: Sequence[Any]
) -> tuple[Descriptor]:
    """Encode a tensor map as the driver does; a fault where the driver refuses it."""
    element = op.element_type
    assert element is not None
    view = agent.view(op, inputs[0], element, Space.GMEM)
    if dtype_of(element).itemsize != view.dtype.itemsize:
        raise fault(op, f"moves elements {element}, not as wide as those of the view")
    if any(low > 0 for low, _ in view.valid):
        raise fault(op, "describes a view that begins outside its memory")
    view = replace(view, element=element, shape=view.extents, stored_as=None)
    if op.oob_mode is not None and op.oob_mode.data is OobMode.CONSTANT:
        raise fault(op, "fills with a constant what is out of bounds; hardware has zero and NaN")
    box, modes = inputs[1:], _modes(op)
    tensor_map = tensor_map_of(op, view, box if op.pixels is None else _column(box), modes)
    return (Descriptor(view, tuple(reversed(box)), tensor_map, op.pixels),)


def slice_descriptor(
    agent: TileAgent, op: SliceTmaDescOp, inputs: Sequence[Any]
) -> tuple[Descriptor]:
    """Describe rows of an array; a fault if its memory has fewer."""
    described, axis = inputs[0], op.axis.value.data
    start, extent = agent.get_values((op.start, op.extent))
    if not isinstance(described, Descriptor):
        raise fault(op, "uses a descriptor that no operation has made")
    whole = described.view
    starts, shape = [0] * len(whole.shape), list(whole.shape)
    starts[axis], shape[axis] = start, extent
    part = whole.part(starts, shape)
    view = replace(part, valid=tuple((0, n) for n in shape))
    if prod(shape) and (start < 0 or view.region().high > whole.memory.size):
        raise fault(op, f"describes rows {start} to {start + extent - 1}, out of bounds")
    return (replace(described, view=view),)


@dataclass(frozen=True)
class Modes:
    """The swizzle, out-of-bounds fill and im2col box of a tensor map."""

    swizzle: str = "none"
    nan_fill: bool = False
    pixels: PixelBox | None = None


def _modes(op: MakeTiledTmaDescOp) -> Modes:
    return Modes(
        "none" if op.swizzle_mode is None else op.swizzle_mode.data.value,
        op.oob_mode is not None and op.oob_mode.data is OobMode.NAN,
        None if op.pixels is None else PixelBox(op.pixels.lower, op.pixels.upper),
    )


def _column(box: Sequence[int]) -> tuple[int, int]:
    """Return channels and pixels of an im2col box of any rank."""
    return box[0], prod(box[1:])


def tensor_map_of(op: Operation, view: View, box: Sequence[int], modes: Modes) -> TensorMap:
    """Return the tensor map of a view, its box innermost first; a fault of `op` if illegal."""
    name, bits = _element(op, view.element)
    itemsize = view.dtype.itemsize
    strides = [stride // itemsize * bits // 8 for stride in reversed(view.strides)]
    if view.strides[-1] != itemsize:
        raise fault(op, f"elements of the last dimension are {view.strides[-1]} bytes apart")
    tensor_map = TensorMap(
        name,
        view.offset // itemsize * bits // 8,
        tuple(reversed(view.shape)),
        tuple(strides[1:]),
        tuple(box),
        swizzle=modes.swizzle,
        nan_fill=modes.nan_fill,
        pixels=modes.pixels,
    )
    try:
        check_tensor_map(tensor_map)
    except TargetError as error:
        raise fault(op, str(error)) from error
    return tensor_map


def _element(op: Operation, element: Attribute) -> tuple[str, int]:
    bits = bits_of_element(element)
    name = tensor_map_element(element_name(element), bits)
    if name is None:
        raise fault(op, f"tensor maps have no elements {element}")
    return name, bits


DESCRIPTORS = Language(
    effects={MakeTiledTmaDescOp: make_descriptor, SliceTmaDescOp: slice_descriptor}
)
