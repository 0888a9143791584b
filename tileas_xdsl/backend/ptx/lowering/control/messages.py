"""Lowering of print to `vprintf` and of assertions to `__assertfail`, as nvcc does.

Source: CUDA programming guide, PTX compiler driver, system calls: arguments are passed in local
memory, each aligned to its size.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import cf
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.lowering import Handler, Lowering, block_of
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.dialects import cute, ptx
from tileas_xdsl.dialects.ptx.base import kind_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.target.isa.kinds import KINDS

PRINT = ("vprintf", ("b64", "b64"), "b32")
FAIL = ("__assertfail", ("b64", "b64", "b32", "b64", "b64"), None)
"""Names, parameters and results of the functions."""

CHARACTER = 1
"""Bytes of a character of messages."""


def _print(op: cute.PrintTextOp, low: Lowering) -> None:
    text = text_of(low, op.format.data)
    low.declare(ptx.FunctionOp(*PRINT))
    low.act(ptx.CallOp(PRINT[0], [text, _values(op, low)], PRINT[2]))


def _values(op: cute.PrintTextOp, low: Lowering) -> SSAValue:
    """The generic address of the values; null where there are none."""
    values, starts, end = [low.value(value) for value in op.values], list[int](), 0
    for value in values:
        size = KINDS[kind_of(value)].bits // 8
        starts.append(align_up(end, size))
        end = starts[-1] + size
    if not values:
        return low.constant(0, "b64")
    buffer = low.once(("local", end), lambda: ptx.LocalOp(end))
    for value, start in zip(values, starts, strict=True):
        kind = kind_of(value)
        low.act(ptx.StOp(buffer, value, kind, "local", offset=start))
    return low.emit(ptx.CvtaOp(buffer, "local"))


def _assert(op: cf.AssertOp, low: Lowering) -> None:
    """Lower an assertion: threads that fail report the source location and trap the grid."""
    fails, goes_on = block_of(), block_of()
    low.act(ptx.CondBraOp(low.value(op.arg), goes_on, (), fails, ()))
    low.enter(fails)
    location = location_of(op)
    file, line = ("", 0) if location is None else (location.file, location.line)
    texts = [text_of(low, text) for text in (op.msg.data, file, kernel_name(low))]
    number, size = low.constant(line, "b32"), low.constant(CHARACTER, "b64")
    low.declare(ptx.FunctionOp(*FAIL))
    low.act(ptx.CallOp(FAIL[0], [texts[0], texts[1], number, texts[2], size]))
    low.act(ptx.TrapOp())
    low.act(ptx.ExitOp())
    low.enter(goes_on)


def kernel_name(low: Lowering) -> str:
    """The name of the entry."""
    entry = low.region.parent_op()
    assert isinstance(entry, ptx.EntryOp)
    return entry.sym_name.data


def text_of(low: Lowering, text: str) -> SSAValue:
    """The generic address of a text, which the module has once for each kernel."""
    data = text.encode() + b"\0"
    symbol = low.texts.setdefault(data, f"{kernel_name(low)}$text{len(low.texts)}")
    low.declare(ptx.GlobalOp(symbol, data))
    return low.emit(ptx.CvtaOp(low.emit(ptx.AddressOp(symbol, kind="b64")), "global"))


def _address(op: cute.AddressOfOp, low: Lowering) -> None:
    """An address in global memory: what is declared is in the module already."""
    symbol = op.symbol.string_value()
    low.define(op.result, low.emit(ptx.AddressOp(symbol, kind="b64")))


HANDLERS: Mapping[type[Operation], Handler] = {
    cf.AssertOp: _assert,
    cute.AddressOfOp: _address,
    cute.PrintTextOp: _print,
}
