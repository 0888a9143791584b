"""Loads of phases: begun before their chunk is computed, and tiles that stay in shared memory.

Rows that are kept are loaded in front of the first phase that reads them; later phases read them
from there:

    %f = async.tiled_load %v[%i] {kept}
    %x = async.wait %f
    %k = extract_slice %x[0, 0] ...
    %l = extract_slice %x[0, 4096] ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    IntegerAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.kept_tiles import free_numbers, reads_kept
from tileas_xdsl.analysis.values.rows.row_extents import array_of, row_width
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT,
    AsyncTiledLoadOp,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.transforms.chunk_tiles.reduction_phases import (
    Phase,
    PhasePlan,
)
from tileas_xdsl.transforms.pipeline_loads.rounds.next_rounds import started

ROTATION = ("rotated", "row_width", "modulus")
"""Properties of a load that say how its rows are rotated."""


def begun_loads(body: Block) -> Sequence[Operation]:
    """Divide the loads of a chunk from global memory into what begins them, returned, and waits."""
    loads = [op for op in body.ops if isinstance(op, TiledLoadOp) and not reads_kept(op)]
    behind = set(operations_behind([value for op in loads for value in op.operands]))
    begun: set[Operation] = {op for op in body.ops if op in behind}
    for op in loads:
        made = _asynchronous(op, op.view)
        wait = WaitOp(made.result)
        wait.location = op.location
        Rewriter.insert_op(made, InsertPoint.before(op))
        if op.out_token is not None and made.out_token is not None:
            op.out_token.replace_all_uses_with(made.out_token)
        Rewriter.replace_op(op, wait, [wait.values[0], *op.results[1:]])
        begun.add(made)
    return [op for op in body.ops if op in begun]


def kept_from(
    phase: Phase, loads: Sequence[TiledLoadOp], end: Operation, plan: PhasePlan
) -> tuple[Mapping[TiledLoadOp, SSAValue], Sequence[WaitOp]]:
    """Begin to keep the tiles that a phase reads first; return them by loads, and waits for them.

    Those that are rotated are loaded from there in each phase, part by part.  Of those that are
    kept in part the array ends behind that.
    """
    found: dict[TiledLoadOp, SSAValue] = {}
    waits: list[WaitOp] = []
    for op in loads:
        if op in phase.operations and op.rotated is not None:
            if KEPT not in op.attributes:
                number = free_numbers(end, 1)[0]
                begun = started(op, {}, number)
                wait = WaitOp(begun.result)
                wait.location = op.location
                Rewriter.insert_op(begun, InsertPoint.before(end))
                waits.append(wait)
                op.attributes[KEPT] = IntegerAttr(number, i32)
        elif op in phase.operations:
            view = op.view if plan.chunks_kept is None else _of_first_chunks(op, end, plan)
            made = _asynchronous(op, view)
            made.attributes[KEPT] = UnitAttr()
            wait = WaitOp(made.result)
            wait.location = op.location
            Rewriter.insert_op(made, InsertPoint.before(end))
            waits.append(wait)
            found[op] = wait.values[0]
            if op.out_token is not None and made.out_token is not None:
                op.out_token.replace_all_uses_with(made.out_token)
    return found, waits


def _asynchronous(op: TiledLoadOp, view: SSAValue) -> AsyncTiledLoadOp:
    """The load of the same tile of a view that something waits for."""
    made = AsyncTiledLoadOp(
        view,
        op.coords,
        atom=op.atom,
        offsets=op.offsets,
        token=op.token,
        result_type=op.result.type,
        padding=op.padding_value,
    )
    made.properties |= {k: op.properties[k] for k in ROTATION if k in op.properties}
    made.attributes |= op.attributes
    made.location, made.result.name_hint = op.location, op.result.name_hint
    return made


def _of_first_chunks(op: TiledLoadOp, end: Operation, plan: PhasePlan) -> SSAValue:
    """The view of a load, of an array whose rows end behind the chunks that are kept."""
    array, view = array_of(op), op.view.owner
    assert array is not None
    assert isinstance(view, ViewOp)
    assert plan.chunks_kept is not None
    build = Builder(InsertPoint.before(end))
    columns = row_width(op) // plan.count * plan.chunks_kept
    extent = array.sizes[-1]
    limit = constant(build, columns, extent.type)
    shorter = array.clone()
    behind = len(array.strides) + 1
    shorter.operands[-behind] = build.insert(arith.MinSIOp(extent, limit)).result
    build.insert(shorter)
    return build.insert(ViewOp(shorter.result, view.result.type)).result
