"""How many iterations a tile block has, where all have as many: quotients of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeAlias

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import BlockArgument, SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.kernel_abi import Count, Passed
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.producer_slice import enclosing_control

Quotients: TypeAlias = Sequence[tuple[Count, int]]
"""Iterations as a product, of trip counts that are each a number divided and rounded up."""


def known_iterations(iterations: Quotients) -> int:
    """Return the product of the trip counts that are known."""
    return prod(ceil_div(n, by) for n, by in iterations if isinstance(n, int))


def iterations_of(found: LoadLoop) -> Quotients | None:
    """Return the most iterations of the loop in a tile block; None if they are no quotients."""
    counts: list[tuple[Count, int]] = []
    for loop in (found.loop, *enclosing_control(found.loop)):
        if not isinstance(loop, scf.ForOp):
            continue
        first, step = constant_integer(loop.lb), constant_integer(loop.step)
        count = _quotient(loop.ub)
        if first != 0 or not step or count is None:
            return None
        counts.append((count[0], count[1] * step))
    return counts


def _quotient(value: SSAValue) -> tuple[Count, int] | None:
    """Return a constant or an argument, divided by constants and rounded up; None for others.

    It is an upper bound: a quotient that is rounded down, and the lesser of two, are not larger.
    """
    if isinstance(value, BlockArgument):
        of_kernel = isinstance(value.block.parent_op(), func.FuncOp)
        return (Passed(value.index), 1) if of_kernel else None
    if (known := constant_integer(value)) is not None:
        return known, 1
    match value.owner:
        case arith.IndexCastOp() | arith.ExtUIOp() | arith.ExtSIOp() | AssumeOp() as op:
            return _quotient(op.operands[0])
        case arith.MinSIOp() | arith.MinUIOp() as op:
            return _quotient(op.lhs) or _quotient(op.rhs)
        case arith.CeilDivUIOp() | arith.CeilDivSIOp() | arith.FloorDivSIOp() as op:
            found, by = _quotient(op.lhs), constant_integer(op.rhs)
            return None if found is None or not by else (found[0], found[1] * by)
        case _:
            return None


def short_loop_attribute(
    iterations: Quotients, most: int, together: int, ctas: int
) -> DictionaryAttr:
    """Return the attribute that `ShortLoop` is read of: `scalar 5 / 64` is of argument 5."""
    passed = [f"{n} / {by}" for n, by in iterations if isinstance(n, Passed)]
    quotients = ArrayAttr([StringAttr(text) for text in passed])
    left = IntegerAttr(most // max(known_iterations(iterations), 1), 64)
    counts = {"together": IntegerAttr(together, 64), "ctas": IntegerAttr(ctas, 64)}
    return DictionaryAttr({"most": left, "quotients": quotients, **counts})
