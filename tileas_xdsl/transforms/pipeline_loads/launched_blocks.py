"""What is known of the blocks of a launch: which of them run at once, and what they share."""

from __future__ import annotations

from xdsl.dialects import gpu, scf

from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.target.kernel_abi import RUNS_AT_ONCE
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import enclosing_control
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop


def is_persistent(found: LoadLoop) -> bool:
    """Whether a block takes tile after tile, as far apart as there are blocks.

    Such a kernel is launched with the blocks that run at once, usually one on each multiprocessor;
    not so where the compiler has made it, and launches ask how many run at once.
    """
    if spec_of(found.function).persistent:
        return False
    around = [op for op in enclosing_control(found.loop) if isinstance(op, scf.ForOp)]
    bounds = [bound for op in around for bound in (op.lb, op.ub, op.step)]
    return any(isinstance(op, gpu.GridDimOp) for op in operations_behind(bounds))


def runs_at_once(found: LoadLoop) -> bool:
    """Whether a launch of this form has no more blocks than there are multiprocessors."""
    return RUNS_AT_ONCE in found.function.attributes
