"""Moves, packing, and address conversions.  Source: PTX ISA 9.7.9."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, spread
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step, build_no_operation
from tileas_xdsl.interpreters.ptx.memory.global_memory import (
    LOCAL_WINDOW,
    SHARED_WINDOW,
    WINDOW_SIZE,
)
from tileas_xdsl.interpreters.ptx.memory.shared_memory import OFFSET_MASK, RANK_SHIFT
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, UNSIGNED
from tileas_xdsl.interpreters.ptx.parsing.special_registers import CLOCKS
from tileas_xdsl.interpreters.ptx.parsing.syntax import Operand, Special, Vector

SPACES = {"shared": (SHARED_WINDOW, WINDOW_SIZE), "local": (LOCAL_WINDOW, WINDOW_SIZE)}
"""Generic address windows of the state spaces; all other addresses are global."""

MOVED = ("pred", "b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32", "f64",
         "f16", "bf16", "f16x2", "bf16x2", "b128")  # fmt: skip


def build_mov(site: Site) -> Step:
    """`mov`: a register, constant or address; or packing to and unpacking from a vector."""
    type_ = site.type(MOVED)
    site.no_more()
    site.count(2)
    target, source = site.operands
    if type_.name == "b128":
        return _move_halves(site, target, source)
    if isinstance(target, Vector):
        return _unpack(site, target.parts, source, type_.bits)
    if isinstance(source, Vector):
        return _pack(site, target, source.parts, type_.bits)
    dest = site.destination(0, type_)
    if isinstance(source, Special) and source.name in CLOCKS:
        return _clock(dest, source.name)
    a = site.source(1, type_)

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        r[dest] = r[a]

    return step


def _move_halves(site: Site, target: Operand, source: Operand) -> Step:
    """Build a move of 128 bits, also from or to two registers of 64 bits or four of 32."""
    targets, sources = (
        site.vector(operand, (2, 4)) if isinstance(operand, Vector) else site.halves(operand)
        for operand in (target, source)
    )
    if len(targets) == 4:
        steps = [_unpack(site, targets[i : i + 2], sources[i // 2], 64) for i in (0, 2)]
    elif len(sources) == 4:
        steps = [_pack(site, targets[i // 2], sources[i : i + 2], 64) for i in (0, 2)]
    else:
        word = TYPES["b64"]
        slots = [
            (site.destination(d, word), site.source(a, word))
            for d, a in zip(targets, sources, strict=True)
        ]

        def move(f: ConvergenceGroup) -> None:
            moved = [f.r[a] for _, a in slots]
            for (dest, _), value in zip(slots, moved, strict=True):
                f.r[dest] = value

        return move

    def step(f: ConvergenceGroup) -> None:
        for part in steps:
            part(f)

    return step


CYCLES = 4
"""Of an instruction, and at least between two reads of the clock."""


def _clock(dest: int, name: str) -> Step:
    """Build a read of a clock, which only has to advance; the global timer is wall-clock time."""
    high = name.endswith("_hi")
    bits = 64 if name in ("%clock64", "%globaltimer") else 32

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        cluster.cycle = max(cluster.cycle, CYCLES * cluster.instructions) + CYCLES
        now = time.monotonic_ns() if "timer" in name else cluster.cycle
        f.r[dest] = (now >> 32 if high else now) & ((1 << bits) - 1)

    return step


def _parts(site: Site, parts: tuple[Operand, ...], bits: int) -> int:
    if bits % len(parts) or bits // len(parts) not in (8, 16, 32):
        site.fail(f"{len(parts)} registers do not make a word of {bits} bits")
    return bits // len(parts)


def _pack(site: Site, target: Operand, parts: tuple[Operand, ...], bits: int) -> Step:
    width = _parts(site, parts, bits)
    dest = site.destination(target, TYPES[f"b{bits}"])
    slots = [site.source(p, TYPES[f"b{width}"]) for p in parts]
    whole = UNSIGNED[bits]

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        values = [r[s] for s in slots]
        found: Value = 0
        for i, value in enumerate(values):
            part = value.astype(whole) if value.__class__ is np.ndarray else value
            found = found | part << width * i
        r[dest] = found

    return step


def _unpack(site: Site, parts: tuple[Operand, ...], source: Operand, bits: int) -> Step:
    width = _parts(site, parts, bits)
    a = site.source(source, TYPES[f"b{bits}"])
    dests = [site.destination(p, TYPES[f"b{width}"]) for p in parts]
    part, mask = UNSIGNED[width], (1 << width) - 1

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        value = r[a]
        for i, dest in enumerate(dests):
            if value.__class__ is np.ndarray:
                r[dest] = (value >> value.dtype.type(width * i)).astype(part)
            else:
                r[dest] = value >> width * i & mask

    return step


# Addresses


def build_cvta(site: Site) -> Step:
    """`cvta`: convert between generic and state-space addresses."""
    back = site.flag("to")
    space = site.choose(
        ("shared::cta", "shared::cluster", "shared", "global", "local", "const", "param::entry",
         "param")
    )  # fmt: skip
    type_ = site.type(("u64", "u32"))
    site.no_more()
    site.count(2)
    dest, a = site.destination(0, type_), site.source(1, type_)
    window = SPACES.get(space.split("::")[0], (0, 0))[0]
    if back:
        window = -window

    def step(f: ConvergenceGroup) -> None:
        value = f.r[a]
        if value.__class__ is np.ndarray and window < 0:
            f.r[dest] = value - value.dtype.type(-window)
        else:
            f.r[dest] = value + window

    return step


def build_isspacep(site: Site) -> Step:
    """`isspacep`: test whether a generic address is in a state space."""
    space = site.choose(
        ("shared::cta", "shared::cluster", "shared", "global", "local", "const", "param::entry",
         "param")
    )  # fmt: skip
    site.no_more()
    site.count(2)
    dest, a = site.destination(0, TYPES["pred"]), site.source(1, TYPES["u64"])

    def step(f: ConvergenceGroup) -> None:
        value = f.r[a]
        found = in_space(value, space, f.warpgroup.cta.rank)
        f.r[dest] = found if found.__class__ is np.ndarray else bool(found)

    return step


def in_space(address: Value, space: str, rank: int) -> Value:
    """Return whether generic addresses are in a space, relative to the CTA of this rank."""
    name = space.split("::")[0]
    if name in SPACES:
        window, size = SPACES[name]
        inside = (address >= window) & (address < window + size)
        if space in ("shared", "shared::cta"):
            return inside & ((address & 0xFFFF_FFFF) >> RANK_SHIFT == rank)
        return inside
    if name == "global":
        return address < LOCAL_WINDOW
    return address < 0


def build_mapa(site: Site) -> Step:
    """`mapa`: map a shared address to the same offset in another CTA of the cluster."""
    generic = not site.flag("shared::cluster")
    type_ = site.type(("u32", "u64"))
    site.no_more()
    site.count(3)
    dest = site.destination(0, type_)
    a = site.source(1, type_)
    b = site.source(2, TYPES["u32"])
    dtype = UNSIGNED[type_.bits]
    base = SHARED_WINDOW if generic else 0

    def step(f: ConvergenceGroup) -> None:
        address, rank = f.r[a], f.r[b]
        if rank.__class__ is np.ndarray:
            rank = rank.astype(dtype)
        f.r[dest] = (address & OFFSET_MASK) + base | rank << RANK_SHIFT

    return step


def build_getctarank(site: Site) -> Step:
    """`getctarank`: the rank of the CTA that a shared address belongs to."""
    site.flag("shared::cluster")
    type_ = site.type(("u32", "u64"))
    site.no_more()
    site.count(2)
    dest, a = site.destination(0, TYPES["u32"]), site.source(1, type_)

    def step(f: ConvergenceGroup) -> None:
        value = f.r[a]
        found = (value & 0xFFFF_FFFF) >> RANK_SHIFT
        f.r[dest] = found.astype(np.uint32) if found.__class__ is np.ndarray else found

    return step


def gathered(values: list[Value], lanes: int, dtype: np.dtype[Any]) -> Array:
    """Return registers as the columns of an array (lanes, registers)."""
    if len(values) == 1:
        return spread(values[0], lanes, dtype)[:, None]
    return np.stack([spread(v, lanes, dtype) for v in values], 1)


TABLE = (
    Semantics("mov", build_mov),
    Semantics("cvta", build_cvta),
    Semantics("isspacep", build_isspacep),
    Semantics("mapa", build_mapa),
    Semantics("getctarank", build_getctarank),
    *(
        Semantics(name, build_no_operation)
        for name in ("nanosleep", "pmevent", "brkpt", "discard", "applypriority", "prefetch",
                     "prefetchu", "griddepcontrol", "createpolicy")
    ),
)  # fmt: skip
