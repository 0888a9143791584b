"""Two machine models: times measured on GPUs, and the published one of 24 issue slots.

A model says what a macro operation holds of each unit and when its results are there.  Schedules
for running use `MEASURED`; `SLOTS` is there to follow the published examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.scheduling.loops.macro_operations import MacroKind, MacroOperation
from tileas_xdsl.scheduling.problem import Reservation
from tileas_xdsl.scheduling.resources.unit_demand import UnitDemand, work_of
from tileas_xdsl.scheduling.schedule import Role
from tileas_xdsl.target.costs.issue_slots import FOOTPRINTS, Footprint
from tileas_xdsl.target.costs.latencies import Latencies
from tileas_xdsl.target.costs.units import Unit


class ModelName(StrEnum):
    """A machine model, as the pass's option names it."""

    MEASURED = "measured"
    SLOTS = "slots"


@dataclass(frozen=True)
class Cost:
    """What a macro operation of a role holds, and the cycles until its results are there."""

    unit: Unit
    """The unit that it occupies longest."""
    reservations: tuple[Reservation, ...]
    latency: int
    chained: int
    """The latency to a product that adds to the result of this one."""
    length: int
    """Cycles from its start until it has read all that it reads."""


RATES = frozenset({Unit.ISSUE, Unit.SHARED_MEMORY, Unit.FMA, Unit.GLOBAL_MEMORY})
"""Units that operations share cycle by cycle; of the others one operation has all."""


@dataclass(frozen=True)
class MachineModel:
    """A model for a target, with the steps in which it counts cycles."""

    name: ModelName
    latencies: Latencies
    replicas: int = 1

    @property
    def quantum(self) -> int:
        """Granularity of start times, in cycles."""
        return 32 if self.name is ModelName.MEASURED else 1

    @property
    def release(self) -> int:
        """Cycles from the last read of a stage until its next copy may be issued."""
        measured = self.latencies.arrive + self.latencies.wake
        return measured if self.name is ModelName.MEASURED else 0

    def cost(self, node: MacroOperation, role: Role) -> Cost:
        """Return what a macro operation costs in a role."""
        if self.name is ModelName.SLOTS:
            return _slot_cost(node)
        replicas = 1 if role is Role.PRODUCER else self.replicas
        return _measured_cost(work_of(node, self.latencies, replicas), role)


def occupied_units(node: MacroOperation, latencies: Latencies) -> Sequence[Unit]:
    """Return the units that a macro operation uses by either model, of which a place names one.

    Warps issue all that they do themselves, whatever unit is busy longest with it.
    """
    found = [unit for unit, cycles in work_of(node, latencies, 1).units.items() if cycles]
    issued = [] if node.kind is MacroKind.TMA_LOAD else [Unit.ISSUE]
    return list(dict.fromkeys([*found, _footprint(node)[1], *issued]))


def lane(role: Role) -> str:
    """The name of the unit that the warps of a role are: they do one thing after another."""
    return f"warps of {role}"


def _measured_cost(work: UnitDemand, role: Role) -> Cost:
    held = [
        Reservation(unit, cycles, exclusive=unit not in RATES)
        for unit, cycles in work.units.items()
        if cycles
    ]
    held.append(Reservation(lane(role), work.lane))
    unit = max(work.units, key=lambda one: work.units[one], default=Unit.ISSUE)
    length = max([work.lane, *work.units.values()])
    return Cost(unit, tuple(held), work.latency, work.chained, length)


def _slot_cost(node: MacroOperation) -> Cost:
    footprint, unit = _footprint(node)
    held = tuple(Reservation(slot, cycles) for slot, cycles in footprint.slots)
    length = max(cycles for _, cycles in footprint.slots)
    return Cost(unit, held, footprint.latency, footprint.latency, length)


_CLASSES: Mapping[MacroKind, tuple[str, Unit]] = {
    MacroKind.TMA_LOAD: ("tma_load", Unit.TMA),
    MacroKind.TMA_STORE: ("tma_store", Unit.TMA),
    MacroKind.LOAD: ("global_read", Unit.GLOBAL_MEMORY),
    MacroKind.STORE: ("global_write", Unit.GLOBAL_MEMORY),
    MacroKind.DOT: ("mma", Unit.TENSOR_CORE),
    MacroKind.REDUCE: ("arithmetic", Unit.ISSUE),
    MacroKind.ELEMENTWISE: ("arithmetic", Unit.ISSUE),
}


def _footprint(node: MacroOperation) -> tuple[Footprint, Unit]:
    """By the kind, and for what moves on the chip by the memory that it writes or reads."""
    name, unit = _CLASSES.get(node.kind) or _moved(node)
    if node.kind is MacroKind.LOAD and _space(node, 0) is Space.SMEM:
        name, unit = "shared_read", Unit.SHARED_MEMORY
    return FOOTPRINTS[name], unit


def _moved(node: MacroOperation) -> tuple[str, Unit]:
    written = {space_of(value.type) for op in node.operations for value in op.results}
    read = {space_of(value.type) for op in node.operations for value in op.operands}
    if Space.TMEM in written:
        return "tensor_write", Unit.TENSOR_MEMORY
    if Space.TMEM in read:
        return "tensor_read", Unit.TENSOR_MEMORY
    name = "shared_write" if Space.SMEM in written else "shared_read"
    return name, Unit.SHARED_MEMORY


def _space(node: MacroOperation, operand: int) -> Space | None:
    operands = node.operations[0].operands
    return space_of(operands[operand].type) if operands else None
