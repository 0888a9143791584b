"""Warp-level instructions: shuffles, votes, matches, reductions, election.

Source: PTX ISA 9.7.9.6 shfl.sync and 9.7.13, parallel synchronisation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.execution.lane_mask import (
    FULL_WARP,
    Array,
    Value,
    bools,
    first_lane,
    indices,
    mask_of,
    predicate_mask,
    spread,
    warps_of,
)
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import reconverge
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.numerics.extremes import float_extremes
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED
from tileas_xdsl.interpreters.ptx.parsing.syntax import Pair, Sink
from tileas_xdsl.layout.units import WARP

WORD = np.dtype(np.uint32)


def _member(f: ConvergenceGroup, slot: int) -> int:
    """Return the member mask of the executing lanes, those that have another one split off.

    Groups of a part of a warp (`tiled_partition<16>`) execute one instruction with masks of their
    own, each as if alone: the lanes split off come to the same instruction in their turn.
    """
    masks = f.r[slot]
    if masks.__class__ is not np.ndarray:
        return int(masks) & FULL_WARP
    member = f.value(slot)
    others = f.mask & mask_of(masks != member)
    if others:
        left = f.part(others, f.pc)
        f.warpgroup.convergence_groups.append(left)
        f.mask ^= others
    return member & FULL_WARP


# Shuffles


def build_shfl(site: Site) -> Step:
    """`shfl.sync`: a register of another lane, and whether the source lane was in range."""
    type_ = site.type(("b32",))
    site.choose(("sync",))
    mode = site.choose(("up", "down", "bfly", "idx"))
    site.no_more()
    site.count(5)
    target = site.operands[0]
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, None)
    dest = site.destination(first, type_)
    valid = None if second is None or isinstance(second, Sink) else (
        site.destination(second, TYPES["pred"])
    )  # fmt: skip
    a, b, c, member = (site.source(i, TYPES["b32"]) for i in (1, 2, 3, 4))

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "shfl.sync", _member(f, member)):
            return STOP
        r = f.r
        value = r[a]
        if value.__class__ is not np.ndarray and valid is None:
            r[dest] = value
            return None
        lanes = f.warpgroup.lanes
        source, inside = _sources(mode, r[b], r[c], lanes)
        if f.mask != f.warpgroup.full:
            _check_sources(f, source)
        column = spread(value, lanes, WORD)
        r[dest] = _shuffled(f, column[source])
        if valid is not None:
            r[valid] = inside
        return None

    return step


def _shuffled(f: ConvergenceGroup, values: Array) -> Value:
    """Return shuffled values, uniform if all active lanes agree (inactive lanes do not count)."""
    mine = values if f.mask.bit_count() == len(values) else values[indices(f.mask)]
    return int(mine[0]) if bool((mine == mine[0]).all()) else values


def _check_sources(f: ConvergenceGroup, source: Array) -> None:
    """Report lanes that read from a lane which does not execute the shuffle."""
    checker = f.warpgroup.cta.cluster.checker
    active = bools(f.mask, f.warpgroup.lanes)
    wrong = active & ~active[source]
    if checker is None or not wrong.any():
        return
    lane = int(np.flatnonzero(wrong)[0])
    checker.findings.add(
        "diverged",
        f.pc,
        f"lane {lane % WARP} shuffles from lane {int(source[lane]) % WARP}, which takes no part: "
        "the value is undefined",
        ["hint: the source has to be in the member mask, and execute the same shuffle"],
        severity=Severity.ISA,
    )


def _sources(mode: str, b: Value, c: Value, lanes: int) -> tuple[Array, Array]:
    """Return the source lane of each lane, and whether it is in range."""
    location = np.arange(lanes)
    lane, warp = location % WARP, location // WARP * WARP
    offset = np.asarray(b).astype(np.int64) & 31
    control = np.asarray(c).astype(np.int64)
    clamp, segment = control & 31, control >> 8 & 31
    highest = (lane & segment) | (clamp & ~segment)
    lowest = lane & segment
    if mode == "up":
        source = lane - offset
        inside = source >= highest
    elif mode == "down":
        source = lane + offset
        inside = source <= highest
    elif mode == "bfly":
        source = lane ^ offset
        inside = source <= highest
    else:
        source = lowest | (offset & ~segment)
        inside = source <= highest
    return np.where(inside, source, lane) + warp, inside


# Votes and matches


def build_vote(site: Site) -> Step:
    """`vote.sync`: all, any, uni or the ballot of a predicate."""
    site.choose(("sync",))
    mode = site.choose(("all", "any", "uni", "ballot"))
    result = site.type(("b32",) if mode == "ballot" else ("pred",))
    site.no_more()
    site.count(3)
    dest = site.destination(0, result)
    p, inverted = site.predicate(1)
    member = site.source(2, TYPES["b32"])

    def step(f: ConvergenceGroup) -> int | None:
        lanes = _member(f, member)
        if not reconverge(f, "vote.sync", lanes):
            return STOP
        yes = predicate_mask(f.r[p], f.mask)
        if inverted:
            yes ^= f.mask
        found = {w: _vote(mode, yes >> WARP * w & FULL_WARP, f.mask >> WARP * w & FULL_WARP)
                 for w in warps_of(f.mask)}  # fmt: skip
        f.r[dest] = by_warp(f, found, UNSIGNED[result.bits])
        return None

    return step


def _vote(mode: str, yes: int, active: int) -> int | bool:
    if mode == "ballot":
        return yes
    if mode == "all":
        return yes == active
    if mode == "any":
        return yes != 0
    return yes in (0, active)


def by_warp(f: ConvergenceGroup, found: Mapping[int, Any], dtype: np.dtype[Any]) -> Value:
    """Broadcast a result per warp to a register."""
    values = set(found.values())
    if len(values) == 1:
        return values.pop()
    column = np.zeros(f.warpgroup.lanes, dtype)
    for warp, value in found.items():
        column[WARP * warp : WARP * warp + WARP] = value
    return column


def build_match(site: Site) -> Step:
    """`match.sync`: the mask of lanes with an equal value."""
    type_ = site.type(("b32", "b64"))
    every = site.choose(("any", "all")) == "all"
    site.choose(("sync",))
    site.no_more()
    site.count(3)
    target = site.operands[0]
    first, second = (target.first, target.second) if isinstance(target, Pair) else (target, None)
    dest = site.destination(first, TYPES["b32"])
    flag = None if second is None or isinstance(second, Sink) else (
        site.destination(second, TYPES["pred"])
    )  # fmt: skip
    a, member = site.source(1, type_), site.source(2, TYPES["b32"])

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "match.sync", _member(f, member)):
            return STOP
        column = spread(f.r[a], f.warpgroup.lanes, UNSIGNED[type_.bits])
        masks, same = _matches(f, column, every)
        f.r[dest] = masks
        if flag is not None:
            f.r[flag] = same
        return None

    return step


def _matches(f: ConvergenceGroup, column: Array, every: bool) -> tuple[Array, Array]:
    masks = np.zeros(f.warpgroup.lanes, WORD)
    same = np.zeros(f.warpgroup.lanes, np.bool_)
    for warp in warps_of(f.mask):
        lanes = indices(f.mask & FULL_WARP << WARP * warp)
        values = column[lanes]
        equal = values[:, None] == values[None, :]
        bits = (equal << (lanes % WARP)[None, :]).sum(1).astype(WORD)
        if every:
            whole = bool(equal.all())
            same[lanes] = whole
            bits = bits if whole else np.zeros_like(bits)
        masks[lanes] = bits
    return masks, same


# Reductions and election

REDUCTIONS: Mapping[str, Callable[[Array], Any]] = {
    "add": lambda v: v.sum(dtype=v.dtype),
    "min": lambda v: v.min(),
    "max": lambda v: v.max(),
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}


def build_redux(site: Site) -> Step:
    """`redux.sync`: reduce a value across the lanes of a warp."""
    type_ = site.type(("u32", "s32", "b32", "f32"))
    site.choose(("sync",))
    operation = site.choose(REDUCTIONS)
    magnitude, nan = site.flag("abs"), site.flag("NaN")
    site.no_more()
    site.count(3)
    if (type_.name in ("b32",)) != (operation in ("and", "or", "xor")):
        site.fail(f".{operation} is not for .{type_.name}")
    if type_.name == "f32" and operation == "add":
        site.fail(".add is not for .f32")
    dest = site.destination(0, type_)
    a, member = site.source(1, type_), site.source(2, TYPES["b32"])

    def one(values: Array) -> int:
        if type_.name == "f32":
            return int(float_extremes(values, operation, magnitude=magnitude, nan=nan))
        typed = values.view(SIGNED[32]) if type_.signed else values
        return int(REDUCTIONS[operation](typed)) & FULL_WARP

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "redux.sync", _member(f, member)):
            return STOP
        column = spread(f.r[a], f.warpgroup.lanes, WORD)
        found = {w: one(column[indices(f.mask & FULL_WARP << WARP * w)]) for w in warps_of(f.mask)}
        f.r[dest] = by_warp(f, found, WORD)
        return None

    return step


def build_elect(site: Site) -> Step:
    """`elect.sync`: elect the lowest lane of each warp as leader."""
    site.choose(("sync",))
    site.no_more()
    site.count(2)
    target = site.operands[0]
    if not isinstance(target, Pair):
        site.fail("a pair d|p is expected")
    dest = None if isinstance(target.first, Sink) else site.destination(target.first, TYPES["b32"])
    p = site.destination(target.second, TYPES["pred"])
    member = site.source(1, TYPES["b32"])

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "elect.sync", _member(f, member)):
            return STOP
        leaders, elected = _leaders(f.mask)
        f.r[p] = bools(elected, f.warpgroup.lanes)
        if dest is not None:
            f.r[dest] = by_warp(f, leaders, WORD)
        return None

    return step


@lru_cache(maxsize=1024)
def _leaders(mask: int) -> tuple[Mapping[int, int], int]:
    """Return the lowest lane of each warp of a mask, and the mask of these."""
    leaders = {w: first_lane(mask >> WARP * w & FULL_WARP) for w in warps_of(mask)}
    return leaders, sum(1 << WARP * warp + lane for warp, lane in leaders.items())


def build_activemask(site: Site) -> Step:
    """`activemask`: the mask of active lanes."""
    site.type(("b32",))
    site.no_more()
    site.count(1)
    dest = site.destination(0, TYPES["b32"])

    def step(f: ConvergenceGroup) -> None:
        found = {w: f.mask >> WARP * w & FULL_WARP for w in warps_of(f.mask)}
        f.r[dest] = by_warp(f, found, WORD)

    return step


def build_warpsync(site: Site) -> Step:
    """`bar.warp.sync`: reconverge the member lanes."""
    site.flag("sync")
    site.no_more()
    site.count(1)
    member = site.source(0, TYPES["b32"])

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "bar.warp.sync", _member(f, member)):
            return STOP
        checker = f.warpgroup.cta.cluster.checker
        if checker is not None:
            for warp in warps_of(f.mask):
                checker.clocks.sync_lanes(f.warpgroup.agents[warp])
        return None

    return step


TABLE = (
    Semantics("shfl", build_shfl, waits=True),
    Semantics("vote", build_vote, waits=True),
    Semantics("match", build_match, waits=True),
    Semantics("redux", build_redux, waits=True),
    Semantics("elect", build_elect, waits=True),
    Semantics("activemask", build_activemask),
    Semantics("bar.warp", build_warpsync, waits=True),
)
