"""Layouts of tiles in memory: element offsets, a swizzle of byte addresses, an element type.

`MemoryLayout` is the value of the literal `<shape,stride,swizzle<B,M,S>,elem=NAME>`.  Swizzles act
on byte addresses, so the same swizzle fits every element width.
"""

from __future__ import annotations

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import AxisSum
from tileas_xdsl.layout.composed import ComposedLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import IntTuple, show
from tileas_xdsl.layout.layout import Layout, plain_layout
from tileas_xdsl.layout.memory.elements import ElementType, element_type
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, NO_SWIZZLE, Swizzle
from tileas_xdsl.layout.tables import Table, check_offset, table


@dataclass(frozen=True, slots=True)
class MemoryLayout:
    """A tile in memory; `layout` counts elements, `swizzle` (None: none) permutes byte addresses.

    `elem` overrides the element type of the value that carries the layout; None inherits it.
    Strides are integers that are not negative, and the swizzle is one of `BYTE_SWIZZLES`.
    """

    layout: Layout
    swizzle: Swizzle | None = None
    elem: str | None = None

    def __post_init__(self) -> None:
        for _, d in plain_layout(self.layout, "a tile in memory").leaves():
            if isinstance(d, AxisSum) or d < 0:
                raise LayoutError(f"stride {d} of {self.layout}: memory has no such offset")
        if self.swizzle is not None:
            check_byte_swizzle(self.swizzle)
        if self.elem is not None:
            object.__setattr__(self, "elem", element_type(self.elem).name)

    @property
    def shape(self) -> IntTuple:
        """The shape of the tile."""
        return self.layout.shape

    @property
    def byte_swizzle(self) -> Swizzle:
        """The swizzle, the identity where none is written."""
        return self.swizzle or NO_SWIZZLE

    def element(self, default: ElementType) -> ElementType:
        """The element type: that of the `elem` clause, else `default`."""
        return element_type(self.elem) if self.elem else default

    def size(self) -> int:
        """How many elements the tile has."""
        return self.layout.size()

    def bytes(self, bits: int) -> int:
        """How many bytes the tile spans from its origin, with elements of `bits` bits."""
        ends = self.addresses(bits) + (self.bit_in_byte(bits) + bits + 7) // 8
        return int(ends.max())

    def bit_in_byte(self, bits: int) -> Table:
        """Where in the byte at its address each element of `bits` bits starts, 0 to 7."""
        return self._bit_offsets(bits) % 8

    def _bit_offsets(self, bits: int) -> Table:
        """The bits before every element, where nothing is swizzled."""
        check_offset((self.layout.cosize() - 1) * bits, self)
        return table(self.layout) * bits

    def bit_addresses(self, bits: int) -> Table:
        """Return the bit address of every element of `bits` bits, also below one byte."""
        return self.addresses(bits) * 8 + self.bit_in_byte(bits)

    def addresses(self, bits: int) -> Table:
        """The byte address of every element of `bits` bits, in colexicographic order.

        An element narrower than a byte has the address of the byte that holds it.
        """
        return self.byte_swizzle(self._bit_offsets(bits) // 8)

    def address(self, crd: IntTuple, bits: int) -> int:
        """The byte address of one element."""
        offset = self.layout.index(crd)
        assert isinstance(offset, int)
        return self.byte_swizzle(offset * bits // 8)

    def composed(self, bits: int) -> ComposedLayout:
        """The same map as a composed layout that counts elements of `bits` bits."""
        swizzle = self.byte_swizzle
        recast = swizzle.recast(8, bits) if swizzle.bits else Swizzle(0, 0, 0)
        return ComposedLayout(recast, 0, self.layout)

    def __str__(self) -> str:
        clauses = [show(self.layout.shape), show(self.layout.stride)]
        if self.swizzle is not None:
            clauses.append(f"swizzle<{self.swizzle.bits},{self.swizzle.base},{self.swizzle.shift}>")
        if self.elem is not None:
            clauses.append(f"elem={self.elem}")
        return f"<{','.join(clauses)}>"


def check_byte_swizzle(swizzle: Swizzle) -> None:
    """Raise `LayoutError` unless `swizzle` is one of the modes that shared memory has."""
    if swizzle in BYTE_SWIZZLES.values():
        return
    known = ", ".join(f"{mode} <{s.bits},{s.base},{s.shift}>" for mode, s in BYTE_SWIZZLES.items())
    raise LayoutError(
        f"swizzle<{swizzle.bits},{swizzle.base},{swizzle.shift}> is no swizzle of shared memory: "
        f"the modes are {known}"
    )
