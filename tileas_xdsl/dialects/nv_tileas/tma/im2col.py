"""im2col descriptors: the parameters of pixels of an image and of a filter.

A copy starts at a pixel between two corners and takes as many consecutive pixels as its box has
beside the channels.  The leading coordinate of a load is the index of the filter tap, whose offset
is added to each pixel; the next ones select the pixel, and the last one the tile of channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.target.tma.tensor_map_rules import CORNER_BITS, MIN_PIXEL_RANK, PIXEL_LIMIT

PIXEL_MODE = "im2col"
NAMES = ("pixel_lower", "pixel_upper", "filter")


@dataclass(frozen=True, slots=True)
class Pixels:
    """Corners of the pixels at which copies begin, and extents of the filter: the width first."""

    lower: tuple[int, ...]
    """The first pixel of each dimension."""
    upper: tuple[int, ...]
    """How far the last pixel is from the last one of the image."""
    filter: tuple[int, ...]

    @property
    def taps(self) -> int:
        """The number of filter taps; those along the width are adjacent."""
        return prod(self.filter)


def pixels_of(op: Operation) -> Pixels | None:
    """Return the pixel parameters of a descriptor that has all of them."""
    found = [_numbers(op.properties.get(name)) for name in NAMES]
    lower, upper, extents = found
    if lower is None or upper is None or extents is None:
        return None
    return Pixels(lower, upper, extents)


def _numbers(attribute: Attribute | None) -> tuple[int, ...] | None:
    if not isinstance(attribute, DenseArrayBase):
        return None
    return tuple(int(n) for n in cast("DenseArrayBase[IntegerType]", attribute).get_values())


def check_pixels(op: Operation, rank: int, mode: str | None, box: Sequence[int | None]) -> None:
    """Check that pixel parameters are complete, in mode im2col only, and within hardware limits."""
    said = [name for name in NAMES if name in op.properties]
    if not said:
        return
    pixels = pixels_of(op)
    if pixels is None:
        raise op_error(op, f"says {' and '.join(said)}; pixels are {', '.join(NAMES)}")
    if mode != PIXEL_MODE:
        raise op_error(op, f"says pixels, but its mode is '{mode}', not '{PIXEL_MODE}'")
    if rank < MIN_PIXEL_RANK:
        raise op_error(op, f"says pixels of {rank} dimensions; there are {MIN_PIXEL_RANK} or more")
    for name, values in zip(NAMES, (pixels.lower, pixels.upper, pixels.filter), strict=True):
        if len(values) != rank - 2:
            raise op_error(
                op, f"has {len(values)} numbers in {name}, but an image of {rank - 2} dimensions"
            )
    _check_ranges(op, pixels)
    counts = [n for n in box[1:] if n is not None]
    if len(counts) == len(box) - 1 and prod(counts) > PIXEL_LIMIT:
        raise op_error(op, f"copies {prod(counts)} pixels at once; {PIXEL_LIMIT} is the most")


def _check_ranges(op: Operation, pixels: Pixels) -> None:
    bits = CORNER_BITS[len(pixels.lower)]
    half = 1 << bits - 1
    for name, values in (("pixel_lower", pixels.lower), ("pixel_upper", pixels.upper)):
        for value in values:
            if not -half <= value < half:
                raise op_error(op, f"has {value} in {name}, which goes from {-half} to {half - 1}")
    for extent in pixels.filter:
        if not 1 <= extent <= 1 << bits:
            raise op_error(op, f"has a filter of {extent}; extents are 1 to {1 << bits}")
