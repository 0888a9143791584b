"""The 64-bit descriptor of a shared-memory operand of wgmma (sm_90a) or tcgen05.mma (sm_100a).

Sources: CUTLASS include/cute/arch/mma_sm90_desc.hpp and mma_sm100_desc.hpp; PTX ISA, matrix
descriptor of wgmma and shared memory descriptor of tcgen05.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.bits import BitField, code_of, named, pack, unpack
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.canonical import CanonicalLayout

_COMMON = (
    BitField("address", 0, 14, dropped=4),
    BitField("leading_byte_offset", 16, 14, dropped=4),
    BitField("stride_byte_offset", 32, 14, dropped=4),
    BitField("base_offset", 49, 3),
)

FIELDS: Mapping[str, tuple[BitField, ...]] = {
    "wgmma": (*_COMMON, BitField("layout_type", 62, 2)),
    "tcgen05": (
        *_COMMON,
        BitField("version", 46, 3),
        BitField("absolute_leading_address", 52, 1),
        BitField("layout_type", 61, 3),
    ),
}
"""The bit fields of the descriptor of each matrix unit.

PTX calls bits 46-48 of tcgen05 the constant 0b001; CUTLASS calls bits 46-47 `version`.
"""

VERSIONS: Mapping[str, int] = {"wgmma": 0, "tcgen05": 1}


@dataclass(frozen=True, slots=True)
class SmemDescriptor:
    """Where an operand starts in shared memory and how it is laid out; all sizes are bytes.

    `address` is the `.shared` address of the first byte (below 2^18).  `base_offset` is 0 when the
    swizzle pattern starts at a multiple of its period.
    """

    target: Target
    mode: str
    address: int
    leading_byte_offset: int
    stride_byte_offset: int
    base_offset: int = 0
    absolute_leading_address: bool = False
    """Whether the leading offset is an address (tcgen05, 48-byte K tiles)."""

    def encode(self) -> int:
        """Return the 64-bit descriptor; raise `TargetError` for a field that does not fit."""
        what = f"descriptor for {self.target.name}"
        unit = _unit_of(self.target)
        if self.absolute_leading_address and not VERSIONS[unit]:
            raise TargetError(f"{what}: an absolute leading address needs sm_100a")
        values = {
            "address": self.address,
            "leading_byte_offset": self.leading_byte_offset,
            "stride_byte_offset": self.stride_byte_offset,
            "base_offset": self.base_offset,
            "version": VERSIONS[unit],
            "absolute_leading_address": int(self.absolute_leading_address),
            "layout_type": code_of(
                self.target.matrix_unit.layout_types, self.mode, f"{what}: mode"
            ),
        }
        return pack(FIELDS[unit], values, what)

    def advance(self, byte_count: int) -> SmemDescriptor:
        """Return the descriptor advanced by `byte_count`, as for the next step along K.

        In the encoding it is the addition of `byte_count >> 4` to the low half.
        """
        return replace(self, address=self.address + byte_count)


def decode(word: int, target: Target) -> SmemDescriptor:
    """Decode a 64-bit descriptor; raise `TargetError` if it is invalid."""
    what = f"descriptor for {target.name}"
    unit = _unit_of(target)
    values = unpack(FIELDS[unit], word, 64, what)
    version = values.pop("version", 0)
    if version != VERSIONS[unit]:
        raise TargetError(f"{what}: version {version} instead of {VERSIONS[unit]}")
    mode = named(target.matrix_unit.layout_types, values.pop("layout_type"), f"{what}: layout type")
    absolute = bool(values.pop("absolute_leading_address", 0))
    return SmemDescriptor(target, mode, **values, absolute_leading_address=absolute)


def _unit_of(target: Target) -> str:
    """The matrix unit that reads the descriptors of a target."""
    unit = target.matrix_unit
    if not unit.reads_shared_memory:
        raise TargetError(f"{target.name} has no matrix descriptors: {unit.ptx} reads registers")
    return unit.instruction


def describe(layout: CanonicalLayout, address: int, target: Target) -> SmemDescriptor:
    """The descriptor of an operand whose first byte is at `address` of shared memory.

    Raises `TargetError` for an address at which the swizzle pattern would not start afresh.
    """
    if address % layout.alignment:
        raise TargetError(
            f"an operand in mode {layout.mode} starts at a multiple of {layout.alignment} bytes, "
            f"not at {address}"
        )
    return SmemDescriptor(
        target, layout.mode, address, layout.leading_byte_offset, layout.stride_byte_offset
    )
