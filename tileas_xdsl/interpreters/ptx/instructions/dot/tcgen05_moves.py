"""Tensor-memory loads, stores and copies from shared memory.  Source: PTX ISA 9.7.16.8."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, lane_list, spread, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.execution.waits import reconverge
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.dot.tcgen05 import BLACKWELL, group_of, tensor_pipe
from tileas_xdsl.interpreters.ptx.matrix.smem_operands import (
    WIDTHS,
    Descriptor,
    read_descriptor,
)
from tileas_xdsl.interpreters.ptx.matrix.tmem_access import (
    check_cells,
    register_cells,
    shadow_locations_of,
    split,
)
from tileas_xdsl.interpreters.ptx.memory.shared_memory import GRANULE, TENSOR_COLUMNS
from tileas_xdsl.interpreters.ptx.numerics.extremes import float_extremes
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tensor_memory import MOVE_SHAPES

WORD = np.dtype(np.uint32)
B32 = TYPES["b32"]


def _cells_of(site: Site, address: int, type_: str = "b32") -> tuple[Array, bool]:
    """Return the cells of (thread, register), of half registers if two columns are packed in one.

    `address` is the operand that is one, behind which `.16x32bx2` has the offset of its half.
    """
    site.ignore(("sync", "aligned"))
    shape = site.choose(MOVE_SHAPES)
    repetitions = next((m for m in site.modifiers if m[0] == "x" and m[1:].isdigit()), "")
    if not repetitions:
        site.fail("the number of repetitions .xN is missing")
    site.modifiers.remove(repetitions)
    packed = site.flag("pack::16b") or site.flag("unpack::16b")
    site.choose((type_,))
    site.no_more()
    half = None
    if shape == "16x32bx2":
        half = site.immediate(address + 1)
    count = int(repetitions[1:])
    try:
        return register_cells(shape, count, half, packed=packed), packed
    except TargetError as error:
        return site.fail(str(error))


def _warp_cells(
    f: ConvergenceGroup, warp: int, slot: int, offset: int, cells: Array, what: str
) -> Array:
    """Return the cells of one warp, whose address must be in its own quarter of the lanes."""
    taddr = _warp_address(f, warp, slot, what)
    lane, column = split(taddr + offset)
    quarter = (f.warpgroup.first_warp + warp) % 4
    found = cells + lane * TENSOR_COLUMNS + column
    lanes = found // TENSOR_COLUMNS
    if int(lanes.min()) < 32 * quarter or int(lanes.max()) >= 32 * quarter + 32:
        raise Fault(
            "tensor-memory",
            f"{what}: warp {f.warpgroup.first_warp + warp} reaches lanes {32 * quarter}.."
            f"{32 * quarter + 31} only, not {int(lanes.min())}..{int(lanes.max())}",
        )
    if column + int((cells % TENSOR_COLUMNS).max()) >= TENSOR_COLUMNS:
        raise Fault("tensor-memory", f"{what} reaches beyond column {TENSOR_COLUMNS - 1}")
    check_cells(f, f.warpgroup.cta, found, what)
    return found


def _warp_address(f: ConvergenceGroup, warp: int, slot: int, what: str) -> int:
    """Return the address of a warp, which all its lanes give alike (PTX ISA, tcgen05.ld and st)."""
    value = f.r[slot]
    if not isinstance(value, np.ndarray):
        return int(value)
    lanes = cast("NDArray[Any]", value)[WARP * warp : WARP * (warp + 1)]
    if (lanes != lanes[0]).any():
        raise Fault(
            "tensor-memory",
            f"{what}: lanes of warp {f.warpgroup.first_warp + warp} give other addresses",
        )
    return int(lanes[0])


def build_ld(site: Site) -> Step:
    """`tcgen05.ld`: load cells to registers, readable after `tcgen05.wait::ld`."""
    cells, packed = _cells_of(site, 1)
    return _build_load(site, cells, packed)


Reduction: TypeAlias = Callable[[Array], Array]
"""Of the registers of each lane, (registers, lanes), to one."""


def build_ld_red(site: Site) -> Step:
    """`tcgen05.ld.red`: load cells to registers, and their least or greatest to another one."""
    operation = site.choose(("min", "max"))
    magnitude, nan = site.flag("abs"), site.flag("NaN")
    name = site.choose(("f32", "u32", "s32"), "")
    site.modifiers.append(name)
    cells, packed = _cells_of(site, 2, name)

    def reduced(columns: Array) -> Array:
        if name == "f32":
            return float_extremes(columns.T, operation, magnitude=magnitude, nan=nan)
        typed = columns.view(np.int32) if name == "s32" else columns
        return (typed.min(0) if operation == "min" else typed.max(0)).view(WORD)

    return _build_load(site, cells, packed, reduced)


def _build_load(site: Site, cells: Array, packed: bool, reduction: Reduction | None = None) -> Step:
    """Build a load; with a reduction, the second operand is its result."""
    count = cells.shape[1] // (2 if packed else 1)
    dests = [site.destination(p, B32) for p in site.vector(0, (count,))]
    slot, offset = site.address(1 if reduction is None else 2)
    if reduction is not None:
        dests.append(site.destination(1, B32))
    site.program.watch_loads(dests)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "tcgen05.ld"):
            return STOP
        cta, checker = f.warpgroup.cta, f.warpgroup.cta.cluster.checker
        columns = np.zeros((count, f.warpgroup.lanes), WORD)
        for warp in warps_of(f.mask):
            locations = _warp_cells(f, warp, slot, offset, cells, "tcgen05.ld")
            words = cta.tensor.cells.reshape(-1)[locations]
            if packed:
                words = words[:, 0::2] & 0xFFFF | words[:, 1::2] << np.uint32(16)
            columns[:, WARP * warp : WARP * warp + WARP] = words.T
            if checker is not None:
                agent = f.warpgroup.agents[warp]
                checker.tensor_lanes(cta, agent, shadow_locations_of(locations), f.pc, write=False)
                state = f.warpgroup.warp_states[warp]
                state.tensor_loads.update(dict.fromkeys(dests, f.pc))
        found = [*columns] if reduction is None else [*columns, reduction(columns)]
        for dest, column in zip(dests, found, strict=True):
            f.r[dest] = column
        return None

    return step


def build_st(site: Site) -> Step:
    """`tcgen05.st`: store registers to cells."""
    cells, packed = _cells_of(site, 0)
    count = cells.shape[1] // (2 if packed else 1)
    slot, offset = site.address(0)
    slots = site.fragment(len(site.operands) - 1, (count,), B32)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "tcgen05.st"):
            return STOP
        cta, checker = f.warpgroup.cta, f.warpgroup.cta.cluster.checker
        words = np.stack([spread(f.r[s], f.warpgroup.lanes, WORD) for s in slots], 1)
        for warp in warps_of(f.mask):
            locations = _warp_cells(f, warp, slot, offset, cells, "tcgen05.st")
            mine = words[WARP * warp : WARP * warp + WARP]
            if packed:
                halves = np.stack([mine & 0xFFFF, mine >> np.uint32(16)], 2)
                mine = halves.reshape(len(mine), -1)
            cta.tensor.cells.reshape(-1)[locations] = mine
            if checker is not None:
                agent = f.warpgroup.agents[warp]
                checker.tensor_lanes(cta, agent, shadow_locations_of(locations), f.pc, write=True)
        return None

    return step


def build_wait(site: Site) -> Step:
    """`tcgen05.wait::ld` and `::st`."""
    loads = site.name.endswith("ld")
    site.ignore(("sync", "aligned"))
    site.no_more()
    site.count(0)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "tcgen05.wait"):
            return STOP
        for warp in warps_of(f.mask):
            checker = f.warpgroup.cta.cluster.checker
            if loads:
                f.warpgroup.warp_states[warp].tensor_loads.clear()
            elif checker is not None:
                checker.tensor_stores_done(f.warpgroup.cta, f.warpgroup.agents[warp])
        return None

    return step


# Copies


COPY_SHAPES: Mapping[str, tuple[int, int, tuple[tuple[int, ...], ...]]] = {
    "128x256b": (128, 2, ((0,), (1,), (2,), (3,))),
    "128x128b": (128, 1, ((0,), (1,), (2,), (3,))),
    "64x128b.warpx2::02_13": (64, 1, ((0, 2), (1, 3))),
    "64x128b.warpx2::01_23": (64, 1, ((0, 1), (2, 3))),
    "32x128b.warpx4": (32, 1, ((0, 1, 2, 3),)),
}
"""By copy shape: rows, 16-byte granules per row, and destination lane quarters per 32 rows."""


def build_cp(site: Site) -> Step:
    """`tcgen05.cp`: copy rows of shared memory to tensor memory."""
    group = group_of(site)
    multicast = site.choose(("warpx2::02_13", "warpx2::01_23", "warpx4"), "")
    shape = site.modifiers.pop(0) if site.modifiers else ""
    name = f"{shape}.{multicast}" if multicast else shape
    if name not in COPY_SHAPES or site.modifiers:
        site.fail(f"shape .{'.'.join([name, *site.modifiers])} is not supported")
    site.count(2)
    slot, offset = site.address(0)
    source = site.source(1, TYPES["b64"])

    def step(f: ConvergenceGroup) -> None:
        for lane in lane_list(f.mask):
            values = [f.r[s] for s in (slot, source)]
            taddr, word = (int(v[lane]) if v.__class__ is np.ndarray else v for v in values)
            found = read_descriptor(word, BLACKWELL, "descriptor of tcgen05.cp")
            _copy(f, lane, taddr + offset, found, name, group)

    return step


def _copy(
    f: ConvergenceGroup, lane: int, taddr: int, source: Descriptor, name: str, group: int
) -> None:
    cta, cluster, pc = f.warpgroup.cta, f.warpgroup.cta.cluster, f.pc
    ctas = cluster.ctas[cta.rank & ~(group - 1) :][:group]
    rows, chunks, quarters = COPY_SHAPES[name]
    granules = _row_granules(source, rows, chunks)
    base_lane, column = split(taddr)
    cells = [
        (np.arange(32 * i, 32 * i + 32), _quarter_cells(q, base_lane, column, 4 * chunks))
        for i, targets in enumerate(quarters)
        for q in targets
    ]
    agent, started = f.warpgroup.agent(lane), _started(f, lane)
    for target in ctas:
        target.shared.check_granules(granules)
        every = np.concatenate([c for _, c in cells])
        check_cells(f, target, every, "tcgen05.cp")
        if cluster.checker is not None and started is not None:
            cluster.checker.copy(target, granules.ravel(), started, pc, write=False)
            cluster.checker.tensor_operation(
                target, shadow_locations_of(every), started, agent, pc, write=True
            )
    cluster.queue.add(lambda: _put(ctas, granules, cells), pc, lane=tensor_pipe(cta, group))


def _started(f: ConvergenceGroup, lane: int) -> AsyncEvent | None:
    """Return the event of an operation that a lane issues, which the next commit tracks."""
    checker = f.warpgroup.cta.cluster.checker
    if checker is None:
        return None
    started = checker.clocks.start_tensor(f.warpgroup.agent(lane), f.pc)
    f.warpgroup.warp_states[lane // WARP].tensor_issued = [started]
    return started


def _put(ctas: list[Cta], granules: Array, cells: list[tuple[Array, Array]]) -> None:
    for cta in ctas:
        words = cta.shared.granules[granules].view(np.uint32)
        flat = cta.tensor.cells.reshape(-1)
        for rows, locations in cells:
            flat[locations] = words[rows]


def _quarter_cells(quarter: int, lane: int, column: int, columns: int) -> Array:
    lanes = lane + 32 * quarter + np.arange(32)
    return lanes[:, None] * TENSOR_COLUMNS + column + np.arange(columns)


def _row_granules(source: Descriptor, rows: int, chunks: int) -> Array:
    """Return the granules of the rows in the canonical K-major layout."""
    r = np.arange(rows)[:, None]
    step = source.leading if source.mode == "none" else GRANULE
    row = GRANULE * WIDTHS[source.mode]
    address = source.address + r // 8 * source.stride + r % 8 * row
    return BYTE_SWIZZLES[source.mode](address + np.arange(chunks) * step) // GRANULE


SHIFTED_COLUMNS = 8
"""32 bytes of each row are shifted (PTX ISA 9.7.16.2.3, shape .31x256b)."""


def build_shift(site: Site) -> Step:
    """`tcgen05.shift`: move rows of 32 bytes of a warp's lanes to the next row, but for the last.

    Of no chip that was measured: that the first row stays is how the text is read.
    """
    group = group_of(site)
    site.ignore(("down",))
    site.no_more()
    site.count(1)
    slot, offset = site.address(0)

    def step(f: ConvergenceGroup) -> None:
        for lane in lane_list(f.mask):
            value = f.r[slot]
            taddr = int(value[lane]) if value.__class__ is np.ndarray else int(value)
            _shift(f, lane, taddr + offset, group)

    return step


def _shift(f: ConvergenceGroup, lane: int, taddr: int, group: int) -> None:
    cta, cluster, pc = f.warpgroup.cta, f.warpgroup.cta.cluster, f.pc
    ctas = cluster.ctas[cta.rank & ~(group - 1) :][:group]
    base, column = split(taddr)
    if base % WARP:
        raise Fault("tensor-memory", f"tcgen05.shift: lane {base} is no multiple of {WARP}")
    rows = base + np.arange(WARP)
    cells = rows[:, None] * TENSOR_COLUMNS + column + np.arange(SHIFTED_COLUMNS)
    agent, started = f.warpgroup.agent(lane), _started(f, lane)
    for target in ctas:
        check_cells(f, target, cells, "tcgen05.shift")
        if cluster.checker is not None and started is not None:
            for part, write in ((cells[:-1], False), (cells[1:], True)):
                cluster.checker.tensor_operation(
                    target, shadow_locations_of(part), started, agent, pc, write=write
                )

    def move() -> None:
        for target in ctas:
            flat = target.tensor.cells.reshape(-1)
            flat[cells[1:]] = flat[cells[:-1]]

    cluster.queue.add(move, pc, lane=tensor_pipe(cta, group))


TABLE = (
    Semantics("tcgen05.ld", build_ld, waits=True),
    Semantics("tcgen05.ld.red", build_ld_red, waits=True),
    Semantics("tcgen05.st", build_st, waits=True),
    Semantics("tcgen05.wait::ld", build_wait, waits=True),
    Semantics("tcgen05.wait::st", build_wait, waits=True),
    Semantics("tcgen05.cp", build_cp),
    Semantics("tcgen05.shift", build_shift),
)
