"""Allocate tensor memory for a kernel: columns for accumulators, tiles and block scales.

Tensor memory has 512 columns of 128 lanes and 32 bits per SM (PTX ISA, "Tensor Memory"); a
`tcgen05.alloc` takes a power of two from 32 columns on. The kernel allocates once, at its start:

    two accumulators 128x128 of f32            columns 0 to 127, 128 to 255
    a tile 128x64 of 32 bits                   columns 256 to 319: 320 are used, 512 allocated

One warp allocates, writes the address to shared memory and relinquishes the permit, so that other
blocks on the SM can allocate; all threads read the address behind a barrier. Accumulators that are
alive together have columns of their own; groups that are never alive together share
(`accumulator_barriers.column_groups`). Deallocation is by the same warp after all threads are done.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import (
    TmemAccumulator,
    TmemAccumulators,
    in_tensor_memory,
)
from tileas_xdsl.analysis.memory.rewritten_operands import waited_products
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute_nvgpu import (
    AllocTmemOp,
    BarrierOp,
    ClusterArriveOp,
    ClusterWaitOp,
    DeallocTmemOp,
    GetDynSmemOp,
    RelinquishTmemOp,
    RetrieveTmemPtrOp,
    TmemFenceOp,
)
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import MBARRIER_BYTES
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import TMEM_COLUMNS
from tileas_xdsl.target.tensor_memory import COLUMNS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant, is_equal
from tileas_xdsl.threads.codegen.lowered_values import TmemTile
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import warp_id
from tileas_xdsl.threads.tmem.accumulator_barriers import (
    blocks_of,
    column_groups,
    columns_of,
    reserve_product_barriers,
    ring_of,
)
from tileas_xdsl.threads.tmem.tmem_layout import TensorMemory, TmemColumns
from tileas_xdsl.threads.tmem.tmem_scales import columns_of_scales


def allocate(e: ThreadBuilder, accumulators: TmemAccumulators) -> None:
    """Allocate the columns of all tiles by one warp and publish the address to all threads."""
    tiles = [op for op in operations_in(e.plan.kernel) if _is_tile(op)]
    if not accumulators.accumulators and not tiles:
        return
    e.plan.waited = waited_products(accumulators)
    reserve_product_barriers(e, e.plan.waited)
    scaled = instances_in(e.plan.kernel, BlockScaledMmaOp)
    scales = {op: _columns_of_scales(e, op) for op in scaled}
    used = 0
    of_value: dict[SSAValue, TmemColumns] = {}
    allocated: list[TmemColumns] = []
    for group, copies in column_groups(e, accumulators, COLUMNS - sum(scales.values())):
        columns = columns_of(group)
        allocated.append(TmemColumns(used, columns, ring_of(e, group, copies, len(allocated))))
        of_value.update(
            {value: allocated[-1] for value, s in accumulators.of_value.items() if s in group}
        )
        used += copies * columns
        _check_size(group[0].opens, used, allocated)
    for op in tiles:
        columns = _columns(e, op)
        of_value[op.results[0]] = TmemColumns(used, columns)
        used += columns
        _check_size(op, used)
    first_of_scales: dict[Operation, int] = {}
    for op, columns in scales.items():
        first_of_scales[op] = used
        used += columns
        _check_size(op, used)
    first = accumulators.accumulators[0].opens if accumulators.accumulators else tiles[0]
    # tcgen05.alloc takes powers of two from 32 to 512.
    columns = next(count for count in TMEM_COLUMNS if count >= used)
    base = _allocate_columns(e, first, columns)
    e.tensor = TensorMemory(base, columns, allocated, of_value, first_of_scales)


def _columns_of_scales(e: ThreadBuilder, op: BlockScaledMmaOp) -> int:
    """Return the columns for the scales of an MMA; raise on a target without such MMAs."""
    if Feature.TCGEN05 not in e.plan.target.features:
        key = "nv_tileas.block_scaled_mma.needs_sm100"
        raise op_error(op, message(key))
    return columns_of_scales(op)


def _is_tile(op: Operation) -> bool:
    return type(op) is AllocTensorOp and in_tensor_memory(op.result.type)


def _check_size(op: Operation, used: int, allocated: Sequence[TmemColumns] = ()) -> None:
    """Raise where columns run out; notes name the accumulators that are alive together."""
    if used <= COLUMNS:
        return
    rings = [columns.ring for columns in allocated if columns.ring is not None]
    notes = [note(ring.accumulators[0].opens, _described(ring.accumulators[0])) for ring in rings]
    raise op_error(op, message("tmem.out_of_columns", used=used, capacity=COLUMNS), notes)


def _described(accumulator: TmemAccumulator) -> str:
    hint = accumulator.final.name_hint
    name = "an accumulator" if hint is None else f"accumulator %{hint}"
    return f"{name} of {'x'.join(map(str, accumulator.shape))} takes {accumulator.columns} columns"


def _columns(e: ThreadBuilder, op: Operation) -> int:
    """Return the columns of a tile that threads write, which its agent must be able to move."""
    assert isinstance(op, AllocTensorOp)
    type_ = op.result.type
    if (reason := e.plan.target.lacks(Feature.TCGEN05, "tensor memory")) is not None:
        raise op_error(op, reason)
    if bits_of(type_.element_type) != WORD_BITS or len(type_.get_shape()) != 2:
        raise op_error(
            op, f"moves matrices of {WORD_BITS}-bit elements to tensor memory, not {type_}"
        )
    return type_.get_shape()[1]


def _allocate_columns(e: ThreadBuilder, op: Operation, columns: int) -> SSAValue:
    size = MBARRIER_BYTES
    offset = e.plan.shared.allocate(op, "tensor memory", size, "its address", size)
    word = e.insert(GetDynSmemOp(offset, i32, size)).result
    with predicated(e, is_equal(e, warp_id(e), 0)):
        e.insert(AllocTmemOp(word, columns, blocks_of(e)))
        e.insert(RelinquishTmemOp(blocks_of(e)))
    synchronise_all(e)
    return e.insert(RetrieveTmemPtrOp(word)).result


def synchronise_all(e: ThreadBuilder) -> None:
    """Synchronise all threads that share tensor memory, and order their accesses of it."""
    e.insert(TmemFenceOp("before"))
    if e.plan.is_of_pair:
        e.insert(ClusterArriveOp())
        e.insert(ClusterWaitOp())
    else:
        e.insert(BarrierOp(0))
    e.insert(TmemFenceOp("after"))


def release_all(e: ThreadBuilder) -> None:
    """Deallocate tensor memory by the allocating warp when all threads of the block are done."""
    if e.tensor is None:
        return
    synchronise_all(e)
    with predicated(e, is_equal(e, warp_id(e), 0)):
        e.insert(DeallocTmemOp(e.tensor.base, e.tensor.columns, blocks_of(e)))


def tensor_tile(e: ThreadBuilder, op: AllocTensorOp) -> TmemTile:
    """Return the lowered tile of an allocation in tensor memory, which threads write and read."""
    assert e.tensor is not None
    type_, columns = op.result.type, e.tensor.of_value[op.result]
    return TmemTile(columns, type_.element_type, i1_constant(e, True), tuple(type_.get_shape()))
