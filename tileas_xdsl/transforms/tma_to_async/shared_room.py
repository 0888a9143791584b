"""Whether shared memory holds a tile that is loaded earlier.

The lowering to threads allocates tiles in program order, and where a block has too little for all
of them, tiles that products read get the memory of others that are dead (`dead_memory`).  What is
loaded earlier finds less that is dead:

    %a = alloc_tensor     128 KB                  %a = alloc_tensor     128 KB
    %s = dot %a, %x                               %b = alloc_tensor     128 KB more
    %t = exp %s           %a is dead       ->     %s = dot %a, %x
    %b = alloc_tensor     where %a was            %t = exp %s
    %u = dot %b, %t                               %u = dot %b, %t

So tiles are allocated here as there (`first_free_offset`), beside room for what threads exchange.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func
from xdsl.ir import Block, Operation

from tileas_xdsl.analysis.memory.shared_memory import (
    aligned_bytes,
    allocated_tiles,
    first_free_offset,
    is_staging,
    reuses_stage_memory,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import MatrixProduct
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.smem.dead_memory import common_block, is_operand, users_of_tile

EXCHANGED = 8 * 1024
"""Bytes that threads exchange at once where memory is scarce: more barriers would do with less."""

BARRIERS = 1024
"""Bytes for the barriers of a block."""


@dataclass(frozen=True)
class Placed:
    """A tile, by the operation that makes it, and its memory."""

    tile: Operation
    begin: int
    end: int


class SharedRoom:
    """The shared memory that a block has for the tiles of a function."""

    def __init__(self, function: func.FuncOp, target: Target) -> None:
        self._function = function
        self._room = target.shared_memory_per_block - EXCHANGED - BARRIERS
        self._bytes = {
            op: aligned_bytes(type_)
            for op, type_ in allocated_tiles(function)
            if not reuses_stage_memory(op)
        }
        self._has_all = sum(self._bytes.values()) <= self._room

    def holds(self, tile: Operation, place: Operation) -> bool:
        """Whether all tiles have room if one of them is allocated in front of `place`."""
        return self._has_all or self._end(tile, place) <= self._room

    def _end(self, early: Operation, place: Operation) -> int:
        """The bytes that tiles take in program order, but for one that is allocated early."""
        placed: list[Placed] = []
        for op in operations_in(self._function):
            if op is place:
                placed.append(self._placed(early, place, placed))
            if op in self._bytes and op is not early:
                placed.append(self._placed(op, op, placed))
        return _end(placed)

    def _placed(self, tile: Operation, at: Operation, others: Sequence[Placed]) -> Placed:
        """Give a tile the first dead memory that holds it, of the smallest; else new memory."""
        size, dead = self._bytes[tile], [one for one in others if _is_reusable(one.tile, tile, at)]

        def is_free(begin: int) -> bool:
            inside = (o for o in others if begin < o.end and o.begin < begin + size)
            return all(other in dead for other in inside)

        areas = ((one.begin, one.end - one.begin) for one in dead)
        found = first_free_offset(areas, size, is_free)
        begin = _end(others) if found is None else found
        return Placed(tile, begin, begin + size)


def _end(placed: Sequence[Placed]) -> int:
    return max((one.end for one in placed), default=0)


def _is_reusable(old: Operation, new: Operation, at: Operation) -> bool:
    """Whether a tile that is allocated at an operation may have the memory of an older one."""
    takes = _is_operand(new) or (is_staging(new) and not runs_again(new))
    if not (takes and _is_operand(old)) or (block := common_block(old, at)) is None:
        return False
    return all(_is_over(user, at, block) for user in users_of_tile(old.results[0]))


def _is_operand(tile: Operation) -> bool:
    return bool(tile.results) and is_operand(tile.results[0])


def _is_over(user: Operation, at: Operation, block: Block) -> bool:
    """Whether a tile has been read: of a product, whether something has waited for its sums."""
    if not isinstance(user, MatrixProduct):
        return _is_before(user, at, block)
    return any(_is_before(reader, at, block) for reader in _readers(user))


def _readers(product: MatrixProduct) -> Iterator[Operation]:
    """The operations that read the sums of a product and of those that add to them."""
    for use in product.results[0].uses:
        user = use.operation
        if isinstance(user, MatrixProduct) and user.c is product.results[0]:
            yield from _readers(user)
        else:
            yield user


def _is_before(first: Operation, second: Operation, block: Block) -> bool:
    """Whether a block runs an operation, or what it is inside of, before another one."""
    before, behind = (block.find_ancestor_op_in_block(op) for op in (first, second))
    return before is not None and behind is not None and before.is_before_in_block(behind)
