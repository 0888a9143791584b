"""Tile blocks in another order are all tile blocks still, however large the grid."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects import arith, gpu
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledStoreOp
from tileas_xdsl.installed import registered_context
from tileas_xdsl.target.launches.launch_numbers import AXES
from tileas_xdsl.transforms.kernels.tileas_order_tile_blocks import TileasOrderTileBlocks

FILECHECK = Path(__file__).parents[2] / "filecheck"

Ids = tuple[int, int, int]

COMPUTED: Mapping[type[Operation], Callable[..., int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivUIOp: lambda a, b: a // b,
    arith.CmpiOp: lambda a, b: a <= b,
    arith.SelectOp: lambda condition, a, b: a if condition else b,
    arith.ExtUIOp: lambda a: a,
    arith.IndexCastOp: lambda a: a,
}
"""Of unsigned numbers; the one comparison is `ule`."""


def value_of(value: SSAValue, block: Ids, grid: Ids) -> int:
    """What a value is in a tile block of a grid."""
    op: Any = value.owner
    if isinstance(op, gpu.BlockIdOp | gpu.GridDimOp):
        ids = block if isinstance(op, gpu.BlockIdOp) else grid
        return ids[AXES.index(str(op.dimension.data))]
    if isinstance(op, arith.ConstantOp):
        return op.value.value.data
    found = COMPUTED[type(op)](*(value_of(operand, block, grid) for operand in op.operands))
    return int(found) % (1 << getattr(op.result.type, "bitwidth", 64))


def stored_at(function: str) -> Sequence[SSAValue]:
    """Where a kernel of the pass's filecheck test stores its tile, behind the pass."""
    text = (FILECHECK / "transforms" / "tileas-order-tile-blocks.mlir").read_text()
    ctx = registered_context()
    (part,) = (part for part in text.split("// -----") if f"func.func @{function}(" in part)
    module = parse_module(ctx, part)
    TileasOrderTileBlocks().apply(ctx, module)
    (store,) = instances_in(module, TiledStoreOp)
    return store.coords


@pytest.fixture(scope="module")
def coordinates() -> Callable[[Ids, Ids], tuple[int, int]]:
    """The image and the group of channels of a tile block of a grid."""
    image, _, group = stored_at("groups")
    return lambda block, grid: (value_of(image, block, grid), value_of(group, block, grid))


def test_groups_of_an_image_run_side_by_side(coordinates: Any) -> None:
    grid = 3, 4, 2
    blocks = [(x, y, z) for z, y, x in product(*map(range, reversed(grid)))]
    found = [coordinates(block, grid) for block in blocks]
    assert found[:5] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]
    assert found == [*product(range(3), range(4))] * 2


def test_tile_blocks_of_a_product_run_side_by_side() -> None:
    coords, grid = stored_at("batch"), (3, 4, 2)
    blocks = [(x, y, z) for z, y, x in product(*map(range, reversed(grid)))]
    found = [tuple(value_of(coord, block, grid) for coord in coords) for block in blocks]
    rows_first = product(range(3), range(2), range(4))
    assert found == [(batch, row, column) for batch, column, row in rows_first]


@pytest.mark.parametrize("grid", [(1 << 16, 1 << 16, 1), (65_537, 65_535, 1)])
def test_numbers_of_all_32_bits_are_in_order(coordinates: Any, grid: Ids) -> None:
    assert prod(grid) in ((1 << 32) - 1, 1 << 32)
    last = grid[0] - 1, grid[1] - 1, 0
    assert coordinates(last, grid) == last[:2]
    assert coordinates((grid[0] - 1, 0, 0), grid) == divmod(grid[0] - 1, grid[1])


@pytest.mark.parametrize(
    "grid", [((1 << 16) + 1, 1 << 16, 1), ((1 << 31) - 1, 65_535, 65_535), (1 << 20, 3, 1 << 12)]
)
def test_more_tile_blocks_than_32_bits_number_keep_their_order(coordinates: Any, grid: Ids) -> None:
    rng = random.Random(0)
    for _ in range(100):
        x, y, z = (rng.randrange(extent) for extent in grid)
        assert coordinates((x, y, z), grid) == (x, y)
