"""Where all threads of a block meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import gpu
from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BarrierOp
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter, Handler
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import Lowered


def barrier(e: Emitter, op: gpu.BarrierOp) -> Sequence[Lowered]:
    """All threads of the block meet."""
    if e.by_one_thread:
        raise op_error(op, "waits for all threads of the block, but only one of its agent is here")
    e.insert(BarrierOp(0))
    return []


_TABLE: Any = {gpu.BarrierOp: barrier}

EXCHANGES: Mapping[type[Operation], Handler] = _TABLE
"""The barrier of the block."""
