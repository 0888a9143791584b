"""Selections between elements under a mask, passed over by one branch where few comparisons decide.

    %m = 8 times %column < %n, 8 times %column + 256 < %n      scf.if %column < %n and ... {
    %s = select %m[k], %e[k], 0, of each of 16 registers  ->     scf.yield %e
                                                               } else { selections }

Columns are compared with the end of a row, which is behind all of them in most threads.  Kernels
with products have no branch: ptxas waits for products of warpgroups there (C7510).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector
from tileas_xdsl.dialects.ir_queries import constant_integer, enclosing_function
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.registers.vector_values import element, joined, length

WORTH_A_BRANCH, ELEMENTS_OF_A_FLAG = 16, 4
"""Selections, and those of each comparison, from which on a branch around them costs less."""


def selected(
    e: ThreadBuilder, op: Operation, mask: SSAValue, taken: SSAValue, other: SSAValue
) -> SSAValue:
    """Return a vector of the elements of two under a mask, or of a vector and a scalar.

    `op` is the tile operation that it is computed for.
    """
    flags, type_ = _few_flags(op, mask), as_vector(taken.type)
    if flags is None or type_ is None:
        return _by_element(e, mask, taken, other)
    kept = [flag for flag in dict.fromkeys(flags) if constant_integer(flag) != 0]
    if not kept:
        return _by_element(e, mask, taken, other)
    whole = kept[0]
    for flag in kept[1:]:
        whole = e.insert(arith.AndIOp(whole, flag)).result
    all_hold, some_do_not = Block(), Block()
    with e.within(all_hold):
        e.insert(scf.YieldOp(_by_constant(e, flags, taken, other)))
    with e.within(some_do_not):
        e.insert(scf.YieldOp(_by_element(e, mask, taken, other)))
    chosen = scf.IfOp(whole, [type_], Region(all_hold), Region(some_do_not))
    return e.insert(chosen).results[0]


def _few_flags(op: Operation, mask: SSAValue) -> Sequence[SSAValue] | None:
    """Return the flags of a mask, of few comparisons; None of many, and where none may branch."""
    made = mask.owner
    if not isinstance(made, MakeFragmentOp) or length(mask) < WORTH_A_BRANCH:
        return None
    flags = list(made.operands)
    if len(flags) != length(mask) or len(set(flags)) * ELEMENTS_OF_A_FLAG > length(mask):
        return None
    function = enclosing_function(op)
    return None if function is None or has_instance(function, DotOp) else flags


def _by_constant(
    e: ThreadBuilder, flags: Sequence[SSAValue], taken: SSAValue, other: SSAValue
) -> SSAValue:
    """The elements of one vector, but where a flag is known not to hold."""
    never = [constant_integer(flag) == 0 for flag in flags]
    if not any(never):
        return taken
    sides = [other if is_never else taken for is_never in never]
    return joined(e, [element(e, side, k) for k, side in enumerate(sides)])


def _by_element(e: ThreadBuilder, mask: SSAValue, taken: SSAValue, other: SSAValue) -> SSAValue:
    found = [
        e.insert(selection(element(e, mask, k), element(e, taken, k), element(e, other, k)))
        for k in range(length(mask))
    ]
    return joined(e, [op.result for op in found])
