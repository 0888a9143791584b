"""A kernel as a whole: its arguments, its attributes, and the function that threads run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerAttr,
)
from xdsl.ir import Block, Operation, Region
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.sums import sums_of
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    ClusterArriveOp,
    ClusterWaitOp,
)
from tileas_xdsl.dialects.nv_tileas.tma_index import EXTENDED_SMEM
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.agents import AGENTS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.arrays import ARRAYS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.bulk_loads import reserve_barriers
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter, Handler
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.exchanges import EXCHANGES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.generated import GENERATED
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.memory import MEMORY
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.messages import MESSAGES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.parameters import add_arguments, attributes_of
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.pipelines import PIPELINES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.pixel_copies import PIXEL_COPIES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.plan import KernelPlan
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.pointed_atomics import ATOMICS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.pointed_memory import POINTED_MEMORY
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.pointers import POINTERS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.products import PRODUCTS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.reduce_copies import REDUCE_COPIES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.register_slices import REGISTER_SLICES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.registers import laid_out
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.row_copies import ROW_COPIES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.scalars import SCALARS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.scans import SCANS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.scattered_memory import SCATTERED_MEMORY
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.shapes import SHAPES
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.spread_reductions import REDUCTIONS
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.tensor_memory import allocate, release_all
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.tensor_turns import after, before, first_turns
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.tile_facts import TileFacts
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.tma import TMA, prefetch_descriptors
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import (
    Lowered,
)
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.while_loops import WHILE_LOOPS

_HANDLERS: Mapping[type[Operation], Handler] = {
    **SCALARS,
    **AGENTS,
    **ARRAYS,
    **ATOMICS,
    **EXCHANGES,
    **GENERATED,
    **MEMORY,
    **MESSAGES,
    **PIPELINES,
    **POINTED_MEMORY,
    **POINTERS,
    **PRODUCTS,
    **REDUCE_COPIES,
    **REDUCTIONS,
    **REGISTER_SLICES,
    **ROW_COPIES,
    **SCANS,
    **SCATTERED_MEMORY,
    **SHAPES,
    **TMA,
    **WHILE_LOOPS,
    **PIXEL_COPIES,
}


def _laid_out(handler: Handler) -> Handler:
    """A handler whose results are in the registers that their types say."""

    def handle(e: Emitter, op: Operation) -> Sequence[Lowered]:
        found = handler(e, op)
        return [
            laid_out(e, op, value, result.type)
            for value, result in zip(found, op.results, strict=True)
        ]

    return handle


HANDLERS = {kind: _laid_out(handler) for kind, handler in _HANDLERS.items()}
"""Every operation that is lowered to threads."""

USUAL_SHARED_BYTES = 48 * 1024
"""What a block has without asking for more (CUDA C++ Programming Guide, shared memory)."""


def lower_kernel(plan: KernelPlan) -> func.FuncOp:
    """The function that every thread of a block runs."""
    block = Block()
    facts = TileFacts.of(plan.kernel)
    emitter = Emitter(
        plan, plan.block, Builder(InsertPoint.at_end(block)), HANDLERS, facts, before, after
    )
    emitter.arguments = block
    parameters = add_arguments(emitter, plan.kernel, block)
    emitter.begin()
    prefetch_descriptors(emitter)
    reserve_barriers(emitter)
    body = plan.kernel.body
    if len(body.blocks) != 1:
        raise op_error(plan.kernel, "has branches between blocks, which are not lowered yet")
    allocate(emitter, sums_of(plan.kernel))
    first_turns(emitter)
    for op in body.block.ops:
        if isinstance(op, func.ReturnOp):
            break
        emitter.lower(op)
    release_all(emitter)
    if any(extent > 1 for extent in plan.facts.cluster):
        emitter.insert(ClusterArriveOp())
        emitter.insert(ClusterWaitOp())
    emitter.insert(func.ReturnOp())
    _check_shared(plan)
    parameters += plan.hidden
    types = [argument.type for argument in block.args]
    made = func.FuncOp(plan.kernel.sym_name.data, FunctionType.from_lists(types, []), Region(block))
    made.location = plan.kernel.location
    made.attributes.update(attributes_of(plan, parameters))
    return made


def _check_shared(plan: KernelPlan) -> None:
    """The launch may ask for as much shared memory as the kernel needs."""
    allowed = plan.kernel.attributes.get(EXTENDED_SMEM)
    extended = not isinstance(allowed, IntegerAttr) or allowed.value.data != 0
    if not extended and plan.shared.bytes > USUAL_SHARED_BYTES:
        raise op_error(
            plan.kernel,
            f"needs {plan.shared.bytes} bytes of shared memory; without enable-extended-smem a "
            f"launch has {USUAL_SHARED_BYTES}",
        )
