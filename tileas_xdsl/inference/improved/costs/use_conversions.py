"""Cost of converting a fragment, or of staging it in shared memory, for the uses of a work item."""

from __future__ import annotations

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.costs.conversion_costs import expected_cost
from tileas_xdsl.inference.improved.costs.cost_model import (
    registers_of,
    warps_of,
)
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS
from tileas_xdsl.layout.integers import ceil_div

BULKY = 32
"""Registers of a thread beyond which what a loop needs more than once is put into shared memory."""


def moving_cost(layout: FragmentMap, target: FragmentMap, uses: list[FragmentUse]) -> float:
    """Cycles of a block to convert a fragment to `target` for its uses, and back after writes."""
    bits = uses[0].buffer.bits
    return sum(expected_cost(a, b, bits) for a, b in crossings(layout, target, uses))


def staging_cost(layout: FragmentMap, uses: list[FragmentUse]) -> float:
    """Cycles to store a fragment to shared memory, and to load it back where it is written."""
    ways = 1 + any(use.access.writes for use in uses)
    description = ceil_div(layout.slots * uses[0].buffer.bits, 32)
    weights = DEFAULT_WEIGHTS
    cycles = warps_of(layout) * description * (weights.wavefront + weights.access)
    return ways * (cycles + 2 * weights.barrier + weights.shared_latency)


def is_bulky(layout: FragmentMap, target: FragmentMap, uses: list[FragmentUse]) -> bool:
    """Whether a target needs far more registers than a fragment has: shared memory needs none.

    Copies in many threads do, as do elements that few threads hold all of.
    """
    bits = uses[0].buffer.bits
    return registers_of(target, bits) > max(BULKY, 2 * registers_of(layout, bits))


def crossings(
    layout: FragmentMap, target: FragmentMap, uses: list[FragmentUse]
) -> list[tuple[FragmentMap, FragmentMap]]:
    """The conversions of a fragment: to what the work item sees, where it reads or keeps elements,
    and back, where it writes.
    """
    found: list[tuple[FragmentMap, FragmentMap]] = []
    if any(
        not use.access.writes or not use.is_identity or not use.access.is_certain for use in uses
    ):
        found.append((layout, target))
    if any(use.access.writes for use in uses):
        found.append((target, layout))
    return found
