"""Handlers of requests for tile blocks: of CTAs that have not started, or of a counter.

`cancel_next_program_id` asks for a CTA that has not started, and is not started then:

    mbarrier.init [bar], 1; arrive.expect_tx [bar], 16      one thread
    clusterlaunchcontrol.try_cancel [answer], [bar]
    bar.sync; mbarrier.try_wait [bar], 0                    all threads
    query_cancel.is_canceled, get_first_ctaid
    bar.sync; mbarrier.inval [bar]                          one thread

The mbarrier lives for one request, so that no parity goes round with the loop.  Source: PTX ISA
9.7.13.17 (the answer is 16 bytes that the asynchronous proxy writes).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    CLC_RESPONSE_BYTES,
    ClcResponseOp,
    FenceMbarrierInitOp,
    FenceProxyAsyncOp,
    GetDynSmemOp,
    IssueClcQueryOp,
    MbarrierArriveExpectTxOp,
    MbarrierInitOp,
    MbarrierInvalOp,
    MbarrierWaitOp,
)
from tileas_xdsl.dialects.nv_tileas.control import AsyncNextTileBlockOp, CancelNextProgramIdOp
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant
from tileas_xdsl.threads.codegen.lowered_values import Lowered, Scalar
from tileas_xdsl.threads.codegen.thread_ids import is_elected_in_agent
from tileas_xdsl.threads.gmem.launch_memory.tile_block_counter import ask
from tileas_xdsl.threads.pipeline.mbarriers import allocate_mbarriers

NONE = -1
"""The number of a tile block where all have started."""


def cancel_next_program_id(e: ThreadBuilder, op: CancelNextProgramIdOp) -> Sequence[Lowered]:
    """Ask once for all threads of the agent, and read the answer in each."""
    if prod((e.plan.facts.spec.num_ctas, *e.plan.facts.spec.cluster_dim)) > 1:
        raise op_error(op, "takes the place of one CTA, and those of a cluster start together")
    offset = e.plan.shared.allocate(
        op, "launch control", CLC_RESPONSE_BYTES, "the answer to a request", CLC_RESPONSE_BYTES
    )
    answer = e.insert(GetDynSmemOp(offset, i8, CLC_RESPONSE_BYTES)).result
    mbarrier, elected = allocate_mbarriers(e, op, "launch control", 1), is_elected_in_agent(e)
    e.insert(MbarrierInitOp(mbarrier, 1, elected))
    e.insert(FenceMbarrierInitOp())
    e.insert(MbarrierArriveExpectTxOp(mbarrier, CLC_RESPONSE_BYTES, elected))
    e.insert(IssueClcQueryOp(answer, mbarrier, elected))
    synchronize_agent(e)
    e.insert(MbarrierWaitOp(mbarrier, i32_constant(e, 0)))
    found = e.insert(ClcResponseOp(answer))
    # The next answer is written by the asynchronous proxy, behind what all threads have read.
    e.insert(FenceProxyAsyncOp("shared::cta"))
    synchronize_agent(e)
    e.insert(MbarrierInvalOp(mbarrier, elected))
    none = i32_constant(e, NONE)
    numbers = (found.x, found.y, found.z)[: len(op.program_ids)]
    taken = [e.insert(arith.SelectOp(found.granted, n, none)).result for n in numbers]
    return [Scalar(n) for n in (*taken, *[found.granted][: len(op.results) - len(taken)])]


def next_tile_block(e: ThreadBuilder, op: AsyncNextTileBlockOp) -> Sequence[Lowered]:
    """Ask a counter (`tile_block_counter.py`); whoever waits gets the answer."""
    return [ask(e, op, op.rounds.value.data)]


HANDLERS: Handlers = {
    AsyncNextTileBlockOp: next_tile_block,
    CancelNextProgramIdOp: cancel_next_program_id,
}
"""Requests for tile blocks."""
