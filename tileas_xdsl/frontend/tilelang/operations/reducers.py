"""Reducers, `T.alloc_reducer`: iterations that add to one element become a reduction.

    total = T.alloc_reducer((128,), T.float32)      each = fragment(128, 64)
    for i, j in T.Parallel(128, 64):                for i, j in T.Parallel(128, 64):
        total[i] += x[i, j] * y[j]             ->       each[i, j] = x[i, j] * y[j]
    T.finalize_reducer(total)                       reduce each over 1 into total

Threads combine what they have in each loop, so that nothing is left to finalise.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.tl.base import shape_of
from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp
from tileas_xdsl.dialects.tl.compute import ReduceOp
from tileas_xdsl.dialects.tl.loops import ParallelOp
from tileas_xdsl.frontend.tilelang.scalars.linear import texts_of
from tileas_xdsl.frontend.tilelang.scope import Scope
from tileas_xdsl.frontend.tilelang.traced.graph import Node

COMBINED = {"tirx.Add": "sum", "tirx.Mul": "prod", "tirx.Max": "max", "tirx.Min": "min"}
"""The reductions that binary operations make."""


@dataclass(frozen=True)
class Reduction:
    """An update of a reducer by all iterations of a parallel loop."""

    reducer: Node
    kind: str
    value: Node
    """What an iteration contributes."""
    axis: int
    """The loop over which iterations are combined."""


def read_reducers(annotation: Node | None) -> frozenset[Node]:
    """The variables of the buffers that the annotation of a block says are reducers."""
    if annotation is None:
        return frozenset()
    return frozenset(annotation.elements[::2])


def reduction_of(scope: Scope, loops: Sequence[Node], body: Node) -> Reduction | None:
    """The reduction that a parallel loop is; None where it updates no reducer by itself."""
    if body.kind != "tirx.BufferStore" or body.child("buffer").child("data") not in scope.reducers:
        return None
    buffer, update = body.child("buffer"), body.child("value")
    places = texts_of(body.children("indices"))
    if update.kind not in COMBINED:
        why = "is a sum, a product, a maximum or a minimum with it"
        raise scope.refusal("an update of a reducer", why)
    sides = [update.child("a"), update.child("b")]
    own = [_is_element(side, buffer, places) for side in sides]
    variables = [loop.child("loop_var") for loop in loops]
    # Loops over i, j, k and `r[i, k] += x` give kept = [0, 2] and left = [1], the reduced axis.
    kept = [variables.index(i) if i in variables else -1 for i in body.children("indices")]
    left = [axis for axis in range(len(loops)) if axis not in kept]
    extents = [loop.child("extent").constant for loop in loops]
    is_whole = [extents[axis] for axis in kept if axis >= 0] == list(
        shape_of(scope.buffer(buffer).type)
    )
    if own.count(True) != 1 or kept != sorted(kept) or len(left) != 1 or not is_whole:
        why = "has the variables of all loops but one as its indices, in order"
        raise scope.refusal("an update of a reducer", why)
    return Reduction(buffer, COMBINED[update.kind], sides[own.index(False)], left[0])


def _is_element(node: Node, buffer: Node, places: str) -> bool:
    return (
        node.kind == "tirx.BufferLoad"
        and node.child("buffer") == buffer
        and texts_of(node.children("indices")) == places
    )


def reduce_into(scope: Scope, loops: Sequence[Node], found: Reduction) -> None:
    """Write what iterations contribute, and combine it."""
    extents = tuple(loop.child("extent").constant or 0 for loop in loops)
    element = scope.element_type(found.reducer.dtype)
    each = scope.insert(AllocFragmentOp(extents, element)).buffer
    block = Block(arg_types=[IndexType()] * len(loops))
    with scope.within(block, is_iteration=True):
        for loop, extent, value in zip(loops, extents, block.args, strict=True):
            scope.values[loop.child("loop_var")] = value
            scope.extents[loop.child("loop_var")] = range(extent)
        contribution = scope.scalar(found.value, element)
        scope.insert(memref.StoreOp.get(contribution, each, block.args))
    scope.insert(ParallelOp(extents, block))
    total = scope.buffer(found.reducer)
    scope.insert(ReduceOp(found.kind, each, total, found.axis, clear=False))
