"""Layout tags of shared memory: how tensor copies laid out a tile, to check matrix descriptors.

Each granule has a tag: box, row, chunk in the row, swizzle mode.  A descriptor fits if the rows of
the operand that it reads are consecutive rows of one box with the descriptor's swizzle mode.  A tag
is one integer, so that "one row further" is a difference:

    box | row (20 bits) | chunk (8 bits) | swizzle mode (4 bits)
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.shadow_memory import Locations
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.tma.tma_box import Box

MODES = ("", "none", "32B", "64B", "128B", "128B_BASE32B")

MODE_BITS = 4
CHUNK_BITS = 8
ROW_BITS = 20
ROW = 1 << MODE_BITS + CHUNK_BITS
CHUNK = 1 << MODE_BITS
BOX = ROW << ROW_BITS


class LayoutTags:
    """The tags of one CTA; 0 where the last write was no tensor copy."""

    def __init__(self, granules: int) -> None:
        self.tags = np.zeros(granules, np.int64)
        self.version = 0
        self._boxes: dict[tuple[int, int], Array] = {}
        self._unchanged: set[tuple[int, int]] = set()
        """Boxes at offsets that this version of the tags has."""
        self._used = False
        self.judged: dict[object, str | None] = {}
        """Verdicts on descriptors for this version of the tags."""

    def mark(self, box: Box, offset: int) -> None:
        """Tag the granules of a box that was written at an offset."""
        key = (id(box), offset)
        if key in self._unchanged:
            return
        granules, _ = box.locations(offset)
        tags = self._boxes.get(key)
        if tags is None:
            tags = self._boxes[key] = self._tags_of(box, len(self._boxes) + 1)
        if not bool((self.tags[granules] == tags).all()):
            self.tags[granules] = tags
            self._change()
        self._unchanged.add(key)

    def _tags_of(self, box: Box, number: int) -> Array:
        rows = np.arange(box.rows)[:, None] * ROW
        chunks = np.arange(box.row_bytes // 16)[None, :] * CHUNK
        return number * BOX + rows + chunks + MODES.index(box.mode)

    def forget(self, locations: Locations) -> None:
        """Clear the tags of granules that something else wrote."""
        if self._used and self.tags[locations].any():
            self.tags[locations] = 0
            self._change()

    def _change(self) -> None:
        self._used = True
        self.version += 1
        self.judged.clear()
        self._unchanged.clear()

    def judge(self, key: object, granules: Array, mode: str, major: str) -> str | None:
        """Return what is wrong with a descriptor that reads these granules; None where it fits."""
        if key not in self.judged:
            tags = self.tags[granules]
            wrong = _repeats(granules.astype(np.int64).tobytes())
            if wrong is None and tags.any():
                wrong = _verdict(tags.tobytes(), tags.shape, mode, major)
            self.judged[key] = wrong
        return self.judged[key]


@lru_cache(maxsize=1024)
def _repeats(granules: bytes) -> str | None:
    """Return what is wrong with a descriptor by itself."""
    found = np.frombuffer(granules, np.int64)
    if len(np.unique(found)) == len(found):
        return None
    return "reads the same bytes for different rows: an offset of it is wrong"


@lru_cache(maxsize=1024)
def _verdict(data: bytes, shape: tuple[int, ...], mode: str, major: str) -> str | None:
    """Return what is wrong with a descriptor that reads these tags, which recur in every CTA."""
    tags = np.frombuffer(data, np.int64).reshape(shape)
    tagged = tags != 0
    written = int((tags[tagged] & (CHUNK - 1)).flat[0])
    if bool(((tags & (CHUNK - 1))[tagged] != MODES.index(mode)).any()):
        return f"has swizzle {mode}, but the tile was written with {MODES[written]}"
    rows, chunks = (tags, tags.T) if major == "k" else (tags.T, tags)
    if _broken(rows, ROW) or _broken(chunks, CHUNK):
        return "does not follow the rows of the tile as they were written"
    return None


def _broken(tags: Array, step: int) -> bool:
    """Return whether neighbours of one box are not one step apart."""
    before, after = tags[:-1], tags[1:]
    same = (before // BOX == after // BOX) & (before != 0) & (after != 0)
    if step == CHUNK:
        same &= before // ROW == after // ROW
    return bool((same & (after - before != step)).any())
