"""The default schedule of loops without one: chained dots, one iteration apart.

    %s = dot %q, %k;  %p = softmax(%s);  %o = dot %p, %v, %o        stage 0: dot, softmax
                                                                    stage 1: dot of %p

A dot whose operand depends on another dot of the same iteration is in stage 1, one iteration later:
the matrix unit runs it while the next iteration's softmax is computed.  Dots are issued first in an
iteration, those of stage 1 last.  Registers, warps and stages are those of
`pipeline_loads/resources`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.values.liveness.tiles import peak_around_products, tile_registers
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.scheduling.loops.macro_operations import macro_operations
from tileas_xdsl.scheduling.resources.buffer_assignment import NAMED_BARRIERS
from tileas_xdsl.scheduling.resources.unit_demand import busy_cycles
from tileas_xdsl.scheduling.schedule import (
    BufferPlan,
    LoopPlan,
    Placement,
    Role,
    RolePlan,
    Schedule,
    loads_of,
)
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.transforms.materialize_schedule.replica_turns import exponentials
from tileas_xdsl.transforms.pipeline_loads.agent_registers import (
    MIN_HEADROOM,
    PRODUCER_WARPS,
    registers_but_of_broadcasts,
)
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.resources import Resources


def default_schedule(
    found: LoadLoop,
    resources: Resources,
    target: Target,
    *,
    turns: bool,
    ahead: bool,
) -> Schedule:
    """The schedule of a loop; its cycles are counts of operations.

    Where powers take as long as products, these wait for what computes their operands: replicas may
    then take `turns`, passed on behind the powers, or wait `ahead` for the next stage.  Attention
    of head size 64 runs at 440 TFLOP/s on an H200 without either, at 458 with turns and at 436 with
    waits ahead.  Where other instructions alone make up for the longer products, as with a bias and
    masks at head size 128, turns cost more than they give (371 instead of 400).
    """
    loop = found.loop
    operations = [op for op in loop.body.block.ops if _is_of_tiles(op)]
    late = _late(loop, operations)
    if late and not _fits_apart(found, resources, late):
        late.clear()
    first = [op for op in operations if isinstance(op, TiledLoadOp)]
    first += [op for op in operations if isinstance(op, DotOp) and op not in late]
    behind = [op for op in operations if op in late]
    rest = [op for op in operations if op not in late and op not in first]
    order = {op: k for k, op in enumerate([*first, *behind, *rest])}
    ii = len(order)
    placements = {op: _placement(op, int(op in late), k, ii) for op, k in order.items()}
    replicas = _replicas(resources)
    roles = [
        RolePlan(Role.PRODUCER, PRODUCER_WARPS, resources.registers[0]),
        RolePlan(Role.CONSUMER, resources.warps // replicas, resources.registers[1], replicas),
    ]
    buffers = [BufferPlan(k, resources.stages) for k in range(len(loads_of(loop)))]
    waits = waits_for_powers(loop, resources, target)
    is_in_turn = waits and turns and any(map(exponentials, rest))
    barriers = NAMED_BARRIERS[-replicas:] if is_in_turn else ()
    return Schedule(LoopPlan(ii, roles, buffers, barriers, waits and ahead), placements)


def waits_for_powers(loop: scf.ForOp, resources: Resources, target: Target) -> bool:
    """Whether powers take as long as products, and warpgroups share them."""
    replicas = _replicas(resources)
    busy = busy_cycles(macro_operations(loop), latencies(target.name), replicas)
    return replicas > 1 and busy[Unit.MUFU] >= busy[Unit.TENSOR_CORE]


def has_chained_products(loop: scf.ForOp) -> bool:
    """Whether a product reads what is computed of another one in the same iteration."""
    operations = [op for op in loop.body.block.ops if _is_of_tiles(op)]
    return any(isinstance(op, DotOp) for op in _late(loop, operations))


def _replicas(resources: Resources) -> int:
    """The warpgroups that multiply."""
    return resources.warps // 4 if resources.warps % 4 == 0 else 1


def _fits_apart(found: LoadLoop, resources: Resources, late: set[Operation]) -> bool:
    """Whether threads hold what crosses to late operations beside all that is live in a round."""
    values = {v for op in late for inner in operations_in(op) for v in inner.operands}
    body = found.loop.body.block
    crossing = sum(
        tile_registers(v)
        for v in values
        if isinstance(v.owner, Operation) and v.owner.parent is body and v.owner not in late
    )
    live = peak_around_products(found.function.body, registers_but_of_broadcasts, within=found.loop)
    held = (live + crossing) // (resources.warps * WARP)
    return held + MIN_HEADROOM <= resources.registers[1]


def all_in_registers(found: LoadLoop) -> bool:
    """Whether warpgroups multiply into registers: an MMA into tensor memory runs ahead anyway."""
    units = [matrix_unit_of(op.atom) for op in instances_in(found.loop, DotOp)]
    return all(
        unit is not None and unit.reads_shared_memory and not unit.accumulates_in_tensor_memory
        for unit in units
    )


def multiplies_at_once(loop: scf.ForOp) -> bool:
    """Whether products of one iteration, some computed of others, need not wait for one another.

    %s = dot %q, %k; %p = dot %g, %v          two that run on, each with a wait of its own
    %x = dot f(%s, %p), %k; %y = dot h(%s), %q
    """
    operations = [op for op in loop.body.block.ops if _is_of_tiles(op)]
    late = _late(loop, operations)
    dots = [op in late for op in operations if isinstance(op, DotOp)]
    return bool(late) and max(dots.count(True), dots.count(False)) > 1


def _placement(op: Operation, stage: int, order: int, ii: int) -> Placement:
    is_load = isinstance(op, TiledLoadOp)
    role = Role.PRODUCER if is_load else Role.CONSUMER
    unit = Unit.TMA if is_load else Unit.TENSOR_CORE if isinstance(op, DotOp) else Unit.ISSUE
    return Placement(stage, order, stage * ii + order, role, unit)


def _is_of_tiles(op: Operation) -> bool:
    return any(isinstance(type_, TensorType) for type_ in op.result_types)


def _late(loop: scf.ForOp, operations: Sequence[Operation]) -> set[Operation]:
    """Products of what other products lead to, what reads them, and what is cheaper behind."""
    from_product: set[Operation] = set()
    late: set[Operation] = set()
    # In order: `S = QK` comes first, softmax of it follows, and `PV` reads what came from a
    # product, so it is late, with all that reads it. In stage 1, `PV` of tile i runs beside `QK` of
    # tile i+1.
    for op in operations:
        made = {v.owner for inner in operations_in(op) for v in inner.operands}
        is_chained = isinstance(op, DotOp) and {op.a.owner, op.b.owner} & from_product
        if is_chained or made & late:
            late.add(op)
        elif made & from_product or isinstance(op, DotOp):
            from_product.add(op)
    # What only late operations read may run late too, if no more bytes then cross between stages:
    # narrowing scores to 16 bits stays early, as its result is half of what it reads.
    for op in reversed(operations):
        users = _users(op, loop.body.block)
        if isinstance(op, DotOp | TiledLoadOp) or not users or not users <= late:
            continue
        if _early_bytes(op, loop.body.block, late) <= sum(_bytes(v) for v in op.results):
            late.add(op)
    return late


def _users(op: Operation, body: Block) -> set[Operation]:
    found = {body.find_ancestor_op_in_block(u.operation) for v in op.results for u in v.uses}
    return {one for one in found if one is not None}


def _early_bytes(op: Operation, body: Block, late: set[Operation]) -> int:
    """The bytes of the early tiles that an operation reads: they are carried, if it is late."""
    values = {v for inner in operations_in(op) for v in inner.operands}
    return sum(
        _bytes(v)
        for v in values
        if isinstance(v.owner, Operation) and v.owner.parent is body and v.owner not in late
    )


def _bytes(value: SSAValue) -> int:
    tile = as_tile(value.type)
    return 0 if tile is None else prod(tile.get_shape()) * bits_of(tile.element_type) // 8
