"""Slots of a convergence group's register array: registers, constants, specials, addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value
from tileas_xdsl.interpreters.ptx.execution.state import Cta, Warpgroup
from tileas_xdsl.interpreters.ptx.parsing.special_registers import SPECIAL_REGISTERS
from tileas_xdsl.interpreters.ptx.parsing.syntax import Register
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.units import WARP

AXES = "xyz"


@dataclass
class RegisterSlots:
    """Allocates slots; `addresses` resolves names of variables and parameters."""

    addresses: Callable[[str, int], tuple[str, int] | None]
    widths: list[int] = field(default_factory=list[int])
    initial: list[Value] = field(default_factory=list[Value])
    specials: dict[str, int] = field(default_factory=dict[str, int])
    shared: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Slots of shared-memory addresses with their offsets: the value depends on the CTA's rank."""
    _registers: dict[str, int] = field(default_factory=dict[str, int])
    _constants: dict[tuple[type[int], int], int] = field(
        default_factory=dict[tuple[type[int], int], int]
    )
    _symbols: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    _scratch: dict[int, int] = field(default_factory=dict[int, int])

    def _new(self, width: int, value: Value) -> int:
        self.widths.append(width)
        self.initial.append(value)
        return len(self.widths) - 1

    def register(self, register: Register) -> int:
        """Return the slot of a register."""
        slot = self._registers.get(register.name)
        if slot is None:
            is_predicate = register.type.kind == "predicate"
            slot = self._new(register.type.bits, False if is_predicate else 0)
            self._registers[register.name] = slot
        return slot

    def name_of(self, slot: int) -> str:
        """Return the name of a register, for diagnostics."""
        return next(name for name, found in self._registers.items() if found == slot)

    def constant(self, value: int) -> int:
        """Return a slot that holds a constant; predicates and the integers 0 and 1 have separate
        slots."""
        key = (value.__class__, value)
        slot = self._constants.get(key)
        if slot is None:
            slot = self._constants[key] = self._new(64, value)
        return slot

    def special(self, name: str) -> int:
        """Return the slot of a special register."""
        slot = self.specials.get(name)
        if slot is None:
            slot = self.specials[name] = self._new(SPECIAL_REGISTERS[name], 0)
        return slot

    def symbol(self, name: str, offset: int) -> int | None:
        """Return the slot of an address; None for a name that is not declared."""
        key = (name, offset)
        if key in self._symbols:
            return self._symbols[key]
        found = self.addresses(name, offset)
        if found is None:
            return None
        space, address = found
        slot = self._symbols[key] = self._new(64, address)
        if space == "shared":
            self.shared.append((slot, address))
        return slot

    def scratch(self) -> int:
        """Return a slot for discarded results."""
        return self._scratch_of(64, 0)

    def scratch_predicate(self) -> int:
        """Return a slot for discarded predicates."""
        return self._scratch_of(1, False)

    def _scratch_of(self, width: int, value: Value) -> int:
        if width not in self._scratch:
            self._scratch[width] = self._new(width, value)
        return self._scratch[width]

    def fill(self, warpgroup: Warpgroup, launch: LaunchShape) -> list[Value]:
        """Return the initial registers of a warpgroup."""
        values = self.initial.copy()
        for slot, offset in self.shared:
            values[slot] = warpgroup.cta.rank << 24 | offset
        for name, slot in self.specials.items():
            values[slot] = special_value(name, warpgroup, launch)
        return values


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """The sizes of a launch, each (x, y, z)."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    explicit_cluster: bool
    dynamic_shared: int
    total_shared: int


def special_value(name: str, warpgroup: Warpgroup, launch: LaunchShape) -> Value:
    """Return the value of a special register for all lanes of a warpgroup."""
    base, _, axis = name.partition(".")
    if axis:
        return _of_axis(base, AXES.index(axis), warpgroup, launch)
    lane = np.arange(warpgroup.lanes) % WARP
    if base in _LANE_MASKS:
        return _LANE_MASKS[base](lane).astype(np.uint32)
    if base == "%laneid":
        return lane.astype(np.uint32)
    if base == "%warpid":
        return (np.arange(warpgroup.lanes) // WARP + warpgroup.first_warp).astype(np.uint32)
    return _of_cta(base, warpgroup.cta, launch)


_LANE_MASKS: Mapping[str, Callable[[Array], Array]] = {
    "%lanemask_eq": lambda lane: 1 << lane,
    "%lanemask_lt": lambda lane: (1 << lane) - 1,
    "%lanemask_le": lambda lane: (2 << lane) - 1,
    "%lanemask_gt": lambda lane: 0xFFFF_FFFF & ~((2 << lane) - 1),
    "%lanemask_ge": lambda lane: 0xFFFF_FFFF & ~((1 << lane) - 1),
}


def _of_axis(base: str, axis: int, warpgroup: Warpgroup, launch: LaunchShape) -> Value:
    cta = warpgroup.cta
    if base == "%tid":
        thread = np.arange(warpgroup.lanes) + warpgroup.first_warp * WARP
        x, y, _ = launch.block
        locations = (thread % x, thread // x % y, thread // (x * y))
        return locations[axis].astype(np.uint32)
    cluster_at = tuple(c // n for c, n in zip(cta.index, launch.cluster, strict=True))
    counts = tuple(ceil_div(g, n) for g, n in zip(launch.grid, launch.cluster, strict=True))
    inside = tuple(c % n for c, n in zip(cta.index, launch.cluster, strict=True))
    values: Mapping[str, tuple[int, ...]] = {
        "%ntid": launch.block,
        "%ctaid": cta.index,
        "%nctaid": launch.grid,
        "%clusterid": cluster_at,
        "%nclusterid": counts,
        "%cluster_ctaid": inside,
        "%cluster_nctaid": launch.cluster,
    }
    return values[base][axis]


def _of_cta(base: str, cta: Cta, launch: LaunchShape) -> Value:
    """Return a special register that is uniform over a CTA; each CTA has an SM of its own."""
    x, y, z = cta.index
    linear = x + launch.grid[0] * (y + launch.grid[1] * z)
    values: Mapping[str, int | bool] = {
        "%nwarpid": cta.warp_count,
        "%smid": linear % 132,
        "%nsmid": 132,
        "%gridid": 1,
        "%cluster_ctarank": cta.rank,
        "%cluster_nctarank": len(cta.cluster.ctas),
        "%is_explicit_cluster": launch.explicit_cluster,
        "%dynamic_smem_size": launch.dynamic_shared,
        "%total_smem_size": launch.total_shared,
        "%aggr_smem_size": launch.total_shared + 1024,
        "%reserved_smem_offset_begin": 0,
        "%reserved_smem_offset_end": 1024,
        "%reserved_smem_offset_cap": 1024,
        "WARP_SZ": WARP,
    }
    return values.get(base, 0)
