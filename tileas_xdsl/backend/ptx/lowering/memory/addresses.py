"""Lower pointer arithmetic: constants go into instructions, the rest into few additions.

An address is kept as `base + sum(value * scale) + constant`. A load then reads `[%r5+64]`, and all
accesses that differ by constants share one register. Rows `%row`, `%row + 4`, ... of an f32 tile of
16 columns in shared memory:

    %i = (%row + 4) * 16 + %col                      shl.b32  %r1, %row, 6;       row * 64 bytes
    %p = cute.add_offset %base, %i                   add.s32  %r2, %base, %r1;
    %v = cute.ptr.load %p                            shl.b32  %r3, %col, 2;
                                                     add.s32  %r4, %r2, %r3;
                                                     ld.shared.f32 %f1, [%r4+256];    4 * 64

Taking a sum apart is exact only if the address wraps as the sum does (both have 32 bits), or the
sum never overflows (`index`, or the flag `nsw`): a 32-bit sum that wraps must be computed in 32
bits before it is widened to a 64-bit address.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.arith import IntegerOverflowFlag
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, OpResult, SSAValue

from tileas_xdsl.backend.ptx.lowering.arithmetic.integers import constant_integer
from tileas_xdsl.backend.ptx.lowering.lowering import Address, Handler, Lowering
from tileas_xdsl.dialects import cute, ptx
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.layout.integers import is_power_of_two

SHARED = "dynamic_shared"
"""The variable that is the dynamic shared memory of a block."""

Terms: TypeAlias = tuple[tuple[SSAValue, int], ...]

NEAR = 1 << 20
"""Constant distances up to this go into the address of an instruction (24 bits in SASS)."""


def _dynamic_shared(op: GetDynSmemOp, low: Lowering) -> None:
    low.uses_shared = True
    base = low.once(("address",), lambda: ptx.AddressOp(SHARED))
    low.addresses[op.result] = Address(base, op.offset.value.data)


def _pointer(value: SSAValue) -> cute.PtrType:
    assert isinstance(value.type, cute.PtrType)
    return value.type


def _add(op: cute.PtrAddOp, low: Lowering) -> None:
    type_, start = _pointer(op.ptr), low.address_of(op.ptr)
    size, narrow = type_.element_bytes, type_.address_bits == 32
    wraps = narrow or low.form(op.offset).bits == type_.address_bits
    terms, distance = _linear_terms(op.offset, wraps=wraps, splits=narrow)
    terms = tuple((value, scale * size) for value, scale in terms)
    base = start.base
    for value, scale in terms:
        base = _sum(low, base, value, scale, narrow=narrow)
    root = start.start if terms else start.root
    address = Address(base, distance * size + start.offset, root, (*start.terms, *terms))
    low.addresses[op.result] = near(low, address)


def _linear_terms(value: SSAValue, *, wraps: bool, splits: bool) -> tuple[Terms, int]:
    """Return `(terms, constant)` with `value == sum(v * scale for v, scale in terms) + constant`.

    With `splits` a sum is taken apart where a constant is inside: rows 0, 4, 8, ... of a tile,
    `(row + 4) * 16 + column`, are then one register and distances.  Any other sum stays whole, as
    its terms would be scaled and added one by one.
    """
    inner, scale, constant = linear(value, wraps=wraps)
    if inner is None:
        return (), constant
    op = inner.op if isinstance(inner, OpResult) else None
    if splits and isinstance(op, arith.AddiOp) and (wraps or _never_overflows(op)):
        sides = [_linear_terms(side, wraps=wraps, splits=True) for side in (op.lhs, op.rhs)]
        if any(distance for _, distance in sides):
            terms = tuple((value, factor * scale) for side, _ in sides for value, factor in side)
            return terms, sum(distance for _, distance in sides) * scale + constant
    return ((inner, scale),), constant


def near(low: Lowering, address: Address) -> Address:
    """Return an equal address whose offset fits the immediate field of an instruction."""
    if -NEAR < address.offset < NEAR:
        return address
    return Address(low.at(address))


def linear(value: SSAValue, *, wraps: bool) -> tuple[SSAValue | None, int, int]:
    """Return `(v, scale, constant)` with `value == v * scale + constant`; v is None for a constant.

    Sums and products are decomposed only where that is exact: if the address wraps around as they
    do (same width), or if they never overflow.
    """
    if (constant := constant_integer(value)) is not None:
        return None, 1, constant
    op = value.op if isinstance(value, OpResult) else None
    # `(i + 4) * 2` in 32 bits, extended to a 64-bit address, is not `i * 2 + 8` if the sum wraps.
    if not (wraps or _never_overflows(op)):
        return value, 1, 0
    if isinstance(op, arith.AddiOp):
        for inner, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if (constant := constant_integer(other)) is not None:
                base, scale, rest = linear(inner, wraps=wraps)
                return base, scale, rest + constant
    if isinstance(op, arith.SubiOp) and (constant := constant_integer(op.rhs)) is not None:
        base, scale, rest = linear(op.lhs, wraps=wraps)
        return base, scale, rest - constant
    if (factor := _factor(op)) is not None:
        assert op is not None
        base, scale, rest = linear(op.operands[0], wraps=wraps)
        return base, scale * factor, rest * factor
    return value, 1, 0


def _factor(op: Operation | None) -> int | None:
    """Return the constant that an operation multiplies its first operand by, if it does."""
    if isinstance(op, arith.MuliOp):
        return constant_integer(op.rhs)
    if isinstance(op, arith.ShLIOp):
        amount = constant_integer(op.rhs)
        return 1 << amount if amount is not None and 0 <= amount < 32 else None
    return None


def _never_overflows(op: Operation | None) -> bool:
    if not isinstance(op, arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.ShLIOp):
        return False
    if isinstance(op.result.type, IndexType):
        return True
    if isinstance(op, arith.SubiOp):
        return False
    return IntegerOverflowFlag.NSW in op.overflow_flags.data


def _sum(low: Lowering, base: SSAValue, value: SSAValue, scale: int, *, narrow: bool) -> SSAValue:
    """Emit `base + value * scale` for an address of 32 (`narrow`) or 64 bits."""
    index = low.value(value)
    if narrow:
        if low.form(value).bits == 64:
            wide = index
            index = low.derive(wide, ("low",), lambda: ptx.CvtOp(wide, "u32", "u64"))
        return _plus(low, base, scaled(low, index, scale, 32), "s32")
    if low.form(value).bits == 64:
        return _plus(low, base, scaled(low, index, scale, 64), "s64")
    return _plus(low, base, widened(low, index, scale), "s64")


def _plus(low: Lowering, base: SSAValue, distance: SSAValue, type_: str) -> SSAValue:
    return low.here(("sum", base, distance), lambda: ptx.AddOp(base, distance, type_))


def scaled(low: Lowering, index: SSAValue, scale: int, bits: int) -> SSAValue:
    """Return `index * scale`, emitted once after the index."""
    if scale == 1:
        return index
    kind = f"b{bits}"
    if is_power_of_two(scale):
        amount = low.constant(scale.bit_length() - 1)
        return low.derive(index, ("*", scale), lambda: ptx.ShlOp(index, amount, kind))
    factor = low.constant(scale, kind)
    make = lambda: ptx.MulOp(index, factor, f"s{bits}", mode="lo")  # noqa: E731
    return low.derive(index, ("*", scale), make)


def widened(low: Lowering, index: SSAValue, scale: int) -> SSAValue:
    """Return `index * scale` in 64 bits, for a signed 32-bit index, emitted once after it."""
    if scale == 1:
        return low.derive(index, ("wide",), lambda: ptx.CvtOp(index, "s64", "s32"))
    factor = low.constant(scale)
    make = lambda: ptx.MulOp(index, factor, "s32", mode="wide")  # noqa: E731
    return low.derive(index, ("wide*", scale), make)


def _recast(op: cute.RecastPtrOp, low: Lowering) -> None:
    low.addresses[op.result] = low.address_of(op.ptr)


def _to_integer(op: cute.PtrToIntOp, low: Lowering) -> None:
    low.define(op.result, low.value(op.ptr))


def _from_integer(op: cute.IntToPtrOp, low: Lowering) -> None:
    low.addresses[op.result] = Address(low.value(op.address))


HANDLERS: Mapping[type[Operation], Handler] = {
    GetDynSmemOp: _dynamic_shared,
    cute.PtrAddOp: _add,
    cute.RecastPtrOp: _recast,
    cute.PtrToIntOp: _to_integer,
    cute.IntToPtrOp: _from_integer,
}
