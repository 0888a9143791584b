"""The interface of a lowered kernel, read off its attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.backend.ptx.launch_attributes import (
    bounded_rows_of,
    divided_sums_of,
    few_tile_blocks_of,
    persistent_launches_of,
    shared_loads_of,
    uneven_waves_of,
    whole_tiles_of,
)
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import launch_recipe
from tileas_xdsl.dialects.ptx.structure.entries import EntryOp
from tileas_xdsl.target.kernel_abi import (
    CLUSTERED,
    DIVIDED,
    FILLS_TILES,
    PERSISTENT,
    ROW_LENGTHS,
    RUNS_AT_ONCE,
    TILE_BLOCK_CTAS,
    TRANSFER_BYTES,
    WAITS_FIRST,
    KernelAbi,
)
from tileas_xdsl.target.launches.specializations import RowLengths

PARAMETERS, TENSOR_MAPS = "tileas.parameters", "tileas.tensor_maps"
"""Attributes of a kernel: what each parameter is, and the recipes of the tensor maps."""


def abi_of(kernel: func.FuncOp) -> KernelAbi:
    """Return the interface of a lowered kernel."""
    threads = _numbers(_needed(kernel, "nvvm.reqntid"))
    cluster = kernel.attributes.get("nvvm.cluster_dim")
    return _abi(kernel, kernel.sym_name.data, threads, cluster)


def abi_of_entry(entry: EntryOp) -> KernelAbi | None:
    """Return the interface of an entry of PTX; None if its attributes do not say it."""
    threads = entry.reqntid or entry.maxntid
    if PARAMETERS not in entry.attributes or threads is None:
        return None
    cluster = entry.reqnctapercluster
    return _abi(entry, entry.sym_name.data, _numbers(threads), cluster)


def _abi(
    kernel: Operation, name: str, threads: Sequence[int], cluster: Attribute | None
) -> KernelAbi:
    found = kernel.attributes
    x, y, z = (1, 1, 1) if cluster is None else _numbers(cluster)
    return KernelAbi(
        name,
        threads[0],
        (x, y, z),
        _number(_needed(kernel, "tileas.smem_bytes")),
        tuple(_texts(_needed(kernel, PARAMETERS))),
        tuple(launch_recipe(entry) for entry in _entries(_needed(kernel, TENSOR_MAPS))),
        _number(found["tileas.arena_slots"]) if "tileas.arena_slots" in found else 0,
        _text(_needed(kernel, "tileas.smem_map")),
        _number(found[TILE_BLOCK_CTAS]) if TILE_BLOCK_CTAS in found else 1,
        PERSISTENT in found,
        persistent_launches_of(kernel),
        shared_loads_of(kernel),
        _number(found[TRANSFER_BYTES]) if TRANSFER_BYTES in found else 0,
        CLUSTERED in found,
        few_tile_blocks_of(kernel),
        uneven_waves_of(kernel),
        WAITS_FIRST in found,
        RUNS_AT_ONCE in found,
        bounded_rows_of(kernel),
        _lengths(found.get(ROW_LENGTHS)),
        divided_sums_of(kernel),
        DIVIDED in found,
        whole_tiles_of(kernel),
        FILLS_TILES in found,
    )


def _needed(kernel: Operation, name: str) -> Attribute:
    if name not in kernel.attributes:
        raise op_error(kernel, f"has no {name}, without which it cannot be launched")
    return kernel.attributes[name]


def _lengths(attribute: Attribute | None) -> RowLengths | None:
    if attribute is None:
        return None
    least, most = _numbers(attribute)
    return least, most


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
