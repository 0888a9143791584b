"""Registers of the tiles that are live at once, by backward liveness over structured control flow.

    %x = load            live: x
    %m = reduce %x       live: x m
    %y = subf %x, %m     live: y          (x dies here, and y takes its registers)
    store %y             live: -

An operation computes element by element as far as this count goes: what dies at it makes room for
what it gives.  A body of a loop keeps alive what it uses from outside, for it runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import FREE_TILES
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

Words = Callable[[SSAValue], int]
"""The 32-bit registers of a value, those of all threads together."""


def tile_registers(value: SSAValue) -> int:
    """The 32-bit registers of a tile in all threads; none of one in memory, or of one number."""
    shape, element = shape_of(value.type), element_of(value.type)
    is_free = isinstance(value.owner, FREE_TILES) or space_of(value.type) not in (None, Space.RMEM)
    if is_free or shape is None or not isinstance(value.type, TensorType):
        return 0
    return -(-prod(shape) * bits_of(element) // 32)


def peak_registers(region: Region, words: Words) -> int:
    """Return the most registers that values of a region, and of those inside, take at once."""
    return max((_Liveness(words).of_block(block, set()) for block in region.blocks), default=0)


class _Liveness:
    def __init__(self, words: Words) -> None:
        self.words = words

    def of_block(self, block: Block, live: set[SSAValue]) -> int:
        """Return the peak of a block after which `live` is read; update that to before it."""
        peak = self._sum(live)
        for op in reversed(list(block.ops)):
            if op.regions:
                peak = max(peak, self._of_regions(op, live))
            live.difference_update(op.results)
            live.update(op.operands)
            peak = max(peak, self._sum(live))
        live.difference_update(block.args)
        return peak

    def _of_regions(self, op: Operation, live: set[SSAValue]) -> int:
        """The peak inside of an operation; what it uses from outside is live all along."""
        live.difference_update(op.results)
        live.update(_captured(op))
        blocks = (block for region in op.regions for block in region.blocks)
        return max((self.of_block(block, set(live)) for block in blocks), default=0)

    def _sum(self, live: set[SSAValue]) -> int:
        return sum(map(self.words, live))


def _captured(op: Operation) -> Iterator[SSAValue]:
    """The values from outside that the regions of an operation use."""
    for inner in op.walk():
        yield from (value for value in inner.operands if not _is_inside(value, op))


def _is_inside(value: SSAValue, op: Operation) -> bool:
    owner = value.owner
    return owner is not op and op.is_ancestor(owner)
