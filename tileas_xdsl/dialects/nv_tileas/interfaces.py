"""Traits of operations that passes query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from xdsl.ir import Operation, Region
from xdsl.traits import OpTrait


class MemoryConsistency(OpTrait):
    """The operation takes part in the order of memory effects.

    Pure rewrites must not reorder, duplicate or erase it, nor move anything across it: asynchronous
    loads, stores, copies and dots, `async.wait`, TMA, `copy`, `make_tiled_tma_desc`, `reduce` and
    `scan`.  Operations that are ordered by tokens alone (`async.future_wait`, the pipeline) have
    not this trait.
    """


class TileStructure(OpTrait):
    """The operation only names or rearranges tiles: a rewrite may look through it."""


class Producer(ABC):
    """An operation whose region generates the data of a stage."""

    @property
    @abstractmethod
    def producing_region(self) -> Region | None:
        """The region that fills the stage; None for a bare `producer_write`."""


class AgentLike(ABC):
    """An operation with a body for each agent."""

    @property
    @abstractmethod
    def agent_bodies(self) -> Sequence[Region]:
        """The bodies, one for each agent."""

    @property
    @abstractmethod
    def agent_warps(self) -> Sequence[int] | None:
        """The warps of each agent, None where they are not resolved yet."""


def is_memory_consistency(op: Operation) -> bool:
    """Whether `op` takes part in the order of memory effects; unknown operations do."""
    return op.has_trait(MemoryConsistency, value_if_unregistered=True)


def is_tile_structure(op: Operation) -> bool:
    """Whether a rewrite may look through `op`."""
    return op.has_trait(TileStructure, value_if_unregistered=False)
