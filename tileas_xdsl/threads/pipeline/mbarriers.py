"""Mbarriers in shared memory, and the ring of stages that they guard.

    stage, wraps = next_stage(e, stage, 3)    ->  stage' = stage + 1 == 3 ? 0 : stage + 1

The phase parity of a stage flips each time that the ring wraps around (PTX ISA 9.7.13.15).
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.cute_nvgpu import FenceMbarrierInitOp, GetDynSmemOp, MbarrierInitOp
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import MBARRIER_BYTES
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, constant_like, is_equal
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.smem.smem_layout import MBARRIERS


def allocate_mbarriers(e: ThreadBuilder, op: Operation, name: str, count: int) -> SSAValue:
    """Return a pointer to mbarriers, one for each stage, in shared memory."""
    offset = e.plan.shared.allocate(op, name, MBARRIER_BYTES * count, MBARRIERS, MBARRIER_BYTES)
    return e.insert(GetDynSmemOp(offset, i64, MBARRIER_BYTES)).result


def initialize_mbarriers(e: ThreadBuilder, count: int, arrivals: Mapping[SSAValue, int]) -> None:
    """Initialise `count` stages of arrays of mbarriers, given with the arrivals of a phase.

    One thread runs this; the others may use the mbarriers after a barrier behind it.
    """
    for stage in range(count):
        for barriers, expected in arrivals.items():
            e.insert(MbarrierInitOp(advance(e, barriers, stage), expected))
    e.insert(FenceMbarrierInitOp())


def next_stage(e: ThreadBuilder, stage: SSAValue, count: int) -> tuple[SSAValue, SSAValue]:
    """Return the stage behind another one, and whether the ring wraps around to the first."""
    following = add(e, stage, 1)
    wraps = is_equal(e, following, count)
    first = constant_like(e, stage, 0)
    return e.insert(selection(wraps, first, following)).result, wraps
