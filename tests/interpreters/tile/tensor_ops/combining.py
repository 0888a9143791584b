"""Reductions and scans of one tile, as the tile interpreter does them."""

from __future__ import annotations

from typing import Any

from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.tensor_ops.reduction import reduce_tiles, scan_tiles


def reduce_tile(op: ReduceOp, source: Array, value_of: Any, run_body: Any) -> Array:
    """What a reduction of one tile gives."""
    (result,) = reduce_tiles(op, [source], value_of, run_body)
    return result


def scan_tile(op: ScanOp, source: Array, value_of: Any, run_body: Any) -> Array:
    """What a scan of one tile gives."""
    (result,) = scan_tiles(op, [source], value_of, run_body)
    return result
