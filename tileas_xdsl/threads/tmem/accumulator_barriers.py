"""Accumulators in tensor memory: the mbarriers between products and the agent that reads them.

Each accumulator has one or two copies (stages), and two mbarriers for each: `full` completes when
all products have been added, `empty` when all warps of the reading agent have read them.

    for each tile:                     issuing warp                       reading agent
        %c = zero                      wait empty[stage], phase ^ 1
        %c = dot %a, %b, %c  (loop)    tcgen05.mma ...
        read %c                        tcgen05.commit -> full[stage]      wait full[stage], phase
                                                                          tcgen05.ld ...
                                                                          arrive empty[stage]
        next stage; the phase flips when the ring wraps around
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import (
    TmemAccumulator,
    TmemAccumulators,
    column_halves,
)
from tileas_xdsl.analysis.memory.tensor_registers import STEP, loaded_layout
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute_nvgpu import (
    MbarrierArriveOp,
    MbarrierWaitOp,
    TmemFenceOp,
    UmmaCommitOp,
)
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import MBARRIER_BYTES
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.threads.codegen.barriers import separate_rounds
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import cta_mask, i1_constant, i32_constant, is_equal
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    Splat,
    StageIndex,
    TmemTile,
)
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import (
    is_elected_in_warp,
    is_leader_cta,
    is_mma_issuer,
    is_mma_lane,
    is_mma_warp,
    thread_id,
)
from tileas_xdsl.threads.dot.mma_issuer_warp import issuers
from tileas_xdsl.threads.pipeline.mbarriers import allocate_mbarriers, initialize_mbarriers
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.tma.bulk_load import (
    await_phase,
    check_place,
    own_barrier,
)
from tileas_xdsl.threads.tmem.tmem_copy import clear_unless_full
from tileas_xdsl.threads.tmem.tmem_layout import AccumulatorRing


def column_groups(
    e: ThreadBuilder, accumulators: TmemAccumulators, capacity: int
) -> Sequence[tuple[Sequence[TmemAccumulator], int]]:
    """Return the accumulators of each ring, and its copies: two for overlapped reads if they fit.

    Where one copy of each does not fit, accumulators of disjoint lifetimes share columns.
    """
    beside = {number for op in operations_in(e.plan.kernel) for number in _split_agents(e, op)}
    wanted = [([one], _wanted_copies(e, one, beside)) for one in accumulators.accumulators]
    if sum(copies * one.columns for (one,), copies in wanted) <= capacity:
        return wanted
    if sum(one.columns for one in accumulators.accumulators) <= capacity:
        return [([one], 1) for one in accumulators.accumulators]
    return [(group, 1) for group in _by_lifetimes(e, accumulators)]


def _by_lifetimes(
    e: ThreadBuilder, accumulators: TmemAccumulators
) -> Sequence[Sequence[TmemAccumulator]]:
    """Return accumulators that share columns: linear-scan allocation, closest widths first.

    Lifetimes are intervals of operations in program order; one that a loop carries spans the loop.
    """
    order = {op: k for k, op in enumerate(operations_in(e.plan.kernel))}
    rings: list[list[TmemAccumulator]] = []
    for one in sorted(accumulators.accumulators, key=lambda each: order[each.opens]):
        free = [
            ring
            for ring in rings
            if max(order[op] for op in ring[-1].closes_at.walk()) < order[one.opens]
            and e.plan.agent_around(ring[-1].opens) == e.plan.agent_around(one.opens)
        ]
        if free:
            min(free, key=lambda ring: abs(columns_of(ring) - one.columns)).append(one)
        else:
            rings.append([one])
    return rings


def columns_of(ring: Sequence[TmemAccumulator]) -> int:
    """Return the columns of one copy of accumulators that share columns."""
    return max(one.columns for one in ring)


def _wanted_copies(e: ThreadBuilder, accumulator: TmemAccumulator, beside: set[int]) -> int:
    overlaps = e.plan.agent_around(accumulator.opens).number in beside
    return 2 if overlaps and runs_again(accumulator.closes_at) else 1


def _split_agents(e: ThreadBuilder, op: Operation) -> Sequence[int]:
    """Return the ids of agents whose MMAs other warps issue."""
    if not isinstance(op, AgentSwitchOp):
        return ()
    return [issuer.agent.number for issuer in issuers(e.plan, op).values()]


def ring_of(
    e: ThreadBuilder, accumulators: Sequence[TmemAccumulator], copies: int, number: int
) -> AccumulatorRing:
    """Allocate the mbarriers of accumulators; one thread initialises them before a barrier."""
    first = accumulators[0].opens
    agent = e.plan.agent_around(first)
    for one in accumulators:
        _check(e, one)
    full, empty = (
        allocate_mbarriers(e, first, f"{what} of sums {number}", copies)
        for what in ("full", "empty")
    )
    with predicated(e, is_equal(e, thread_id(e), 0)):
        initialize_mbarriers(e, copies, {full: 1, empty: agent.warps * blocks_of(e)})
    return AccumulatorRing(accumulators, agent.number, copies, full, empty)


def blocks_of(e: ThreadBuilder) -> int:
    """Return the number of CTAs that issue MMAs together: 2 for a CTA pair, else 1."""
    return PAIR if e.plan.is_of_pair else 1


def commit(e: ThreadBuilder, barrier: SSAValue) -> UmmaCommitOp:
    """Commit the MMAs issued so far to a barrier, in all CTAs of the group."""
    blocks = blocks_of(e)
    mask = cta_mask(e, (1 << blocks) - 1) if blocks > 1 else None
    return e.insert(UmmaCommitOp(barrier, mask, is_mma_issuer(e), blocks))


def _check(e: ThreadBuilder, accumulator: TmemAccumulator) -> None:
    """The accumulators have 32 bits, and the agent can read them."""
    rows, columns = accumulator.shape
    if bits_of(accumulator.type.element_type) != WORD_BITS:
        text = f"adds up elements of {WORD_BITS} bits in tensor memory"
        raise op_error(
            accumulator.opens, f"{text}, not yet those of {accumulator.type.element_type}"
        )
    agent = e.plan.agent_around(accumulator.closes_at)
    if loaded_layout(rows, columns, agent.groups, accumulator.halves) is None:
        raise op_error(
            accumulator.closes_at,
            f"reads {rows}x{columns} sums in tensor memory with {agent.warps} warps; whole "
            f"warpgroups reach all of its lanes, and share columns in groups of {STEP}",
        )


def reserve_product_barriers(e: ThreadBuilder, products: Sequence[Operation]) -> None:
    """Allocate a barrier for each MMA that is awaited right after its issue."""
    for index, op in enumerate(products):
        check_place(op, "multiplies a tile that is written again")
        name = f"product {index}"
        offset = e.plan.shared.allocate(op, name, MBARRIER_BYTES, "mbarrier", MBARRIER_BYTES)
        e.barriers[op] = offset
        with predicated(e, is_equal(e, thread_id(e), 0)):
            initialize_mbarriers(e, 1, {own_barrier(e, op): 1})


def await_product(e: ThreadBuilder, op: Operation) -> None:
    """Wait for an MMA whose operands are overwritten before its accumulator is read.

    In a loop all threads have seen a phase complete before the next one does: who still waits for
    it would wait for the one after that, of the same parity.
    """
    if op not in e.plan.waited:
        return
    if runs_again(op) and not (e.by_one_warp or e.by_one_thread):
        separate_rounds(e)
    commit(e, own_barrier(e, op))
    await_phase(e, op)


def is_awaited_in(e: ThreadBuilder, product: Operation, op: Operation) -> bool:
    """Whether all threads wait inside an operation for an MMA that is issued there."""
    if product in e.plan.waited:
        return True
    ready = _ready_at(e, product)
    return ready is not None and op.is_ancestor(ready)


def is_awaited_between(
    e: ThreadBuilder, product: Operation, op: Operation, later: Operation
) -> bool:
    """Whether all threads wait for an MMA inside of `op`, or behind it and in front of `later`.

    Both are in one block, of which nobody leaves out what is between.
    """
    if is_awaited_in(e, product, op):
        return True
    ready, block = _ready_at(e, product), later.parent
    if ready is None or block is None or op.parent is not block:
        return False
    is_there = ready.parent is block
    return is_there and op.is_before_in_block(ready) and ready.is_before_in_block(later)


def _ready_at(e: ThreadBuilder, product: Operation) -> Operation | None:
    """Return the operation in front of which threads wait for an MMA, if it is of a ring.

    A warp that only issues waits for none: others read what it adds up.
    """
    assert e.tensor is not None
    ring = e.tensor.of_value[product.results[0]].ring
    if ring is None or not e.reads:
        return None
    return next(one for one in ring.accumulators if product in one.products).ready_at


def reset_rings(e: ThreadBuilder) -> None:
    """Begin with the first copy of each accumulator of the agent, at phase parity 0."""
    if e.tensor is None:
        return
    is_leader_cta(e)
    rings = [columns.ring for columns in e.tensor.accumulators if columns.ring is not None]
    own_rings = [one for one in rings if one.agent == e.agent.number]
    e.accumulator_stages = {
        one: StageIndex(i32_constant(e, 0), i32_constant(e, 0)) for one in own_rings
    }
    if own_rings:
        is_mma_lane(e)


def set_ring_stages(
    e: ThreadBuilder, rings: Sequence[AccumulatorRing], found: Sequence[Lowered]
) -> None:
    """Continue with the stages that control flow has carried."""
    for one, index in zip(rings, found, strict=True):
        assert isinstance(index, StageIndex)
        e.accumulator_stages[one] = index


def rings_closed_in(e: ThreadBuilder, op: Operation) -> Sequence[AccumulatorRing]:
    """Return the accumulators whose ring advances inside an operation."""
    return [
        ring
        for ring in e.accumulator_stages
        if any(_is_inside(one.closes_at, op) for one in ring.accumulators)
    ]


def _is_inside(inner: Operation, op: Operation) -> bool:
    return inner is not op and op.is_ancestor(inner)


def begin_accumulation(e: ThreadBuilder, op: Operation, value: SSAValue, tile: Splat) -> TmemTile:
    """Begin a zero accumulator `value`: MMAs wait until the previous one has been read."""
    assert e.tensor is not None
    if not _is_zero(tile.constant):
        raise op_error(op, "begins sums in tensor memory with something else than zeros")
    columns = e.tensor.of_value[value]
    assert columns.ring is not None
    index = e.accumulator_stages[columns.ring]
    if e.issues:
        with predicated(e, is_mma_warp(e)):
            parity = e.insert(arith.XOrIOp(index.phase, i32_constant(e, 1))).result
            e.insert(
                MbarrierWaitOp(
                    _barrier(e, columns.ring.empty, index, columns.ring),
                    parity,
                )
            )
            e.insert(TmemFenceOp("after"))
    halves = column_halves(tile.shape, is_of_pair=e.plan.is_of_pair)
    return TmemTile(columns, tile.element, i1_constant(e, False), tile.shape, halves=halves)


def _is_zero(number: Attribute | SSAValue) -> bool:
    if isinstance(number, FloatAttr) and str(number.value.data).startswith("-"):
        return False
    return isinstance(number, FloatAttr | IntegerAttr) and number.value.data == 0


def _barrier(
    e: ThreadBuilder, first: SSAValue, index: StageIndex, ring: AccumulatorRing
) -> SSAValue:
    return advance(e, first, index.stage) if ring.copies > 1 else first


def before(e: ThreadBuilder, op: Operation) -> None:
    """Wait for the MMAs of an accumulator if `op` is the first that reads it."""
    for ring, index in e.accumulator_stages.items():
        ready = next((one for one in ring.accumulators if one.ready_at is op), None)
        if ready is None:
            continue
        barrier = _barrier(e, ring.full, index, ring)
        if e.issues:
            commit(e, barrier)
        if e.reads:
            e.insert(MbarrierWaitOp(barrier, index.phase))
            e.insert(TmemFenceOp("after"))
            final = e.get(ready.final)
            assert isinstance(final, TmemTile)
            clear_unless_full(e, final)


def after(e: ThreadBuilder, op: Operation) -> None:
    """Release an accumulator if `op` is the last that reads it."""
    for ring, index in list(e.accumulator_stages.items()):
        if all(one.closes_at is not op for one in ring.accumulators):
            continue
        if e.reads:
            e.insert(TmemFenceOp("before"))
            barrier = _barrier(e, ring.empty, index, ring)
            leader = i32_constant(e, 0) if e.plan.is_of_pair else None
            e.insert(MbarrierArriveOp(barrier, is_elected_in_warp(e), leader))
        e.accumulator_stages[ring] = _next(e, ring, index)


def _next(e: ThreadBuilder, ring: AccumulatorRing, index: StageIndex) -> StageIndex:
    """Return the next copy; the phase flips where the ring wraps around."""
    if ring.copies == 1:
        return StageIndex(
            index.stage, e.insert(arith.XOrIOp(index.phase, i32_constant(e, 1))).result
        )
    stage = e.insert(arith.XOrIOp(index.stage, i32_constant(e, 1))).result
    return StageIndex(stage, e.insert(arith.XOrIOp(index.phase, index.stage)).result)
