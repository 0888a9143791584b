"""The pass `overlap-launches`: a kernel is set up while the one before it on the stream ends.

    %b = cute_nvgpu.arch.get_dyn_smem ...      %b = cute_nvgpu.arch.get_dyn_smem ...
    scf.if %first {                            scf.if %first {
      cute_nvgpu.arch.mbarrier_init %b, 1        cute_nvgpu.arch.mbarrier_init %b, 1
    }                                          }
    cute_nvgpu.arch.barrier id 0         ->    cute_nvgpu.arch.barrier id 0
    scf.if %loads { ... tma_load ... }         ptx.griddepcontrol {action = "wait"}
                                               if few CTAs: ptx.griddepcontrol "launch_dependents"
                                               scf.if %loads { ... tma_load ... }

All threads wait in front of the first operation that may access global memory: until the kernels
before have completed, and what they wrote is visible.  So a launch may begin while CTAs of the
kernel before still run, if the driver is asked to (`tileas.waits_first`, programmatic dependent
launch); one that does not ask goes through both at once.  The next kernel is let in behind the
wait, so that all kernels but one before it have completed wherever it begins, by kernels of few
CTAs: those of many let it in as they end.  Kernels whose CTAs take tile after tile have few, and do
not ask.  The next kernel may hold tensor memory by then, which a CTA of this one that allocates
later would wait for, forever: kernels that allocate behind the place of the wait stay as they are.

A program that controls this by itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import ModuleOp, UnitAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import (
    AllocTmemOp,
    BarrierOp,
    ClusterArriveOp,
    ClusterWaitOp,
    ElectOneOp,
    FenceMbarrierInitOp,
    GridDimOp,
    MbarrierInitOp,
    PrefetchTmaDescOp,
    RelinquishTmemOp,
    RetrieveTmemPtrOp,
    TmemFenceOp,
)
from tileas_xdsl.dialects.interned import integer_attr
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.ptx.synchronisation.warp import GriddepcontrolOp
from tileas_xdsl.target.kernel_abi import RUNS_AT_ONCE, WAITS_FIRST
from tileas_xdsl.threads.codegen.kernel_signature import PARAMETERS

SETS_UP = (
    *(MbarrierInitOp, FenceMbarrierInitOp, PrefetchTmaDescOp, ElectOneOp),
    *(BarrierOp, ClusterArriveOp, ClusterWaitOp),
    *(AllocTmemOp, RelinquishTmemOp, RetrieveTmemPtrOp, TmemFenceOp),
)
"""What has effects, none of them on global memory: tensor maps are parameters."""

MOST_CTAS = 1024
"""CTAs up to which what a launch gains, 0.7 us, is more than what their signals may cost.

Each takes the unit that starts CTAs 0.6 ns.  On an H200 262,144 CTAs of 256 elements, which are
quantised in blocks of 32, took 0.161 ms without signals and 0.319 with them, 65,536 Hadamard
transforms 0.047 and 0.081.
"""


@dataclass(frozen=True)
class OverlapLaunches(ModulePass):
    """Wait for the kernels before where global memory may be accessed, and let the next one in.

    Needs kernels of threads, whose control flow is structured.  Idempotent.
    """

    name = "overlap-launches"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, func.FuncOp) and PARAMETERS in kernel.attributes:
                _overlap(kernel)


def _overlap(kernel: func.FuncOp) -> None:
    if has_instance(kernel, GriddepcontrolOp):
        return
    first = next(op for op in kernel.body.block.ops if not _sets_up(op))
    if isinstance(first, func.ReturnOp) or _allocates_behind(first):
        return
    lets_in = [GriddepcontrolOp("launch_dependents")] if _runs_at_once(kernel) else _let_in()
    Rewriter.insert_op([GriddepcontrolOp("wait"), *lets_in], InsertPoint.before(first))
    kernel.attributes[WAITS_FIRST] = UnitAttr()


def _runs_at_once(kernel: func.FuncOp) -> bool:
    """Whether launches have no more CTAs than run at once, and need not be asked for their number.

    So they have where CTAs take tile after tile, as far apart as there are CTAs.
    """
    if RUNS_AT_ONCE in kernel.attributes:
        return True
    steps = [loop.step for loop in instances_in(kernel, scf.ForOp)]
    return any(isinstance(op, GridDimOp) for op in operations_behind(steps))


def _let_in() -> Iterator[Operation]:
    """Yield what lets the next kernel in, where this one has few CTAs.

    Extents past the most count as one more, so that products of three have 32 bits.
    """
    yield (more := arith.ConstantOp(integer_attr(MOST_CTAS + 1, i32)))
    count: SSAValue | None = None
    for axis in ("x", "y", "z"):
        yield (extent := GridDimOp(axis))
        yield (held := arith.MinUIOp(extent.result, more.result))
        if count is not None:
            yield (held := arith.MuliOp(count, held.result))
        count = held.result
    assert count is not None
    yield (few := arith.CmpiOp(count, more.result, "ult"))
    body = Block([GriddepcontrolOp("launch_dependents"), scf.YieldOp()])
    yield scf.IfOp(few.result, [], Region(body))


def _allocates_behind(first: Operation) -> bool:
    """Whether tensor memory is allocated by an operation of the block or those that follow it."""
    following: Operation | None = first
    while following is not None:
        if has_instance(following, AllocTmemOp):
            return True
        following = following.next_op
    return False


def _sets_up(op: Operation) -> bool:
    """Whether an operation, and all that is in it, leaves global memory alone."""
    if isinstance(op, scf.IfOp):
        return all(isinstance(inner, scf.YieldOp) or _sets_up(inner) for inner in _inside(op))
    return isinstance(op, SETS_UP) or (not op.regions and is_side_effect_free(op))


def _inside(branch: scf.IfOp) -> Iterator[Operation]:
    """Yield the operations of both branches, not those in them."""
    for region in branch.regions:
        for block in region.blocks:
            yield from block.ops
