"""im2col loads: consecutive pixels from a start pixel, for one filter tap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from xdsl.ir import Operation

from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import WEAK, Actor
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.semantics.memory_access.tile_window import read_window
from tileas_xdsl.interpreters.tile.semantics.tma.descriptors import Descriptor


def column_reader(
    op: Operation, descriptor: Descriptor, destination: View, coords: Sequence[int]
) -> Callable[[Actor], Array]:
    """Read the column that begins at the coordinates; pixels outside of the image are filled."""
    tap, *starts, channel = coords
    shape = destination.shape
    if prod(shape[:-1]) != prod(descriptor.box[:-1]) or shape[-1] % descriptor.box[-1]:
        raise fault(op, f"fills a tile of {shape} with columns of {descriptor.box}")
    pixels = _pixels(op, descriptor, starts, prod(shape[:-1]))
    pixels[:, 1:] += _offset(op, descriptor, tap)
    width = shape[-1]
    extents = (1,) * (len(shape) - 1) + (width,)
    windows = [
        descriptor.view.part((*(int(n) for n in pixel), channel * width), extents)
        for pixel in pixels
    ]
    rest = descriptor.outside(extents, descriptor.view.element)

    def read(actor: Actor) -> Array:
        found = [read_window(window, actor, WEAK, rest) for window in windows]
        return np.concatenate(found).reshape(shape)

    return read


def _pixels(op: Operation, descriptor: Descriptor, starts: Sequence[int], count: int) -> Array:
    """Return `(count, image and batch)`: consecutive pixels in batch and row-major image order."""
    assert descriptor.pixels is not None
    lower = tuple(reversed(descriptor.pixels.lower))
    upper = tuple(reversed(descriptor.pixels.upper))
    image = descriptor.view.shape[1:-1]
    extents = [n - low + high for n, low, high in zip(image, lower, upper, strict=True)]
    for axis, (start, low, extent) in enumerate(zip(starts[1:], lower, extents, strict=True)):
        if not 0 <= start - low < extent:
            raise fault(
                op,
                f"begins at pixel {start} of dimension {axis + 1}, but its pixels are {low} to "
                f"{low + extent - 1}",
            )
    inside = [start - low for start, low in zip(starts[1:], lower, strict=True)]
    first = int(np.ravel_multi_index(inside, extents))
    number = first + np.arange(count)
    coordinates = np.unravel_index(number % prod(extents), extents)
    rows = [starts[0] + number // prod(extents)]
    rows += [axis_index + low for axis_index, low in zip(coordinates, lower, strict=True)]
    return np.stack(rows, axis=1)


def _offset(op: Operation, descriptor: Descriptor, tap: int) -> Array:
    """Return the offset of a tap in the filter, in the order of the shape."""
    assert descriptor.pixels is not None
    extents = tuple(reversed(descriptor.pixels.filter))
    if not 0 <= tap < descriptor.pixels.taps:
        raise fault(op, f"takes tap {tap} of a filter that has {descriptor.pixels.taps}")
    return np.array(np.unravel_index(tap, extents))
