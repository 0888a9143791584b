"""Loads and stores of one thread, as wide as the alignment of the pointer allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation

from tileas_xdsl.backend.ptx.lowering.control.synchronisation import guard_of
from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Address, Handler, Lowering
from tileas_xdsl.backend.ptx.lowering.memory.addresses import near
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects import cute, ptx
from tileas_xdsl.dialects.cute import AddressSpace, PtrType
from tileas_xdsl.dialects.element_bits import bits_of

WIDEST = 16
"""Bytes of the widest access."""

SPACES: Mapping[AddressSpace, str] = {
    AddressSpace.GENERIC: "generic",
    AddressSpace.GMEM: "global",
    AddressSpace.SMEM: "shared",
}

CACHES: Mapping[str, str | None] = {
    "always": "ca",
    "global": "cg",
    "streaming": "cs",
    "last_use": "lu",
    "none": "cv",
    "write_back": "wb",
    "write_through": "wt",
}
"""What PTX calls the cache modes of `cute`."""


@dataclass(frozen=True, slots=True)
class Access:
    """How the registers of a value move: instructions of `width` elements of `type`."""

    type: str
    count: int
    """Elements of `type` in all."""
    width: int
    kind: str
    """The registers that are accessed; the value's own are joined or split if they are wider."""
    unit: int
    """Bytes of one element of `type`."""

    @property
    def chosen_width(self) -> int | None:
        """The width if it is not what the instruction has by itself: up to 16 bytes."""
        return None if self.width == min(self.count, WIDEST // self.unit) else self.width


def access(low: Lowering, form: Form, op: cute.LoadOp | cute.StoreOp) -> Access:
    """Return the widest access that the alignment of the address allows."""
    alignment = cute.access_alignment(op)
    single = max(form.bits, 8) * form.per_register // 8
    unit = min(single, alignment)
    kind = form.kind
    if unit < single:
        if unit < 2:
            raise low.error(
                f"packs {form.element} four to a register, but {op.ptr.type} promises only an "
                f"alignment of {alignment}"
            )
        kind = "b16"
    count = form.count * single // unit
    vector = min(alignment, WIDEST) // unit
    while count % vector:
        vector //= 2
    type_ = "f32" if kind == "f32" else "f64" if kind == "f64" else f"b{unit * 8}"
    return Access(type_, count, vector, kind, unit)


def _address(op: cute.LoadOp | cute.StoreOp, pointer: PtrType, low: Lowering) -> Address:
    """Return the address of an access of `cute`, its element offset included."""
    address, elements = low.address_of(op.ptr), cute.access_offset(op)
    if elements == 0:
        return address
    return near(low, replace(address, offset=address.offset + elements * pointer.element_bytes))


def _fill(number: FloatAttr | IntegerAttr | None, plan: Access) -> float | int:
    """Return what a register of an access holds where nothing is loaded: `number` in each element.

    As a float where registers are; else as bits, of the first element lowest.
    """
    if plan.kind in ("f32", "f64"):
        return 0.0 if number is None else number.value.data
    if number is None:
        return 0
    type_: Any = number.type
    bits = int.from_bytes(type_.pack((number.value.data,)), "little")
    # Of a tf32 in memory the upper 19 bits count (PTX ISA, alternate floating-point formats).
    bits <<= bits_of(type_) - type_.bitwidth
    size = max(8 * type_.compile_time_size, bits_of(type_))
    return sum(bits << at for at in range(0, 8 * plan.unit, size))


def _load(op: cute.LoadOp, low: Lowering) -> None:
    form, pointer = low.form(op.result), op.ptr.type
    assert isinstance(pointer, PtrType)
    plan, address = access(low, form, op), _address(op, pointer, low)
    guard = guard_of(low, op.pred)
    loaded = low.emit(
        ptx.LdOp(
            address.base,
            plan.type,
            SPACES[pointer.space],
            count=plan.count,
            offset=address.offset,
            width=plan.chosen_width,
            cache=None if op.cache is None else CACHES[op.cache.data],
            semantics=None if op.order is None else op.order.data,
            scope=None if op.scope is None else op.scope.data,
            guard=guard,
            otherwise=None if guard is None else low.constant(_fill(op.fill, plan), plan.kind),
        )
    )
    if plan.kind != form.kind:
        loaded = low.emit(ptx.JoinOp(loaded, form.kind))
    low.define(op.result, loaded)


def _store(op: cute.StoreOp, low: Lowering) -> None:
    form, pointer = low.form(op.value), op.ptr.type
    assert isinstance(pointer, PtrType)
    plan, address = access(low, form, op), _address(op, pointer, low)
    value = low.value(op.value)
    if plan.kind != form.kind:
        value = low.emit(ptx.SplitOp(value, plan.kind))
    low.act(
        ptx.StOp(
            address.base,
            value,
            plan.type,
            SPACES[pointer.space],
            offset=address.offset,
            width=plan.chosen_width,
            cache=None if op.cache is None else CACHES[op.cache.data],
            semantics=None if op.order is None else op.order.data,
            scope=None if op.scope is None else op.scope.data,
            guard=guard_of(low, op.pred),
        )
    )


HANDLERS: Mapping[type[Operation], Handler] = {cute.LoadOp: _load, cute.StoreOp: _store}
