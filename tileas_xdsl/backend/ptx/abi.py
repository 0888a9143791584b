"""The interface of a lowered kernel, read off its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import launch_recipe
from tileas_xdsl.dialects.plain_attributes import plain_data
from tileas_xdsl.dialects.ptx.structure.control import EntryOp
from tileas_xdsl.target.kernel_abi import (
    BOUNDED_ROWS,
    CLUSTERED,
    DIVIDED,
    DIVIDED_SUMS,
    FEW_TILE_BLOCKS,
    PERSISTENT,
    PERSISTENT_LAUNCHES,
    ROW_LENGTHS,
    RUNS_AT_ONCE,
    SHARED_LOADS,
    TILE_BLOCK_CTAS,
    TRANSFER_BYTES,
    UNEVEN_WAVES,
    WAITS_FIRST,
    KernelAbi,
)
from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.shared_loads import SharedLoads
from tileas_xdsl.target.launches.specializations import RowLengths
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves
from tileas_xdsl.target.plain_data import read_plain

PARAMETERS, TENSOR_MAPS = "tileas.parameters", "tileas.tensor_maps"
"""Attributes of a kernel: what each parameter is, and the recipes of the tensor maps."""


def abi_of(kernel: func.FuncOp) -> KernelAbi:
    """Return the interface of a lowered kernel."""
    found = kernel.attributes
    threads = _numbers(found["nvvm.reqntid"])
    return _abi(kernel.sym_name.data, threads, found.get("nvvm.cluster_dim"), found)


def abi_of_entry(entry: EntryOp) -> KernelAbi | None:
    """Return the interface of an entry of PTX; None if its attributes do not say it."""
    threads = entry.reqntid or entry.maxntid
    if PARAMETERS not in entry.attributes or threads is None:
        return None
    cluster = entry.reqnctapercluster
    return _abi(entry.sym_name.data, _numbers(threads), cluster, entry.attributes)


def _abi(
    name: str, threads: Sequence[int], cluster: Attribute | None, found: Mapping[str, Attribute]
) -> KernelAbi:
    x, y, z = (1, 1, 1) if cluster is None else _numbers(cluster)
    return KernelAbi(
        name,
        threads[0],
        (x, y, z),
        _number(found["tileas.smem_bytes"]),
        tuple(_texts(found[PARAMETERS])),
        tuple(launch_recipe(entry) for entry in _entries(found[TENSOR_MAPS])),
        _number(found["tileas.arena_slots"]) if "tileas.arena_slots" in found else 0,
        _text(found["tileas.smem_map"]),
        _number(found[TILE_BLOCK_CTAS]) if TILE_BLOCK_CTAS in found else 1,
        PERSISTENT in found,
        persistent_launches_of(found.get(PERSISTENT_LAUNCHES)),
        shared_loads_of(found.get(SHARED_LOADS)),
        _number(found[TRANSFER_BYTES]) if TRANSFER_BYTES in found else 0,
        CLUSTERED in found,
        few_tile_blocks_of(found.get(FEW_TILE_BLOCKS)),
        uneven_waves_of(found.get(UNEVEN_WAVES)),
        WAITS_FIRST in found,
        RUNS_AT_ONCE in found,
        bounded_rows_of(found.get(BOUNDED_ROWS)),
        _lengths(found.get(ROW_LENGTHS)),
        divided_sums_of(found.get(DIVIDED_SUMS)),
        DIVIDED in found,
    )


def shared_loads_of(attribute: Attribute | None) -> tuple[SharedLoads, ...]:
    """Read `[{axis = 0, count = 2, steps = ["block x"], equal = [0], loads = [...], ...}]`."""
    return () if attribute is None else read_plain(tuple[SharedLoads, ...], plain_data(attribute))


def uneven_waves_of(attribute: Attribute | None) -> UnevenWaves | None:
    """Read `{together = 2, ctas = 1}`."""
    return None if attribute is None else read_plain(UnevenWaves, plain_data(attribute))


def divided_sums_of(attribute: Attribute | None) -> DividedSums | None:
    """Read `{together = 1, ctas = 1, store = 2000, ...}`."""
    return None if attribute is None else read_plain(DividedSums, plain_data(attribute))


def few_tile_blocks_of(attribute: Attribute | None) -> tuple[FewTileBlocks, ...]:
    """Read `{counts = [4, 2], steps = ["scalar 5", ...], loops = [{amount = 64, ...}]}`.

    Besides, `sums = [{ctas = 1, ...}]`, where launches may divide iterations, too.
    """
    if attribute is None:
        return ()
    found: dict[str, Any] = {"sums": (), **plain_data(attribute)}

    def of(count: int) -> FewTileBlocks:
        sums = [one for one in found["sums"] if count >= one["ctas"]]
        return read_plain(FewTileBlocks, {**found, "count": count, "sums": sums})

    return tuple(of(count) for count in found["counts"])


def bounded_rows_of(attribute: Attribute | None) -> BoundedRows | None:
    """Read `{width = 8192, arguments = [2, 10]}`, of rows that are multiplied with a `step`."""
    return None if attribute is None else BoundedRows.of(**plain_data(attribute))


def _lengths(attribute: Attribute | None) -> RowLengths | None:
    if attribute is None:
        return None
    least, most = _numbers(attribute)
    return least, most


def persistent_launches_of(attribute: Attribute | None) -> PersistentLaunches | None:
    """Read `{steps = ["block x", ...], loops = [{amount = 64, ...}], most = 16384, ...}`."""
    return None if attribute is None else read_plain(PersistentLaunches, plain_data(attribute))


def _numbers(attribute: Attribute) -> Sequence[int]:
    assert isinstance(attribute, DenseArrayBase)
    return [int(n) for n in attribute.get_values()]


def _number(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def _text(attribute: Attribute) -> str:
    assert isinstance(attribute, StringAttr)
    return attribute.data


def _texts(attribute: Attribute) -> Sequence[str]:
    return [_text(item) for item in _items(attribute)]


def _entries(attribute: Attribute) -> Sequence[Mapping[str, Attribute]]:
    return [cast("DictionaryAttr", item).data for item in _items(attribute)]


def _items(attribute: Attribute) -> Sequence[Attribute]:
    assert isinstance(attribute, ArrayAttr)
    return cast("ArrayAttr[Attribute]", attribute).data
