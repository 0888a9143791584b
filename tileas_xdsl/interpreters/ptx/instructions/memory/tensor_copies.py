"""Tensor copies of the asynchronous proxy (TMA).  Source: PTX ISA 9.7.9.27."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.checker import Checker
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, lane_list
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step, build_no_operation
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import lane_value
from tileas_xdsl.interpreters.ptx.instructions.memory.bulk_copies import complete
from tileas_xdsl.interpreters.ptx.instructions.memory.tensor_maps import check_seen
from tileas_xdsl.interpreters.ptx.instructions.synchronisation.barrier_addresses import lane_name
from tileas_xdsl.interpreters.ptx.memory.global_memory import SHARED_WINDOW
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK, RANK_SHIFT
from tileas_xdsl.interpreters.ptx.numerics.memory_reductions import reduce_bytes
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Address, Vector
from tileas_xdsl.interpreters.ptx.tma import bulk_groups as bulk
from tileas_xdsl.interpreters.ptx.tma.im2col_box import ColumnBox
from tileas_xdsl.interpreters.ptx.tma.tma_box import Box, map_of
from tileas_xdsl.target.tma.tensor_map import ELEMENTS
from tileas_xdsl.target.tma.tensor_map_rules import MIN_PIXEL_RANK

ALIGNMENT = 128
"""Required alignment of shared-memory addresses in bytes."""

REDUCED = ("add", "min", "max", "inc", "dec", "and", "or", "xor")

_RANK = re.compile(r"([1-5])d")


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor operand: the slots of its tensor map and coordinates, and its addressing mode."""

    slot: int
    offset: int
    coordinates: tuple[int, ...]
    rank: int
    mode: str


def _tensor(site: Site, location: int, rank: int, mode: str) -> Tensor:
    operand = site.operands[location]
    if not isinstance(operand, Address) or len(operand.parts) < 1:
        site.fail("a tensor [map, {coordinates}] is expected")
    slot, offset = site.address(operand)
    wanted = 5 if mode == ROWS else rank
    coordinates = operand.parts[0]
    parts = coordinates.parts if isinstance(coordinates, Vector) else (coordinates,)
    if len(parts) != wanted:
        site.fail(f"{wanted} coordinates are expected, not {len(parts)}")
    return Tensor(slot, offset, tuple(site.source(p, TYPES["s32"]) for p in parts), rank, mode)


def _rank(site: Site) -> int:
    for name in site.modifiers:
        found = _RANK.fullmatch(name)
        if found:
            site.modifiers.remove(name)
            return int(found[1])
    return site.fail("the number of dimensions is missing")


TILE, ROWS, PIXELS = "tile", "rows", "pixels"
"""Copy modes: a box, gathered rows by index, or an im2col column of pixels."""

_MODES = {
    "tile": TILE,
    "tile::gather4": ROWS,
    "tile::scatter4": ROWS,
    "im2col": PIXELS,
    "im2col_no_offs": PIXELS,
}


def _mode(site: Site, rank: int, names: tuple[str, ...]) -> str:
    """Return the copy mode for the modes `names` of the instruction; fail for unsupported ones."""
    for name in site.modifiers:
        if name.startswith(("im2col", "tile::")) and name not in names:
            site.fail(f"mode .{name} is not supported")
    mode = _MODES[site.choose(names, "tile")]
    if mode == PIXELS and rank < MIN_PIXEL_RANK:
        site.fail(f"im2col needs a tensor of rank {MIN_PIXEL_RANK} to 5, not {rank}")
    return mode


def build_copy(site: Site) -> Step:
    """`cp.async.bulk.tensor` and `cp.reduce.async.bulk.tensor`."""
    rank = _rank(site)
    to = next((m for m in site.modifiers if m in ("shared::cluster", "shared::cta", "global")), "")
    if to == "global":
        return _build_store(site, rank)
    if site.name.startswith("cp.reduce"):
        site.fail("reductions go to global memory")
    return _build_load(site, rank)


def _build_load(site: Site, rank: int) -> Step:
    site.choose(("shared::cluster", "shared::cta"))
    site.choose(("global",))
    mode = _mode(site, rank, ("tile", "tile::gather4", "im2col"))
    site.choose(("mbarrier::complete_tx::bytes",))
    multicast = site.flag("multicast::cluster")
    pair = site.flag("cta_group::2")
    site.flag("cta_group::1")
    hint = site.flag("L2::cache_hint")
    site.no_more()
    moved = mode == PIXELS
    site.count(3 + moved + multicast + hint)
    dst, dst_offset = site.address(0)
    tensor = _tensor(site, 1, rank, mode)
    barrier, barrier_offset = site.address(2)
    offsets = site.vector(3, (rank - 2,)) if moved else ()
    shifts = tuple(site.source(p, TYPES["u16"]) for p in offsets)
    mask = site.source(3 + moved, TYPES["u16"]) if multicast else None

    def step(f: ConvergenceGroup) -> None:
        _issued_once(f, dst)
        for lane in lane_list(f.mask):
            box = tensor_box(f, tensor, lane)
            at = _coordinates(f, tensor, box, lane)
            at += [lane_value(f, s, lane) for s in shifts]
            target = _shared(lane_value(f, dst, lane) + dst_offset)
            signal = _shared(lane_value(f, barrier, lane) + barrier_offset)
            own = [target >> RANK_SHIFT]
            ranks = own if mask is None else _ranks(f, lane_value(f, mask, lane))
            _load(f, lane, box, at, Target(ranks, target & OFFSET_MASK, signal, pair))

    return step


@dataclass(slots=True, eq=False)
class Target:
    """The destination of a load: CTAs, offset, and the mbarrier (of either CTA of a pair)."""

    ranks: list[int]
    offset: int
    signal: int
    pair: bool

    def signal_rank(self, rank: int) -> int:
        """Return the rank of the CTA whose mbarrier receives the bytes of a destination CTA."""
        if not self.pair:
            return rank
        return rank & ~1 | self.signal >> RANK_SHIFT & 1


def _issued_once(f: ConvergenceGroup, shared: int) -> None:
    """Find threads that issue the same copy; those of other tiles or coordinates are others.

    `shared` is the register with the address of the tile in shared memory.
    """
    checker = f.warpgroup.cta.cluster.checker
    if checker is None or not f.mask & (f.mask - 1):
        return
    threads = max(Counter(lane_value(f, shared, lane) for lane in lane_list(f.mask)).values())
    if threads > 1:
        checker.findings.add(
            "issue",
            f.pc,
            f"{threads} threads issue this tensor copy; one should",
            ["hint: elect.sync, or a test of the thread's number, picks one"],
        )


def tensor_box(f: ConvergenceGroup, tensor: Tensor, lane: int) -> Box:
    """Return the box that a tensor operand addresses."""
    address = lane_value(f, tensor.slot, lane) + tensor.offset
    if address % 64:
        raise Fault("misaligned-address", f"the tensor map at {address:#x} is not aligned to 64")
    check_seen(f, address, lane)
    box = box_of(_map_bytes(f, address), tensor.mode)
    if box.map.rank != tensor.rank:
        raise Fault("tma", f"the map is of rank {box.map.rank}, the instruction of {tensor.rank}")
    return box


@lru_cache(maxsize=1024)
def box_of(data: bytes, mode: str = TILE) -> Box:
    """Return the box of the 128 bytes of a tensor map, for a copy mode."""
    tensor_map = map_of(data)
    if (tensor_map.pixels is not None) != (mode == PIXELS):
        kinds = ("tiled", "im2col")
        raise Fault(
            "tma",
            f"the map is of the {kinds[mode != PIXELS]} kind, the instruction of the "
            f"{kinds[mode == PIXELS]} kind",
        )
    return ColumnBox(tensor_map) if mode == PIXELS else Box(tensor_map, mode == ROWS)


def _map_bytes(f: ConvergenceGroup, address: int) -> bytes:
    cluster = f.warpgroup.cta.cluster
    if address < SHARED_WINDOW:
        return cluster.memory.read(address, 128)
    raise Fault("tma", "a tensor map must be in global, constant or parameter memory")


def _load(f: ConvergenceGroup, lane: int, box: Box, at: list[int], target: Target) -> None:
    cluster, pc = f.warpgroup.cta.cluster, f.pc
    offset = target.offset
    if offset % ALIGNMENT:
        raise Fault(
            "misaligned-address", f"shared offset {offset:#x} of a tensor copy is not aligned to "
            f"{ALIGNMENT}"
        )  # fmt: skip
    writes: Mapping[int, AsyncEvent] = {}
    if cluster.checker is not None:
        agent, clocks = f.warpgroup.agent(lane), cluster.checker.clocks
        started, writes = clocks.start_multicast(agent, pc, target.signal, target.ranks)
        if cluster.races is not None:
            for starts, size in box.footprint(at):
                cluster.races.copy_rows(starts, size, started, agent, pc, write=False)
    if cluster.accesses is not None:
        cluster.accesses.bulk_bytes[pc] += box.size
    granules, tile = box.locations(offset)
    for rank in target.ranks:
        cta = cluster.cta_of(rank << RANK_SHIFT)
        cta.shared.check(offset, box.size)
        if cluster.checker is not None:
            cluster.checker.copy_tile(cta, tile, writes[rank], pc, write=True)
            cluster.checker.tags[rank].mark(box, offset)
    who = f"a tensor copy of {lane_name(f, lane)}"

    def run() -> None:
        data = box.read(cluster.memory, at)
        cells = data.view(np.complex128).reshape(granules.shape)
        for rank in target.ranks:
            cta = cluster.cta_of(rank << RANK_SHIFT)
            cta.shared.granules[granules] = cells
            cta.shared.writes += 1
            _signal(cluster, target, rank, pc, who, box.size, writes.get(rank))

    cluster.queue.add(run, pc)


def _coordinates(f: ConvergenceGroup, tensor: Tensor, box: Box, lane: int) -> list[int]:
    """Return the coordinates of a lane; raise if the first one is not 16-byte aligned."""
    at = [_signed(lane_value(f, c, lane)) for c in tensor.coordinates]
    first = at[0] * ELEMENTS[box.map.element].bits
    if first % (8 * GRANULE) and not isinstance(box, ColumnBox):
        raise Fault(
            "misaligned-address",
            f"the first coordinate of a tensor copy, {at[0]}, is byte {first // 8}: that is no "
            f"multiple of {GRANULE}",
        )
    return at


GRANULE = 16
"""Required alignment of the first coordinate in bytes; an H200 faults otherwise."""


def _signal(
    cluster: Cluster,
    target: Target,
    rank: int,
    pc: int,
    who: str,
    size: int,
    started: AsyncEvent | None,
) -> None:
    complete(cluster, target.signal_rank(rank), target.signal, pc, who, size, started)


# Stores


def _build_store(site: Site, rank: int) -> Step:
    reduces = site.name.startswith("cp.reduce")
    site.choose(("global",))
    site.choose(("shared::cta",))
    operation = site.choose(REDUCED) if reduces else ""
    modes = ("tile", "im2col_no_offs") if reduces else ("tile", "tile::scatter4", "im2col_no_offs")
    mode = _mode(site, rank, modes)
    site.choose(("bulk_group",))
    hint = site.flag("L2::cache_hint")
    site.no_more()
    site.count(2 + hint)
    tensor = _tensor(site, 0, rank, mode)
    src, src_offset = site.address(1)

    def step(f: ConvergenceGroup) -> None:
        _issued_once(f, src)
        for lane in lane_list(f.mask):
            box = tensor_box(f, tensor, lane)
            at = _coordinates(f, tensor, box, lane)
            source = _shared(lane_value(f, src, lane) + src_offset)
            if source >> RANK_SHIFT != f.warpgroup.cta.rank:
                raise Fault("invalid", "a tensor store reads the shared memory of its own CTA")
            _store(f, lane, box, at, source & OFFSET_MASK, operation)

    return step


def _store(
    f: ConvergenceGroup, lane: int, box: Box, at: list[int], offset: int, operation: str
) -> None:
    cta, cluster, pc = f.warpgroup.cta, f.warpgroup.cta.cluster, f.pc
    if offset % ALIGNMENT:
        raise Fault(
            "misaligned-address", f"shared offset {offset:#x} of a tensor copy is not aligned to "
            f"{ALIGNMENT}"
        )  # fmt: skip
    cta.shared.check(offset, box.size)
    if cluster.accesses is not None:
        cluster.accesses.bulk_bytes[pc] += box.size
    started = None
    granules, tile = box.locations(offset)
    if cluster.checker is not None:
        started = cluster.checker.clocks.start_copy(f.warpgroup.agent(lane), pc)
        cluster.checker.copy_tile(cta, tile, started, pc, write=False)
    combine = _combine(operation, box)
    written = None
    for starts, size in box.footprint(at):
        written = bulk.start_write(f, lane, starts, size, atomic=bool(operation))

    def run() -> None:
        data = cta.shared.granules[granules].view(np.uint8).reshape(-1)
        behind = box.write(cluster.memory, at, data, combine)
        if behind and cluster.checker is not None:
            _report_row_ends(cluster.checker, pc, box, behind)

    operation_ = cluster.queue.add(run, pc, lane=("bulk", f.warpgroup.agent(lane)))
    bulk.add(f, lane, bulk.BulkCopy(operation_, started, written))


def _report_row_ends(checker: Checker, pc: int, box: Box, behind: int) -> None:
    size = box.map.dims[0] // box.pack * box.unit
    checker.findings.add(
        "row-end",
        pc,
        f"writes {behind} bytes beyond the end of rows of {size}: TMA writes whole granules of "
        f"{GRANULE} bytes",
        ["hint: make rows multiples of 16 bytes, or leave what follows them to nobody else"],
    )


def _combine(operation: str, box: Box) -> Callable[[Array, Array], Array] | None:
    if not operation:
        return None
    element = box.map.element.removesuffix(".ftz")
    element = "f32" if element == "tf32" else element
    if operation in ("and", "or", "xor"):
        element = f"b{ELEMENT_WIDTHS[element]}"
    return reduce_bytes(operation, element)


ELEMENT_WIDTHS = {
    "u8": 8, "u16": 16, "u32": 32, "s32": 32, "u64": 64, "s64": 64,
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64,
}  # fmt: skip


# Values


def _signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 & 1 else value


def _shared(address: int) -> int:
    return address & 0xFFFF_FFFF


def _ranks(f: ConvergenceGroup, bits: int) -> list[int]:
    count = len(f.warpgroup.cta.cluster.ctas)
    ranks = [r for r in range(16) if bits >> r & 1]
    if not ranks or ranks[-1] >= count:
        raise Fault("invalid", f"the multicast mask {bits:#x} names CTAs beyond the {count}")
    return ranks


TABLE = (
    Semantics("cp.async.bulk.tensor", build_copy),
    Semantics("cp.reduce.async.bulk.tensor", build_copy),
    Semantics("cp.async.bulk.prefetch.tensor", build_no_operation),
    Semantics("prefetch.tensormap", build_no_operation),
)
