"""Which copies of a pipelined loop may be prefetched into multi-buffered shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.tl.base import element_of, scope_of
from tileas_xdsl.dialects.tl.buffers import AllocSharedOp, storage_of
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import PipelinedOp
from tileas_xdsl.dialects.tl.moves import CopyOp
from tileas_xdsl.inference.program import AccessKind, Scope
from tileas_xdsl.transforms.lower_tl.memory_effects import touches

_PURE = ("arith.", "affine.apply", "memref.dim")


@dataclass(frozen=True)
class PrefetchableCopies:
    """The prefetchable copies of a loop, and the operations that compute their indices."""

    copies: tuple[CopyOp, ...]
    indices: tuple[Operation, ...]
    """In the order of the body."""


def staged_in(op: PipelinedOp) -> PrefetchableCopies:
    """What may run ahead in a loop; nothing where there is one stage only."""
    if op.stages.value.data < 2:
        return PrefetchableCopies((), ())
    body = list(op.body.block.ops)
    copies: list[CopyOp] = []
    needed: set[Operation] = set()
    for each in body:
        if not isinstance(each, CopyOp) or not _is_apart(op, each):
            continue
        found = _computed(op.body.block, [*each.source_offsets, *each.target_offsets])
        if found is not None:
            copies.append(each)
            needed |= found
    return PrefetchableCopies(tuple(copies), tuple(each for each in body if each in needed))


def stages_of(kernel: KernelOp) -> dict[SSAValue, int]:
    """How many of each buffer there are, where there are several."""
    return {
        copy.target: op.stages.value.data
        for op in kernel.walk()
        if isinstance(op, PipelinedOp)
        for copy in staged_in(op).copies
    }


def _is_apart(loop: PipelinedOp, copy: CopyOp) -> bool:
    """Return whether the copy is the buffer's only writer, from an array that is only read.

    A source that threads write elsewhere would need a barrier, and a proxy fence for TMA, which a
    prefetched copy does not get.
    """
    target, source = copy.target, copy.source
    if scope_of(source.type) is not Scope.GLOBAL or not isinstance(target.owner, AllocSharedOp):
        return False
    if element_of(source.type) != element_of(target.type):
        return False
    users = [use.operation for use in target.uses]
    if any(not loop.is_ancestor(user) or user.results for user in users if not _loads(user)):
        return False
    if not all(loop.is_ancestor(user) for user in users):
        return False
    kernel = enclosing(loop, KernelOp)
    assert kernel is not None
    inside = [(each, *touch) for each in kernel.walk() for touch in touches(each)]
    writers = [each for each, storage, kind in inside if storage is target and kind is not _READ]
    array = storage_of(source)
    is_read_only = all(kind is _READ for _, storage, kind in inside if storage is array)
    return writers == [copy] and is_read_only and _is_first(loop, copy, users)


_READ = AccessKind.READ


def _loads(op: Operation) -> bool:
    return op.name == "memref.load"


def _is_first(loop: PipelinedOp, copy: CopyOp, users: Sequence[Operation]) -> bool:
    """Whether nothing in an iteration uses the buffer before it is filled as a whole."""
    if not copy.fills_target:
        return False
    for op in loop.body.block.ops:
        if op is copy:
            return True
        if any(op.is_ancestor(user) for user in users):
            return False
    return False


def _computed(block: Block, values: Sequence[SSAValue]) -> set[Operation] | None:
    """The operations of a block that compute values; None where one reads memory or branches."""
    found: set[Operation] = set()
    for op in _owners(block, values):
        if not op.name.startswith(_PURE) or op.regions:
            return None
        found.add(op)
    return found


def _owners(block: Block, values: Sequence[SSAValue]) -> Iterator[Operation]:
    pending = list(values)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner.parent_block() is block:
            yield owner
            pending += owner.operands
