"""Branches that give some threads of a block one program of tiles and the others another.

Threads of two sides do not wait for each other without a barrier by hand, which has no counterpart
in `tl`.  One side after the other is therefore one of their orders, and a side does what it says
once, as the block does:

    if T.get_thread_binding() < 32:             for i in T.Parallel(64):
        for i in T.Parallel(64):                    y[i] = x[i] + 1
            y[i] = x[i] + 1              ->     for i in T.Parallel(64):
    else:                                           z[i] = x[i] * 2
        for i in T.Parallel(64):
            z[i] = x[i] * 2
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from tileas_xdsl.frontend.tilelang.scalars.ranges import range_of
from tileas_xdsl.frontend.tilelang.threads.thread_programs import OF_THREADS, ThreadProgram
from tileas_xdsl.frontend.tilelang.traced.graph import Node
from tileas_xdsl.frontend.tilelang.traced.loop_kinds import is_parallel
from tileas_xdsl.frontend.tilelang.traced.names import operands

_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "tirx.LT": operator.lt,
    "tirx.LE": operator.le,
    "tirx.GT": operator.gt,
    "tirx.GE": operator.ge,
    "tirx.EQ": operator.eq,
    "tirx.NE": operator.ne,
}


def roles(threads: ThreadProgram, branch: Node) -> Sequence[Node] | None:
    """The sides of a branch that some thread takes, to be done one after the other by the block.

    None where a side says what single threads do, or where the threads of one are not known to be
    a range of a block of one dimension.
    """
    if branch.kind != "tirx.IfThenElse" or len(threads.extents) != 1:
        return None
    yes, no = branch.child("then_case"), branch.optional("else_case")
    sides = [(True, yes)] if no is None else [(True, yes), (False, no)]
    if any(threads.varies(side) or _is_for_each(side) for _, side in sides):
        return None
    condition = branch.child("condition")
    # The condition is evaluated for every thread of the block. With at most one change, each side
    # is taken by a range of threads.
    taken = [_takes(threads, condition, thread) for thread in range(threads.extents[0])]
    changes = sum(before is not after for before, after in pairwise(taken))
    if None in taken or changes > 1:
        return None
    return [side for is_taken, side in sides if is_taken in taken]


def _is_for_each(node: Node) -> bool:
    """Whether each thread does a part of a statement once more, as an atomic addition."""
    if is_parallel(node):
        return False
    if node.kind == "tirx.Evaluate":
        call = node.child("value")
        return call.kind == "tirx.Call" and call.child("op").data in OF_THREADS
    return any(_is_for_each(part) for part in operands(node))


def _takes(threads: ThreadProgram, condition: Node, thread: int) -> bool | None:
    """Whether a comparison holds for a thread; None where more than its index decides."""
    compare = _COMPARISONS.get(condition.kind)
    if compare is None:
        return None
    known = {variable: range(thread, thread + 1) for variable in threads.axes}
    for variable, expression in threads.expressions.items():
        found = range_of(expression, known)
        if found is not None and found[0] == found[1]:
            known[variable] = range(found[0], found[0] + 1)
    left, right = (range_of(condition.child(side), known) for side in "ab")
    if left is None or right is None or left[0] != left[1] or right[0] != right[1]:
        return None
    return compare(left[0], right[0])
