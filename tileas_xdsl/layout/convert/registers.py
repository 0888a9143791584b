"""Plans inside a thread: nothing to do, or registers in another order."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.convert.assembly import assembly_cost
from tileas_xdsl.layout.convert.plan import Cost, Kind, Plan, Registers, Weights, counted, warps_of
from tileas_xdsl.layout.convert.source_map import SourceMap
from tileas_xdsl.layout.registers.access import Ints
from tileas_xdsl.layout.registers.register_layout import RegisterContents, RegisterLayout


@dataclass(frozen=True, eq=False)
class RegisterPlan(Plan):
    """Every thread already holds what it needs."""

    registers: Ints
    """`(threads, values)`: the source register that each target register is, -1 for none."""
    renamed: bool
    """Whether there is anything to do at all."""

    @property
    def kind(self) -> Kind:
        """`identity` or `permutation`."""
        return "permutation" if self.renamed else "identity"

    def _moved(self, registers: Registers) -> Registers:
        return np.take_along_axis(registers, np.maximum(self.registers, 0), axis=1)

    def explain(self) -> str:
        """The plan and its cost in one sentence."""
        if not self.renamed:
            return "identity: every thread holds its elements in the right registers already"
        if not self.cost.alu:
            return "register permutation: every thread renames its registers, at no cost"
        return (
            f"register permutation: every thread rearranges its own registers with "
            f"{counted(self.cost.alu, 'select or byte permute')}, about {self.cost.cycles:g} cycles"
        )


def plan_registers(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    source_map: SourceMap,
    weights: Weights,
) -> RegisterPlan:
    """The plan for source_map in the same thread."""
    renamed = bool(len(source_map.strays("identity")))
    alu = assembly_cost(source_map.register, elem_bits) if renamed else 0
    cost = Cost(alu=alu).estimated(warps_of(target), weights)
    return RegisterPlan(source, target, elem_bits, cost, source_map.register, renamed)
