"""Operands of wgmma and tcgen05.mma in shared memory, read through matrix descriptors.

Sources: PTX ISA, shared memory matrix layout of wgmma and of tcgen05; CUTLASS
include/cute/atom/mma_traits_sm90_gmma.hpp and mma_traits_sm100.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import Tile
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import Cta
from tileas_xdsl.interpreters.ptx.memory.shared_memory import GRANULE
from tileas_xdsl.interpreters.ptx.numerics.float_formats import singles
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.smem_descriptor import decode

WIDTHS: Mapping[str, int] = {"none": 1, "32B": 2, "64B": 4, "128B": 8, "128B_BASE32B": 8}
"""16-byte granules in a row of the swizzle atom, by mode."""

K_BYTES = 32
"""Extent of K in bytes of one instruction."""

ELEMENT_BITS: Mapping[str, int] = {
    "f16": 16,
    "bf16": 16,
    "tf32": 32,
    "e4m3": 8,
    "e5m2": 8,
    "e2m3_p32": 8,
    "e3m2_p32": 8,
    "e2m1_p64": 8,
    "e2m1": 4,
    "s8": 8,
    "u8": 8,
}
"""Bits of an element in shared memory, by type."""


@dataclass(frozen=True, slots=True)
class Packing:
    """Sub-byte elements: `bits` each, little-endian, padded to a granule."""

    format: str
    bits: int
    per_granule: int


PACKINGS: Mapping[str, Packing] = {
    "e2m3_p32": Packing("e2m3", 6, 16),
    "e3m2_p32": Packing("e3m2", 6, 16),
    "e2m1_p64": Packing("e2m1", 4, 16),
    "e2m1": Packing("e2m1", 4, 32),
}
"""Source: PTX ISA 9.7.16.10.4, packing formats; 5.5.1.1, sub-byte types."""


@dataclass(frozen=True, slots=True)
class OperandShape:
    """The operand of an instruction: `rows` along M or N, element type, K- or MN-major."""

    rows: int
    element: str
    major: str
    k_bytes: int = K_BYTES
    """Extent of K; B of a sparse A has twice as much."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A decoded matrix descriptor: swizzle mode, start address, leading and stride byte offsets."""

    mode: str
    address: int
    leading: int
    stride: int

    def __str__(self) -> str:
        return (
            f"address {self.address:#x}, leading offset {self.leading}, stride offset "
            f"{self.stride}, swizzle {self.mode}"
        )


_read: dict[tuple[int, str], Descriptor] = {}


def read_descriptor(word: int, target: Target, what: str) -> Descriptor:
    """Decode a matrix descriptor; a fault for one that is invalid or not modelled."""
    key = (word, target.name)
    known = _read.get(key)
    if known is not None:
        return known
    try:
        found = decode(word, target)
    except TargetError as error:
        raise Fault("descriptor", f"{what}: {error}") from None
    if found.base_offset:
        raise Fault("unsupported", f"{what}: a base offset of {found.base_offset} is not modelled")
    if found.absolute_leading_address:
        raise Fault("unsupported", f"{what}: absolute leading addresses are not modelled")
    if len(_read) > 1 << 16:
        _read.clear()
    _read[key] = Descriptor(
        found.mode, found.address, found.leading_byte_offset, found.stride_byte_offset
    )
    return _read[key]


@lru_cache(maxsize=8192)
def granules_of(descriptor: Descriptor, shape: OperandShape) -> Array:
    """Return the granules of an operand: (rows, along K) K-major, (along MN, K) MN-major."""
    mode, start = descriptor.mode, descriptor.address
    leading, stride = descriptor.leading, descriptor.stride
    width = WIDTHS[mode]
    row = GRANULE * width
    if shape.major == "k":
        r = np.arange(shape.rows)[:, None]
        unit = np.arange(shape.k_bytes // GRANULE)
        along = unit % width * GRANULE + unit // width * leading
        address = start + r // 8 * stride + r % 8 * row + along
    else:
        bits = ELEMENT_BITS[shape.element]
        unit = np.arange(shape.rows * bits // 128)[:, None]
        k = np.arange(shape.k_bytes * 8 // bits)
        panel, group = (stride, leading) if mode == "none" else (leading, stride)
        rows = 4 if mode == "128B_BASE32B" else 8
        address = start + unit % width * GRANULE + unit // width * panel
        address = address + k % rows * row + k // rows * group
    found = BYTE_SWIZZLES[mode](address) // GRANULE
    found.flags.writeable = False
    return found


class OperandView:
    """An operand as a descriptor shows it; equal ones are the same object."""

    __slots__ = ("descriptor", "granules", "shape", "tile")

    def __init__(self, descriptor: Descriptor, shape: OperandShape, granules: Array) -> None:
        self.descriptor, self.shape, self.granules = descriptor, shape, granules
        self.tile = Tile(granules.ravel())


@lru_cache(maxsize=8192)
def view_of(descriptor: Descriptor, shape: OperandShape) -> OperandView:
    """Return the view of an operand through a descriptor."""
    return OperandView(descriptor, shape, granules_of(descriptor, shape))


@lru_cache(maxsize=8192)
def joined_along_k(views: tuple[OperandView, ...]) -> OperandView:
    """Return operands of one shape as one of a longer K, to be read as a whole."""
    first = views[0]
    if len(views) == 1:
        return first
    granules = np.concatenate([view.granules for view in views], axis=1)
    return OperandView(first.descriptor, first.shape, granules)


def operand(cta: Cta, view: OperandView) -> Array:
    """Return an operand (rows, K) as f32, integers as f64."""
    shared = cta.shared
    if cta.operand_version != shared.writes:
        cta.operands.clear()
        cta.operand_version = shared.writes
    found = cta.operands.get(view)
    if found is None:
        shared.check_granule_range(view.tile.low, view.tile.high)
        found = cta.operands[view] = numbers(shared.granules[view.granules], view.shape)
    return found


def numbers(granules: Array, shape: OperandShape) -> Array:
    """Decode granules in the order of `granules_of` to an operand (rows, K)."""
    if shape.element in PACKINGS:
        return _unpacked(granules, PACKINGS[shape.element], shape)
    bits = ELEMENT_BITS[shape.element]
    elements = granules.view(UNSIGNED[bits])
    if shape.major == "k":
        matrix = elements.reshape(shape.rows, -1)
    else:
        per = 128 // bits
        cells = elements.reshape(granules.shape[0], -1, per)
        matrix = cells.transpose(0, 2, 1).reshape(shape.rows, -1)
    return values_of(matrix, shape.element)


def _unpacked(granules: Array, packing: Packing, shape: OperandShape) -> Array:
    """Decode sub-byte elements, which are always K-major."""
    data = np.ascontiguousarray(granules).view(np.uint8).reshape(-1, GRANULE)
    bits = np.unpackbits(data, axis=1, bitorder="little")
    bits = bits[:, : packing.bits * packing.per_granule].reshape(-1, packing.bits)
    codes = (bits << np.arange(packing.bits, dtype=np.uint8)).sum(axis=1, dtype=np.uint8)
    return np.ascontiguousarray(singles(codes.reshape(shape.rows, -1), packing.format))


def values_of(matrix: Array, element: str) -> Array:
    """Decode the bits of elements to f32, integers to f64."""
    if element == "s8":
        return np.ascontiguousarray(matrix).view(np.int8).astype(np.float64)
    if element == "u8":
        return matrix.astype(np.float64)
    return np.ascontiguousarray(singles(np.ascontiguousarray(matrix), element))
