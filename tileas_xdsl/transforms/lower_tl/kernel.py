"""Lowering of a whole `tl` kernel: its arguments, CTA ids, and the function that threads run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BlockIdxOp
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import cast_index
from tileas_xdsl.threads.codegen.kernel_signature import add_arguments, kernel_function
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, Scalar
from tileas_xdsl.threads.codegen.thread_ids import compute_thread_ids
from tileas_xdsl.threads.index.thread_affine import of_scalar
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.tile_properties import TileFacts
from tileas_xdsl.transforms.lower_tl.buffers import ALLOCATIONS
from tileas_xdsl.transforms.lower_tl.dot.instruction_choice import PRODUCTS
from tileas_xdsl.transforms.lower_tl.loops.parallel_loops import LOOPS
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State
from tileas_xdsl.transforms.lower_tl.memory.fragment_exchange import EXCHANGES
from tileas_xdsl.transforms.lower_tl.memory_effects import barrier_points
from tileas_xdsl.transforms.lower_tl.pipelining.pipelined_loop import PIPELINED
from tileas_xdsl.transforms.lower_tl.pipelining.prefetchable_copies import stages_of
from tileas_xdsl.transforms.lower_tl.reduce.reductions import REDUCTIONS
from tileas_xdsl.transforms.lower_tl.reduce.scan import SCANS
from tileas_xdsl.transforms.lower_tl.structured_control_flow import CONTROL
from tileas_xdsl.transforms.lower_tl.uniform_scalars import SCALARS

AXES = "xyz"


def kernel(state: State, op: KernelOp) -> None:
    """What one block does."""
    e = state.e
    for axis, argument, extent in zip(AXES, op.body.block.args, op.extents, strict=False):
        number = cast_index(e, e.insert(BlockIdxOp(axis)).result, IndexType())
        state.values[argument] = of_scalar(number)
        if isinstance(extent, int):
            state.ranges[number] = (0, extent - 1)
    state.run(op.body.block)


_TABLE: Any = {KernelOp: kernel}

HANDLERS: Mapping[type[Operation], Handler] = {
    **SCALARS,
    **ALLOCATIONS,
    **CONTROL,
    **LOOPS,
    **PIPELINED,
    **PRODUCTS,
    **EXCHANGES,
    **REDUCTIONS,
    **SCANS,
    **_TABLE,
}
"""Every operation of the block that is lowered to threads."""


def lower_kernel(function: func.FuncOp, program: KernelOp, target: Target) -> func.FuncOp:
    """The function that every thread of a block runs."""
    threads = program.thread_count
    if threads % WARP:
        raise op_error(program, f"has whole warps of {WARP} threads, not {threads} threads")
    plan = KernelPlan.of(function, target)
    plan.facts.spec = replace(plan.facts.spec, num_warps=threads // WARP)
    block = Block()
    e = ThreadBuilder(
        plan,
        plan.block,
        Builder(InsertPoint.at_end(block)),
        {},
        TileFacts.of(function),
    )
    e.arguments = block
    parameters = add_arguments(e, function, block)
    compute_thread_ids(e)
    stages = stages_of(program)
    state = State(e, target, threads, HANDLERS, barrier_points(program, stages), stages)
    _take_arguments(state, function)
    for op in function.body.block.ops:
        if not isinstance(op, func.ReturnOp):
            state.lower(op)
    e.insert(func.ReturnOp())
    plan.shared.check()
    return kernel_function(plan, block, parameters)


def _take_arguments(state: State, function: func.FuncOp) -> None:
    """Map the arguments of the kernel: arrays to global memory, scalars to values."""
    for argument in function.body.block.args:
        match found := state.e.values[argument]:
            case GlobalView():
                state.locations[argument] = found
            case Scalar():
                is_index = isinstance(argument.type, IndexType)
                state.values[argument] = of_scalar(found.value) if is_index else found.value
            case _:
                raise op_error(function, f"takes {argument.type}, which is not lowered to threads")
