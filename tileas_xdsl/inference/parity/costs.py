"""What an outcome of free mode costs, by TileLang's two models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.parity.engine import Engine
from tileas_xdsl.inference.parity.state import State


@dataclass(frozen=True, order=True)
class Cost:
    """Bytes of memory traffic first, then registers of a thread."""

    memory: int
    registers: int

    def __str__(self) -> str:
        traffic = f"{self.memory} bytes, " if self.memory else ""
        return f"{traffic}{self.registers} registers"


class CostModel(Protocol):
    """What the operations `members` cost when they are laid out as a state says."""

    def cost(self, state: State, members: tuple[int, ...]) -> Cost: ...


@dataclass(frozen=True)
class RegisterCount:
    """The registers of all fragments that are laid out so far."""

    engine: Engine

    def cost(self, state: State, members: tuple[int, ...]) -> Cost:
        return Cost(0, registers(state))


def registers(state: State) -> int:
    """The slots that a thread has for all fragments."""
    return sum(layout.slots for layout in state.layouts.values() if isinstance(layout, FragmentMap))


MODELS: Mapping[str, Callable[[Engine], CostModel]] = {"register-count": RegisterCount}
