"""Read a `tl.kernel` into the `Program` that layout inference works on (`inference/program.py`).

Inference knows no IR. It is given buffers by name, and a list of work items: what all threads of
a block do together, each with its accesses as index expressions over the item's own dimensions.

    tl.copy %A[%y, %k] to %a : ...          Loop((128, 64), (read A[y + d0, k + d1],
                                                             write a[d0, d1]), COPY)
    tl.gemm %a, %b, %c                      Gemm(a, b, c, ...)
    tl.parallel (%i, %j) in (128, 128) {    Loop((128, 128), (read c[d0, d1],
      %v = memref.load %c[%i, %j] ...                         write c[d0, d1]), PARALLEL)
      memref.store %w, %c[%i, %j] }

An index that is not affine is None: such an access constrains no layout. Serial loops inside a
parallel loop become further dimensions (`rounds`); loops around a work item only weigh it, by
their trip count. `sites` keeps the operation of each work item, to write the result back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from xdsl.dialects import arith, memref, scf
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of, scope_of
from tileas_xdsl.dialects.tl.compute import AtomicAddOp, CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.fragments import layout_of
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import ParallelOp, PipelinedOp, SerialOp
from tileas_xdsl.dialects.tl.moves import CopyOp, FillOp, Side
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import (
    Access,
    AccessKind,
    CumSum,
    Gemm,
    Loop,
    LoopKind,
    Program,
    Reduce,
    Scope,
    WarpPolicy,
)
from tileas_xdsl.inference.program import Operation as Step
from tileas_xdsl.layout.expr.expression import dimension
from tileas_xdsl.transforms.tl_inference.buffers import BufferNames, source_location
from tileas_xdsl.transforms.tl_inference.index_expressions import IndexExpressions, Symbols

DEFAULT_TRIP_COUNT = 8
"""The trip count assumed of a loop with dynamic bounds."""

Counted = SerialOp | PipelinedOp

_CASTS = (
    arith.ExtFOp,
    arith.TruncFOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
)
"""Conversions between numbers."""


@dataclass
class Extraction:
    """A program under construction, with the operations and buffers that its parts stand for."""

    kernel: KernelOp
    arch: str
    names: BufferNames = field(default_factory=BufferNames)
    symbols: Symbols = field(default_factory=Symbols)
    sites: list[Operation] = field(default_factory=list[Operation])

    def program(self) -> Program:
        """Return the program of the kernel."""
        steps: list[Step] = []
        trip_counts: list[int] = []
        floating: set[str] = set()
        for op, times in _block_operations(self.kernel.body.block, 1):
            if (read := _floating_read(op)) is not None:
                floating.add(self.names.of(read))
            elif (step := self._step(op)) is not None:
                steps.append(step)
                trip_counts.append(times)
                self.sites.append(op)
        threads = self.kernel.thread_count
        return Program(
            threads,
            self.names.all(),
            tuple(steps),
            self.arch,
            frozenset(floating),
            self.names.annotations(threads),
            tuple(trip_counts),
        )

    def _step(self, op: Operation) -> Step | None:
        match op:
            case ParallelOp():
                return self._parallel(op)
            case CopyOp():
                return self._copy(op)
            case FillOp():
                return self._fill(op) if scope_of(op.buffer.type) is not Scope.LOCAL else None
            case ReduceOp():
                return self._reduce(op)
            case CumSumOp():
                return self._cumsum(op)
            case GemmOp():
                return self._gemm(op)
            case _:
                return None

    def _parallel(self, op: ParallelOp) -> Loop:
        inner = [each for each in op.body.walk() if isinstance(each, Counted)]
        variables = [*op.variables, *(each.variable for each in inner)]
        inner_extents = tuple(len(each.static_bounds or ()) for each in inner)
        indices = IndexExpressions(op, variables, (*op.extents, *inner_extents), self.symbols)
        for each in inner:
            indices.define(each.variable, each.static_bounds or range(0))
        accesses = [
            access for each in op.body.walk() for access in self._accesses(each, op, indices)
        ]
        return Loop(
            op.extents,
            tuple(accesses),
            LoopKind.PARALLEL,
            inner_extents,
            source_location(op),
            self._annotation(op, op.extents),
            None if op.coalesced_width is None else op.coalesced_width.value.data,
            max(map(_cast_bits, op.body.walk()), default=0),
        )

    def _accesses(
        self, op: Operation, loop: Operation, indices: IndexExpressions
    ) -> Iterator[Access]:
        match op:
            case memref.LoadOp():
                kind = AccessKind.READ
            case memref.StoreOp():
                kind = AccessKind.WRITE
            case AtomicAddOp():
                kind = AccessKind.UPDATE
            case _:
                return
        buffer = op.buffer if isinstance(op, AtomicAddOp) else op.memref
        at = tuple(indices.of(index) for index in op.indices)
        yield Access(self.names.of(buffer), at, kind, source_location(op), _is_guarded(op, loop))

    def _copy(self, op: CopyOp) -> Loop:
        elements = {element_of(side.type) for side in (op.source, op.target)}
        read = self._side(op, op.source_side, AccessKind.READ)
        write = self._side(op, op.target_side, AccessKind.WRITE)
        return Loop(
            op.loop_extents,
            (read, write),
            LoopKind.COPY,
            location=source_location(op),
            annotation=self._annotation(op, op.loop_extents),
            coalesced_width=None if op.coalesced_width is None else op.coalesced_width.value.data,
            cast_bits=max(map(bits_of, elements)) if len(elements) > 1 else 0,
        )

    def _side(self, op: CopyOp, side: Side, kind: AccessKind) -> Access:
        indices = IndexExpressions(op, (), (), self.symbols)
        offsets = [indices.of(value) for value in side.offsets]
        start = offsets or [0] * len(side.variables)
        at = tuple(
            offset if variable is None or offset is None else offset + dimension(variable)
            for offset, variable in zip(start, side.variables, strict=True)
        )
        return Access(self.names.of(side.buffer), at, kind, source_location(op))

    def _fill(self, op: FillOp) -> Loop:
        at = tuple(dimension(k) for k in range(len(op.loop_extents)))
        write = Access(self.names.of(op.buffer), at, AccessKind.WRITE, source_location(op))
        annotation = self._annotation(op, op.loop_extents)
        return Loop(op.loop_extents, (write,), LoopKind.FILL, (), source_location(op), annotation)

    def _annotation(
        self, op: ParallelOp | CopyOp | FillOp, extents: tuple[int, ...]
    ) -> FragmentMap | None:
        if op.layout is None:
            return None
        return layout_of(op.layout, extents, self.kernel.thread_count)

    def _reduce(self, op: ReduceOp) -> Reduce:
        source, target = self.names.of(op.source), self.names.of(op.target)
        keeps, axis = op.keep_dims is not None, op.axis.value.data
        return Reduce(source, target, axis, keeps, op.is_cleared, source_location(op))

    def _cumsum(self, op: CumSumOp) -> CumSum:
        source, target = self.names.of(op.source), self.names.of(op.target)
        return CumSum(
            source, target, op.axis.value.data, op.reverse is not None, source_location(op)
        )

    def _gemm(self, op: GemmOp) -> Gemm:
        a, b, c = (self.names.of(buffer) for buffer in (op.a, op.b, op.c))
        policy = WarpPolicy(op.warp_policy.value)
        return Gemm(
            a,
            b,
            c,
            op.transpose_a is not None,
            op.transpose_b is not None,
            policy,
            op.clear is not None,
            source_location(op),
        )


def _block_operations(block: Block, count: int) -> Iterator[tuple[Operation, int]]:
    """Yield the operations that all threads run together, with their execution counts."""
    for op in block.ops:
        yield op, count
        if isinstance(op, ParallelOp):
            continue
        inner_count = count * _trip_count(op)
        for region in op.regions:
            for inner in region.blocks:
                yield from _block_operations(inner, inner_count)


def _trip_count(op: Operation) -> int:
    if isinstance(op, Counted):
        return DEFAULT_TRIP_COUNT if op.static_bounds is None else len(op.static_bounds)
    return DEFAULT_TRIP_COUNT if isinstance(op, scf.ForOp) else 1


def _cast_bits(op: Operation) -> int:
    """Return the bits of the wider type of a conversion of numbers, 0 for another operation."""
    if not isinstance(op, _CASTS):
        return 0
    return max(bits_of(value.type) for value in (*op.operands, *op.results))


def _floating_read(op: Operation) -> SSAValue | None:
    """Return the fragment of which an operation at block level reads an element, if it does.

    All threads read it, so that no single thread may own the element: its layout is replicated.
    """
    if not isinstance(op, memref.LoadOp):
        return None
    return op.memref if scope_of(op.memref.type) is Scope.FRAGMENT else None


def _is_guarded(op: Operation, loop: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and parent is not loop:
        if isinstance(parent, scf.IfOp):
            return True
        parent = parent.parent_op()
    return False
