"""Read and write effects of block operations on buffers, and the barriers they require.

    tl.serial %k = 0 to 8 {
      tl.copy %A[%k] to %As        // writes %As: barrier, the product of the last iteration read it
      tl.gemm %As, %Bs, %c         // reads %As: barrier, other threads wrote it
    }

Accesses since the last barrier are pending; an operation that conflicts with one of them gets a
barrier.  A loop is visited until its end leaves nothing that its beginning has not seen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import field

from xdsl.dialects import memref, scf
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.tl.base import scope_of
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.compute import AtomicAddOp, CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import ParallelOp, PipelinedOp, SerialOp
from tileas_xdsl.dialects.tl.moves import ConvertLayoutOp, CopyOp, FillOp
from tileas_xdsl.inference.program import AccessKind, Scope

BETWEEN_THREADS = (Scope.GLOBAL, Scope.SHARED)
"""Memory in which threads see what others do."""

BufferAccess = tuple[SSAValue, AccessKind]


def touches(op: Operation) -> Iterator[BufferAccess]:
    """Storage and what is done to it, by the operation itself."""
    for buffer, kind in _touched(op):
        yield storage_of(buffer), kind


def _touched(op: Operation) -> Iterator[BufferAccess]:
    match op:
        case memref.LoadOp():
            yield op.memref, AccessKind.READ
        case memref.StoreOp():
            yield op.memref, AccessKind.WRITE
        case AtomicAddOp():
            yield op.buffer, AccessKind.UPDATE
        case CopyOp() | ConvertLayoutOp() | ReduceOp() | CumSumOp():
            yield op.source, AccessKind.READ
            yield op.target, AccessKind.WRITE
        case FillOp():
            yield op.buffer, AccessKind.WRITE
        case GemmOp():
            yield op.a, AccessKind.READ
            yield op.b, AccessKind.READ
            yield op.c, AccessKind.WRITE
        case _:
            return


def written_in(op: Operation) -> list[SSAValue]:
    """The storage of registers that something inside of an operation writes, each once."""
    found = [
        storage
        for inner in op.walk()
        if inner is not op
        for storage, kind in touches(inner)
        if kind is not AccessKind.READ and scope_of(storage.type) not in BETWEEN_THREADS
    ]
    return [storage for storage in dict.fromkeys(found) if not op.is_ancestor(_owner(storage))]


def _owner(value: SSAValue) -> Operation | Block:
    return value.owner


@dataclass
class Pending:
    """Memory accesses since the last barrier, except those known to be disjoint (`apart`)."""

    apart: frozenset[SSAValue] = frozenset()
    done: dict[AccessKind, set[SSAValue]] = field(
        default_factory=lambda: {kind: set[SSAValue]() for kind in AccessKind}
    )

    def copy(self) -> Pending:
        """Return a copy that may change by itself."""
        done = {kind: set(buffers) for kind, buffers in self.done.items()}
        return Pending(self.apart, done)

    def merge(self, other: Pending) -> bool:
        """Add what may have been done on another way; whether that was new."""
        before = sum(map(len, self.done.values()))
        for kind, buffers in other.done.items():
            self.done[kind] |= buffers
        return sum(map(len, self.done.values())) > before

    def conflicts(self, touched: list[BufferAccess]) -> bool:
        """Whether other threads may still be at what is touched now."""
        return any(
            storage in self.done[before]
            for storage, kind in touched
            for before in AccessKind
            if not (kind is before and kind is not AccessKind.WRITE)
        )

    def add(self, touched: list[BufferAccess]) -> None:
        """Note what is done."""
        for storage, kind in touched:
            self.done[kind].add(storage)


def barrier_points(kernel: KernelOp, apart: Collection[SSAValue]) -> frozenset[Operation]:
    """The operations of the block before which its threads have to wait for one another.

    Of the storage in `apart` other code takes care.
    """
    found: set[Operation] = set()
    _visit(kernel.body.block, Pending(frozenset(apart)), found)
    return frozenset(found)


def _visit(block: Block, pending: Pending, found: set[Operation]) -> Pending:
    for op in block.ops:
        if isinstance(op, SerialOp | PipelinedOp | scf.ForOp):
            pending = _around(op.body.block, pending, found)
        elif isinstance(op, scf.IfOp):
            arms = [
                _visit(region.block, pending.copy(), found) if region.blocks else pending.copy()
                for region in (op.true_region, op.false_region)
            ]
            arms[0].merge(arms[1])
            pending = arms[0]
        else:
            pending = _step(op, pending, found)
    return pending


def _around(body: Block, pending: Pending, found: set[Operation]) -> Pending:
    """A loop: what its end leaves its beginning finds."""
    entry = pending.copy()
    while True:
        left = _visit(body, entry.copy(), found)
        if not entry.merge(left):
            return entry


def _step(op: Operation, pending: Pending, found: set[Operation]) -> Pending:
    inner = op.body.walk() if isinstance(op, ParallelOp) else (op,)
    touched = [
        touch
        for each in inner
        for touch in touches(each)
        if scope_of(touch[0].type) in BETWEEN_THREADS and touch[0] not in pending.apart
    ]
    if op in found or pending.conflicts(touched):
        found.add(op)
        pending = Pending(pending.apart)
    pending.add(touched)
    return pending
