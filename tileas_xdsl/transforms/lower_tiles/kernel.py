"""Lower a kernel: signature, attributes and the thread-level function."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    IntegerAttr,
)
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.memory.accumulators import tmem_accumulators
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    ClusterArriveOp,
    ClusterWaitOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.index import EXTENDED_SMEM
from tileas_xdsl.threads.codegen.barriers import drop_round_barriers, hand_out_with_barriers
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.kernel_signature import add_arguments, kernel_function
from tileas_xdsl.threads.codegen.thread_ids import compute_thread_ids
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.tile_properties import TileFacts
from tileas_xdsl.threads.tma.bulk_load import reserve_barriers
from tileas_xdsl.threads.tma.descriptor_args import prefetch_descriptors
from tileas_xdsl.threads.tma.embedded_maps import embed_hidden_arguments
from tileas_xdsl.threads.tmem.accumulator_barriers import after, before, reset_rings
from tileas_xdsl.threads.tmem.tmem_allocation import allocate, release_all
from tileas_xdsl.transforms.lower_tiles.handlers import HANDLERS

DEFAULT_SHARED_BYTES = 48 * 1024
"""Shared memory available without opting in to more (CUDA C++ Programming Guide), in bytes."""


def lower_kernel(plan: KernelPlan) -> func.FuncOp:
    """Return the function that every thread of a block runs.

    Raises a `SharedMemoryError` where shared memory does not suffice, whatever else is wrong.
    """
    try:
        return _lowered(plan)
    except OpError:
        plan.shared.check()
        raise


def _lowered(plan: KernelPlan) -> func.FuncOp:
    block = Block()
    facts = TileFacts.of(plan.kernel)
    emitter = ThreadBuilder(
        plan, plan.block, Builder(InsertPoint.at_end(block)), HANDLERS, facts, before, after
    )
    emitter.arguments = block
    parameters = add_arguments(emitter, plan.kernel, block)
    compute_thread_ids(emitter)
    start = block.last_op
    prefetch_descriptors(emitter)
    reserve_barriers(emitter)
    body = plan.kernel.body
    if len(body.blocks) != 1:
        raise op_error(plan.kernel, "has branches between blocks, which are not lowered yet")
    allocate(emitter, tmem_accumulators(plan.kernel))
    reset_rings(emitter)
    for op in body.block.ops:
        if isinstance(op, func.ReturnOp):
            break
        emitter.lower(op)
    release_all(emitter)
    drop_round_barriers(emitter)
    hand_out_with_barriers(emitter)
    if plan.is_standalone and start is not None:
        embed_hidden_arguments(emitter, parameters, start)
    if any(extent > 1 for extent in plan.facts.cluster):
        emitter.insert(ClusterArriveOp())
        emitter.insert(ClusterWaitOp())
    emitter.insert(func.ReturnOp())
    _check_shared(plan)
    return kernel_function(plan, block, parameters)


def _check_shared(plan: KernelPlan) -> None:
    """Check that the kernel may request the dynamic shared memory that it needs."""
    plan.shared.check()
    allowed = plan.kernel.attributes.get(EXTENDED_SMEM)
    extended = not isinstance(allowed, IntegerAttr) or allowed.value.data != 0
    if not extended and plan.shared.bytes > DEFAULT_SHARED_BYTES:
        raise op_error(
            plan.kernel,
            f"needs {plan.shared.bytes} bytes of shared memory; without enable-extended-smem a "
            f"launch has {DEFAULT_SHARED_BYTES}",
        )
