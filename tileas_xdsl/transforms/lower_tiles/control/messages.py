"""Handlers of printing and assertions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileaa.messages import PrintOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.target.printf import assertion_text
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant, xor
from tileas_xdsl.threads.codegen.lowered_values import Lowered
from tileas_xdsl.threads.codegen.print_assert import Shown, Text
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import is_first_thread
from tileas_xdsl.threads.convert.register_conversion import carried
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.smem.scratch_buffer import spilled
from tileas_xdsl.transforms.lower_tiles.memory.tokens import token_of


def _shown(e: ThreadBuilder, op: Operation, value: SSAValue) -> Shown:
    shape = shape_of(value.type)
    if shape is None:
        return Shown(value)
    return Shown(value, spilled(e, op, carried(e, in_registers(e, op, value))), tuple(shape))


def print_(e: ThreadBuilder, op: PrintOp) -> Sequence[Lowered]:
    """Lower a print, by one thread of the agent."""
    parts = op.parts()
    shown = iter([_shown(e, op, value) for value in op.values])
    with predicated(e, is_first_thread(e)):
        text = Text(e)
        for part in parts:
            if isinstance(part, str):
                text.say(part)
            else:
                text.show_all(part, next(shown))
        text.flush()
    return token_of(op)


def assert_(e: ThreadBuilder, op: cf.AssertOp) -> Sequence[Lowered]:
    """Lower an assertion: one thread prints it, then all of the agent end the kernel.

    The barrier keeps the others from ending it before the text is written.
    """
    holds = e.scalar(op.arg)
    with predicated(e, xor(e, holds, i1_constant(e, True))):
        with predicated(e, is_first_thread(e)):
            text = Text(e)
            text.say(assertion_text(op.msg.data))
            text.flush()
        if not e.by_one_thread:
            synchronize_agent(e)
    e.insert(cf.AssertOp(holds, op.msg.data))
    return []


HANDLERS: Handlers = {
    PrintOp: print_,
    cf.AssertOp: assert_,
}
