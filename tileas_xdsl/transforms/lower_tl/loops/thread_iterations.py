"""Which iterations of a parallel loop a thread owns, and code for their coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.dialects.tl.base import element_of, scope_of
from tileas_xdsl.dialects.tl.fragments import layout_of
from tileas_xdsl.dialects.tl.loops import ParallelOp
from tileas_xdsl.dialects.tl.moves import CopyOp, FillOp
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.layout.expr.tables import Table, linearized, variables_of_box
from tileas_xdsl.target.isa.tables.warps import MAX_REGISTERS
from tileas_xdsl.threads.index.thread_affine import ThreadAffine, of_table
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import (
    ThreadIterations,
    packed_in_word,
)
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState
from tileas_xdsl.transforms.lower_tl.loops.rolled_iterations import EvenIterations
from tileas_xdsl.transforms.lower_tl.lowering_state import State

MAX_AT_ONCE = 64
"""Iterations of a thread that are written out where a loop could run them."""


def owners_of(
    state: State, op: Operation, layout: FragmentAttr | None, extents: tuple[int, ...]
) -> FragmentMap:
    """Return the owner of each iteration; an error for a loop without a layout."""
    if layout is None:
        raise op_error(op, "has no layout: tl-layout-inference gives it one")
    return layout_of(layout, extents, state.threads)


def spread(extents: tuple[int, ...], threads: int, vector: int) -> FragmentMap:
    """Row-major iterations dealt out to threads, `vector` neighbours at a time."""
    while extents and extents[-1] % vector:
        vector //= 2
    linear = linearized(variables_of_box(len(extents)), extents)
    chunk = linear // vector
    slot = chunk // threads * vector + linear % vector
    return FragmentMap(extents, chunk % threads, slot, threads)


MAX_ITERATIONS = 1024
"""Iterations of a thread that are written out."""

WIDTHS = (16, 8, 4, 2, 1)
"""Neighbours that a round may run, the most first."""

Body: TypeAlias = Callable[[LoopBodyState, Sequence[ThreadAffine]], None]
"""What an iteration does, given its coordinates."""


def iterate(
    state: State,
    op: ParallelOp | CopyOp | FillOp,
    owners: FragmentMap,
    types: Sequence[Attribute],
    body: Body,
) -> None:
    """All iterations of a thread: written out at once, or many of them as a loop."""
    vector = 0 if op.vector is None else op.vector.value.data
    if owners.slots > MAX_AT_ONCE and not _touches_registers(op):
        for width in WIDTHS:
            if (
                width <= (vector or width)
                and (rounds := EvenIterations.of(owners, width)) is not None
            ):
                rounds.run(state, vector, body)
                return
    packed = max((packed_in_word(_bits(type_)) for type_ in types), default=1)
    iterations = ThreadIterations.of(owners, packed)
    if iterations.count > MAX_ITERATIONS:
        raise op_error(
            op,
            f"gives each of {state.threads} threads {owners.slots} iterations, and at most "
            f"{MAX_ITERATIONS} are written out",
        )
    writes: dict[tuple[Operation, int], Table] = {}
    for chunk in iterations.chunks(MAX_REGISTERS):
        work = LoopBodyState(state, chunk, vector, writes=writes)
        body(work, [of_table(table) for table in chunk.coordinates])


def _touches_registers(op: Operation) -> bool:
    """Whether a loop reads or writes registers of fragments."""
    return any(
        scope_of(operand.type) is Scope.FRAGMENT
        for inner in op.walk()
        for operand in inner.operands
    )


def _bits(type_: Attribute) -> int:
    """The bits of what is in registers; buffers and indices are not."""
    if scope_of(type_) is not None:
        return _bits(element_of(type_))
    return bits_of(type_) if isinstance(type_, FixedBitwidthType) else 0
