"""Global memory of each CTA: slots of an arena, which a launch allocates for all CTAs.

A slot is as large as a tensor map.  The arena is ordered by the allocations of a kernel, then by
CTA, so that a launch needs to know only how many slots a CTA has.  Where no launch allocates one,
`plan.arena` points to what the CTA has acquired itself (`threads/tma/embedded_maps.py`).
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
    allocated, plan.arena_slots = plan.arena_slots, plan.arena_slots + count
    if plan.is_standalone:
        return advance(e, plan.arena, allocated * SIZE, SIZE)
    slot = extend_to_i64(e, cta_number(e, allocated))
    if count > 1:
        cta = extend_to_i64(e, cta_number(e))
        slot = add(e, slot, multiply(e, cta, count - 1))
    return advance(e, plan.arena, multiply(e, slot, SIZE), SIZE)


def cta_number(e: ThreadBuilder, allocated: int = 0) -> SSAValue:
    """Return the number of this CTA in the grid, and `allocated` times all of them, in 32 bits."""
    number = i32_constant(e, allocated)
    for axis in ("z", "y", "x"):
        extent = e.insert(GridDimOp(axis)).result
        number = add(e, multiply(e, number, extent), e.insert(BlockIdxOp(axis)).result)
    return number
