"""Iterate over the elements of a tile that a thread owns."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import logical_and
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.registers.coordinates import (
    is_first_replica,
    is_holding_warp,
    thread_chunks,
)
from tileas_xdsl.threads.registers.vector_values import element


@dataclass(frozen=True)
class Cell:
    """An element of a tile, and the register of a thread that holds it."""

    block: int
    register: int
    exists: SSAValue | None
    """Whether this thread is to act for it; None if always."""


def cells_to_load(e: ThreadBuilder, layout: RegisterLayout, bits: int) -> Iterator[Cell]:
    """All elements that threads have; threads whose registers hold nothing have none."""
    form = blocked(layout)
    holding = None if form is None else is_holding_warp(e, form)
    yield from _cells(e, layout, bits, holding, stored=False)


def cells_to_store(e: ThreadBuilder, layout: RegisterLayout, bits: int) -> Iterator[Cell]:
    """Each element of the tile in one thread only."""
    yield from _cells(e, layout, bits, is_first_replica(e, layout), stored=True)


def _cells(
    e: ThreadBuilder, layout: RegisterLayout, bits: int, guard: SSAValue | None, *, stored: bool
) -> Iterator[Cell]:
    for chunk in thread_chunks(e, layout, bits, stored=stored):
        exists = logical_and(e, guard, chunk.exists)
        for k in range(chunk.count):
            yield Cell(chunk.block, chunk.register + k, exists)


def is_held_once(layout: RegisterLayout) -> bool:
    """Whether no two registers of the agent hold one element."""
    return layout.replicas == 1


def mask_of_cell(e: ThreadBuilder, mask: RegisterTile | None, cell: Cell) -> SSAValue | None:
    """Whether a mask leaves an element; None where there is no mask."""
    return None if mask is None else element(e, mask.parts[cell.block], cell.register)
