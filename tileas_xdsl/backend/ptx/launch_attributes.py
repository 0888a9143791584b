"""What a kernel's attributes say of its launches, read as the classes of `target/launches`.

    tileas.few_tile_blocks = {counts = array<i64: 4, 2>, steps = ["0", "scalar 5"], loops = [...]}

Passes write them, and a person may edit them: what an entry misses is an error at the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.plain_attributes import plain_data
from tileas_xdsl.target.kernel_abi import (
    BOUNDED_ROWS,
    DIVIDED_SUMS,
    FEW_TILE_BLOCKS,
    PERSISTENT_LAUNCHES,
    SHARED_LOADS,
    UNEVEN_WAVES,
    WHOLE_TILES,
)
from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.shared_loads import SharedLoads
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves
from tileas_xdsl.target.launches.whole_tiles import WholeTiles
from tileas_xdsl.target.plain_data import read_plain

_FoundT = TypeVar("_FoundT")


def shared_loads_of(kernel: Operation) -> tuple[SharedLoads, ...]:
    """Read `[{axis = 0, count = 2, steps = ["block x"], equal = [0], loads = [...], ...}]`."""
    found = _read(kernel, SHARED_LOADS, lambda data: read_plain(tuple[SharedLoads, ...], data))
    return found or ()


def uneven_waves_of(kernel: Operation) -> UnevenWaves | None:
    """Read `{together = 2, ctas = 1}`."""
    return _read(kernel, UNEVEN_WAVES, lambda data: read_plain(UnevenWaves, data))


def divided_sums_of(kernel: Operation) -> DividedSums | None:
    """Read `{together = 1, ctas = 1, store = 2000, ...}`."""
    return _read(kernel, DIVIDED_SUMS, lambda data: read_plain(DividedSums, data))


def few_tile_blocks_of(kernel: Operation) -> tuple[FewTileBlocks, ...]:
    """Read `{counts = [4, 2], steps = ["scalar 5", ...], loops = [{amount = 64, ...}]}`.

    Besides, `sums = [{ctas = 1, ...}]`, where launches may divide iterations, too.
    """
    return _read(kernel, FEW_TILE_BLOCKS, _few_tile_blocks) or ()


def _few_tile_blocks(data: Any) -> tuple[FewTileBlocks, ...]:
    found: dict[str, Any] = {"sums": (), **data}

    def of(count: int) -> FewTileBlocks:
        sums = [one for one in found["sums"] if count >= one["ctas"]]
        return read_plain(FewTileBlocks, {**found, "count": count, "sums": sums})

    return tuple(of(count) for count in found["counts"])


def bounded_rows_of(kernel: Operation) -> BoundedRows | None:
    """Read `{width = 8192, arguments = [2, 10]}`, of rows that are multiplied with a `step`."""
    return _read(kernel, BOUNDED_ROWS, lambda data: BoundedRows.of(**data))


def persistent_launches_of(kernel: Operation) -> PersistentLaunches | None:
    """Read `{steps = ["block x", ...], loops = [{amount = 64, ...}], most = 16384, ...}`."""
    return _read(kernel, PERSISTENT_LAUNCHES, lambda data: read_plain(PersistentLaunches, data))


def whole_tiles_of(kernel: Operation) -> WholeTiles | None:
    """Read `{arguments = [12], tiles = [128]}`."""
    return _read(kernel, WHOLE_TILES, lambda data: read_plain(WholeTiles, data))


def _read(kernel: Operation, name: str, read: Callable[[Any], _FoundT]) -> _FoundT | None:
    """Return what an attribute says; `OpError` at the kernel where it is of another form."""
    attribute = kernel.attributes.get(name)
    if attribute is None:
        return None
    try:
        return read(plain_data(attribute))
    except KeyError as error:
        raise op_error(kernel, f"has no entry {error} in {name}, or in a part of it") from error
    except (TypeError, ValueError) as error:
        raise op_error(kernel, f"has {name} = {attribute}: {error}") from error
