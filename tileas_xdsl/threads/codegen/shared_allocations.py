"""Shared memory that an agent has beside that of values: for exchanges, and for lines of arrays."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import BYTE_BITS


@dataclass(frozen=True)
class KeptLine:
    """A line in shared memory that rows read from any element on (`gmem/rows/kept_lines.py`)."""

    layout: RegisterLayout
    """By which threads store it, and read it."""
    loaded: Attribute
    """The type of the elements in global memory, whose vectors threads have."""
    element: Attribute
    """The type of the elements in shared memory, which may be wider."""
    pointer: SSAValue
    """To the first word of the first plane."""
    run: int
    """Elements of a vector of a thread."""
    word: IntegerType
    """What is stored and loaded at once: 32 bits, or an element where a vector is narrower."""
    planes: int
    """Words of a vector."""
    places: int
    """Words of a plane, of which each vector has one."""
    front: int
    """Vectors in front of the first one, for rows that begin in these."""
    end: int | None
    """The element from which on all are padding, and vectors are not stored."""
    padding: FloatAttr | IntegerAttr | None
    """None for zeros."""

    @property
    def bits(self) -> int:
        """Of a word."""
        return self.word.width.data

    @property
    def reach(self) -> int:
        """Elements that rows may be rotated by."""
        return self.front * self.run

    def has(self, first: int) -> bool:
        """Whether vectors of threads that begin there are stored."""
        return self.end is None or first - self.reach < self.end


@dataclass(frozen=True)
class OwnLine:
    """A line of which each thread keeps its own elements in shared memory (`own_lines.py`)."""

    layout: RegisterLayout
    loaded: Attribute
    """The type of the elements in global memory, whose vectors threads have."""
    element: Attribute
    """The type of the elements in shared memory, which may be wider."""
    pointer: SSAValue
    """To the first access of the thread."""
    threads: int
    reach: int | None
    """The column from which on all elements are padding, and not stored; None for none."""
    padding: FloatAttr | IntegerAttr

    @property
    def run(self) -> int:
        """Elements of an access."""
        return ACCESS_BYTES * BYTE_BITS // bits_of(self.element)


@dataclass
class ScratchAllocation:
    """A scratch buffer in shared memory of an agent."""

    offset: int
    bytes: int
    owner: Operation | None
    """The operation that uses it, None after its last read."""
    is_kept: bool
    """Whether no other operation may use it."""
    is_shared: bool = False
    """Whether another operation has used it, too."""
