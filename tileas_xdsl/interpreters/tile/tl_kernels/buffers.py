"""Buffers of a block, the kernel around them, and loops of the whole block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.tl.buffers import (
    AllocFragmentOp,
    AllocLocalOp,
    AllocSharedOp,
    ReshapeOp,
    ViewOp,
)
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import PipelinedOp, SerialOp
from tileas_xdsl.interpreters.tile.execution.agent import Steps
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import dtype_of
from tileas_xdsl.interpreters.tile.tl_kernels.element_access import places_of, read, write


def run_kernel(agent: TileAgent, op: KernelOp, inputs: Sequence[Any]) -> Steps:
    """`tl.kernel`: the block that the agent is of; the launch has the grid that the text says."""
    values = iter(inputs)
    extents = [n if isinstance(n, int) else int(next(values)) for n in op.extents]
    wanted, given = (*extents, 1, 1, 1)[:3], agent.block.device.grid
    if given != wanted:
        text = f"has a grid of {_listed(wanted)}, but it is launched with one of {_listed(given)}"
        raise fault(op, text)
    yield from agent.run_region(op.body, agent.block.index[: len(extents)])
    return ()


def _listed(extents: Sequence[int]) -> str:
    return "x".join(map(str, extents))


def run_serial(agent: TileAgent, op: SerialOp | PipelinedOp, inputs: Sequence[Any]) -> Steps:
    """`tl.serial` and `tl.pipelined`: one iteration after another."""
    for number in serial_range(op, inputs):
        yield from agent.run_region(op.body, (number,))
    return ()


def serial_range(op: SerialOp | PipelinedOp, inputs: Sequence[Any]) -> range:
    """The values of the variable; a fault where the step is not positive."""
    first, end, *step = (int(value) for value in inputs)
    if step and step[0] < 1:
        raise fault(op, f"the step of a loop is positive, not {step[0]}")
    return range(first, end, *step)


def _type(value: SSAValue) -> MemRefType[Attribute]:
    return cast("MemRefType[Attribute]", value.type)


def _name(value: SSAValue) -> str:
    return f"%{value.name_hint}" if value.name_hint else "a buffer"


def alloc(agent: TileAgent, op: AllocSharedOp | AllocFragmentOp, _: Sequence[Any]) -> tuple[View]:
    """A buffer that nobody has written."""
    type_ = _type(op.buffer)
    space = Space.SMEM if isinstance(op, AllocSharedOp) else Space.RMEM
    shape, element = type_.get_shape(), type_.element_type
    return (agent.block.allocate(op, agent.name, _name(op.buffer), shape, element, space),)


def new_local(op: AllocLocalOp) -> View:
    """A buffer of one thread, which has not written it."""
    type_ = _type(op.buffer)
    data = np.zeros(type_.get_shape(), dtype_of(type_.element_type))
    return View.whole(Memory(_name(op.buffer), Space.RMEM, data), type_.element_type)


def alloc_local(_: TileAgent, op: AllocLocalOp, __: Sequence[Any]) -> tuple[View]:
    """A buffer of every thread, for the whole block."""
    return (new_local(op),)


def alias(_: TileAgent, op: ReshapeOp | ViewOp, inputs: Sequence[Any]) -> tuple[View]:
    """Return a buffer over the same memory with another shape, perhaps of other elements."""
    type_ = _type(op.buffer)
    return (inputs[0].reshaped(tuple(type_.get_shape()), type_.element_type),)


def load(agent: TileAgent, op: memref.LoadOp, inputs: Sequence[Any]) -> tuple[Any]:
    """An element, for all threads of the block."""
    view, *index = inputs
    return (read(view, places_of(index), agent.actor(op)),)


def store(agent: TileAgent, op: memref.StoreOp, inputs: Sequence[Any]) -> tuple[()]:
    """An element of a local buffer, in every thread."""
    value, view, *index = inputs
    stored = np.asarray(value, view.dtype)
    write(view, places_of(index), stored, agent.actor(op))
    return ()
