"""Copies of regions, fills, and fragments in another layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.tl.moves import ConvertLayoutOp, CopyOp, FillOp, Side
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, cast
from tileas_xdsl.interpreters.tile.tl_kernels.element_access import extents_of


def copy(agent: TileAgent, op: CopyOp, _: Sequence[Any]) -> tuple[()]:
    """`tl.copy`: what is outside of global memory reads as 0 and is not written."""
    plan = agent.code.fact(op, _plan)
    source, target = (_window(agent, op, plan.extents, side) for side in plan.sides)
    if source.memory is target.memory and _synchronise_blocks(source, target):
        raise fault(op, f"copies {source.memory.name} onto itself")
    values = _read(source, agent.actor(op))
    converted = values if source.element == target.element else cast(values, target.element)
    _write(target, converted.reshape(target.shape), agent.actor(op))
    agent.computed(op, values.size)
    return ()


@dataclass(frozen=True)
class CopyPlan:
    """What a copy is, whenever it runs: the extents of its loop, and both sides."""

    extents: tuple[int, ...]
    sides: tuple[Side, Side]


def _plan(op: CopyOp) -> CopyPlan:
    return CopyPlan(op.loop_extents, (op.source_side, op.target_side))


def _window(agent: TileAgent, op: CopyOp, loop: tuple[int, ...], side: Side) -> View:
    """The region of a side, perhaps outside of global memory."""
    view: View = agent.value_of(side.buffer)
    offsets = [int(agent.value_of(offset)) for offset in side.offsets] or [0] * len(view.shape)
    shape = [1 if k is None else loop[k] for k in side.variables]
    window = view.part(offsets, shape)
    if view.memory.space is not Space.GMEM and not window.is_inside:
        wanted = "x".join(map(str, shape))
        text = f"{view.memory.name} has no {wanted} elements at {offsets}: it is {extents_of(view)}"
        raise fault(op, text)
    return window


def _synchronise_blocks(source: View, target: View) -> bool:
    parts = [view.clipped() for view in (source, target)]
    if parts[0] is None or parts[1] is None:
        return False
    return parts[0][0].region().overlaps(parts[1][0].region())


def _read(view: View, actor: Actor) -> Array:
    values = np.zeros(view.shape, view.dtype)
    if (part := view.clipped()) is not None:
        values[part[1]] = part[0].read(actor)
    return values


def _write(view: View, values: Array, actor: Actor) -> None:
    if (part := view.clipped()) is not None:
        part[0].write(values[part[1]], actor)


def fill(agent: TileAgent, op: FillOp, inputs: Sequence[Any]) -> tuple[()]:
    """`tl.fill`."""
    view, value = inputs
    view.write(np.asarray(value, view.dtype), agent.actor(op))
    agent.computed(op, view.array().size)
    return ()


def convert_layout(agent: TileAgent, op: ConvertLayoutOp, inputs: Sequence[Any]) -> tuple[()]:
    """`tl.convert_layout`: the same elements."""
    source, target = inputs
    target.write(source.read(agent.actor(op)), agent.actor(op))
    agent.computed(op, source.array().size)
    return ()
