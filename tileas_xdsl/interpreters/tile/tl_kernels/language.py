"""The language of block programs: what the operations of `tl` and `memref` mean."""

from __future__ import annotations

from xdsl.dialects import memref

from tileas_xdsl.dialects.tl.buffers import (
    AllocFragmentOp,
    AllocLocalOp,
    AllocSharedOp,
    ReshapeOp,
    ViewOp,
)
from tileas_xdsl.dialects.tl.compute import CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.loops import ParallelOp, PipelinedOp, SerialOp
from tileas_xdsl.dialects.tl.moves import ConvertLayoutOp, CopyOp, FillOp
from tileas_xdsl.interpreters.tile.execution.agent import Language
from tileas_xdsl.interpreters.tile.tl_kernels import buffers, compute
from tileas_xdsl.interpreters.tile.tl_kernels import copies as moves
from tileas_xdsl.interpreters.tile.tl_kernels import parallel_loops as iterations

TL_KERNELS = Language(
    effects={
        AllocFragmentOp: buffers.alloc,
        AllocLocalOp: buffers.alloc_local,
        AllocSharedOp: buffers.alloc,
        ConvertLayoutOp: moves.convert_layout,
        CopyOp: moves.copy,
        CumSumOp: compute.cumsum,
        FillOp: moves.fill,
        GemmOp: compute.gemm,
        ParallelOp: iterations.run_parallel,
        ReduceOp: compute.reduce,
        ReshapeOp: buffers.alias,
        ViewOp: buffers.alias,
        memref.LoadOp: buffers.load,
        memref.StoreOp: buffers.store,
    },
    behaviours={
        KernelOp: buffers.run_kernel,
        PipelinedOp: buffers.run_serial,
        SerialOp: buffers.run_serial,
    },
)
"""Everything of `tl`; `tl.atomic_add` stands in iterations alone."""
