"""Many iterations of a thread rolled into a loop with a constant step.

4,096 elements, 128 threads, vectors of 4 (`begin[t] = 4 * t`, `step = 512`, `count = 8`):

    tl.parallel %i = 0 to 4096 {        scf.for %r = 0 to 8 {
      memref.store %x, %C[%i]      ->     %i = 4 * %thread + 512 * %r
    }                                     store %x, %C[%i], ..., %C[%i + 3] }

A last round that only some threads run is guarded by `%i < 4096`.  Where the iterations of a
thread are not evenly spaced, or not alike in all threads, the loop is written out instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.threads.codegen.integer_ops import index_constant
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table
from tileas_xdsl.threads.index.thread_affine import ThreadAffine, of_scalar, of_table
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import ThreadIterations
from tileas_xdsl.transforms.lower_tl.loops.loop_body import quotient, remainder
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState
from tileas_xdsl.transforms.lower_tl.lowering_state import State


@dataclass(frozen=True, eq=False)
class EvenIterations:
    """Thread t runs the row-major iterations `begin[t] + i * step` and those after each."""

    shape: tuple[int, ...]
    count: int
    step: int
    vector: int
    """Iterations of a round, which are neighbours."""
    begin: Table
    """`(threads,)`, -1 for threads that run none."""
    first: Flags
    """Whether a thread acts for its iterations where only one may."""

    @staticmethod
    def of(owners: FragmentMap, vector: int) -> EvenIterations | None:
        """The rounds of a loop; None where its iterations do not go on evenly."""
        assigned = ThreadIterations.of(owners, vector)
        held, count = assigned.iterations, assigned.count // vector
        begin, total = held[:, 0], prod(owners.shape)
        runs = begin >= 0
        if count * vector != assigned.count or count < 2 or not runs.any():
            return None
        thread = int(np.flatnonzero(runs)[0])
        step = int(held[thread, vector] - begin[thread])
        numbers = np.arange(count)[:, None] * step + np.arange(vector)
        expected = begin[:, None] + numbers.reshape(1, -1)
        expected = np.where(runs[:, None] & (expected < total), expected, -1)
        first = assigned.first[:, 0]
        sizes = (step, total, owners.shape[-1], int(np.bitwise_or.reduce(begin[runs])))
        if any(size % vector for size in sizes) or not np.array_equal(held, expected):
            return None
        if (assigned.first != (first[:, None] & assigned.valid)).any():
            return None
        return EvenIterations(owners.shape, count, step, vector, begin, first)

    def run(
        self,
        state: State,
        vector: int,
        body: Callable[[LoopBodyState, Sequence[ThreadAffine]], None],
    ) -> None:
        """The loop, whose body is written once."""
        e, block = state.e, Block(arg_types=[IndexType()])
        number = block.args[0]
        state.ranges[number] = (0, self.count - 1)
        neighbours = np.arange(self.vector, dtype=np.int64)[None, :]
        runs = (self.begin >= 0)[:, None]
        iterations = np.where(runs, self.begin[:, None] + neighbours, -1)
        first = self.first[:, None] & np.ones_like(iterations, dtype=bool)
        work = LoopBodyState(state, ThreadIterations(self.shape, iterations, first), vector)
        start = np.maximum(self.begin, 0)[:, None]
        linear = of_table(start).plus(of_scalar(number).times(self.step))
        with e.within(block):
            if self._may_end_early:
                end = index_constant(e, prod(self.shape))
                inside = arith.CmpiOp(work.at(linear, 0), end, "slt")
                work.path = ((e.insert(inside).result, True),)
            body(work, self._coordinates(work, linear, neighbours))
            e.insert(scf.YieldOp())
        e.insert(
            scf.ForOp(
                index_constant(e, 0),
                index_constant(e, self.count),
                index_constant(e, 1),
                [],
                Region(block),
            )
        )

    @property
    def _may_end_early(self) -> bool:
        last = self.begin[self.begin >= 0] + (self.count - 1) * self.step
        return bool((last >= prod(self.shape)).any())

    def _coordinates(
        self, work: LoopBodyState, linear: ThreadAffine, neighbours: Table
    ) -> Sequence[ThreadAffine]:
        """Quotients and remainders of the number of the first iteration of a round."""
        found: list[ThreadAffine] = []
        for axis, extent in enumerate(self.shape):
            index = quotient(work, linear, prod(self.shape[axis + 1 :]))
            if axis > 0:
                index = remainder(work, index, extent)
            for value in index.terms:
                work.state.ranges.setdefault(value, (0, extent - 1))
            found.append(index)
        for value in found[-1].terms:
            if value not in linear.terms:
                work.e.promised[value] = self.vector
        found[-1] = found[-1].plus(of_table(neighbours))
        return found
