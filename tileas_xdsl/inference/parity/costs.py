"""Cost of a free-mode result, by TileLang's two models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.parity.fixed_point import Engine
from tileas_xdsl.inference.parity.loops.containment import is_full
from tileas_xdsl.inference.parity.loops.loop_candidates import has_thread_dependent_slot
from tileas_xdsl.inference.parity.memory_traffic import traffic
from tileas_xdsl.inference.parity.state import State
from tileas_xdsl.inference.program import Loop, LoopKind
from tileas_xdsl.layout.integers import ceil_div


@dataclass(frozen=True, order=True)
class Cost:
    """Bytes of memory traffic first, then registers of a thread."""

    memory: int
    registers: int

    def __str__(self) -> str:
        traffic = f"{self.memory} bytes, " if self.memory else ""
        return f"{traffic}{self.registers} registers"


class CostModel(Protocol):
    """A cost model of the operations `members` under the layouts of a state."""

    def cost(self, state: State, members: tuple[int, ...]) -> Cost: ...


@dataclass(frozen=True)
class RegisterCount:
    """The registers of all fragments that are laid out so far, unless some must be spilled."""

    engine: Engine

    def cost(self, state: State, members: tuple[int, ...]) -> Cost:
        return Cost(spilled_bytes(self.engine, state, members), registers(state))


@dataclass(frozen=True)
class IoAware:
    """Traffic of global memory and of spilled registers, then registers."""

    engine: Engine

    def cost(self, state: State, members: tuple[int, ...]) -> Cost:
        total = sum(self._traffic(state, number) for number in members)
        return Cost(spilled_bytes(self.engine, state, members) + total, registers(state))

    def _traffic(self, state: State, number: int) -> int:
        """A copy moves what its fragment holds, other loops what their iterations touch."""
        operation = self.engine.program.operations[number]
        if not isinstance(operation, Loop) or operation.kind is LoopKind.FILL:
            return 0
        if operation.kind is LoopKind.PARALLEL:
            return traffic(self.engine.program, operation, state.loops[number].owners)
        uses = self.engine.loops[number].uses
        layout = state.layouts.get(uses[0].buffer) if len(uses) == 1 else None
        if not isinstance(layout, FragmentMap):
            return 0
        if layout.shape != operation.extents:
            layout = state.loops[number].owners
        return traffic(self.engine.program, operation, layout)


def registers(state: State) -> int:
    """The slots that a thread has for all fragments."""
    return sum(layout.slots for layout in state.layouts.values() if isinstance(layout, FragmentMap))


def spilled_bytes(engine: Engine, state: State, members: tuple[int, ...]) -> int:
    """Traffic of register arrays that loops index by thread, which live in local memory.

    Which register a thread uses is asked of the inverse of the loop's layout: without one, nothing
    is counted.
    """
    total = 0
    for number in members:
        decision = state.loops.get(number)
        if decision is None or not is_full(decision.owners):
            continue
        owners = decision.owners
        for use in engine.loops[number].uses:
            layout = state.layouts[use.buffer]
            assert isinstance(layout, FragmentMap)
            if not has_thread_dependent_slot(engine.loops[number], owners, use, layout):
                continue
            size = ceil_div(engine.program.buffers[use.buffer].bits, 8)
            threads = int(owners.thread_table.max()) + 1
            total += max(layout.slots * size, 2 * threads * owners.slots * size)
    return total


MODELS: Mapping[str, Callable[[Engine], CostModel]] = {
    "register-count": RegisterCount,
    "io-aware": IoAware,
}
