"""Lower waits for asynchronous MMA and loads, after which registers hold their results."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute_nvgpu import TmemWaitOp, WgmmaWaitOp
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter

WaitOp = WgmmaWaitOp | TmemWaitOp


def mark_in_flight(conv: Converter, view: SSAValue) -> None:
    """Note that the registers of a view are written until a wait."""
    base = conv.views[view].base
    if base not in conv.in_flight:
        conv.in_flight.append(base)


def awaited(op: Operation, conv: Converter) -> Sequence[SSAValue]:
    """The allocations that a wait is for which names no values."""
    names_none = isinstance(op, WaitOp) and not op.values
    stores = isinstance(op, TmemWaitOp) and op.access.data == "store"
    if not names_none or stores:
        return []
    return [base for base in conv.in_flight if base in conv.registers.held]


def convert_wait(op: WaitOp, conv: Converter) -> None:
    """A wait gives the registers on, so that nothing reads them before."""
    bases = awaited(op, conv)
    if not bases:
        return
    held = [conv.registers.held[base] for base in bases]
    if isinstance(op, WgmmaWaitOp):
        made: WaitOp = WgmmaWaitOp(op.count.value.data, held)
    else:
        made = TmemWaitOp(op.access.data, held)
    conv.effect(made)
    conv.registers.held.update(zip(bases, made.outs, strict=True))
    conv.kill(op)
