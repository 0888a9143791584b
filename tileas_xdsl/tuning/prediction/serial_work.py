"""What code takes of units that overlaps nothing by itself: outside of loops, or not pipelined.

A block loads, then computes, then stores; other blocks of the multiprocessor run meanwhile.  Units
are those of the timing model of loops (`scheduling/resources/unit_demand.py`).  Beside them a block
waits, for what it loads, and for its other warps in each reduction:

    wait of a reduction = five exchanges in a warp, a barrier, a read of what the warps have written
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from math import prod

from xdsl.ir import Block

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.atomics import AtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.explanation.bounds.work_counts import own_operations
from tileas_xdsl.scheduling.loops.macro_operations import (
    MacroKind,
    MacroOperation,
    is_scheduled,
    kind_of,
)
from tileas_xdsl.scheduling.resources.unit_demand import work_of
from tileas_xdsl.target.costs.latencies import Latencies

_COPIES = (MacroKind.LOAD, MacroKind.STORE, MacroKind.TMA_LOAD, MacroKind.TMA_STORE)
_COMPUTING = (MacroKind.REDUCE, MacroKind.ELEMENTWISE)
_EXCHANGES = 5
"""Exchanges by which a warp reduces its 32 lanes."""

ACCUMULATOR_COLUMNS = 2
"""Columns beside each other that a lane has of an accumulator (PTX ISA, wgmma and mma)."""


@dataclass
class SerialWork:
    """Cycles of units, and those of waiting, of one run of a block of operations."""

    units: Counter[str] = field(default_factory=Counter[str])
    waits: float = 0
    load_waits: float = 0
    """Cycles of waiting for what is loaded, which rounds of a loop have together that load so."""
    loads: bool = False
    """Whether tiles were loaded before, and since the last reduction."""
    has_loaded: bool = False
    meets: bool = False
    """Whether warps wait for each other for what they have loaded."""
    atomics: int = 0
    """Accesses that add elements to global memory by `red`."""
    atomic_bytes: float = 0


def serial_work(block: Block, latencies: Latencies) -> SerialWork:
    """Return what the operations of a block compute, without loops inside of it and products.

    The first load comes from DRAM; of others those behind a reduction wait for the L2 cache, for
    loads do not move across its barriers.
    """
    found = SerialWork()
    for op in own_operations(block):
        if not is_scheduled(op) or isinstance(op, ExpandDimsOp | ViewOp):
            continue
        node = MacroOperation(kind_of(op), (op,))
        found.meets |= found.has_loaded and _is_exchange(node)
        if isinstance(op, AtomicRmwOp):
            count = prod(shape_of(op.value.type) or (1,))
            found.atomics += count // _elements_of_access(op)
            found.atomic_bytes += count * bits_of(element_of(op.value.type)) / 8
        elif node.kind in _COPIES:
            _add_copy(found, node, latencies)
        elif node.kind in _COMPUTING:
            _add_computation(found, node, latencies)
    return found


def _elements_of_access(op: AtomicRmwOp) -> int:
    """Return the elements that one lane adds at once: those of an accumulator that it holds."""
    made = op.value.owner
    is_product = not isinstance(made, Block) and has_instance(made, DotOp)
    return ACCUMULATOR_COLUMNS if is_product and not any(op.result.uses) else 1


def _add_copy(found: SerialWork, node: MacroOperation, latencies: Latencies) -> None:
    if node.kind in (MacroKind.LOAD, MacroKind.TMA_LOAD) and not found.loads:
        known = found.has_loaded
        found.load_waits += latencies.cache_latency if known else latencies.global_latency
        found.loads = found.has_loaded = True


def _is_exchange(node: MacroOperation) -> bool:
    return node.kind in (MacroKind.REDUCE, MacroKind.CONVERT)


def _add_computation(found: SerialWork, node: MacroOperation, latencies: Latencies) -> None:
    work = work_of(node, latencies, 1)
    found.units.update({str(unit): cycles for unit, cycles in work.units.items()})
    found.waits += max(work.lane - max(work.units.values(), default=0), 0)
    if node.kind is MacroKind.REDUCE:
        exchanges = _EXCHANGES * latencies.shuffle
        found.waits += exchanges + latencies.barrier + 2 * latencies.shared_latency
        found.loads = False
