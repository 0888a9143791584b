"""Recognise kernels whose MMAs two CTAs of a cluster can all issue together (`cta_group::2`).

All MMAs of a kernel have the same `.cta_group` (PTX ISA, tcgen05), so that one alone decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.analysis.memory.accumulators import is_of_two_blocks, is_tensor_product
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.threads.dot.cta_pair_checks import pair_problem
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan


def are_of_pairs(plan: KernelPlan, chosen: Sequence[AsyncDotOp | DotOp]) -> bool:
    """Whether all MMAs of a kernel can be of CTA pairs; those not in `chosen` must be already."""
    products = [op for op in operations_in(plan.kernel) if is_tensor_product(op)]
    if not products or any(op not in chosen and not is_of_two_blocks(op) for op in products):
        return False
    return all(pair_problem(plan, op) is None for op in chosen if is_tensor_product(op))
