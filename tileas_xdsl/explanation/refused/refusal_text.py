"""The explanation of a refused kernel as text."""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.explanation.facts import RegisterHolder
from tileas_xdsl.explanation.refused.refusals import (
    REGISTERS,
    SHARED_MEMORY,
    Refusal,
    SharedTile,
)
from tileas_xdsl.explanation.text import place_text

MAX_HOLDERS = 5
"""Tiles that are listed of each memory."""


def refusal_text(found: Refusal) -> str:
    """Return what costs the memory that a kernel lacks, and the changes that compile."""
    return "\n".join([*_costs(found), *_considered(found), *_changes(found)])


def _costs(found: Refusal) -> Iterator[str]:
    """The tiles in the memory that is lacked; without one, the refusal is not for want of it."""
    if REGISTERS in found.lacks:
        yield "tiles in registers of a thread, where most are live"
        for one in found.registers[:MAX_HOLDERS]:
            where = place_text(one.location, source=True)
            yield f"  {one.registers:>6} registers  {one.type} ({one.value})  {where}"
    if SHARED_MEMORY in found.lacks:
        yield "tiles in shared memory"
        for tile in found.shared[:MAX_HOLDERS]:
            where = place_text(tile.location, source=True)
            yield f"  {tile.bytes:>6} bytes  {tile.type}  {where}"


def _considered(found: Refusal) -> Iterator[str]:
    for one in found.reasons:
        yield f"no {one.what} at {place_text(one.location)}: {one.why} [{one.decided_by}]"
    for layout in found.layouts:
        for why in layout.dropped:
            shape = "x".join(map(str, layout.shape))
            yield f"layouts of {shape} at {place_text(layout.location)} were dropped: {why}"


def _changes(found: Refusal) -> Iterator[str]:
    if found.lacks and not found.attempts:
        yield from _smaller_tile(found)
    for one in found.attempts:
        if one.problem:
            yield f"tried {one.change}: {one.problem}"
    for one in found.works:
        yield f"compiles with {one.change}"
    if found.attempts and not found.works:
        yield "none of these compiles"


def _smaller_tile(found: Refusal) -> Iterator[str]:
    """Name the tile whose extents to shrink, where there are no sizes to try."""
    largest: RegisterHolder | SharedTile | None = None
    if SHARED_MEMORY in found.lacks and found.shared:
        largest = found.shared[0]
    elif found.registers:
        largest = found.registers[0]
    if largest is not None:
        where = place_text(largest.location)
        yield f"the tile to make smaller is {largest.type} at {where}: half of an extent halves it"
