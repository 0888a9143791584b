"""Random tile slices: extracted, changed and inserted at static or dynamic positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.support.random_programs import tiles
from tests.support.random_programs.tile_types import TileType
from tests.support.random_programs.writer import Tile, Writer


@dataclass(frozen=True)
class Part:
    """Half of the rows of a tile: the bracketed lists `[...][...][...]`, and the shape."""

    text: str
    shape: tuple[int, ...]


def part(w: Writer, type_: TileType) -> Part:
    """Return half of the rows, contiguous or with stride 2."""
    rows, *rest = type_.shape
    half = rows // 2
    zeros, extents = ", 0" * len(rest), "".join(f", {n}" for n in rest)
    ones = ", 1" * len(rest)
    stride = w.choose([1, 2])
    first = w.number(0, half) if stride == 1 else w.number(0, 1)
    begin = str(first)
    if stride == 1 and w.chance(3):
        begin = w.round if w.round != "%c0" else w.const(first)
        w.mark("slice at a place that is computed")
    w.mark("strided slice" if stride == 2 else "slice of rows")
    return Part(f"[{begin}{zeros}][{half}{extents}][{stride}{ones}]", (half, *rest))


def _whole(w: Writer) -> TileType:
    type_ = w.tile_type()
    return type_ if type_.shape[0] >= 16 else type_.with_shape(16, 8)


def extracted(w: Writer, tile: Tile) -> Tile:
    """Emit a slice of a tile in the tile's layout, then converted to its own."""
    where = part(w, tile.type)
    type_ = tile.type.with_shape(*where.shape)
    text = f"nv_tileas.extract_slice {w.use(tile)}{where.text} : {tile.type} -> {type_}"
    found = w.tile(w.let("x", text), type_)
    w.mark("extract_slice")
    return tiles.converted_once(w, found, w.registers(type_)) if type_.encoding else found


def extract(w: Writer) -> None:
    """Emit an extraction of a slice."""
    found = extracted(w, tiles.value(w, w.registers(_whole(w))))
    if w.chance(3) and found.type.shape[0] >= 8:
        w.mark("slice of a slice")
        extracted(w, found)


def replace(w: Writer) -> None:
    """Emit an insertion of a slice of another tile."""
    type_ = w.registers(_whole(w))
    whole = tiles.value(w, type_)
    where = part(w, type_)
    piece = tiles.value(w, w.registers(type_.with_shape(*where.shape)))
    w.mark("insert_slice")
    text = f"nv_tileas.insert_slice {w.use(piece)} into {w.use(whole)}{where.text}"
    w.tile(w.let("x", f"{text} : {piece.type} into {type_}"), type_)


STATEMENTS: Sequence[Callable[[Writer], None]] = (extract, replace)
