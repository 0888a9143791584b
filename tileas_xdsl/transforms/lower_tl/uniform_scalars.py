"""Scalar operations that are uniform across the block, and loads that all threads execute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import affine, arith, math, memref
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.threads.registers.vector_values import joined
from tileas_xdsl.transforms.lower_tl.loops import loop_body as bodies
from tileas_xdsl.transforms.lower_tl.loops.buffer_access import BUFFERS
from tileas_xdsl.transforms.lower_tl.loops.iteration_assignment import ThreadIterations
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State


def scalar(state: State, op: Operation) -> None:
    """One iteration of all threads."""
    work = LoopBodyState(state, ThreadIterations.once(state.threads), values=state.values)
    bodies.lower(work, op, BUFFERS)
    for storage, elements in work.locals.items():
        found: list[SSAValue] = [value for value in elements if isinstance(value, SSAValue)]
        state.registers[storage] = joined(state.e, found)


def _all_of(module: Any) -> dict[type[Operation], Handler]:
    known: Any = module
    return dict.fromkeys(known.operations, scalar)


SCALARS: Mapping[type[Operation], Handler] = {
    **_all_of(arith.Arith),
    **_all_of(math.Math),
    affine.ApplyOp: scalar,
    memref.DimOp: scalar,
    memref.LoadOp: scalar,
    memref.StoreOp: scalar,
}
"""What is computed outside of parallel loops."""
