"""Split a thread's elements into the SSA vectors that hold them, in register order."""

from __future__ import annotations

from functools import lru_cache

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WORD_BYTES
from tileas_xdsl.target.mma.warp_tiles import instructions_of, is_accumulator

HALF_WORD_BYTES = 2


@dataclass(frozen=True)
class VectorSplit:
    """`count` vectors of `length` elements each; elements beyond those of the tile are padding."""

    count: int
    length: int

    @property
    def elements(self) -> int:
        """Elements of all vectors."""
        return self.count * self.length


@lru_cache(maxsize=4096)
def vectors_of(layout: RegisterLayout) -> VectorSplit:
    """The vectors of a thread: one for each wgmma instruction, or for each row dealt by rows.

    Any other layout has one vector, filled up so that registers of 32 bits are full of bytes.
    """
    form, values = blocked(layout), layout.values
    if form is not None:
        return VectorSplit(form.blocks, form.registers)
    if is_accumulator(layout) or is_accumulator(layout, in_pairs=True):
        count = instructions_of(layout)
        return VectorSplit(count, values // count)
    padded = values if values <= HALF_WORD_BYTES else align_up(values, WORD_BYTES)
    return VectorSplit(1, padded)


def has_closed_form(layout: RegisterLayout) -> bool:
    """Whether threads compute their coordinates by a formula, and not from a table."""
    return blocked(layout) is not None or is_accumulator(layout)
