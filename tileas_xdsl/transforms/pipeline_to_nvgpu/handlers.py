"""The handler table of `convert-pipeline-to-nvgpu`.

`HANDLERS[MyOp] = handler` makes the pass lower a further operation.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.transforms.pipeline_to_nvgpu import pipeline_states, region_ops
from tileas_xdsl.transforms.pipeline_to_nvgpu.barriers import (
    barrier_init,
    generic_barriers,
    sequence_barriers,
    stage_barriers,
)
from tileas_xdsl.transforms.pipeline_to_nvgpu.schedulers import block_striped, streamk_fixup
from tileas_xdsl.transforms.pipeline_to_nvgpu.schedulers import tile_schedulers as schedulers
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Handler

HANDLERS: dict[type[Operation], Handler] = {
    **barrier_init.HANDLERS,
    **block_striped.HANDLERS,
    **generic_barriers.HANDLERS,
    **pipeline_states.HANDLERS,
    **region_ops.HANDLERS,
    **schedulers.HANDLERS,
    **sequence_barriers.HANDLERS,
    **stage_barriers.HANDLERS,
    **streamk_fixup.HANDLERS,
}
"""By operation class, how it is lowered."""
