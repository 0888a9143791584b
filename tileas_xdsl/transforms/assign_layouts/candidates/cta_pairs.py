"""Products of two blocks of a cluster together, where a program shares B between the two.

A program says so by how it loads: each of two blocks loads its own A, and half of B for both.  As
one product of two blocks each needs its half of B in shared memory alone.  Source: PTX ISA,
tcgen05.mma, `cta_group::2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TypeAlias

from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.analysis.memory.accumulators import PAIR, is_of_two_blocks, is_tensor_product
from tileas_xdsl.analysis.values.cluster_values import runs_uniformly
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp, tile_of
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.dialects.nv_tileas.tma.checks import number_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import AsyncTiledTmaLoadOp, TmaLoadBase
from tileas_xdsl.target.tensor_memory import LANES
from tileas_xdsl.threads.dot.cta_pair_checks import (
    pipelines_of_tile,
    stage_tile,
    whole_stage_tile,
)
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.stage_consumers import users_of

Product: TypeAlias = AsyncDotOp | DotOp

COLUMN_STEP = 16
"""Columns of a product of 256 rows are a multiple of as many (PTX ISA, tcgen05.mma shapes)."""


def are_of_pairs(plan: KernelPlan, chosen: Sequence[Product]) -> bool:
    """Whether all products of a kernel can be of two blocks; others than `chosen` must be."""
    products = [op for op in plan.kernel.walk() if is_tensor_product(op)]
    if prod(plan.facts.cluster) != PAIR or not products:
        return False
    if any(op not in chosen and not is_of_two_blocks(op) for op in products):
        return False
    return all(_is_of_pair(plan, op) for op in chosen if is_tensor_product(op))


def _is_of_pair(plan: KernelPlan, op: Product) -> bool:
    """Whether two blocks have a product with the same B, each in all lanes, at the same time."""
    c = tile_of(op.c.type)
    if c is None or c.get_shape()[-2] != LANES or c.get_shape()[-1] % COLUMN_STEP:
        return False
    if not is_transposed(op.b.type) or not runs_uniformly(op, plan.facts.cluster):
        return False
    a, b = stage_tile(op.a), whole_stage_tile(op.b)
    return a is not None and b is not None and _are_shared(plan, a, b)


def _are_shared(plan: KernelPlan, a: BlockArgument, b: BlockArgument) -> bool:
    """Whether the stages of B are filled by halves for both blocks, those of A by each for itself.

    Products alone may read such stages, since none of two blocks has all of them.
    """
    stages = {pipeline for tile in (a, b) for pipeline in pipelines_of_tile(tile)}
    readers = [reader for one in stages for reader in plan.readers(one).values()]
    if not stages or any(r.by_threads or not r.by_tensor_core for r in readers):
        return False
    of_a, of_b = list(_fills(a)), list(_fills(b))
    return (
        bool(of_a and of_b)
        and not any(_is_half(load, tile) for load, tile in of_a)
        and all(number_of(load.num_multicast) in (None, 1) for load, _ in of_a)
        and all(_is_half(load, tile) for load, tile in of_b)
    )


def _fills(tile: BlockArgument) -> Iterator[tuple[TmaLoadBase, SSAValue]]:
    """The loads into a tile of the stages, each with the tile where the stage is filled."""
    for pipeline in pipelines_of_tile(tile):
        for user in users_of(pipeline):
            if "consumer_idx" in user.properties or not user.regions:
                continue
            filled = user.regions[0].block.args[tile.index]
            for op in user.regions[0].walk():
                if isinstance(op, TmaLoadBase) and stage_tile(op.operands[1]) is filled:
                    yield op, filled


def _is_half(load: TmaLoadBase, tile: SSAValue) -> bool:
    """Whether a load fills one half of the rows of a tile, in two blocks at once."""
    cut = load.operands[1].owner
    if not isinstance(load, AsyncTiledTmaLoadOp) or not isinstance(cut, ExtractSliceOp):
        return False
    whole, rows = tile_of(tile.type), cut.static_sizes.get_values()[0]
    shared = number_of(load.num_multicast) == PAIR and cut.source is tile
    return shared and whole is not None and PAIR * rows == whole.get_shape()[0]
