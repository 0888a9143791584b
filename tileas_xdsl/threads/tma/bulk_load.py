"""Bulk loads outside of pipelines: an mbarrier each, awaited by its phase parity.

    kernel entry:  mbarrier.init [%bar], 1;  fence.mbarrier_init;  bar.sync
    load:          (agent barrier, if earlier readers of the tile may still run)
                   one thread:   mbarrier.arrive.expect_tx [%bar], bytes
                                 cp.async.bulk.tensor ... [%smem], [%map, ...], [%bar]
    wait:          all threads:  mbarrier.try_wait.parity [%bar], %parity

A barrier alternates between phases 0 and 1 (PTX ISA, mbarrier): a load that runs again completes
the next phase. So control flow around such a load carries the parity as a value, flipped by each
load; where it cannot be carried, or a late reader is not waited for, the load is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import is_tensor_product
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierOp,
    FenceMbarrierInitOp,
    FenceProxyAsyncOp,
    GetDynSmemOp,
    MbarrierArriveExpectTxOp,
    MbarrierInitOp,
    MbarrierWaitOp,
)
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import MBARRIER_BYTES
from tileas_xdsl.dialects.ir_queries import enclosing_ops
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp
from tileas_xdsl.dialects.nv_tileas.interfaces import Producer
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of, tile_bits
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import (
    AsyncGatherTmaLoadOp,
    AsyncTiledTmaLoadOp,
    TmaTransferOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.slices import unsliced
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant, is_equal
from tileas_xdsl.threads.codegen.lowered_values import (
    BulkToken,
    Lowered,
    OrderToken,
    PendingTile,
    Scalar,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import run_if
from tileas_xdsl.threads.codegen.thread_ids import is_elected_in_agent, thread_id
from tileas_xdsl.threads.pipeline.awaited_tokens import WAITS, is_awaited_within
from tileas_xdsl.threads.pipeline.stage_consumers import is_read_by_threads
from tileas_xdsl.threads.pipeline.tile_properties import origin, runs_again

BulkLoad = AsyncTiledTmaLoadOp | AsyncGatherTmaLoadOp

Copies = Callable[[SSAValue, SSAValue | None], None]
"""From a barrier and the elected-thread predicate (None for all), emit the copies of a load."""


def is_of_stage(load: Operation) -> bool:
    """Return whether a pipeline stage's barrier tracks a load: one in its producer's body."""
    return any(isinstance(parent, Producer) for parent in enclosing_ops(load))


def reserve_barriers(e: ThreadBuilder) -> None:
    """Allocate and initialise the barriers of all loads outside of stages, at kernel entry."""
    loads = [
        op
        for op in operations_in(e.plan.kernel)
        if isinstance(op, BulkLoad) and not is_of_stage(op)
    ]
    if not loads:
        return
    block = Block()
    with e.within(block):
        for load in loads:
            name = f"barrier of %{load.operands[1].name_hint or 'tile'}"
            offset = e.plan.shared.allocate(load, name, MBARRIER_BYTES, "mbarrier", MBARRIER_BYTES)
            e.barriers[load] = offset
            e.insert(MbarrierInitOp(_barrier(e, offset), 1))
        e.insert(FenceMbarrierInitOp())
    run_if(e, is_equal(e, thread_id(e), 0), block)
    e.insert(BarrierOp(0))


def own_barrier(e: ThreadBuilder, op: Operation) -> SSAValue:
    """Return the barrier of an operation that has one of its own."""
    return _barrier(e, e.barriers[op])


def await_phase(e: ThreadBuilder, op: Operation) -> None:
    """Wait until an operation has completed the phase of its own barrier; then for the next."""
    parity = parity_of(e, op)
    e.insert(MbarrierWaitOp(own_barrier(e, op), parity))
    go_on(e, op, parity)


def go_on(e: ThreadBuilder, op: Operation, parity: SSAValue) -> None:
    """Flip the phase parity of an operation's barrier if the operation runs again."""
    if runs_again(op):
        e.parities[op] = e.insert(arith.XOrIOp(parity, i32_constant(e, 1))).result


def _barrier(e: ThreadBuilder, offset: int) -> SSAValue:
    return e.insert(GetDynSmemOp(offset, i64, MBARRIER_BYTES)).result


def load_by(e: ThreadBuilder, op: BulkLoad, copies: Copies) -> Lowered:
    """Load into a stage, whose barrier counts the bytes, or elsewhere with a barrier of its own."""
    if not is_of_stage(op):
        return begin_load(e, op, copies)
    assert e.stage is not None
    stages, index = e.stage
    copies(advance(e, stages.full, index.stage), is_elected_in_agent(e))
    return OrderToken()


def begin_load(e: ThreadBuilder, op: BulkLoad, copies: Copies) -> BulkToken:
    """Issue the copies from one thread after `expect_tx`; readers wait for the parity.

    The agent synchronises first if the buffer was in use, or if threads stored what is loaded: a
    generic-proxy store needs a proxy fence to be visible to TMA, and so does a read of the buffer,
    to be over when TMA writes there (PTX ISA, proxies).
    """
    _check_waited(op)
    _check_readers(op)
    check_place(op, "loads")
    _check_announced(op)
    found = e.get(op.destination)
    is_new = isinstance(found, PendingTile) and found.visible_to is None and not runs_again(op)
    if is_written(e, op):
        e.insert(FenceProxyAsyncOp("generic"))
    elif not is_new and is_read_by_threads(op.destination):
        e.insert(FenceProxyAsyncOp("shared::cta"))
    if is_written(e, op) or not is_new:
        synchronize_agent(e)
    parity, offset = parity_of(e, op), e.barriers[op]
    barrier, elected = _barrier(e, offset), is_elected_in_agent(e)
    e.insert(MbarrierArriveExpectTxOp(barrier, _bytes(op), elected))
    copies(barrier, elected)
    go_on(e, op, parity)
    return BulkToken(offset, parity, found if isinstance(found, PendingTile) else None)


def wait_for_load(e: ThreadBuilder, token: BulkToken) -> None:
    """Wait in all threads; the tile is then visible to them."""
    e.insert(MbarrierWaitOp(_barrier(e, token.barrier), token.parity))
    if token.tile is not None:
        token.tile.visible_to = e.agent.number


def parity_of(e: ThreadBuilder, load: Operation) -> SSAValue:
    """Return the parity of the phase that a load completes next."""
    return e.parities.get(load) or i32_constant(e, 0)


def carried_loads(e: ThreadBuilder, op: Operation) -> Sequence[Operation]:
    """Return the loads inside of control flow that may run again, whose parities it carries."""
    return [inner for inner in operations_in(op) if inner in e.barriers and runs_again(inner)]


def parities(e: ThreadBuilder, loads: Sequence[Operation]) -> list[Scalar]:
    """Return the parities of loads, as values that control flow carries."""
    return [Scalar(parity_of(e, load)) for load in loads]


def set_parities(e: ThreadBuilder, loads: Sequence[Operation], values: Sequence[object]) -> None:
    """Set the parities of loads to the results of control flow."""
    for load, value in zip(loads, values, strict=True):
        assert isinstance(value, Scalar)
        e.parities[load] = value.value


def is_written(e: ThreadBuilder, op: TmaTransferOp) -> bool:
    """Whether threads store by themselves to the array that a bulk copy reaches."""
    made = unsliced(op.operands[0]).owner
    return isinstance(made, MakeTiledTmaDescOp) and origin(made.view) in e.tiles.written


def _bytes(op: BulkLoad) -> int:
    type_ = op.destination.type
    bits = tile_bits(shape_of(type_) or (), element_of(type_))
    assert bits is not None
    return bits // 8


def _check_announced(op: BulkLoad) -> None:
    if (number_of(op.num_multicast) or 1) > 1:
        raise op_error(
            op, "loads into several blocks outside the stages of a pipeline, which is not lowered"
        )


def _check_waited(op: BulkLoad) -> None:
    waits = [user for use in op.result.uses if isinstance(user := use.operation, WAITS)]
    if len(waits) < op.result.uses.get_length() or not any(w.parent is op.parent for w in waits):
        raise op_error(
            op,
            "loads outside the stages of a pipeline, and is not waited for in the block that it is "
            "in",
        )


def _check_readers(op: BulkLoad) -> None:
    """Check that all late reads of a tile finish before the next iteration loads it."""
    if not runs_again(op) or op.parent is None:
        return
    pending = [op.destination]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, ViewOp | ExtractSliceOp):
                pending += user.results
            is_late = isinstance(user, AsyncDotOp | TmaTransferOp) and user is not op
            is_late = is_late and not is_tensor_product(user)
            if is_late and not is_awaited_within(user.results[0], op.parent):
                raise op_error(
                    user,
                    "may still read its tile when the next round loads it: nothing waits for it "
                    "in that round",
                )


def check_place(op: Operation, does: str) -> None:
    """Reject a load where its parity cannot be carried."""
    agents = next((p for p in enclosing_ops(op) if isinstance(p, AgentSwitchOp)), None)
    if agents is not None and runs_again(agents):
        raise op_error(
            op, f"{does} in an agent that a loop around all agents runs again, which is not lowered"
        )
