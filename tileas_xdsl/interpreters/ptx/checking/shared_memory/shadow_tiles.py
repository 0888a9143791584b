"""Shadow memory of whole tiles: what tensor copies write and matrix instructions read, in O(1).

Tensor copies, matrix instructions and bulk stores access the same few sets of granules again and
again.  Such a set is a `Tile`; its accesses are kept by tile, as one entry instead of one for each
granule, while nothing else accesses its granules:

    a copy writes tile T               T.writer, T.stamp; T is a source of all tiles that overlap it
    wgmma reads tile R                 ordered after the writes of the sources, which cover R?
                                       R.readers[agent] = stamp
    a copy writes T again              ordered after the last write, and after all readers of tiles
                                       that overlap T?

The answer here is only ever "no conflict".  Whatever else happens (an access by lanes, tiles that
overlap in part, a read of something never written, a conflict) moves the tile and all that overlap
it into the shadow memory of granules for good, where the access is checked as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TypeAlias

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, mask_of

Locations: TypeAlias = "slice | Array"

MAX_TILES = 256
"""Tiles of one shared memory; further ones are checked by granules."""


def indices_of(at: Locations) -> Array:
    """Return granules or bytes as an array."""
    return np.arange(int(at.start), int(at.stop)) if isinstance(at, slice) else at


class Tile:
    """A set of granules that instructions access as a whole; it is compared by identity."""

    __slots__ = ("at", "high", "low", "members")

    def __init__(self, at: Locations) -> None:
        self.at = at
        granules = indices_of(at)
        self.low, self.high = int(granules.min()), int(granules.max())
        present = np.zeros(self.high + 1, np.bool_)
        present[granules] = True
        self.members = mask_of(present)
        """The granules as the bits of an integer."""


class TileOverlaps:
    """Which tiles of a launch share granules; all its CTAs use the same ones."""

    def __init__(self) -> None:
        self._of: dict[Tile, list[tuple[Tile, bool, bool]]] = {}

    def of(self, tile: Tile) -> list[tuple[Tile, bool, bool]]:
        """Return the tiles that overlap one: whether they are within it, and it within them."""
        found = self._of.get(tile)
        if found is not None:
            return found
        mine = self._of[tile] = []
        for other, theirs in self._of.items():
            shared = tile.members & other.members
            if shared and other is not tile:
                mine.append((other, shared == other.members, shared == tile.members))
                theirs.append((tile, shared == tile.members, shared == other.members))
        return mine


@dataclass(slots=True, eq=False)
class TileState:
    """The accesses of a tile."""

    tile: Tile
    sources: list[TileState] = field(default_factory=list["TileState"])
    """The tiles whose writes are the last ones of these granules."""
    is_covered: bool = False
    """Whether the sources have written all of these granules."""
    is_written: bool = False
    """Whether the write of this tile is the last one of its granules."""
    writer: int = 0
    stamp: int = 0
    readers: dict[int, int] = field(default_factory=dict[int, int])
    """By agent, the stamp of its last read."""
    overlapping: list[tuple[TileState, bool]] = field(
        default_factory=list[tuple["TileState", bool]]
    )
    """The tiles that share granules with this one, itself included, and whether they are within
    it."""


def _add_source(state: TileState, source: TileState) -> None:
    state.sources.append(source)
    written = 0
    for one in state.sources:
        written |= one.tile.members
    state.is_covered = not state.tile.members & ~written


class TileShadow:
    """The tiles of one shared memory that only whole accesses have touched."""

    __slots__ = ("_is_untouched", "_overlaps", "_record", "_states", "is_tiled")

    def __init__(
        self,
        granules: int,
        overlaps: TileOverlaps,
        is_untouched: Callable[[Locations], bool],
        record: Callable[[TileState], None],
    ) -> None:
        """Keep tiles where `is_untouched`, until they have to move: `record` what they have."""
        self._overlaps, self._is_untouched, self._record = overlaps, is_untouched, record
        self._states: dict[Tile, TileState | None] = {}
        """None for tiles that are checked by granules."""
        self.is_tiled = np.zeros(granules, np.bool_)
        """By granule, whether it is in a tile that is kept as a whole."""

    def read(self, tile: Tile, agent: int, stamp: int, limits: Array) -> bool:
        """Record a read that conflicts with nothing; return False if granules have to be checked.

        `limits` is the vector clock of what happened before.
        """
        state = self._states[tile] if tile in self._states else self._enter(tile)
        if state is None or not state.is_covered:
            return False
        for source in state.sources:
            if source.stamp >= limits[source.writer]:
                return False
        state.readers[agent] = stamp
        return True

    def write(self, tile: Tile, agent: int, stamp: int, limits: Array) -> bool:
        """Record a write that conflicts with nothing; return False if granules have to be
        checked."""
        state = self._states[tile] if tile in self._states else self._enter(tile)
        if state is None:
            return False
        for other, is_within in state.overlapping:
            if other.is_written and (not is_within or other.stamp >= limits[other.writer]):
                return False
            for reader, at in other.readers.items():
                if at >= limits[reader]:
                    return False
        for other, is_within in state.overlapping:
            other.is_written = other.is_written and not is_within
        state.is_written, state.writer, state.stamp = True, agent, stamp
        for other, _ in state.overlapping:
            if state not in other.sources:
                other.sources = [s for s in other.sources if s.is_written]
                _add_source(other, state)
        return True

    def _enter(self, tile: Tile) -> TileState | None:
        """Keep a tile as a whole if nothing else has touched its granules."""
        if len(self._states) >= MAX_TILES:
            return None
        if not self._is_untouched(tile.at):
            self._states[tile] = None
            return None
        state = TileState(tile)
        state.overlapping.append((state, True))
        for known, is_within, is_around in self._overlaps.of(tile):
            other = self._states.get(known)
            if other is None:
                continue
            state.overlapping.append((other, is_within))
            other.overlapping.append((state, is_around))
            if other.is_written:
                _add_source(state, other)
        self._states[tile] = state
        self.is_tiled[tile.at] = True
        return state

    def _kept(self) -> Iterator[TileState]:
        return (state for state in self._states.values() if state is not None)

    def release(self, at: Locations) -> None:
        """Move the tiles between the lowest and the highest of some granules, and all that overlap
        those, to the shadow memory of granules."""
        if not self.is_tiled[at].any():
            return
        bounds = (at.start, at.stop - 1) if isinstance(at, slice) else (at.min(), at.max())
        low, high = int(bounds[0]), int(bounds[1])
        moved = [s for s in self._kept() if s.tile.low <= high and low <= s.tile.high]
        seen = set(moved)
        for state in moved:
            more = [other for other, _ in state.overlapping if other not in seen]
            moved += more
            seen.update(more)
        for state in moved:
            self._record(state)
            self._states[state.tile] = None
            self.is_tiled[state.tile.at] = False

    def forget(self) -> None:
        """Drop all tiles and what they know of one another."""
        for state in self._kept():
            state.overlapping.clear()
            state.sources.clear()
        self._states.clear()

    def has_unordered(self, ordered: Array) -> bool:
        """Return whether an access of a tile did not happen before the clock `ordered`."""
        return any(
            (s.is_written and s.stamp >= ordered[s.writer])
            or any(stamp >= ordered[agent] for agent, stamp in s.readers.items())
            for s in self._kept()
        )
