"""Recognise MMAs that two CTAs of a cluster can issue together (`cta_group::2`).

`tcgen05.mma.cta_group::2` computes 256 rows with one instruction: each CTA of a pair has its 128
rows of A and its half of B in shared memory (PTX ISA, tcgen05.mma). A program asks for that by how
it loads: in each CTA A is loaded for itself, and one half of B is multicast to both:

    CTA 0: load A0;  load B[0:64] multicast to 0, 1       as a pair: CTA 0 keeps A0, B[0:64]
    CTA 1: load A1;  load B[64:128] multicast to 0, 1                CTA 1 keeps A1, B[64:128]

The pair then needs no multicast, and half the shared memory for B. Legal only if all MMAs of the
kernel are of pairs, and nothing but MMAs reads the stages: no CTA has all of B.
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
"""N of an MMA of 256 rows is a multiple of this (PTX ISA, tcgen05.mma shapes)."""


def are_of_pairs(plan: KernelPlan, chosen: Sequence[Product]) -> bool:
    """Whether all MMAs of a kernel can be of CTA pairs; those not in `chosen` must be already."""
    products = [op for op in plan.kernel.walk() if is_tensor_product(op)]
    if prod(plan.facts.cluster) != PAIR or not products:
        return False
    if any(op not in chosen and not is_of_two_blocks(op) for op in products):
        return False
    return all(_is_of_pair(plan, op) for op in chosen if is_tensor_product(op))


def _is_of_pair(plan: KernelPlan, op: Product) -> bool:
    """Whether both CTAs of a pair issue an MMA together: 128 rows each, with the same B."""
    c = tile_of(op.c.type)
    if c is None or c.get_shape()[-2] != LANES or c.get_shape()[-1] % COLUMN_STEP:
        return False
    if not is_transposed(op.b.type) or not runs_uniformly(op, plan.facts.cluster):
        return False
    a, b = stage_tile(op.a), whole_stage_tile(op.b)
    return a is not None and b is not None and _are_shared(plan, a, b)


def _are_shared(plan: KernelPlan, a: BlockArgument, b: BlockArgument) -> bool:
    """Whether stages of B are filled by multicast halves, those of A by each CTA for itself.

    Only MMAs may read such stages, since neither CTA of a pair has all of B.
    """
    stages = {pipeline for tile in (a, b) for pipeline in pipelines_of_tile(tile)}
    readers = [reader for one in stages for reader in plan.readers(one).values()]
    if not stages or any(r.by_threads or not r.by_tensor_core for r in readers):
        return False
    # An MMA of a pair reads its rows of A from the own CTA and B from both: each CTA loads all of
    # its own A and half of B.
    of_a, of_b = list(_fills(a)), list(_fills(b))
    return (
        bool(of_a and of_b)
        and not any(_is_half(load, tile) for load, tile in of_a)
        and all(number_of(load.num_multicast) in (None, 1) for load, _ in of_a)
        and all(_is_half(load, tile) for load, tile in of_b)
    )


def _fills(tile: BlockArgument) -> Iterator[tuple[TmaLoadBase, SSAValue]]:
    """Yield the loads into a tile of the stages, each with the block argument that it fills."""
    for pipeline in pipelines_of_tile(tile):
        for user in users_of(pipeline):
            if "consumer_idx" in user.properties or not user.regions:
                continue
            filled = user.regions[0].block.args[tile.index]
            for op in user.regions[0].walk():
                if isinstance(op, TmaLoadBase) and stage_tile(op.operands[1]) is filled:
                    yield op, filled


def _is_half(load: TmaLoadBase, tile: SSAValue) -> bool:
    """Whether a load multicasts half of the rows of a tile to both CTAs of a pair."""
    cut = load.operands[1].owner
    if not isinstance(load, AsyncTiledTmaLoadOp) or not isinstance(cut, ExtractSliceOp):
        return False
    whole, rows = tile_of(tile.type), cut.static_sizes.get_values()[0]
    shared = number_of(load.num_multicast) == PAIR and cut.source is tile
    return shared and whole is not None and PAIR * rows == whole.get_shape()[0]
