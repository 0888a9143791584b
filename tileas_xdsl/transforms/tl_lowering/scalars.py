"""Scalars of the block: what all threads compute alike, and loads that all of them do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import affine, arith, math, memref
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.transforms.tileas_to_cute_nvgpu.fragments import joined
from tileas_xdsl.transforms.tl_lowering import bodies
from tileas_xdsl.transforms.tl_lowering.accesses import BUFFERS
from tileas_xdsl.transforms.tl_lowering.state import Handler, State
from tileas_xdsl.transforms.tl_lowering.steps import Steps
from tileas_xdsl.transforms.tl_lowering.work import Work


def scalar(state: State, op: Operation) -> None:
    """One step of all threads."""
    work = Work(state, Steps.once(state.threads), values=state.values)
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
