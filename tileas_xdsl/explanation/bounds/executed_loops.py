"""What bounds the code of threads: the work of each unit, counted on one block that ran.

For code of threads, where no tiles are left that the timing model could schedule.  A unit is busy
for what its instructions move or compute over its rate; an iteration takes at least as long as the
busiest one, for the others may overlap with it.  Waits for results are not counted, so code that
nothing overlaps takes longer.  Waits for mbarriers are no loops of their own.

    loop:  ld.global.v4 x4, ld.shared.v4 x8, fma x64, bar.sync, bra loop     4 warps, 10 iterations
           global_memory  4 * 4 warps * 512 bytes / 46 bytes a cycle         178 cycles an iteration
           shared_memory  8 * 4 warps * 4 wavefronts                         128
           issue          78 * 4 warps / 4 schedulers                         78
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field, replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.explanation.bounds.loops import LATENCY
from tileas_xdsl.explanation.bounds.work_counts import WorkCount
from tileas_xdsl.explanation.facts import LoopFacts, Roofline, UnitUse
from tileas_xdsl.explanation.ptx.instructions import (
    BRANCHES,
    SPECIAL_FUNCTIONS,
    SYNCHRONISATION,
    PtxRange,
    loops_of,
    unit_of,
)
from tileas_xdsl.interpreters.ptx.memory.access_counts import AccessCounter
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, Kernel, Vector
from tileas_xdsl.layout.memory.elements import ALIASES, ELEMENT_TYPES
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.costs.latencies import Latencies, latencies
from tileas_xdsl.target.costs.units import Unit

SECTOR = 32
SCHEDULERS = 4
"""Of a multiprocessor; each issues an instruction of a warp in a cycle."""

WAITS = (SYNCHRONISATION, BRANCHES)

_FLOPS = {"fma": 2, **dict.fromkeys(("add", "sub", "mul", "div", "max", "min"), 1)}
_FLOATS = re.compile(r"b?f(16|32|64)(x2)?")
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
_TCGEN05_DEPTHS = {"f16": 16, "tf32": 8, "mxf4": 64, "mxf4nvf4": 64}
"""By kind; of bytes 32."""


@dataclass
class _Work:
    """What a run did in a range of code, all warps and iterations together."""

    cycles: dict[Unit, float] = field(default_factory=dict[Unit, float])
    count: WorkCount = field(default_factory=WorkCount)

    def occupy(self, unit: Unit, cycles: float) -> None:
        self.cycles[unit] = self.cycles.get(unit, 0) + cycles


@dataclass(frozen=True)
class ExecutedCode:
    """The loops of a kernel that ran, in program order, and the code around them."""

    loops: tuple[LoopFacts, ...]
    """Each without the loops in it."""
    outside: Roofline | None
    """What a block does outside of loops; None if it is nothing."""
    busiest: UnitUse | None = None
    """The unit that a block keeps busy longest, from its first instruction to its last."""


def executed_code(counter: AccessCounter, target: str) -> ExecutedCode:
    """Return what bounds the loops of a kernel that ran, and what it does outside of them."""
    kernel, costs = counter.kernel, latencies(target)
    loops = [one for one in loops_of(kernel) if not _is_wait(kernel.code[one.first : one.last + 1])]
    loops.sort(key=lambda loop: (loop.first, -loop.last))
    work, outside = [_Work() for _ in loops], _Work()
    for at, instruction in enumerate(kernel.code):
        if issues := counter.issues[at].total():
            inside = [k for k, loop in enumerate(loops) if loop.first <= at <= loop.last]
            mine = min(inside, key=lambda k: loops[k].last - loops[k].first, default=None)
            found = outside if mine is None else work[mine]
            _add(found, counter, at, instruction, issues, costs)
    everything = (outside, *work)
    busy = {unit: sum(one.cycles.get(unit, 0) for one in everything) for unit in Unit}
    busiest = max(busy, key=lambda unit: busy[unit])
    count = outside.count.per(counter.blocks)
    has_work = count.flops or count.read or count.written
    return ExecutedCode(
        tuple(
            _facts(kernel, loop, counter, one, costs) for loop, one in zip(loops, work, strict=True)
        ),
        count.roofline(costs) if has_work else None,
        UnitUse(str(busiest), busy[busiest] / counter.blocks, 1.0, 0.0),
    )


def _is_wait(code: Sequence[Instruction]) -> bool:
    return all(unit_of(instruction) in WAITS for instruction in code)


def _facts(
    kernel: Kernel, loop: PtxRange, counter: AccessCounter, work: _Work, costs: Latencies
) -> LoopFacts:
    origin = kernel.code[loop.last].origin
    at = kernel.code[loop.first].location if origin is None else origin
    place = Location(at.path, at.line, at.column)
    iterations = max(counter.issues[loop.last].values(), default=0)
    nothing = LoopFacts(place, None, None, (), None, (), 0, None, ())
    if not iterations:
        return replace(nothing, not_predicted="the block that ran does not repeat it")
    # Blocks of a cluster run on multiprocessors of their own.
    runs = iterations * counter.blocks
    units = sorted(((u, c / runs) for u, c in work.cycles.items()), key=lambda one: -one[1])
    cycles = units[0][1] if units else 0.0
    count = work.count.per(runs)
    has_work = count.flops or count.read or count.written
    return replace(
        nothing,
        cycles=cycles,
        bound=str(units[0][0]) if units else LATENCY,
        units=tuple(UnitUse(str(unit), c, c / cycles, cycles - c) for unit, c in units),
        roofline=count.roofline(costs) if has_work else None,
        counted_iterations=iterations,
    )


def _add(
    work: _Work,
    counter: AccessCounter,
    at: int,
    instruction: Instruction,
    issues: int,
    costs: Latencies,
) -> None:
    """Add what an instruction did: it was issued so often by warps."""
    if not _is_free(instruction):
        work.occupy(Unit.ISSUE, issues / SCHEDULERS)
    if unit_of(instruction) == SPECIAL_FUNCTIONS:
        work.occupy(Unit.MUFU, issues * WARP / costs.special_lanes)
    work.count.flops += issues * WARP * _flops(instruction)
    _add_product(work, counter, at, instruction, issues, costs)
    reads = instruction.parts[0] in ("ld", "cp") and not _is_bulk_store(instruction)
    rate = costs.load_rate if reads else costs.store_rate
    moved = counter.bulk_bytes[at]
    if moved:
        work.occupy(Unit.TMA, moved / rate)
    if (found := counter.counts.get((at, "shared"))) is not None:
        work.occupy(Unit.SHARED_MEMORY, found.transactions)
    if (found := counter.counts.get((at, "global"))) is not None:
        work.occupy(Unit.GLOBAL_MEMORY, found.transactions * SECTOR / rate)
        moved += found.bytes
    work.count.read += moved if reads else 0
    work.count.written += 0 if reads else moved


def _is_free(instruction: Instruction) -> bool:
    """Whether it becomes no instruction: copies of registers, parameters in constant memory."""
    opcode = instruction.parts[0]
    is_copy = opcode == "mov" and not any(isinstance(o, Vector) for o in instruction.operands)
    return is_copy or opcode == "cvta" or instruction.parts[:2] == ("ld", "param")


def _is_bulk_store(instruction: Instruction) -> bool:
    spaces = [part.partition("::")[0] for part in instruction.parts]
    return "global" in spaces and "shared" in spaces[spaces.index("global") :]


def _flops(instruction: Instruction) -> int:
    """Return the operations on floats of a lane."""
    floats = next((m for part in instruction.parts if (m := _FLOATS.fullmatch(part))), None)
    if floats is None:
        return 0
    special = unit_of(instruction) == SPECIAL_FUNCTIONS
    return (_FLOPS.get(instruction.parts[0], int(special))) * (2 if floats[2] else 1)


def _add_product(
    work: _Work,
    counter: AccessCounter,
    at: int,
    instruction: Instruction,
    issues: int,
    costs: Latencies,
) -> None:
    """Add the cycles of a matrix instruction; those in shared memory read their operands there."""
    if (found := _product(counter, at, instruction, issues)) is None:
        return
    element, multiplications, operands = found
    rate = costs.rate_of(element)
    compute, shared = multiplications / rate.multiplications, operands / costs.shared_rate
    work.occupy(Unit.TENSOR_CORE, max(compute, shared))
    if shared:
        work.occupy(Unit.SHARED_MEMORY, shared)
    work.count.flops += 2 * multiplications
    work.count.product_flops += 2 * multiplications
    work.count.peak = max(work.count.peak, 2.0 * rate.multiplications)


def _product(
    counter: AccessCounter, at: int, instruction: Instruction, issues: int
) -> tuple[str, int, float] | None:
    """Return the element, the multiplications, and the bytes from shared memory of all runs."""
    parts = instruction.parts
    if cells := counter.product_cells[at]:
        kind = next(part for part in parts if part.startswith("kind::")).removeprefix("kind::")
        element = {"f16": "f16", "tf32": "tf32"}.get(kind, "i8")
        return element, cells * _TCGEN05_DEPTHS.get(kind, 32), 0
    shape = next((m for part in parts if (m := _SHAPE.fullmatch(part))), None)
    if shape is None or parts[0] not in ("wgmma", "mma"):
        return None
    m, n, k = map(int, shape.groups())
    element = next(iter([*_elements(parts)][1:]), None)
    if element is None:
        return None
    if parts[0] == "mma":
        return element, issues * m * n * k, 0
    rows = n if isinstance(instruction.operands[1], Vector) else n + m
    times = issues // WARPGROUP_WARPS
    return element, times * m * n * k, times * rows * k * ELEMENT_TYPES[element].bits / 8


def _elements(parts: Sequence[str]) -> Iterator[str]:
    """Yield the element types of an opcode: of D, A and B."""
    for part in parts:
        if (name := ALIASES.get(part, part)) in ELEMENT_TYPES:
            yield name
