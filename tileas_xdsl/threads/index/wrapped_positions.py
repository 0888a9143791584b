"""Positions in a tile modulo a power of two: an `and` only where they may wrap around.

(position + %s) & 4095, where %s is -7 to 0     positions from 7 on need none
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.known_integers import interval_of
from tileas_xdsl.threads.codegen.lowered_values import Scalar
from tileas_xdsl.threads.index.per_thread_tables import Table
from tileas_xdsl.threads.registers.vector_values import element, joined


def wrapped_positions(
    e: ThreadBuilder,
    op: arith.AndIOp,
    known: Callable[[SSAValue], Table | None],
    value: Callable[[SSAValue], SSAValue],
) -> SSAValue | None:
    """Return a known position and a number of a known interval, modulo a power of two.

    `known` gives the positions of the threads in each register, `value` what a value of the body
    is lowered to.  None for other operations.
    """
    moved, bound = op.operands
    mask, total = constant_integer(bound), moved.owner
    if mask is None or mask & (mask + 1) or not isinstance(total, arith.AddiOp):
        return None
    table, shift = known(total.lhs), e.values.get(total.rhs)
    if table is None or not isinstance(shift, Scalar):
        return None
    interval, whole = interval_of(shift.value), value(moved)
    if interval is None or not isinstance(whole.type, VectorType):
        return None
    low, high = table.min(axis=0) + interval[0], table.max(axis=0) + interval[1]
    limit, found = value(bound), list[SSAValue]()
    for k, inside in enumerate((low >= 0) & (high <= mask)):
        one = element(e, whole, k)
        found.append(one if inside else e.insert(arith.AndIOp(one, limit)).result)
    return joined(e, found)
