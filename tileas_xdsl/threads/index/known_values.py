"""Code for integers and flags of a `generate` body that are known by thread and register."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, i32, i64
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    bit_width,
    cast_index,
    i1_constant,
    i64_constant,
)
from tileas_xdsl.threads.index.per_thread_tables import (
    Flags,
    Table,
    tabulated,
)
from tileas_xdsl.threads.registers.vector_values import (
    joined,
)

HALF_RANGE = 1 << (WORD_BITS - 1)


def flag_constants(e: ThreadBuilder, flags: Flags, held: Flags) -> SSAValue | None:
    """Emit per-register `i1` constants that are uniform across threads; None where they differ."""
    if (flags | ~held).all() or not (flags & held).any():
        return i1_constant(e, bool((flags & held).any()))
    bits: list[SSAValue] = []
    for k in range(flags.shape[1]):
        wanted = flags[held[:, k], k]
        if wanted.all() or not wanted.any():
            bits.append(i1_constant(e, bool(wanted.any())))
            continue
        return None
    return joined(e, bits)


def table_entry(e: ThreadBuilder, type_: Attribute, table: Table) -> SSAValue:
    """The entry of this thread, in a type."""
    low = int(table.min())
    if low < -HALF_RANGE or int(table.max()) >= HALF_RANGE:
        return _of_halves(e, table)
    moved = table - low if low < 0 else table
    value, constant = tabulated(e, moved)
    value = add(e, value, constant + min(low, 0))
    if isinstance(type_, IndexType):
        return cast_index(e, value, type_)
    bits = bit_width(type_)
    if bits == WORD_BITS:
        return value
    kind: Any = arith.ExtSIOp if bits > WORD_BITS else arith.TruncIOp
    return e.insert(kind(value, type_)).result


def _of_halves(e: ThreadBuilder, table: Table) -> SSAValue:
    """Emit entries of more than 32 bits as upper and lower half."""
    upper = e.insert(arith.ExtSIOp(table_entry(e, i32, table >> WORD_BITS), i64)).result
    signed = (table & (2 * HALF_RANGE - 1) ^ HALF_RANGE) - HALF_RANGE
    lower = e.insert(arith.ExtUIOp(table_entry(e, i32, signed), i64)).result
    moved = e.insert(arith.ShLIOp(upper, i64_constant(e, WORD_BITS))).result
    return e.insert(arith.OrIOp(moved, lower)).result
