"""What every plan of a conversion has: a kind, an exact cost, a sentence and an evaluation.

The kinds, cheapest first, by where a thread finds the elements that it needs (`source_map`):

    identity      in the same registers            nothing
    permutation   in other registers of its own    renaming, and byte permutes of packed words
    shuffle       in lanes of its warp             rounds of shfl.sync, with selects
    shared        in threads of other warps        stores, a barrier, loads

A plan can be evaluated on a register file, as numpy: so each is checked against the layouts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.register_layout import RegisterContents, RegisterLayout
from tileas_xdsl.layout.units import WARP

Kind: TypeAlias = Literal["identity", "permutation", "shuffle", "shared"]
Registers: TypeAlias = NDArray[Any]
"""`(threads, values)`: the register file of a fragment, one entry per element, of any type."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What the counts of a cost are worth in cycles of one SM that runs only this block.

    Throughputs per SM and cycle: 128 bytes of shared memory, 32 lanes of shuffle, 64 of select and
    byte permute (CUDA C++ Programming Guide, arithmetic instructions, 8.x and 9.0); four warps
    issue an instruction.  Latencies are paid once: shared memory 29 cycles (arXiv 2402.13499,
    Hopper), a shuffle 24 and a barrier 20 (estimates).
    """

    wavefront: float = 1.0
    """Per wavefront of shared memory."""
    shuffle: float = 1.0
    """Per warp and shuffle."""
    alu: float = 0.5
    """Per warp and select or byte permute."""
    access: float = 0.25
    """Per warp and store or load instruction, besides its wavefronts."""
    barrier: float = 20.0
    """Per barrier of the block."""
    shared_latency: float = 29.0
    shuffle_latency: float = 24.0


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Cost:
    """Exact instruction counts (per thread unless stated); `cycles` is the only estimate."""

    shuffles: int = 0
    """`shfl.sync.idx.b32` instructions."""
    alu: int = 0
    """Selects and byte permutes (`selp`, `prmt`; shifts and ors below 8 bits)."""
    stores: int = 0
    """Shared-memory store instructions."""
    loads: int = 0
    wavefronts_stored: int = 0
    """Wavefronts of all warps together."""
    wavefronts_loaded: int = 0
    shared_bytes: int = 0
    """Size of the buffer."""
    barriers: int = 0
    """Barriers of the whole block; a buffer that each warp keeps to itself needs none."""
    cycles: float = 0.0

    @property
    def instructions(self) -> int:
        """Instructions that each thread executes, address arithmetic aside."""
        return self.shuffles + self.alu + self.stores + self.loads + self.barriers

    @property
    def wavefronts(self) -> int:
        """Wavefronts stored and loaded."""
        return self.wavefronts_stored + self.wavefronts_loaded

    def estimated(self, warps: int, weights: Weights) -> Cost:
        """The same counts with `cycles` filled in for a block of `warps` warps."""
        cycles = self.wavefronts * weights.wavefront + self.barriers * weights.barrier
        cycles += warps * (self.shuffles * weights.shuffle + self.alu * weights.alu)
        cycles += warps * (self.stores + self.loads) * weights.access
        cycles += weights.shuffle_latency * (self.shuffles > 0)
        cycles += weights.shared_latency * (self.loads > 0)
        return replace(self, cycles=cycles)


@dataclass(frozen=True, eq=False)
class Plan(ABC):
    """How the registers of `target` get the elements that `source` holds."""

    source: RegisterLayout
    target: RegisterContents
    elem_bits: int
    cost: Cost

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """The class of the plan."""

    @abstractmethod
    def explain(self) -> str:
        """The plan and its cost in one sentence."""

    @abstractmethod
    def _moved(self, registers: Registers) -> Registers:
        """`apply` without its check; empty target registers hold anything."""

    def apply(self, registers: Registers) -> Registers:
        """Execute the plan step by step on a register file.

        `(threads, source.values)` in, `(threads, target.values)` out; empty target registers are 0.
        """
        expected = (self.source.threads, self.source.values)
        if registers.shape != expected:
            raise LayoutError(f"registers of shape {registers.shape}: the source has {expected}")
        return np.where(self.target.held < 0, 0, self._moved(registers)).astype(registers.dtype)


def warps_of(fragment: RegisterContents) -> int:
    """How many warps the threads of a fragment fill."""
    return ceil_div(fragment.threads, WARP)


def words_of(elem_bits: int) -> int:
    """32-bit registers that one element takes (at least 1)."""
    return ceil_div(elem_bits, 32)


def per_word(elem_bits: int) -> int:
    """Elements in a 32-bit register; an element takes a power-of-two number of bits there."""
    return max(1, 32 >> (elem_bits - 1).bit_length())


def counted(number: int, noun: str) -> str:
    """`1 round`, `2 rounds`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
