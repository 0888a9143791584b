"""Swizzles: involutions of offsets that spread a tile over the banks of shared memory.

`Swizzle(B, M, S)` xors `B` bits of an offset, those `S` positions above bit `M`, onto the bits at
`M`.  Source: CUTLASS include/cute/swizzle.hpp.
"""

from __future__ import annotations

from typing import Any

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import whole


@dataclass(frozen=True, slots=True)
class Swizzle:
    """The involution `x ^ ((x & mask) >> shift)`; `bits <= |shift|` as in CuTe.

    A negative `shift` xors low bits onto high ones.
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "bits", whole(self.bits, "the number of bits of a swizzle"))
        object.__setattr__(self, "base", whole(self.base, "the base of a swizzle"))
        object.__setattr__(self, "shift", whole(self.shift, "the shift of a swizzle"))
        if self.bits < 0 or self.base < 0:
            raise LayoutError(f"{self}: the number of bits and the base must not be negative")
        if abs(self.shift) < self.bits:
            raise LayoutError(f"{self}: the shift must be at least the number of bits")
        if self.bits + self.base + abs(self.shift) > 62:
            raise LayoutError(f"{self} reaches past 62 bits")

    @property
    def source_mask(self) -> int:
        """The bits that are read."""
        return ((1 << self.bits) - 1) << (self.base + max(0, self.shift))

    @property
    def target_mask(self) -> int:
        """The bits that are changed."""
        return ((1 << self.bits) - 1) << (self.base - min(0, self.shift))

    @property
    def yyy_msk(self) -> int:
        """pycute's name of `source_mask`."""
        return self.source_mask

    @property
    def zzz_msk(self) -> int:
        """pycute's name of `target_mask`."""
        return self.target_mask

    def __call__(self, offset: Any) -> Any:
        """The swizzled offset, of an integer or of a whole integer array."""
        return offset ^ shiftr(offset & self.source_mask, self.shift)

    def size(self) -> int:
        """Return the period: offsets that differ by a multiple of it are permuted equally."""
        return 1 << (self.bits + self.base + abs(self.shift))

    cosize = size

    def recast(self, old_bits: int, new_bits: int) -> Swizzle:
        """The same permutation of memory, counting elements of `new_bits` instead of `old_bits`."""
        ratio = max(old_bits, new_bits) // min(old_bits, new_bits)
        if ratio & (ratio - 1) or ratio * min(old_bits, new_bits) != max(old_bits, new_bits):
            raise LayoutError(f"{self} cannot be counted in {new_bits}-bit elements")
        shift = ratio.bit_length() - 1
        base = self.base + (shift if new_bits < old_bits else -shift)
        if base < 0 and self.bits:
            raise LayoutError(f"{self} permutes inside a {new_bits}-bit element")
        return Swizzle(self.bits, max(base, 0), self.shift)

    def __str__(self) -> str:
        return f"S<{self.bits},{self.base},{self.shift}>"


def shiftr(a: Any, s: int) -> Any:
    """`a` shifted right by `s` bits; left where `s` is negative."""
    return a >> s if s >= 0 else a << -s


def shiftl(a: Any, s: int) -> Any:
    """`a` shifted left by `s` bits; right where `s` is negative."""
    return shiftr(a, -s)


NO_SWIZZLE = Swizzle(0, 4, 3)
"""The byte swizzle that leaves every address alone."""

BYTE_SWIZZLES = {
    "none": NO_SWIZZLE,
    "32B": Swizzle(1, 4, 3),
    "64B": Swizzle(2, 4, 3),
    "128B": Swizzle(3, 4, 3),
    "128B_BASE32B": Swizzle(2, 5, 2),
}
"""The closed set of shared-memory swizzles on byte addresses, by the name of their mode.

Source: PTX ISA, shared memory matrix layout; CUTLASS include/cute/arch/mma_sm100_desc.hpp.
"""
