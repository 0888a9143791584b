"""Modification of tensor maps.  Source: PTX ISA 9.7.9.28 tensormap.replace.

Field offsets are those of `tileas_xdsl.target.tma.tensor_map_bytes`, as the assembler encodes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import warps_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.memory.generic_access import SPACES, groups
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Integer
from tileas_xdsl.interpreters.ptx.tma.modified_tensor_maps import KIND, Warp

SIZE = 128

Replace = Callable[[int, int, int], int]
"""Return a tensor map (a 1024-bit little-endian integer) with a field of a dimension replaced."""


def _field(low: int, width: int, step: int = 0) -> Replace:
    """Return a setter of the `width` bits at bit `low`, `step` bits further per dimension."""

    def replace(word: int, dimension: int, value: int) -> int:
        at = low + step * dimension
        mask = ((1 << width) - 1) << at
        return word & ~mask | (value << at & mask)

    return replace


def _stride(word: int, dimension: int, value: int) -> int:
    word = _field(0x0C * 8, 32, 32)(word, dimension, value >> 4)
    return _field(0x1C * 8, 4, 4)(word, dimension, value >> 36)


def _box(word: int, dimension: int, value: int) -> int:
    if dimension == 0:
        return _field(0x34 * 8 + 24, 8)(word, 0, value - 1)
    return _field(0x38 * 8, 8, 8)(word, dimension - 1, value - 1)


FIELDS: Mapping[str, tuple[Replace, bool]] = {
    "global_address": (_field(0, 64), False),
    "rank": (_field(0x08 * 8 + 4, 3), False),
    "box_dim": (_box, True),
    "global_dim": (lambda w, d, v: _field(0x20 * 8, 32, 32)(w, d, v - 1), True),
    "global_stride": (_stride, True),
    "element_stride": (lambda w, d, v: _field(0x34 * 8, 3, 3)(w, d, v - 1), True),
    "elemtype": (_field(0x08 * 8 + 7, 4), False),
    "interleave_layout": (_field(0x08 * 8 + 11, 2), False),
    "swizzle_mode": (_field(0x08 * 8 + 13, 2), False),
    "fill_mode": (_field(0x08 * 8 + 15, 1), False),
    "swizzle_atomicity": (_field(0x08 * 8 + 19, 3), False),
}
"""By field: its setter, and whether it has a dimension."""


def build_replace(site: Site) -> Step:
    """`tensormap.replace.tile.FIELD`."""
    site.choose(("tile",))
    name = site.choose(FIELDS)
    space = site.choose(("global", "shared::cta"), "")
    site.choose(("b1024",))
    type_ = site.type(("b32", "b64"))
    site.no_more()
    function, has_dimension = FIELDS[name]
    site.count(3 if has_dimension else 2)
    slot, offset = site.address(0)
    dimension = site.immediate(1) if has_dimension else 0
    operand = site.operands[2 if has_dimension else 1]
    value = site.source(operand, TYPES["b64"] if isinstance(operand, Integer) else type_)
    kind = SPACES[space]

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        number = f.value(value)
        for group in groups(f, f.r[slot], offset, kind):
            address = int(group.addresses[0])
            if group.space == "global":
                old = cluster.memory.read(address, SIZE)
            elif group.cta is not None:
                group.cta.shared.check(address, SIZE, 64)
                old = group.cta.shared.data[address : address + SIZE].tobytes()
            else:
                raise Fault("invalid", "a tensor map cannot be in local memory")
            word = function(int.from_bytes(old, "little"), dimension, number)
            if group.space == "global":
                note_change(f, address, released=False)
            _put(f, group.cta, address, word.to_bytes(SIZE, "little"))

    return step


def _put(f: ConvergenceGroup, cta: object, address: int, data: bytes) -> None:
    cluster = f.warpgroup.cta.cluster
    if cta is None:
        cluster.memory.write(address, data)
        return
    shared = f.warpgroup.cta.shared
    shared.data[address : address + SIZE] = np.frombuffer(data, np.uint8)
    shared.writes += 1


def build_cp_fenceproxy(site: Site) -> Step:
    """`tensormap.cp_fenceproxy`: copy a tensor map from shared to global memory and fence it."""
    site.modifiers = []
    site.count(3)
    dst, dst_offset = site.address(0)
    src, src_offset = site.address(1)

    def step(f: ConvergenceGroup) -> None:
        source = (f.value(src) + src_offset) & 0xFF_FFFF
        shared = f.warpgroup.cta.shared
        shared.check(source, SIZE, 64)
        data = shared.data[source : source + SIZE].tobytes()
        address = f.value(dst) + dst_offset
        f.warpgroup.cta.cluster.memory.write(address, data)
        note_change(f, address, released=True)

    return step


def build_tensormap_fence(site: Site) -> Step:
    """`fence.proxy.tensormap::generic`: make modified tensor maps visible to TMA."""
    acquires = site.choose(("acquire", "release")) == "acquire"
    site.choose(("cta", "cluster", "gpu", "sys"))
    site.no_more()
    site.count(2 if acquires else 0)
    slot, offset = site.address(0) if acquires else (0, 0)

    def acquire(f: ConvergenceGroup) -> None:
        f.warpgroup.cta.cluster.memory.modified_tensor_maps.acquire(
            f.value(slot) + offset, _warps(f)
        )

    def release(f: ConvergenceGroup) -> None:
        f.warpgroup.cta.cluster.memory.modified_tensor_maps.release(_warps(f))

    return acquire if acquires else release


def note_change(f: ConvergenceGroup, address: int, *, released: bool) -> None:
    """Record that the first active warp has modified a tensor map in global memory."""
    maps = f.warpgroup.cta.cluster.memory.modified_tensor_maps
    maps.change(address, _warps(f)[0], f.pc, released=released)


def _warps(f: ConvergenceGroup) -> list[Warp]:
    cluster = id(f.warpgroup.cta.cluster)
    return [(cluster, f.warpgroup.agents[warp]) for warp in warps_of(f.mask)]


def check_seen(f: ConvergenceGroup, address: int, lane: int) -> None:
    """Report a modified tensor map that this lane's warp has not acquired."""
    cluster = f.warpgroup.cta.cluster
    if cluster.checker is None:
        return
    agent = f.warpgroup.agent(lane)
    change = cluster.memory.modified_tensor_maps.unacquired(address, (id(cluster), agent))
    if change is None:
        return
    lacks = "acquired by this warp" if change.released else "released"
    cluster.checker.findings.add(
        KIND,
        f.pc,
        f"TMA reads the tensor map at {address:#x}, which was changed and not {lacks} since",
        [
            f"changed at line {cluster.program.code[change.at].location.line}",
            "hint: tensormap.cp_fenceproxy or fence.proxy.tensormap::generic.release behind the "
            "changes, a barrier, then fence.proxy.tensormap::generic.acquire by the warp that "
            "copies",
        ],
    )


TABLE = (
    Semantics("tensormap.replace", build_replace),
    Semantics("tensormap.cp_fenceproxy", build_cp_fenceproxy),
)
