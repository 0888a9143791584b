"""Text that kernels print, that of assertions included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import cf
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.dialects.nv_tileaa.messages import PrintOp
from tileas_xdsl.interpreters.tile.execution.agent import Language, Steps
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.numerics.element_types import unsigned
from tileas_xdsl.interpreters.tile.numerics.integers import width_of
from tileas_xdsl.interpreters.tile.semantics.memory_access.tiled_access import after, token_of
from tileas_xdsl.target.printf import Conversion, assertion_text, formatted


def printed(agent: TileAgent, op: PrintOp, inputs: Sequence[Any]) -> Steps:
    """The text of one block at once, among that of the others."""
    yield from after(agent, op, op.token)
    parts = op.parts()
    formats = [part for part in parts if isinstance(part, Conversion)]
    given = zip(formats, op.values, strict=True)
    values = [_passed(agent, conversion, value) for conversion, value in given]
    agent.block.device.printed.append(formatted(parts, values))
    return token_of(agent, op.out_token)


def asserted(agent: TileAgent, op: cf.AssertOp, inputs: Sequence[Any]) -> tuple[()]:
    """An assertion that does not hold is printed, and ends the run."""
    if inputs[0]:
        return ()
    agent.block.device.printed.append(assertion_text(op.msg.data))
    raise fault(op, f"assertion failed: {op.msg.data}")


def _passed(agent: TileAgent, conversion: Conversion, value: SSAValue) -> Any:
    """Return the arguments of a format: integers by its conversions, booleans as 0 and 1."""
    found = np.asarray(agent.value_of(value))
    if conversion.is_float:
        return found.astype(np.float64)
    width = width_of(element_of(value.type))
    if width is None or (conversion.is_signed and width > 1):
        return found
    return unsigned(found.astype(np.int64), width)


MESSAGES = Language(effects={cf.AssertOp: asserted}, behaviours={PrintOp: printed})
