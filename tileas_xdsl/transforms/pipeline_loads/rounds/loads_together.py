"""Load the tiles of several rounds of a loop together, where threads read them in registers.

    scf.for %i = %low to %high step %s {     %end = %low + (%high - %low) / (2 * %s) * (2 * %s)
      %t = tiled_load %v[%i]           ->    scf.for %i = %low to %end step 2 * %s {
      use %t }                                 %t = tiled_load %v[%i]
                                               %u = tiled_load %v[%i + %s]
                                               use %t
                                               use %u }
                                             scf.for %i = %end to %high step %s { ... }

A loop of no more rounds than that, which are known, is written out with their numbers: taps of a
filter load elements that lie beside each other (`join-neighbouring-loads`).

What is carried may be in an address if numbers alone compute it, as the place of a tile block in a
grid: it is computed for all rounds first, too (`numbers_ahead`).

A round waits for what it loads, about a microsecond, with nothing else to do where few blocks share
a multiprocessor; ptxas neither unrolls such loops nor moves loads over their back edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import Any, TypeAlias

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, TensorType, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.liveness.tiles import peak_registers, tile_registers
from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars, steps_by_grid
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileaa.memory.block_memory import AllocaOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import CombiningOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.scheduling.loops.macro_operations import MacroOperation, is_scheduled, kind_of
from tileas_xdsl.scheduling.resources.unit_demand import work_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.target.kernel_abi import RUNS_AT_ONCE
from tileas_xdsl.threads.pipeline.occupancy import REGISTER_HEADROOM, keeps_rows, resident_registers
from tileas_xdsl.transforms.pipeline_loads.rounds.rounds import carried_by
from tileas_xdsl.transforms.tile_parts.dimension_classes import tile_shape

Load: TypeAlias = TiledLoadOp | LoadOp
"""Of a tile at coordinates, or through pointers."""

BYTES_IN_FLIGHT = 32 * 1024
"""Of a multiprocessor, for the bandwidth of DRAM: 33 bytes a ns, for about 1 us."""

MOST_ROUNDS, MOST_ROUNDS_OF_MEMORY = 4, 8
"""Loaded together; the latter of loops that wait for memory alone (`WARPS_OF_MEMORY`)."""

WARPS_OF_STREAMS, WARPS_THAT_COMPUTE = 16, 24
"""Of a multiprocessor, at least: those that compute or wait for each other hide that by others.

On an H200 24 warps were faster than 32 with half the loads, and 20 slower, but for sums alone.
"""

WARPS_OF_MEMORY = 8
"""Where DRAM takes a round `DRAM_OVER_ISSUE` times as long as the schedulers of a multiprocessor:
what is on its way counts, and few tile blocks with long loops, as recurrences have, are likely.
"""

DRAM_OVER_ISSUE = 4

WARPS_OF_GRIDS = 8
"""Where a loop steps by the grid: programs start one or two CTAs for each multiprocessor then.

Gradients of rms_norm, 16,384 rows of 2,048 bf16, on an H200 by 132, 264, 528 and 1,056 CTAs of four
warps: 128, 80, 66 and 76 us with a round at a time, 85, 63, 70 and 74 with four.
"""

FEW_REGISTERS = 8
"""Of a thread, for what a round loads, up to which other tiles decide how many warps there are.

A recurrence has a large state, and loads lines for it: on an H200 the gated delta rule of 64 heads
and 1,024 steps, states of 128x128 in four parts, takes 787 us step by step, and 533 by four steps.
"""

MAX_REGISTERS = 255
"""Of a thread (PTX ISA, maxnreg)."""

_STAYING = (scf.ForOp, scf.WhileOp, DotOp, AllocaOp)

LOADED_TOGETHER = "nv_tileas.rounds_loaded_together"
"""On a loop: of how many rounds it loads the tiles at once."""


def load_together(function: func.FuncOp, target: Target) -> None:
    """Unroll loops over loads, as far as registers and the latency of memory ask for it."""
    for loop in reversed(instances_in(function, scf.ForOp)):
        loads = () if LOADED_TOGETHER in loop.attributes else first_loads(loop)
        trips = _trips(loop)
        rounds = _rounds(function, loop, loads, target) if loads else 1
        if trips is not None and 1 < trips <= rounds:
            _write_out(loop, loads, trips)
        elif (rounds := min(rounds, _whole_rounds(trips))) > 1:
            _unroll(loop, loads, rounds)


def first_loads(loop: scf.ForOp) -> Sequence[Load]:
    """Return what a loop without loops in it, and without products, loads by the round.

    Memory that each round takes anew would be taken several times in a row of rounds.
    """
    inside = operations_in(loop.body)
    if any(isinstance(op, _STAYING) or writes_unordered(op) for op in inside):
        return ()
    mine, found = set(inside), list[Load]()
    late = set(loop.body.block.args[1:]) - numbers_ahead(loop).keys()
    for op in loop.body.block.ops:
        if isinstance(op, Load) and _may_come_first(op, late, mine, found):
            found.append(op)
    return found


def numbers_ahead(loop: scf.ForOp) -> Mapping[SSAValue, SSAValue]:
    """Return what a round gives the next one of the values that numbers alone are computed by.

    Any round's are known before a round: the places of tile blocks in a grid, and how far it is.
    """
    found = {a: v for a, v in carried_by(loop).items() if not isinstance(a.type, TensorType)}
    late = set(loop.body.block.args[1:]) - found.keys()
    inside = set(operations_in(loop.body))
    while lost := [a for a, v in found.items() if not _is_of_numbers(v, late, inside)]:
        late |= set(lost)
        found = {a: v for a, v in found.items() if a not in late}
    return found


def _is_of_numbers(
    value: SSAValue, late: AbstractSet[SSAValue], inside: AbstractSet[Operation]
) -> bool:
    """Whether numbers compute a value in a loop, none of which is known `late`."""
    before = [one for one in behind([value]) if one in inside]
    read = {value, *(operand for one in before for operand in one.operands)}
    return all(map(is_of_scalars, before)) and not read & late


def _trips(loop: scf.ForOp) -> int | None:
    """Return how often a loop runs, where that is known."""
    low, high, step = (constant_integer(value) for value in (loop.lb, loop.ub, loop.step))
    if low is None or high is None or step is None:
        return None
    return max(0, ceil_div(high - low, step))


def _whole_rounds(trips: int | None) -> int:
    """Return the rounds, a power of two, that a loop runs at least."""
    return MOST_ROUNDS_OF_MEMORY if trips is None else 1 << max(1, trips).bit_length() - 1


def _may_come_first(
    op: Load,
    late: AbstractSet[SSAValue],
    inside: AbstractSet[Operation],
    others: Sequence[Load],
) -> bool:
    """Whether threads load into registers, from a place that nothing gives which is known late.

    Of pointers it may be what other loads that come first found.
    """
    is_masked = isinstance(op, TiledLoadOp) and op.mask is not None
    if op.atom.data.family != "ldg" or is_masked:
        return False
    if space_of(op.result.type) not in (None, Space.RMEM) or op.token is None:
        return False
    before = {one for one in behind(op.operands) if one in inside}
    values = {value for one in (op, *before) for value in _read(one)}
    if isinstance(op, TiledLoadOp):
        return all(map(is_of_scalars, before)) and not values & late
    is_early = all(one in others or is_side_effect_free(one) for one in before)
    return is_early and not values & late and pointer_of(op.base.type) is not None


def behind(values: Iterable[SSAValue]) -> Iterator[Operation]:
    """The operations that values are computed by, and what the bodies of tiles read, each once."""
    seen, pending = set[Operation](), list(values)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in seen:
            seen.add(owner)
            pending += _read(owner)
            yield owner


def _read(op: Operation) -> Iterator[SSAValue]:
    """The operands of an operation, and of those inside of it."""
    for one in (op, *operations_in(op)) if op.regions else (op,):
        yield from one.operands


def _rounds(function: func.FuncOp, loop: scf.ForOp, loads: Sequence[Load], target: Target) -> int:
    """Return the rounds, a power of two, whose tiles leave registers for enough warps."""
    spec = spec_of(function)
    threads = spec.num_warps * WARP
    waits = _waits_for_memory(loop, loads, target)
    warps = WARPS_OF_MEMORY if waits else _warps(loop, loads)
    most = MOST_ROUNDS_OF_MEMORY if waits else MOST_ROUNDS
    blocks = max(spec.occupancy if keeps_rows(function) else 1, ceil_div(warps, spec.num_warps))
    blocks = 1 if RUNS_AT_ONCE in function.attributes else blocks
    live = peak_registers(function.body, resident_registers) // threads
    added = max(1, sum(tile_registers(op.result) for op in loads) // threads)
    registers = target.registers_per_multiprocessor // threads
    if added <= FEW_REGISTERS:
        wished = live + (MOST_ROUNDS - 1) * added + REGISTER_HEADROOM
        blocks = min(blocks, max(1, registers // wished))
    available = min(registers // blocks, MAX_REGISTERS) - REGISTER_HEADROOM
    moved = sum(_bytes(op.result) for op in loads)
    wanted = min(most, ceil_div(BYTES_IN_FLIGHT, moved))
    return 1 << max(1, min(wanted, 1 + (available - live) // added)).bit_length() - 1


def _warps(loop: scf.ForOp, loads: Sequence[Load]) -> int:
    """Return the warps of a multiprocessor that are to have registers for what a loop loads."""
    if steps_by_grid(loop):
        return WARPS_OF_GRIDS
    return WARPS_OF_STREAMS if _only_streams(loads) else WARPS_THAT_COMPUTE


def _waits_for_memory(loop: scf.ForOp, loads: Sequence[Load], target: Target) -> bool:
    """Whether threads wait for nothing else in a round, and compute a fraction of that time."""
    if any(isinstance(op, CombiningOp) for op in operations_in(loop.body)):
        return False
    costs = latencies(target.name)
    nodes = [MacroOperation(kind_of(op), [op]) for op in loop.body.block.ops if is_scheduled(op)]
    issue = sum(work_of(node, costs, 1).units.get(Unit.ISSUE, 0) for node in nodes)
    stored = [op.value for op in loop.body.block.ops if isinstance(op, TiledStoreOp | StoreOp)]
    moved = sum(_bytes(value) for value in (*stored, *(op.result for op in loads)))
    return issue * DRAM_OVER_ISSUE * costs.dram_rate <= moved


def _only_streams(loads: Sequence[Load]) -> bool:
    """Whether a loop has little to do but to wait: a conversion and a sum for what it loads."""
    (body,) = {op.parent for op in loads}
    assert body is not None
    work = [op for op in body.ops if op not in loads and any(map(tile_shape, op.results))]
    is_little = len(work) <= 2 * len(loads)
    return is_little and all(op.name.startswith("arith.") for op in work)


def _bytes(tile: SSAValue) -> int:
    return max(1, prod(shape_of(tile.type) or ()) * bits_of(element_of(tile.type)) // 8)


def _unroll(loop: scf.ForOp, loads: Sequence[Load], rounds: int) -> None:
    """Run so many rounds at a time, their loads first; what is left over as before."""
    kind: Any = loop.step.type
    count = arith.ConstantOp(IntegerAttr(rounds, kind))
    step = arith.MuliOp(loop.step, count)
    end, bounds = _end_of_whole(loop, count.result, step.result)
    body = Block(arg_types=[arg.type for arg in loop.body.block.args])
    made = scf.ForOp(loop.lb, end, step, loop.iter_args, Region(body))
    made.attributes |= loop.attributes | {LOADED_TOGETHER: IntegerAttr(rounds, i32)}
    made.location = loop.location
    loop.attributes[LOADED_TOGETHER] = IntegerAttr(1, i32)
    numbers: list[SSAValue] = [body.args[0]]
    for _ in range(rounds - 1):
        following = arith.AddiOp(numbers[-1], loop.step)
        body.add_op(following)
        numbers.append(following.result)
    body.add_op(scf.YieldOp(*_fill(body, loop, loads, numbers, body.args[1:])))
    Rewriter.insert_op([count, step, *bounds, made], InsertPoint.before(loop))
    loop.operands = [end, *loop.operands[1:3], *made.results]


def _write_out(loop: scf.ForOp, loads: Sequence[Load], trips: int) -> None:
    """Write all rounds one after another, their numbers as constants: addresses differ by these."""
    low, step = constant_integer(loop.lb), constant_integer(loop.step)
    assert low is not None
    assert step is not None
    kind: Any = loop.lb.type
    rounds = Block()
    constants = [arith.ConstantOp(IntegerAttr(low + k * step, kind)) for k in range(trips)]
    rounds.add_ops(constants)
    numbers = [constant.result for constant in constants]
    results = _fill(rounds, loop, loads, numbers, loop.iter_args)
    made = list(rounds.ops)
    for op in made:
        op.detach()
    Rewriter.insert_op(made, InsertPoint.before(loop))
    Rewriter.replace_op(loop, [], results)


def _end_of_whole(
    loop: scf.ForOp, count: SSAValue, step: SSAValue
) -> tuple[SSAValue, Sequence[Operation]]:
    """Return where the last `count` whole rounds end; unsigned, as distances may take all bits."""
    top = arith.MaxSIOp(loop.ub, loop.lb)
    distance = arith.SubiOp(top, loop.lb)
    rounds = arith.DivUIOp(distance, loop.step)
    many = arith.DivUIOp(rounds, count)
    length = arith.MuliOp(many, step)
    end = arith.AddiOp(loop.lb, length)
    return end.result, (top, distance, rounds, many, length, end)


def early_in_round(
    loop: scf.ForOp, loads: Sequence[Load]
) -> tuple[AbstractSet[Operation], Mapping[SSAValue, SSAValue]]:
    """Return what is computed for the loads of a round, and the numbers that these read.

    Those are what the next round has, by what this one has of it (`numbers_ahead`).
    """
    ahead, following = numbers_ahead(loop), dict[SSAValue, SSAValue]()
    early = {*loads, *behind(value for op in loads for value in op.operands)}
    while read := [arg for arg in ahead if arg not in following and _is_read(arg, early)]:
        following |= {arg: ahead[arg] for arg in read}
        early |= set(behind(ahead[arg] for arg in read))
    return early, following


def _is_read(value: SSAValue, operations: AbstractSet[Operation]) -> bool:
    return any(value in set(_read(op)) for op in operations)


def _fill(
    body: Block,
    loop: scf.ForOp,
    loads: Sequence[Load],
    numbers: Sequence[SSAValue],
    carried: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """Write rounds with these numbers, their loads first; return what they carry in the end."""
    inner = loop.body.block
    clones: list[dict[SSAValue, SSAValue]] = [{inner.args[0]: number} for number in numbers]
    early, following = early_in_round(loop, loads)
    known: dict[SSAValue, SSAValue] = dict(zip(inner.args[1:], carried, strict=True))
    for mine in clones:
        mine |= {arg: known[arg] for arg in following}
        body.add_ops([op.clone(mine) for op in inner.ops if op in early])
        known = {arg: mine.get(value, value) for arg, value in following.items()}
    last = inner.last_op
    assert isinstance(last, scf.YieldOp)
    for mine in clones:
        mine.update(zip(inner.args[1:], carried, strict=True))
        body.add_ops([op.clone(mine) for op in inner.ops if op not in early and op is not last])
        carried = [mine.get(value, value) for value in last.operands]
    return carried
