"""Enumerate and cost the ways to carry out one `convert_layout`.

Between two register layouts (`layout/convert/` has the planners):

* tag 0, no shared memory: `identity` (rename registers), `permutation` (registers of a thread),
  `shuffle` (warp shuffles). The first kind that suffices is the only one;
* tag 1, through shared memory, row-major under each swizzle that changes any address: a store, a
  barrier and a load, each by the widest instruction (`st.shared.v4`, `stmatrix`, ...).

Between registers and a shared-memory tile the only plan is one access (tag 1).

    %y = convert_layout %x : tensor<64x32xf16, #r0> -> tensor<64x32xf16, #r1>

    0 shuffle  cycles ..., efficiency = bytes / cycles       sorted: the most efficient is chosen,
    1 shared   cycles ..., sts + lds, swizzle<2,4,3>         the user's `atom_plan` tag overrides
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.convert.buffers import Buffer
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS, Cost, Kind, Plan, warps_of
from tileas_xdsl.layout.convert.planner import plan_conversion
from tileas_xdsl.layout.convert.shared import SharedPlan, plan_shared
from tileas_xdsl.layout.convert.transfers import Direction, Transfer, side_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.registers.register_layout import (
    RegisterContents,
    RegisterLayout,
    register_layout_from_table,
)
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES

REGISTERS, SHARED = 0, 1
"""The tags of plans."""

COPY_BYTES = 16
"""What one copy of registers moves at most: four of 32 bits."""

TAG_0_KINDS: tuple[Kind, ...] = ("identity", "permutation", "shuffle")

ATOMS = {
    "st.shared": "sts",
    "stmatrix": "stsm_m88",
    "ld.shared": "lds",
    "ldmatrix": "ldsm_m88",
}
"""The atom of an access."""


@dataclass(frozen=True, eq=False)
class ConversionPlan:
    """One way to carry out a conversion."""

    tag: int
    kind: Kind
    bytes: int
    """What is moved in all."""
    cycles: float
    vector: int
    """Elements of the widest access or copy."""
    min_bytes: int
    """What one access or copy of registers to registers moves at least."""
    smem: MemoryLayout | None = None
    """How the tile lies between the two copies."""
    store: str = ""
    load: str = ""
    """Atoms of the copy into shared memory and of the one out of it."""

    @property
    def efficiency(self) -> float:
        """Bytes per cycle; infinite where nothing is transferred."""
        return self.bytes / self.cycles if self.cycles else float("inf")


def sorted_plans(source: Attribute, target: Attribute, threads: int) -> list[ConversionPlan]:
    """Return all plans for a conversion by an agent of `threads` threads, the most efficient first.

    Empty where a type is no layout of its tile for these threads, or is in another memory space.
    """
    before, after = as_tile(source), as_tile(target)
    if before is None or after is None:
        return []
    try:
        found = [*_plans(before, after, threads)]
    except LayoutError:
        return []
    return sorted(found, key=lambda plan: plan.efficiency, reverse=True)


def fragment_of(type_: Tile, threads: int) -> RegisterLayout | None:
    """Return the register layout of a tile type; None if it has none."""
    match type_.encoding:
        case BlockedEncoding() | DotOperandEncoding() | LinearEncoding() as encoding:
            return RegisterLayout(encoding.data, tuple(type_.get_shape()), threads)
        case _:
            return None


def _plans(source: Tile, target: Tile, threads: int) -> Iterator[ConversionPlan]:
    bits, before, after = (
        bits_of(source.element_type),
        fragment_of(source, threads),
        fragment_of(target, threads),
    )
    match source.encoding, target.encoding:
        case _ if before is not None and after is not None:
            yield from _between_registers(before, after, bits)
            yield from _through_memory(before, after, bits)
        case SharedEncoding() as encoding, _ if after is not None:
            yield _one_side("load", after, encoding.data, bits)
        case _, SharedEncoding() as encoding if before is not None:
            yield _one_side("store", before, encoding.data, bits)
        case _:
            return


def _size(fragment: RegisterContents, bits: int) -> int:
    return ceil_div(fragment.elements * bits, 8)


def _between_registers(
    source: RegisterLayout, target: RegisterLayout, bits: int
) -> Iterator[ConversionPlan]:
    """Yield the simplest kind of tag 0 that reaches all registers."""
    for kind in TAG_0_KINDS:
        plan = _plan_of_kind(source, target, bits, kind)
        if plan is not None:
            size, vector = _size(target, bits), max(COPY_BYTES * 8 // bits, 1)
            min_bytes = ceil_div(bits, 8)
            yield ConversionPlan(REGISTERS, kind, size, plan.cost.cycles, vector, min_bytes)
            return


def _plan_of_kind(
    source: RegisterLayout, target: RegisterLayout, bits: int, kind: Kind
) -> Plan | None:
    try:
        return plan_conversion(source, target, bits, force=kind)
    except LayoutError:
        return None


def _through_memory(
    source: RegisterLayout, target: RegisterLayout, bits: int
) -> Iterator[ConversionPlan]:
    """Yield plans through a row-major tile in shared memory, one for each distinct swizzle."""
    if bits < 8:
        return
    known: list[bytes] = []
    for layout in _row_major(source.shape):
        buffer = _buffer(layout, bits)
        # Short rows make several swizzles the same permutation of addresses.
        if (addresses := buffer.bits.tobytes()) in known:
            continue
        known.append(addresses)
        plan = plan_shared(source, target, bits, DEFAULT_WEIGHTS, [buffer])
        yield _from_shared_plan(plan, layout, bits)


def _row_major(tile: tuple[int, ...]) -> Iterator[MemoryLayout]:
    strides = tuple(prod(tile[axis + 1 :]) for axis in range(len(tile)))
    for name, swizzle in BYTE_SWIZZLES.items():
        yield MemoryLayout(Layout(tile, strides), None if name == "none" else swizzle)


def _buffer(layout: MemoryLayout, bits: int) -> Buffer:
    return Buffer(str(layout), layout.bit_addresses(bits), bits, layout.byte_swizzle)


def _from_shared_plan(plan: SharedPlan, layout: MemoryLayout, bits: int) -> ConversionPlan:
    vector = max(_vector(plan.store), _vector(plan.load))
    return ConversionPlan(
        SHARED,
        "shared",
        _size(plan.target, bits),
        plan.cost.cycles,
        vector,
        ceil_div(vector * bits, 8),
        layout,
        _atom(plan.store),
        _atom(plan.load),
    )


def _one_side(
    direction: Direction, fragment: RegisterLayout, layout: MemoryLayout, bits: int
) -> ConversionPlan:
    """Return the copy between registers and a tile that is in shared memory already."""
    side = side_of(direction, fragment, bits, DEFAULT_WEIGHTS)
    transfer = side.cheapest(_buffer(layout, bits), DEFAULT_WEIGHTS)
    if transfer is None:
        raise LayoutError(f"no access moves elements of {bits} bits")
    vector, atom = _vector(transfer), _atom(transfer)
    cycles = transfer.cycles(warps_of(fragment), DEFAULT_WEIGHTS)
    cost = Cost(barriers=1).estimated(warps_of(fragment), DEFAULT_WEIGHTS)
    return ConversionPlan(
        SHARED,
        "shared",
        _size(fragment, bits),
        cycles + cost.cycles,
        vector,
        1,
        layout,
        *((atom, "") if direction == "store" else ("", atom)),
    )


def _vector(transfer: Transfer) -> int:
    """Return the elements that one access of a thread transfers."""
    return len(transfer.register) // transfer.instructions


def _atom(transfer: Transfer) -> str:
    word = next(atom for name, atom in ATOMS.items() if transfer.instruction.startswith(name))
    return f"{word}_trans" if transfer.instruction.endswith(".trans") else word


def bytes_of_pairs(fragment: RegisterLayout) -> RegisterLayout | None:
    """Return the register layout of a tile of 4-bit elements as bytes, two elements of a row in
    each.

    None where two elements of a byte of the tile are not in one byte of the registers.
    """
    held, tile = fragment.held, fragment.shape
    if not tile or tile[-1] % 2 or held.shape[1] % 2:
        return None
    pairs = held.reshape(len(held), -1, 2)
    rows = prod(tile[:-1])
    column = pairs[:, :, 0] // rows
    empty = pairs[:, :, 0] < 0
    adjacent = (column % 2 == 0) & (pairs[:, :, 1] == pairs[:, :, 0] + rows)
    if not (adjacent | empty & (pairs[:, :, 1] < 0)).all():
        return None
    whole = np.where(empty, -1, pairs[:, :, 0] % rows + column // 2 * rows)
    return register_layout_from_table(whole, (*tile[:-1], tile[-1] // 2))
