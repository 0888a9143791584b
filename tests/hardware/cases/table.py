"""The list of all cases by family."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hardware.cases.allocations import allocation_cases
from hardware.cases.atomics import atomic_cases
from hardware.cases.barriers import barrier_cases
from hardware.cases.blackwell import blackwell_cases
from hardware.cases.boxes import box_cases, pixel_cases, reduction_cases
from hardware.cases.budgets import budget_cases, packing_cases
from hardware.cases.case import Case
from hardware.cases.clusters import cluster_cases
from hardware.cases.copies import bulk_reduction_cases, copy_cases
from hardware.cases.elementwise import arithmetic_cases, comparison_cases, conversion_cases
from hardware.cases.maps import map_cases
from hardware.cases.matrices import descriptor_cases, matrix_cases, printed_cases, wgmma_cases
from hardware.cases.sparse import sparse_cases
from hardware.cases.video import video_cases
from hardware.cases.warps import warp_cases

Family = Callable[[], Iterator[Case]]
"""The cases of one kind of kernel."""

FAMILIES: tuple[Family, ...] = (
    arithmetic_cases,
    comparison_cases,
    conversion_cases,
    video_cases,
    warp_cases,
    atomic_cases,
    barrier_cases,
    matrix_cases,
    descriptor_cases,
    wgmma_cases,
    sparse_cases,
    printed_cases,
    map_cases,
    box_cases,
    pixel_cases,
    reduction_cases,
    cluster_cases,
    copy_cases,
    bulk_reduction_cases,
    budget_cases,
    packing_cases,
    blackwell_cases,
    allocation_cases,
)
"""Generators of cases, one per kind of kernel."""


def all_cases() -> list[Case]:
    """Yield every case of every family."""
    return [case for family in FAMILIES for case in family()]
