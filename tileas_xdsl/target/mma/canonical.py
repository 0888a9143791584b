"""Canonical shared-memory layouts: how wgmma and tcgen05.mma read an operand of shared memory.

A matrix descriptor describes an operand of (MN, K) elements by a swizzle mode and two byte offsets.
In 16-byte units, with a mode W units wide (2, 4, 8), the layouts under the swizzle are

    K-major                      ((8,m),(2,k)):((W,SBO),(1,step))
    K-major, no swizzle          ((8,m),(2,k)):((1,SBO),(LBO,step))
    MN-major                     ((W,m),(8,k)):((1,LBO),(W,SBO))
    MN-major, no swizzle         ((1,m),(8,k)):((-,SBO),(1,LBO))
    MN-major, atoms of 32 bytes  ((8,m),(4,k)):((1,LBO),(8,SBO))

One instruction reads 256 bits of K; `step` is what later instructions add to the start address.
Only what one instruction reads must have this form: the starts of later ones may be uneven.
Sources: CUTLASS include/cute/atom/mma_traits_sm90_gmma.hpp and mma_traits_sm100.hpp
(make_gmma_desc, make_umma_desc); PTX ISA, shared memory matrix layouts of wgmma and tcgen05.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, Swizzle
from tileas_xdsl.layout.tables import flat_table
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.bits import code_of
from tileas_xdsl.target.errors import TargetError

Major = Literal["k", "mn"]

MAJORS: Mapping[str, int] = {"k": 0, "mn": 1}
"""The majors and their codes in instruction descriptors."""

UNIT_BITS = 128
"""Descriptors count in 16-byte units."""

INSTRUCTION_K_BITS = 256
"""Bits of K that one dense instruction reads of each row."""

ELEMENT_BITS = (4, 8, 16, 32)


@dataclass(frozen=True, slots=True)
class Mode:
    """A swizzle mode: units in a row of the pattern, K rows of an MN-major atom, base alignment."""

    width: int
    mn_major_rows: int
    alignment: int


MODES: Mapping[str, Mode] = {
    "none": Mode(1, 8, 16),
    "32B": Mode(2, 8, 256),
    "64B": Mode(4, 8, 512),
    "128B": Mode(8, 8, 1024),
    "128B_BASE32B": Mode(8, 4, 1024),
}
"""The modes by name; where the start is a multiple of `alignment`, base_offset is 0 (PTX ISA)."""

MN_MAJOR_ONLY = ("128B_BASE32B",)

MN_MAJOR_OPERANDS: Mapping[str, Mapping[int, tuple[str, ...]]] = {
    "wgmma": {16: ("none", "32B", "64B", "128B")},
    "tcgen05": {
        8: ("none", "32B", "64B", "128B"),
        16: ("none", "32B", "64B", "128B"),
        32: ("128B_BASE32B",),
    },
}
"""For each matrix unit and element width the modes in which an operand may be MN-major.

Sources: PTX ISA, wgmma.mma_async (imm-trans is for 16-bit types) and tcgen05 instruction descriptor
(kind::tf32 is transposed only with 32-byte atoms, every other kind never); CUTLASS
include/cute/arch/mma_sm100_desc.hpp (a_major_: not for 4 and 6 bit formats).
"""

K_MAJOR_OPERANDS: Mapping[str, tuple[int, ...]] = {"wgmma": (8, 16, 32), "tcgen05": ELEMENT_BITS}
"""For each matrix unit the widths of elements that an operand may have."""


@dataclass(frozen=True, slots=True)
class CanonicalLayout:
    """An operand as a descriptor sees it; offsets are bytes, 0 where the hardware ignores them."""

    mode: str
    major: Major
    elem_bits: int
    leading_byte_offset: int
    stride_byte_offset: int
    starts: Layout
    """The number of an instruction along K to the bytes from the first start to its own.

    The hardware swizzles start addresses too, so these are offsets before the permutation.
    """

    @property
    def step(self) -> int | None:
        """Bytes from each start to the next: 0 when there is one, None where they are uneven."""
        leaves = coalesce(self.starts).leaves()
        stride = leaves[0][1]
        return stride if len(leaves) == 1 and isinstance(stride, int) else None

    @property
    def swizzle(self) -> Swizzle:
        """The permutation of byte addresses."""
        return BYTE_SWIZZLES[self.mode]

    @property
    def alignment(self) -> int:
        """The alignment of the first byte that makes base_offset 0."""
        return MODES[self.mode].alignment

    def byte_address(self, mn: Any, k: Any) -> Any:
        """The address, from an aligned start, of the byte where element `(mn, k)` begins.

        `mn` and `k` are integers or integer arrays that broadcast.
        """
        along, across = (k, mn) if self.major == "k" else (mn, k)
        byte = along * self.elem_bits // 8
        offset = self._unit_address(byte // 16, across) + byte % 16
        return self.swizzle(offset)

    def _unit_address(self, unit: Any, across: Any) -> Any:
        mode = MODES[self.mode]
        row, starts = 16 * mode.width, flat_table(self.starts)
        lead, stride = self.leading_byte_offset, self.stride_byte_offset
        if self.major == "k":
            next_unit = lead if self.mode == "none" else 16
            along = unit % 2 * next_unit + starts[unit // 2]
            return along + across % 8 * row + across // 8 * stride
        panel, group = (stride, lead) if self.mode == "none" else (lead, stride)
        along = unit % mode.width * 16 + unit // mode.width * panel
        rows, reads = mode.mn_major_rows, INSTRUCTION_K_BITS // self.elem_bits
        within = across % reads
        return along + within % rows * row + within // rows * group + starts[across // reads]


def canonical_atom(mode: str, major: Major, elem_bits: int) -> Layout:
    """The smallest layout of a mode, `(MN, K)` to elements, to be repeated with `tile_to_shape`.

    The swizzle that goes with it is `BYTE_SWIZZLES[mode]`.
    """
    check_major(major)
    if mode not in MODES:
        raise TargetError(f"unknown shared-memory mode '{mode}'; known: {', '.join(MODES)}")
    if major == "k" and mode in MN_MAJOR_ONLY:
        raise TargetError(f"mode {mode} exists for MN-major operands only")
    row = MODES[mode].width * units_of(elem_bits)
    if major == "k":
        return Layout((8, row), (row, 1))
    return Layout((row, MODES[mode].mn_major_rows), (1, row))


def operand_refusal(layout: CanonicalLayout, target: Target) -> str | None:
    """Why the matrix instructions of `target` do not read this operand; None where they do."""
    unit = target.matrix_unit.instruction
    if layout.elem_bits not in K_MAJOR_OPERANDS.get(unit, ()):
        return f"{target.name} has no matrix instruction for {layout.elem_bits}-bit elements"
    if layout.major == "k":
        return None
    modes = MN_MAJOR_OPERANDS[unit].get(layout.elem_bits)
    if modes is None:
        return f"{target.name} reads {layout.elem_bits}-bit operands K-major only"
    if layout.mode not in modes:
        return (
            f"{target.name} reads MN-major {layout.elem_bits}-bit operands in mode "
            f"{' or '.join(modes)}, not {layout.mode}"
        )
    return None


def check_major(major: str) -> None:
    """Raise `TargetError` for what is no major."""
    code_of(MAJORS, major, "major")


def units_of(elem_bits: int) -> int:
    """How many elements fill 16 bytes; `TargetError` for a width that no operand has."""
    if elem_bits not in ELEMENT_BITS:
        widths = ", ".join(map(str, ELEMENT_BITS))
        raise TargetError(f"operands have elements of {widths} bits, not of {elem_bits}")
    return UNIT_BITS // elem_bits
