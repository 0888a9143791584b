"""Vector accesses of dynamically sized arrays, guarded by run-time divisibility checks.

All threads take one of two ways: accesses of several elements, or of one each.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import cast_index, is_equal, modulo
from tileas_xdsl.transforms.lower_tl.memory import vectorized_access as memory
from tileas_xdsl.transforms.lower_tl.memory.vectorized_access import Access, VectorAccess


def load(access: Access) -> SSAValue:
    """The elements of all iterations."""
    pieces = None if access.is_one else _wide_pieces(access)
    if pieces is None:
        return memory.load(access)
    ways = _ways(access, pieces, lambda one: [memory.load(one)])
    return ways.results[0]


def store(access: Access, value: SSAValue) -> None:
    """Elements of all iterations put into memory."""
    act(access, lambda one: memory.store(one, value))


def act(access: Access, do: Callable[[Access], None]) -> None:
    """Do what an access is for, with the pieces that it has as wide as they can be."""
    pieces = _wide_pieces(access)
    if pieces is None:
        do(access)
        return

    def put(one: Access) -> Sequence[SSAValue]:
        do(one)
        return ()

    _ways(access, pieces, put)


def _wide_pieces(access: Access) -> Sequence[VectorAccess] | None:
    """The pieces if all sizes are multiples of an access; None where that makes no difference."""
    if not access.sizes or access.widest == 1:
        return None
    with _promised(access.work.e, access.sizes, access.widest):
        pieces = replace(access).pieces
    return pieces if len(pieces) < len(access.pieces) else None


@contextmanager
def _promised(e: ThreadBuilder, sizes: Sequence[SSAValue], factor: int) -> Generator[None]:
    """Take sizes for multiples of a number for a while."""
    before = dict(e.promised)
    e.promised.update({size: factor * before.get(size, 1) for size in sizes})
    try:
        yield
    finally:
        e.promised.clear()
        e.promised.update(before)


def _ways(
    access: Access, pieces: Sequence[VectorAccess], make: Callable[[Access], Sequence[SSAValue]]
) -> scf.IfOp:
    e, blocks = access.work.e, (Block(), Block())
    condition = _are_multiples(e, access.sizes, access.widest)
    types = []
    for block, chosen in zip(blocks, (pieces, access.pieces), strict=True):
        with e.within(block):
            given = make(replace(access, chosen=chosen))
            e.insert(scf.YieldOp(*given))
            types = [value.type for value in given]
    return e.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1])))


def _are_multiples(e: ThreadBuilder, sizes: Sequence[SSAValue], number: int) -> SSAValue:
    """Whether all sizes are multiples of a power of two: no low bit of any is set."""
    first, *others = (cast_index(e, size, IndexType()) for size in dict.fromkeys(sizes))
    for size in others:
        first = e.insert(arith.OrIOp(first, size)).result
    return is_equal(e, modulo(e, first, number), 0)
