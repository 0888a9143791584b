"""TMA descriptors written by device code, for views whose base address is a run-time value.

The host encodes a template of the whole array; each CTA replaces address, extents and strides by
those of its view in its own slot of global memory, and acquires the map
(`tensormap.replace`, `fence.proxy.tensormap`).
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import i8
from xdsl.ir import Block, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import (
    AcquireTmaDescOp,
    CopyTmaDescOp,
    GetDynSmemOp,
    PublishTmaDescOp,
    UpdateTmaDescOp,
)
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    extend_to_i64,
    i64_constant,
    is_equal,
    multiply,
    subtract,
)
from tileas_xdsl.threads.codegen.lowered_values import Descriptor, GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.structured_control_flow import run_if
from tileas_xdsl.threads.codegen.thread_ids import lane_id, warp_id
from tileas_xdsl.threads.gmem.bounds_and_vector_width import as_int32, check_whole_bytes
from tileas_xdsl.threads.gmem.launch_memory.arena import allocate_slots


def made_on_device(e: ThreadBuilder, op: MakeTiledTmaDescOp, template: Descriptor) -> Descriptor:
    """Build a tensor map of a view from a template, by the first warp for the whole CTA."""
    if e.agent.number != 0 or not isinstance(op.parent_op(), func.FuncOp):
        raise op_error(
            op, "describes a window that only the device knows: made once, before loops and agents"
        )
    view = e.get(op.view)
    if not isinstance(view, GlobalView):
        raise op_error(op, f"describes {op.view.type}, not a window of an array argument")
    check_whole_bytes(op, view)
    name = f"%{op.result.name_hint or 'descriptor'}"
    offset = e.plan.shared.allocate(op, name, SIZE, "a tensor map", SIZE)
    smem = e.insert(GetDynSmemOp(offset, i8, SIZE)).result
    gmem = allocate_slots(e)
    address, extents, strides = _window(e, view)
    by_first_warp, block = is_equal(e, warp_id(e), 0), Block()
    with e.within(block):
        e.insert(CopyTmaDescOp(template.argument, smem))
        one = is_equal(e, lane_id(e), 0)
        e.insert(UpdateTmaDescOp("global_address", smem, address, pred=one))
        for ordinal, extent in enumerate(extents):
            e.insert(UpdateTmaDescOp("global_dim", smem, extent, ordinal, one))
        for ordinal, stride in enumerate(strides):
            e.insert(UpdateTmaDescOp("global_stride", smem, stride, ordinal, one))
        e.insert(PublishTmaDescOp(smem, gmem))
    run_if(e, by_first_warp, block)
    synchronize_agent(e)
    return Descriptor(e.insert(AcquireTmaDescOp(gmem)).result, template.recipe)


def _window(e: ThreadBuilder, view: GlobalView) -> tuple[SSAValue, list[SSAValue], list[SSAValue]]:
    """Return address, extents and strides (bytes) of a view, innermost first."""
    address, width = view.pointer, bits_of(view.element) // 8
    extents: list[SSAValue] = []
    strides: list[SSAValue] = []
    for axis in reversed(range(len(view.extents))):
        start, extent = view.starts[axis], as_int32(e, view.extents[axis])
        stride = _wide(e, view.strides[axis])
        strides.append(multiply(e, stride, width))
        if start == 0:
            extents.append(extent)
            continue
        first = as_int32(e, start)
        extents.append(subtract(e, extent, first))
        address = advance(e, address, _scaled(e, first, view.strides[axis]))
    return address, extents, strides[1:]


def _scaled(e: ThreadBuilder, first: SSAValue, stride: SSAValue | int) -> SSAValue:
    """Return the offset of an index in elements."""
    wide = extend_to_i64(e, first)
    return multiply(e, wide, stride if isinstance(stride, int) else _wide(e, stride))


def _wide(e: ThreadBuilder, n: SSAValue | int) -> SSAValue:
    return i64_constant(e, n) if isinstance(n, int) else extend_to_i64(e, as_int32(e, n))
