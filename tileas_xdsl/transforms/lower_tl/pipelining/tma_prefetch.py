"""Prefetch by TMA in a pipelined loop: one issuing thread, one mbarrier per stage.

Round n completes phase n // `stages` of the barrier of its stage.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import (
    MbarrierArriveExpectTxOp,
    MbarrierWaitOp,
    PrefetchTmaDescOp,
)
from tileas_xdsl.dialects.tl.loops import PipelinedOp
from tileas_xdsl.threads.codegen.integer_ops import is_equal
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import thread_id
from tileas_xdsl.threads.pipeline.mbarriers import allocate_mbarriers, initialize_mbarriers
from tileas_xdsl.transforms.lower_tl.lowering_state import State
from tileas_xdsl.transforms.lower_tl.pipelining.tma_copies import Transfer


@dataclass
class BulkCopies:
    """The copies of a pipelined loop by one thread."""

    state: State
    transfers: Sequence[Transfer]
    stages: int
    barriers: SSAValue
    """The first of the mbarriers."""
    leads: SSAValue
    """Whether a thread is the one that starts copies."""

    @staticmethod
    def of(state: State, op: PipelinedOp, transfers: Sequence[Transfer], stages: int) -> BulkCopies:
        """Return the TMA copies with newly allocated full barriers."""
        e = state.e
        barriers = allocate_mbarriers(e, op, "full", stages)
        return BulkCopies(state, transfers, stages, barriers, is_equal(e, thread_id(e), 0))

    def begin(self) -> None:
        """Make the barriers, of one arrival each."""
        e = self.state.e
        for transfer in self.transfers:
            e.insert(PrefetchTmaDescOp(transfer.descriptor.argument, self.leads))
        with predicated(e, self.leads):
            initialize_mbarriers(e, self.stages, {self.barriers: 1})

    def starter(self) -> SSAValue:
        """One thread starts copies."""
        return self.leads

    def start(self, stage: SSAValue) -> None:
        """Expect the bytes of an iteration, and start its copies."""
        e = self.state.e
        barrier = advance(e, self.barriers, stage)
        total = sum(transfer.bytes for transfer in self.transfers)
        e.insert(MbarrierArriveExpectTxOp(barrier, total))
        for transfer in self.transfers:
            transfer.start(self.state, barrier)

    def commit(self) -> None:
        """Nothing to commit: the mbarrier counts the bytes."""

    def wait(self, stage: SSAValue, parity: SSAValue) -> None:
        """Wait until the tiles of an iteration have arrived."""
        e = self.state.e
        e.insert(MbarrierWaitOp(advance(e, self.barriers, stage), parity))
