"""Tensor maps: what a TMA instruction needs to know of global memory, and the names of its modes.

Sources: CUDA driver API, cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col and their enums; PTX ISA
5.5.3, 5.5.4, tensormap.replace.
"""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import ceil_div

MAX_RANK = 5


@dataclass(frozen=True, slots=True)
class Element:
    """An element type: its code in the map, its code in the driver's enum, bits, float or not."""

    name: str
    code: int
    driver: int
    bits: int
    is_float: bool = False
    tf32: bool = False
    shared_bytes: int = 0
    """Bytes in shared memory of each 16 values of a packed type."""


_ELEMENTS = (
    Element("u8", 0, 0, 8),
    Element("u16", 1, 1, 16),
    Element("u32", 2, 2, 32),
    Element("s32", 3, 3, 32),
    Element("u64", 4, 4, 64),
    Element("s64", 5, 5, 64),
    Element("f16", 6, 6, 16, is_float=True),
    Element("f32", 7, 7, 32, is_float=True),
    Element("f32.ftz", 8, 10, 32, is_float=True),
    Element("f64", 9, 8, 64, is_float=True),
    Element("bf16", 10, 9, 16, is_float=True),
    Element("tf32", 7, 11, 32, is_float=True, tf32=True),
    Element("tf32.ftz", 8, 12, 32, is_float=True, tf32=True),
    Element("b4x16", 11, 13, 4, shared_bytes=8),
    Element("b4x16_p64", 12, 14, 4, shared_bytes=16),
    Element("b6x16_p32", 13, 15, 6, shared_bytes=16),
)

ELEMENTS: Mapping[str, Element] = {e.name: e for e in _ELEMENTS}
"""Element types by their PTX names. """

_BY_NAME: Mapping[str, str] = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "f32",
    "tf32": "tf32",
    "f64": "f64",
    "i32": "s32",
    "i64": "s64",
    "index": "s64",
}
"""How tensor maps call the elements of tiles."""

_BY_BITS: Mapping[int, str] = {4: "b4x16", 8: "u8", 16: "u16", 32: "u32", 64: "u64"}


def tensor_map_element(name: str, bits: int) -> str | None:
    """How tensor maps call an element; what has no name is moved as bits, None if it cannot be."""
    return _BY_NAME.get(name) or _BY_BITS.get(bits)


@dataclass(frozen=True, slots=True)
class SwizzleMode:
    """A swizzle of shared memory: two codes in the map, the driver's, and the bytes it spans."""

    code: int
    atomicity: int
    driver: int
    span: int | None


SWIZZLES: Mapping[str, SwizzleMode] = {
    "none": SwizzleMode(0, 0, 0, None),
    "32B": SwizzleMode(1, 0, 1, 32),
    "64B": SwizzleMode(2, 0, 2, 64),
    "128B": SwizzleMode(3, 0, 3, 128),
    "128B_BASE32B": SwizzleMode(3, 1, 4, 128),
    "128B_BASE32B_FLIP8B": SwizzleMode(3, 2, 5, 128),
    "128B_BASE64B": SwizzleMode(3, 3, 6, 128),
}
"""The swizzles by name; those of more than 16-byte atoms exist from sm_100 on."""

INTERLEAVES: Mapping[str, int] = {"none": 0, "16B": 1, "32B": 2}
L2_PROMOTIONS: Mapping[str, int] = {"none": 0, "64B": 1, "128B": 2, "256B": 3}
L2_FETCHES = "256B"
"""The promotion of the maps of kernels: the granularity of fetches to L2."""


@dataclass(frozen=True, slots=True)
class PixelBox:
    """The pixels at which im2col copies may begin: from `lower` to the last pixel plus `upper`.

    Both have an entry for each dimension between channels and batch, innermost first.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]

    def extents(self, dims: tuple[int, ...]) -> tuple[int, ...]:
        """How many pixels the box has along each dimension of a tensor (channels first)."""
        sides = zip(dims[1:-1], self.lower, self.upper, strict=True)
        return tuple(dim - low + high for dim, low, high in sides)


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A view of global memory and the box of it that one TMA instruction moves.

    All tuples start with the innermost dimension, whose elements are adjacent: `strides` (bytes)
    has one entry less than `dims` and `box` (elements).  `check_tensor_map` checks legality.  An
    im2col map has `pixels`, and its box is channels per pixel, pixels per column.
    """

    element: str
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...] = ()
    """Every how manyth element of the box is moved; empty for all ones."""
    interleave: str = "none"
    swizzle: str = "none"
    l2_promotion: str = "none"
    nan_fill: bool = False
    """Whether elements out of bounds read as NaN instead of zero."""
    pixels: PixelBox | None = None

    def __post_init__(self) -> None:
        if not self.element_strides:
            object.__setattr__(self, "element_strides", (1,) * len(self.dims))

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.dims)

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements that are moved along each dimension of the box."""
        if self.pixels is not None:
            return self.box
        return tuple(ceil_div(b, s) for b, s in zip(self.box, self.element_strides, strict=True))
