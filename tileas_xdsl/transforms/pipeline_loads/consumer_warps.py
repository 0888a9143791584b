"""Warps that multiply the tiles of a loop: one warpgroup, or two that share rows or columns."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KernelSpec
from tileas_xdsl.dialects.nv_tileas.attributes import matrix_unit_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.warp_tiles import fits_accumulators
from tileas_xdsl.transforms.pipeline_loads.agent_registers import (
    GROUP_ROWS,
    has_room_for_tiles,
    is_in_tensor_memory,
    live_registers,
)
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.launched_blocks import runs_at_once

ACCUMULATOR_THRESHOLD = 128 * 128
"""Sums of a tile from which on two warpgroups share its rows."""

REGISTER_THRESHOLD = 128
"""Registers of live tiles in a thread of one warpgroup from which on two share their rows."""


def consumer_warps(found: LoadLoop, spec: KernelSpec, target: Target) -> int:
    """Two warpgroups share large tiles, where the matrix unit lets them: their rows.

    Of 64 rows they share the columns if one has not registers for all tiles that live at once:
    logits of 64x256 and the maxima, powers and ones that an epilogue makes of them.
    """
    usual = _usual_warps(spec)
    products = instances_in(found.loop, DotOp)
    shapes = [shape_of(op.c.type) or (1,) for op in products]
    is_large = (
        max(map(prod, shapes)) >= ACCUMULATOR_THRESHOLD
        or live_registers(found, usual) > REGISTER_THRESHOLD
    )
    # Of a CTA that is alone on its multiprocessor the tensor core would be idle while the only
    # consumer warpgroup unpacks an operand.
    is_shared = runs_at_once(found) and found.computes_operands
    can_share = all(
        unit is not None and unit.reads_shared_memory
        for unit in (matrix_unit_of(op.atom) for op in products)
    )
    unit_products = [*_unit_products(found)]
    has_rows = any(map(_has_rows_for_two, unit_products))
    pays = has_rows or not has_room_for_tiles(found, usual, spec.occupancy, target)
    if (
        (is_shared or (is_large and pays))
        and can_share
        and all(map(_is_for_two_groups, unit_products))
    ):
        return max(usual, 2 * WARPGROUP_WARPS)
    return usual


def _unit_products(found: LoadLoop) -> Iterator[DotOp]:
    """The products of the matrix unit in all of the kernel: the same warpgroups do them."""
    for op in operations_in(found.function):
        if isinstance(op, DotOp):
            unit = matrix_unit_of(op.atom)
            if unit is not None and unit.reads_shared_memory:
                yield op


def _is_for_two_groups(op: DotOp) -> bool:
    """Whether two warpgroups can do a product: share its rows, or, of fewer rows, its columns.

    Who shares columns reads all of A, which is then in shared memory.
    """
    rows, columns = op.c.type.get_shape()[-2:]
    if _has_rows_for_two(op):
        return True
    if is_in_tensor_memory(op) or space_of(op.a.type) is not Space.SMEM:
        return False
    return fits_accumulators(rows, columns, 2)


def _has_rows_for_two(op: DotOp) -> bool:
    return op.c.type.get_shape()[-2] % (2 * GROUP_ROWS) == 0


def _usual_warps(spec: KernelSpec) -> int:
    """Whole warpgroups of as many warps as the kernel asks for."""
    return align_up(spec.num_warps, WARPGROUP_WARPS)
