"""The handler table of `convert-pipeline-to-nvgpu`.

`HANDLERS[MyOp] = handler` makes the pass lower a further operation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation

from tileas_xdsl.transforms.pipeline_to_nvgpu import barrier_init as setup
from tileas_xdsl.transforms.pipeline_to_nvgpu import block_striped as stripes
from tileas_xdsl.transforms.pipeline_to_nvgpu import generic_barriers as counters
from tileas_xdsl.transforms.pipeline_to_nvgpu import pipeline_states as states
from tileas_xdsl.transforms.pipeline_to_nvgpu import region_ops as bodies
from tileas_xdsl.transforms.pipeline_to_nvgpu import schedulers
from tileas_xdsl.transforms.pipeline_to_nvgpu import sequence_barriers as turns
from tileas_xdsl.transforms.pipeline_to_nvgpu import stage_barriers as handshake
from tileas_xdsl.transforms.pipeline_to_nvgpu import streamk_fixup as fixups
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
