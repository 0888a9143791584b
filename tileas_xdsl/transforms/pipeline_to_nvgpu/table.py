"""Which operation of `cutlass` is lowered how: the tables of all families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation

from tileas_xdsl.transforms.pipeline_to_nvgpu import (
    bodies,
    counters,
    fixups,
    handshake,
    schedulers,
    setup,
    states,
    stripes,
    turns,
)
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Handler

_TABLE: Any = {
    **bodies.HANDLERS,
    **counters.HANDLERS,
    **fixups.HANDLERS,
    **handshake.HANDLERS,
    **schedulers.HANDLERS,
    **setup.HANDLERS,
    **states.HANDLERS,
    **stripes.HANDLERS,
    **turns.HANDLERS,
}

HANDLERS: Mapping[type[Operation], Handler] = _TABLE
"""By the class of the operation."""
