"""Global memory of each CTA: slots of an arena, which a launch allocates for all CTAs.

A slot is as large as a tensor map.  The arena is ordered by the allocations of a kernel, then by
CTA, so that a launch needs to know only how many slots a CTA has.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.cute import PtrType
from tileas_xdsl.dialects.cute_nvgpu import BlockIdxOp, GridDimOp
from tileas_xdsl.target.kernel_abi import ARENA
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, extend_to_i64, i32_constant, multiply
from tileas_xdsl.threads.codegen.kernel_signature import add_hidden_argument
from tileas_xdsl.threads.codegen.pointer_ops import advance


def allocate_slots(e: ThreadBuilder, count: int = 1) -> SSAValue:
    """Return the address of `count` slots of this CTA, side by side, aligned to a slot."""
    plan = e.plan
    if plan.arena is None:
        plan.arena = add_hidden_argument(e, ARENA, PtrType(i8, "gmem", SIZE))
    slot = extend_to_i64(e, _ordinal(e, plan.arena_slots))
    if count > 1:
        cta = extend_to_i64(e, _ordinal(e, 0))
        slot = add(e, slot, multiply(e, cta, count - 1))
    plan.arena_slots += count
    return advance(e, plan.arena, multiply(e, slot, SIZE), SIZE)


def _ordinal(e: ThreadBuilder, allocated: int) -> SSAValue:
    """Return `allocated` times the CTAs of the grid, and the number of this one."""
    number = i32_constant(e, allocated)
    for axis in ("z", "y", "x"):
        extent = e.insert(GridDimOp(axis)).result
        number = add(e, multiply(e, number, extent), e.insert(BlockIdxOp(axis)).result)
    return number
