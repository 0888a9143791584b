"""Load and store instructions.  Source: PTX ISA 9.7.9.8 ld, 9.7.9.11 st."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, bools
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.elementwise.move import gathered
from tileas_xdsl.interpreters.ptx.memory.generic_access import SPACES, Space, groups, load, store
from tileas_xdsl.interpreters.ptx.memory.memory_order import MemoryOrder, order_of_access
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import SIGNED, TYPES, UNSIGNED, ScalarType
from tileas_xdsl.interpreters.ptx.parsing.syntax import Address, Operand, Symbol

ORDERS = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio")
SCOPES = ("cta", "cluster", "gpu", "sys")
CACHING = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc")
VECTORS = {"v2": 2, "v4": 4, "v8": 8}
MEMORY_TYPES = frozenset(
    (*(f"{k}{b}" for k in "bus" for b in (8, 16, 32, 64)), "f32", "f64", "f16", "bf16", "f16x2",
     "bf16x2", "b128")
)  # fmt: skip

_HINT = re.compile(r"(L1|L2)::\w+")


def memory_modifiers(site: Site) -> Space:
    """Consume modifiers and return the state space; orders, scopes and hints are dropped."""
    space = site.choose([name for name in SPACES if name], "")
    site.ignore((*ORDERS, *SCOPES, *CACHING, "unified"))
    site.modifiers = [m for m in site.modifiers if not _HINT.fullmatch(m)]
    return SPACES[space]


def vector_length(site: Site) -> int:
    """Return the vector length of an access."""
    for name, count in VECTORS.items():
        if site.flag(name):
            return count
    return 1


def build_ld(site: Site) -> Step:
    """`ld` of a scalar or vector; narrow elements are extended to wider registers."""
    type_ = site.type(MEMORY_TYPES)
    is_param = "param" in site.modifiers or "param::entry" in site.modifiers
    order = order_of_access(site.modifiers)
    space = memory_modifiers(site)
    count = vector_length(site)
    site.no_more()
    site.count(2, 3)
    if is_param and _is_of_call(site, 1):
        is_param, space = False, "local"
    parts, type_ = site.words(site.vector(0, (count,)), type_)
    dests = [(site.destination(p, type_, any_width=True), site.register_bits(p)) for p in parts]
    address = site.operands[1]
    if is_param and isinstance(address, Address) and isinstance(address.base, Symbol):
        return _parameter(site, address, type_, dests)
    slot, offset = site.address(1)
    return _load_step((space, order), slot, offset, type_, dests)


def _is_of_call(site: Site, operand: int) -> bool:
    """Return whether an address is a call parameter, which is in thread-local memory."""
    address = site.operands[operand]
    if not isinstance(address, Address) or not isinstance(address.base, Symbol):
        return False
    found = site.program.variables.address(address.base.name, 0)
    return found is not None and found[0] == "local"


def _parameter(
    site: Site, address: Address, type_: ScalarType, dests: list[tuple[int, int]]
) -> Step:
    """Build a load of a kernel parameter, a constant of the launch."""
    assert isinstance(address.base, Symbol)
    size = type_.size
    data = site.program.parameter_bytes(
        address.base.name, address.offset, size * len(dests), site.instruction.location
    )
    values = [int.from_bytes(data[i * size : (i + 1) * size], "little") for i in range(len(dests))]
    pairs = [
        (dest, _extended(value, type_, bits))
        for (dest, bits), value in zip(dests, values, strict=True)
    ]

    def step(f: ConvergenceGroup) -> None:
        for dest, value in pairs:
            f.r[dest] = value

    return step


def _extended(value: int, type_: ScalarType, bits: int) -> int:
    """Return a loaded value, sign- or zero-extended to the register width."""
    if type_.signed and value >> (type_.bits - 1):
        value -= 1 << type_.bits
    return value & ((1 << bits) - 1)


def _load_step(
    where: tuple[Space, MemoryOrder],
    slot: int,
    offset: int,
    type_: ScalarType,
    dests: list[tuple[int, int]],
) -> Step:
    size, count = type_.size, len(dests)
    space, order = where

    def step(f: ConvergenceGroup) -> None:
        base = f.r[slot]
        uniform = base.__class__ is not np.ndarray and space != "local"
        found: Array | None = None
        for group in groups(f, base, offset, space):
            rows = load(f, group, size, count, order)
            if isinstance(group.rows, slice):
                found = rows
            else:
                if found is None:
                    found = np.zeros((f.mask.bit_count(), count), rows.dtype)
                found[group.rows] = rows
        assert found is not None
        put_rows(f, found, type_, dests, uniform=uniform)

    return step


def put_rows(
    f: ConvergenceGroup,
    rows: Array,
    type_: ScalarType,
    dests: list[tuple[int, int]],
    *,
    uniform: bool = False,
) -> None:
    """Write rows (active lanes, registers) to destination registers."""
    if uniform:
        for (dest, bits), value in zip(dests, rows[0].tolist(), strict=True):
            f.r[dest] = _extended(value, type_, bits)
        return
    if type_.signed:
        rows = rows.view(SIGNED[type_.bits])
    whole = f.mask.bit_count() == f.warpgroup.lanes
    active = bools(f.mask, f.warpgroup.lanes)
    for i, (dest, bits) in enumerate(dests):
        column = rows[:, i]
        if bits != type_.bits:
            column = column.astype((SIGNED if type_.signed else UNSIGNED)[bits])
        column = np.ascontiguousarray(column).view(UNSIGNED[bits])
        if not whole:
            spread_column = np.zeros(f.warpgroup.lanes, UNSIGNED[bits])
            spread_column[active] = column
            column = spread_column
        f.r[dest] = column


def build_st(site: Site) -> Step:
    """`st` of a scalar or vector; stores the low bits of wider registers."""
    type_ = site.type(MEMORY_TYPES)
    order = order_of_access(site.modifiers)
    space = memory_modifiers(site)
    count = vector_length(site)
    site.no_more()
    site.count(2, 3)
    if _is_of_call(site, 0):
        space = "local"
    slot, offset = site.address(0)
    parts, type_ = site.words(site.vector(1, (count,)), type_)
    return _store_step(site, (space, order), (slot, offset), type_, parts)


def _store_step(
    site: Site,
    where: tuple[Space, MemoryOrder],
    address: tuple[int, int],
    type_: ScalarType,
    parts: tuple[Operand, ...],
) -> Step:
    slots = [site.source(p, type_, any_width=True) for p in parts]
    size, dtype = type_.size, UNSIGNED[type_.bits]
    (space, order), (slot, offset) = where, address

    def step(f: ConvergenceGroup) -> None:
        r = f.r
        values = [_low(r[s], dtype) for s in slots]
        columns = gathered(values, f.warpgroup.lanes, dtype)
        for group in groups(f, r[slot], offset, space):
            lanes = group.lanes
            mine = columns if len(lanes) == len(columns) else columns[lanes]
            store(f, group, mine, size, order)

    return step


def _low(value: Value, dtype: np.dtype[Any]) -> Value:
    """Return the low bits of a register."""
    if value.__class__ is np.ndarray:
        return value if value.dtype == dtype else value.astype(dtype)
    return int(value) & ((1 << dtype.itemsize * 8) - 1)


def build_ldu(site: Site) -> Step:
    """`ldu`: a load through the read-only path."""
    return build_ld(site)


def build_st_bulk(site: Site) -> Step:
    """`st.bulk`: zero-fill shared memory."""
    space = memory_modifiers(site)
    site.no_more()
    site.count(3)
    slot, offset = site.address(0)
    size = site.source(1, TYPES["u64"])
    if site.immediate(2):
        site.fail("the initial value must be 0")

    def step(f: ConvergenceGroup) -> None:
        count = f.value(size)
        for group in groups(f, f.r[slot], offset, space):
            zeros = np.zeros((len(group.lanes), 1), np.uint64)
            for i in range(0, count, 8):
                group.addresses = group.addresses + (8 if i else 0)
                store(f, group, zeros, 8)

    return step


TABLE = (
    Semantics("ld", build_ld),
    Semantics("ldu", build_ldu),
    Semantics("st", build_st),
    Semantics("st.bulk", build_st_bulk),
)
