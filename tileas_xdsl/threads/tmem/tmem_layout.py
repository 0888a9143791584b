"""Columns of tiles in tensor memory, and the barriers of accumulators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.memory.accumulators import TmemAccumulator
from tileas_xdsl.data_classes import dataclass


@dataclass(eq=False)
class AccumulatorRing:
    """The copies of an accumulator, each filled by products, then read by an agent.

    Accumulators that are never alive together may share one ring, one after the other.
    """

    accumulators: Sequence[TmemAccumulator]
    agent: int
    """The number of the agent that reads them."""
    copies: int
    full: SSAValue
    empty: SSAValue
    """Pointers to the barriers of the first copy."""


@dataclass(eq=False)
class TmemColumns:
    """Columns of tensor memory."""

    column: int
    """The first column of the first copy."""
    columns: int
    ring: AccumulatorRing | None = None
    """None for a tile that threads write and read."""


@dataclass
class TensorMemory:
    """The tensor memory allocated for a kernel."""

    base: SSAValue
    """The address of its first column."""
    columns: int
    accumulators: Sequence[TmemColumns]
    of_value: dict[SSAValue, TmemColumns] = field(default_factory=dict[SSAValue, TmemColumns])
    """The location of each accumulator value; of other tiles, by the allocated tile."""
    scales: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """The first column of the scales of each block-scaled product."""
