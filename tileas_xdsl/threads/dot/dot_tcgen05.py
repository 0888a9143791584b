"""Lowering of products to tcgen05.mma: issued by one thread, their loops run by one warp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Region

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import UmmaOp
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp, MatrixProduct
from tileas_xdsl.dialects.nv_tileas.compute.product_ends import ends_of
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import major_of
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.mma.canonical import INSTRUCTION_K_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant, is_less
from tileas_xdsl.threads.codegen.lowered_values import (
    Lowered,
    Splat,
    StageIndex,
    TmemTile,
    flatten,
    unflatten,
)
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import is_mma_issuer, is_mma_warp
from tileas_xdsl.threads.dot.cta_pair_checks import check_pair
from tileas_xdsl.threads.dot.mma_accumulate import operand_types
from tileas_xdsl.threads.dot.operands.smem_descriptors import step_descriptor, tcgen05_descriptor
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.tmem.accumulator_barriers import (
    await_product,
    begin_accumulation,
    blocks_of,
)
from tileas_xdsl.threads.tmem.tmem_copy import address

Product = AsyncDotOp | DotOp


def issue(e: ThreadBuilder, op: Product) -> TmemTile:
    """Emit the instructions of a product, one for each 32 bytes of K."""
    check_target(e, op)
    a, b = shared_tile(e, op.a), shared_tile(e, op.b)
    accumulator = accumulator_of_product(e, op)
    (rows, columns), (depth, own) = accumulator.shape, shape_of(op.b.type) or (0, 0)
    a_major, b_major = major_of(op.a.type, of_b=False), major_of(op.b.type, of_b=True)
    left = a.layout.canonical(op, rows, depth, e.plan.target, major=a_major)
    blocks = blocks_of(e)
    check_pair(e.plan, op)
    right = b.layout.canonical(op, columns // blocks, depth, e.plan.target, major=b_major)
    first, other = tcgen05_descriptor(e, a, left), tcgen05_descriptor(e, b, right)
    destination, (_, end) = address(e, accumulator), ends_of(op, own, depth)
    steps = ceil_div(end * a.layout.bits, INSTRUCTION_K_BITS)
    a_type, b_type = operand_types(op)
    with predicated(e, is_mma_issuer(e)):
        for k in range(steps):
            product = UmmaOp(
                destination,
                step_descriptor(e, first, left, k),
                step_descriptor(e, other, right, k),
                i1_constant(e, True) if k else accumulator.full,
                shape=(blocks * rows, columns, INSTRUCTION_K_BITS // a.layout.bits),
                a_type=a_type,
                b_type=b_type,
                d_type=accumulator.element,
                a_major=a_major,
                b_major=b_major,
                num_cta=blocks,
            )
            e.insert(product)
    await_product(e, op)
    return accumulator.of([i1_constant(e, True)])


def check_target(e: ThreadBuilder, op: MatrixProduct) -> None:
    """Reject tcgen05 products on a target without them."""
    assert op.atom is not None
    reason = e.plan.target.lacks(Feature.TCGEN05, f"atom '{op.atom.data.keyword}'")
    if reason is not None:
        raise op_error(op, reason)


def accumulator_of_product(e: ThreadBuilder, op: MatrixProduct) -> TmemTile:
    """Return the accumulator of a product in tensor memory."""
    found = e.get(op.c)
    if isinstance(found, Splat):
        return begin_accumulation(e, op, op.result, found)
    if not isinstance(found, TmemTile):
        raise op_error(op, "adds to sums that are not in tensor memory")
    return found


Loop: TypeAlias = Callable[[ThreadBuilder, scf.ForOp, Sequence[Lowered]], Sequence[Lowered]]
"""Emit a loop with the given initial values."""


def products_only(
    e: ThreadBuilder, op: scf.ForOp, begin: Sequence[Lowered], loop: Loop
) -> Sequence[Lowered]:
    """Run a loop of MMAs in the issuer warp; other warps only derive its results."""
    results = list(begin) if not e.issues else _by_issuing_warp(e, op, begin, loop)
    runs = is_less(e, e.scalar(op.lb), e.scalar(op.ub))
    return [
        value.of([e.insert(arith.OrIOp(start.full, runs)).result])
        if isinstance(value, TmemTile) and isinstance(start, TmemTile)
        else value
        for value, start in zip(results, begin, strict=True)
    ]


def _by_issuing_warp(
    e: ThreadBuilder, op: scf.ForOp, begin: Sequence[Lowered], loop: Loop
) -> Sequence[Lowered]:
    carried = [value for value in begin if isinstance(value, StageIndex)]
    then, other = Block(), Block()
    e.by_one_warp, outer = True, e.by_one_warp
    with e.within(then):
        ended = loop(e, op, begin)
        kept = [value for value in ended if isinstance(value, StageIndex)]
        e.insert(scf.YieldOp(*flatten(kept)))
    e.by_one_warp = outer
    with e.within(other):
        e.insert(scf.YieldOp(*flatten(carried)))
    condition = is_mma_warp(e)
    assert condition is not None
    types = [part.type for part in flatten(carried)]
    made = e.insert(scf.IfOp(condition, types, Region(then), Region(other)))
    given = iter(unflatten(carried, made.results))
    return [next(given) if isinstance(value, StageIndex) else value for value in begin]
