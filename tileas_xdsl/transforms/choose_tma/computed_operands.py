"""Which loads a loop makes into operands of its products, element by element.

    scf.for ... {
      %x = tiled_load %a            // f32, in registers
      %y = truncf %x                // tf32: what the product reads
      %z = convert_layout %y        // in shared memory
      %d = dot %z, ...

Such a tile can come by TMA into a stage as well, ahead of the product: threads read the stage, and
write what they compute of it into shared memory of its own.  Threads that multiply by `mma.sync` or
`fma` read their fragments in the stage.  Where two stages of a loop's tiles and what is computed of
them do not fit, or three where some come through pointers, such tiles stay in registers.
"""

from __future__ import annotations

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue, Use

from tileas_xdsl.analysis.layouts.dot_layouts import is_by_threads
from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.memory.copied_chunks import ThreadLoad
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.target_attribute import module_target

STAGES = 2
"""One that is read while the other is filled."""

GATHERED_STAGES = 3
"""Of tiles that all threads of the producer copy through pointers, which is behind TMA by a round.

On an H200 rows of bytes that are looked up, times f16, have 440 TFLOP/s in four stages, and 275 by
loads of the consumer; frames of a signal as tf32, in two stages, were slower by a twentieth.
"""

OPERANDS = 2
"""A and B; the third one of a dot is the accumulator."""

OTHERS = 8
"""An eighth of shared memory is left for what stores are staged in, reductions and barriers."""


def is_made_into_operand(load: ThreadLoad) -> bool:
    """Whether a product of the loop that a load is in reads its tile, or what is computed of it.

    Only where shared memory has room for that.
    """
    loop = load.parent_op()
    if not isinstance(loop, scf.ForOp) or not reaches_product(load):
        return False
    return _has_room(loop, STAGES if isinstance(load, TiledLoadOp) else GATHERED_STAGES)


def reaches_product(load: ThreadLoad) -> bool:
    """Whether a product beside a load reads its tile, or what is computed of each element."""
    pending, seen = [load.result], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = _of_block(use.operation, load)
            if isinstance(user, DotOp) and value in (user.a, user.b):
                return True
            if user is not None and _is_by_element(user):
                pending += user.results
    return False


def _has_room(loop: scf.ForOp, stages: int) -> bool:
    """Whether so many stages of what a loop loads for products fit beside what it computes of them.

    Computed operands of threads that multiply are exchanged through shared memory, one product at a
    time.
    """
    loads = [op for op in loop.body.block.ops if isinstance(op, ThreadLoad)]
    stage = sum(tile_bytes(load.result.type) for load in loads if reaches_product(load))
    computed = [
        op.result.type
        for op in loop.body.block.ops
        if isinstance(op, ConvertLayoutOp)
        and space_of(op.result.type) is Space.SMEM
        and not _is_loaded(op.source)
    ]
    exchanged = [
        sum(tile_bytes(v.type) for v in (op.a, op.b) if not _is_loaded(v))
        for op in loop.body.block.ops
        if isinstance(op, DotOp) and is_by_threads(op)
    ]
    module = enclosing(loop, ModuleOp)
    assert module is not None
    capacity = module_target(module).shared_memory_per_block // OTHERS * (OTHERS - 1)
    return stages * stage + sum(map(tile_bytes, computed)) + max(exchanged, default=0) <= capacity


def _is_loaded(tile: SSAValue) -> bool:
    """Whether a tile is what is loaded, as it is or by a view of its rows."""
    made = tile.owner
    if isinstance(made, ViewOp) and keeps_rows(made):
        return _is_loaded(made.source)
    return isinstance(made, ThreadLoad)


def is_fragment(use: Use) -> bool:
    """Whether threads that multiply read a tile as operand, in registers or a few of it at once."""
    user = use.operation
    return isinstance(user, DotOp) and use.index < OPERANDS and is_by_threads(user)


def _of_block(user: Operation, load: ThreadLoad) -> Operation | None:
    """The operation beside a load that reads a value, itself or in the body of a tile."""
    if isinstance(user, tensor.ExtractOp) and isinstance(user.parent_op(), GenerateOp):
        user = user.parent_op() or user
    return user if user.parent is load.parent else None


def _is_by_element(op: Operation) -> bool:
    if isinstance(op, ConvertLayoutOp | GenerateOp | ViewOp):
        return True
    return layout_role(op) is LayoutRole.ELEMENTWISE
