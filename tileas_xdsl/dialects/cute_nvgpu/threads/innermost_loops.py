"""Innermost loops of thread-level IR, and the registers that passes leave for their invariants.

    scf.for ... { ... } {cute_nvgpu.registers_left = 64 : i32, cute_nvgpu.registers_free = 12 : i32}

What is computed in front of a loop is in registers all along it.  `hoist-loop-invariants` counts
what is live and writes what is left; whoever lowers the loop may hoist as much of what it
computes.  Of `registers_left` some may be overdraft, values that ptxas computes anew;
`registers_free` are not.
"""

from __future__ import annotations

from math import inf

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds

LOOPS = (scf.ForOp, scf.WhileOp)

_LOOPS = Kinds(*LOOPS)

IN_FRONT_OF_LOOPS = "cute_nvgpu.in_front_of_loops"
"""On an operation whose result is worth its registers wherever a loop does not change it."""

REGISTERS_LEFT, REGISTERS_FREE = "cute_nvgpu.registers_left", "cute_nvgpu.registers_free"


def compute_in_front(value: SSAValue) -> SSAValue:
    """Have a value computed in front of loops that do not change it, and return it."""
    if isinstance(value.owner, Operation):
        value.owner.attributes[IN_FRONT_OF_LOOPS] = UnitAttr()
    return value


def is_innermost(loop: Operation) -> bool:
    """Return whether a loop contains no other."""
    return not any(_LOOPS[type(op)] for op in operations_in(loop)[1:])


def registers_left(loop: Operation) -> float:
    """Return the 32-bit registers of a thread that invariants may take: any number, if not said."""
    left = loop.attributes.get(REGISTERS_LEFT)
    return left.value.data if isinstance(left, IntegerAttr) else inf


def registers_free(loop: Operation) -> float:
    """Return the registers of a thread that nothing in a loop takes: any number, if not said."""
    free = loop.attributes.get(REGISTERS_FREE)
    return free.value.data if isinstance(free, IntegerAttr) else inf


def set_registers_left(loop: Operation, count: int, free: int) -> None:
    """Record the registers of a thread that invariants of a loop may take, and those in no use."""
    loop.attributes[REGISTERS_LEFT] = IntegerAttr(count, i32)
    loop.attributes[REGISTERS_FREE] = IntegerAttr(free, i32)
