"""Cost of converting a fragment to the layout that an operation needs."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, prod

import numpy as np

from tileas_xdsl.inference.closed_form import layout_of
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.layout.convert import plan_conversion
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS
from tileas_xdsl.layout.convert.source_map import find_sources
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.register_layout import ElementTable, RegisterLayout

MAX_REGISTERS = 1 << 16
"""The largest register file of a block that is planned exactly; no block has more."""


@lru_cache(maxsize=1024)
def conversion_cost(source: FragmentMap, target: FragmentMap, bits: int) -> int:
    """Cycles of a block to convert: of the plan that `layout.convert` makes.

    What is no layout of digits, or too large for any block, goes through shared memory.
    """
    if source.same_function(target):
        return 0
    tile = _fragment(source)
    if tile is None or not 1 <= bits <= 128 or target.held.size > MAX_REGISTERS:
        return ceil(_through_memory(source, target, bits))
    plan = plan_conversion(tile, _wanted(target, tile.shape), bits)
    return ceil(plan.cost.cycles)


@lru_cache(maxsize=4096)
def expected_cost(source: FragmentMap, target: FragmentMap, bits: int) -> float:
    """About `conversion_cost`, without a plan: to compare candidates."""
    if source.same_function(target):
        return 0
    warps = ceil_div(source.threads, 32)
    if source.is_fully_replicated:
        return warps * target.slots * DEFAULT_WEIGHTS.alu
    memory = _through_memory(source, target, bits)
    tile = _fragment(source)
    if tile is None or target.held.size > MAX_REGISTERS:
        return memory
    kind = find_sources(tile, _wanted(target, tile.shape)).kind()
    if kind in ("identity", "permutation"):
        return warps * target.slots * DEFAULT_WEIGHTS.alu * (kind == "permutation")
    if kind == "shuffle":
        description = ceil_div(target.slots * bits, 32)
        shuffles = warps * description * DEFAULT_WEIGHTS.shuffle + DEFAULT_WEIGHTS.shuffle_latency
        return min(memory, shuffles)
    return memory


def _fragment(source: FragmentMap) -> RegisterLayout | None:
    """The same as a layout, perhaps of the row-major index; None where no digits describe it."""
    layout = layout_of(source)
    if layout is None:
        return None
    by_dimension = layout.rank == len(source.shape) + (source.replicas > 1)
    tile = source.shape if by_dimension else (prod(source.shape),)
    try:
        return RegisterLayout(layout, tile, source.threads)
    except LayoutError:
        return None


def _wanted(target: FragmentMap, tile: tuple[int, ...]) -> ElementTable:
    """`held` with column-major indices of the elements of `tile`."""
    elements = np.arange(prod(tile)).reshape(tile, order="F").ravel()
    return ElementTable(np.where(target.held < 0, -1, elements[target.held]), tile)


def _through_memory(source: FragmentMap, target: FragmentMap, bits: int) -> float:
    """Estimate a conversion by stores, a barrier and loads, in cycles without bank conflicts."""
    weights = DEFAULT_WEIGHTS
    warps = ceil_div(source.threads, 32)
    description = warps * ceil_div((source.slots + target.slots) * bits, 32)
    cycles = description * (weights.wavefront + weights.access)
    return cycles + 2 * weights.barrier + weights.shared_latency
