"""Atomic updates: `red` where nobody wants what was there, else `atom`."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering
from tileas_xdsl.backend.ptx.lowering.memory.accesses import SPACES
from tileas_xdsl.dialects import cute, ptx
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects.cute_nvgpu.threads.atomics import AtomicOp

REDUCED_ORDERS = (None, "relaxed", "release")
"""How `red` is ordered."""

SIGNED, UNSIGNED = "s", "u"


def _type(kind: str, element: str, bits: int) -> tuple[str, str]:
    """PTX's operation and type."""
    if element[0] != "i":
        return kind, element
    if kind in ("umin", "umax"):
        return kind[1:], f"u{bits}"
    if kind == "inc":
        return kind, f"u{bits}"
    if kind in ("and", "or", "xor", "exch"):
        return kind, f"b{bits}"
    signed = kind in ("min", "max") or bits == 32
    return kind, f"{SIGNED if signed else UNSIGNED}{bits}"


def _rmw(op: nvgpu.AtomicRmwOp, low: Lowering) -> None:
    form = low.form(op.value)
    operation, type_ = _type(op.kind.data, form.element, form.bits)
    type_ += "x2" * form.packed
    unwanted = not any(op.result.uses) and operation != "exch"
    if not unwanted or _text(op.order) not in REDUCED_ORDERS:
        _atom(op, low, operation, type_)
        return
    address = low.address_of(op.ptr)
    low.act(
        ptx.RedOp(
            address.base,
            operation,
            low.value(op.value),
            type_,
            _space(op.ptr),
            semantics=_text(op.order),
            scope=_text(op.scope),
            offset=address.offset,
            guard=None if op.pred is None else low.value(op.pred),
        )
    )


def _cas(op: nvgpu.AtomicCasOp, low: Lowering) -> None:
    _atom(op, low, "cas", f"b{low.form(op.value).bits}")


def _atom(op: AtomicOp, low: Lowering, operation: str, type_: str) -> None:
    form, address = low.form(op.value), low.address_of(op.ptr)
    guard = None if op.pred is None else low.value(op.pred)
    zero = 0.0 if form.kind in ("f32", "f64") else 0
    made = ptx.AtomOp(
        address.base,
        operation,
        low.value(op.value),
        type_,
        _space(op.ptr),
        compare=None if op.compare is None else low.value(op.compare),
        semantics=_text(op.order),
        scope=_text(op.scope),
        offset=address.offset,
        guard=guard,
        otherwise=None if guard is None else low.constant(zero, form.kind),
    )
    low.act(made)
    low.define(op.result, made.results[0])


def _space(value: SSAValue) -> str:
    assert isinstance(value.type, cute.PtrType)
    return SPACES[value.type.space]


def _text(attribute: object) -> str | None:
    return None if attribute is None else str(getattr(attribute, "data", None))


HANDLERS: Mapping[type[Operation], Handler] = {
    nvgpu.AtomicCasOp: _cas,
    nvgpu.AtomicRmwOp: _rmw,
}
