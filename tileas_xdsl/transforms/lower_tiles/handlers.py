"""What each operation of a laid-out kernel becomes: one table of handlers, open to other packages.

A handler takes the `ThreadBuilder` and an operation, and returns a lowered value for each result:

    def lower_my_negation(e: ThreadBuilder, op: MyNegationOp) -> Sequence[Lowered]:
        return [Scalar(e.insert(arith.NegfOp(e.scalar(op.input))).result)]

    add_handler(MyNegationOp, lower_my_negation)

The code that handlers write comes from the functions of `tileas_xdsl.threads`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, cf, gpu, math, memref, scf, tensor
from xdsl.ir import Operation

from tileas_xdsl.dialects.nv_tileaa import conversions, facts, pointers
from tileas_xdsl.dialects.nv_tileaa import globals as globals_
from tileas_xdsl.dialects.nv_tileaa import messages as texts
from tileas_xdsl.dialects.nv_tileaa.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileaa.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileas.compute import dot as compute
from tileas_xdsl.dialects.nv_tileas.compute import reductions as folds
from tileas_xdsl.dialects.nv_tileas.memory import atomics as updates
from tileas_xdsl.dialects.nv_tileas.memory import element_access as accesses
from tileas_xdsl.dialects.nv_tileas.memory import tiled
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines import ops as pipeline
from tileas_xdsl.dialects.nv_tileas.pipelines import tokens
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.shapes import layout, slices
from tileas_xdsl.dialects.nv_tileas.tma import ops as tma
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.threads.codegen.builder import Handler, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Lowered
from tileas_xdsl.threads.dot.dot_block_scaled import block_scaled_mma
from tileas_xdsl.threads.registers.register_tile import laid_out
from tileas_xdsl.transforms.lower_tiles.compute import (
    arithmetic,
    generate,
    products,
    reductions,
    register_slices,
    reshape,
)
from tileas_xdsl.transforms.lower_tiles.control import (
    agents,
    branches,
    loops,
    messages,
    pipelines,
    while_loops,
)
from tileas_xdsl.transforms.lower_tiles.memory import (
    arrays,
    atomics,
    copies,
    gather_scatter,
    pointer_access,
    tma_boxes,
    tma_im2col,
    tma_reduce,
    tma_rows,
    views,
)

HANDLERS: dict[type[Operation], Handler] = {}
"""Every operation that is lowered to threads, with its handler."""


def add_handler(kind: type[Operation], handler: Handler) -> None:
    """Register a handler of a class of operations; result tiles get their types' layouts."""

    def handle(e: ThreadBuilder, op: Operation) -> Sequence[Lowered]:
        found = handler(e, op)
        return [
            laid_out(e, op, value, result.type)
            for value, result in zip(found, op.results, strict=True)
        ]

    HANDLERS[kind] = handle


_ARITHMETIC: Any = {
    **dict.fromkeys((*arith.Arith.operations, *math.Math.operations), arithmetic.elementwise),
    arith.ConstantOp: arithmetic.constant,
    gpu.BlockIdOp: arithmetic.block_id,
    gpu.GridDimOp: arithmetic.grid_dim,
    memref.DimOp: arithmetic.dim,
}

_CONTROL: Any = {
    AgentSwitchOp: agents.agent_switch,
    cf.AssertOp: messages.assert_,
    gpu.BarrierOp: copies.barrier,
    scf.ForOp: loops.loop,
    scf.IfOp: branches.branch,
    scf.WhileOp: while_loops.while_loop,
    texts.PrintOp: messages.print_,
}

_PIPELINES: Any = {
    CreatePipelineOp: pipelines.create_pipeline,
    pipeline.ConsumeOneOp: pipelines.consume_one,
    pipeline.ConsumerReadOp: pipelines.consumer_read,
    pipeline.ConsumerReleaseOp: pipelines.consumer_release,
    pipeline.ConsumerWaitOp: pipelines.consumer_wait,
    pipeline.CreateIteratorOp: pipelines.create_iterator,
    pipeline.IncIterOp: pipelines.increment,
    pipeline.ProduceOneAsyncOp: pipelines.produce_one_async,
    pipeline.ProduceOneOp: pipelines.produce_one,
    pipeline.ProducerAcquireOp: pipelines.producer_acquire,
    pipeline.ProducerCommitOp: pipelines.producer_commit,
    pipeline.ProducerWriteOp: pipelines.producer_write,
}

_TILES: Any = {
    compute.AsyncDotOp: products.async_dot,
    compute.BlockScaledMmaOp: block_scaled_mma,
    compute.DotOp: products.dot,
    folds.ReduceOp: reductions.reduce_tile,
    folds.ScanOp: reductions.scan,
    layout.ConvertLayoutOp: reshape.convert_layout,
    layout.ExpandDimsOp: reshape.expand_dims,
    layout.GenerateOp: generate.generate,
    layout.ReinterpretOp: reshape.reinterpret,
    layout.ShuffleOp: reshape.convert_layout,
    layout.ViewOp: products.operand,
    slices.AllocTensorOp: views.alloc_tensor,
    slices.ExtractSliceOp: views.extract_slice,
    slices.InsertSliceOp: register_slices.insert_slice,
    tensor.ExtractOp: generate.extract,
    tensor.SplatOp: reshape.splat,
}

_MEMORY: Any = {
    CopyOp: copies.copy,
    JoinMemTokenOp: arrays.join,
    MakeMemrefOp: arrays.make_memref,
    MakeTiledTmaDescOp: tma_boxes.make_descriptor,
    accesses.AsyncLoadOp: pointer_access.async_load,
    accesses.GatherLoadOp: gather_scatter.gather,
    accesses.LoadOp: pointer_access.load,
    accesses.ScatterStoreOp: gather_scatter.scatter,
    accesses.StoreOp: pointer_access.store,
    conversions.BitcastOp: arrays.same,
    conversions.IntToPtrOp: arrays.same,
    conversions.PtrToIntOp: arrays.same,
    facts.AssumeOp: arrays.assume,
    globals_.GetGlobalOp: arrays.get_global,
    pointers.AddPtrOp: arrays.add_pointer,
    tiled.AsyncTiledLoadOp: views.async_tiled_load,
    tiled.TiledAtomicRmwOp: atomics.tiled_atomic_rmw,
    tiled.TiledLoadOp: views.tiled_load,
    tiled.TiledStoreOp: views.tiled_store,
    tma.AsyncGatherTmaLoadOp: tma_rows.gather,
    tma.AsyncScatterTmaStoreOp: tma_rows.scatter,
    tma.AsyncTiledAtomicRmwOp: tma_reduce.reduce,
    tma.AsyncTiledTmaLoadOp: tma_im2col.tma_load,
    tma.AsyncTiledTmaStoreOp: tma_boxes.store_boxes,
    tokens.CreateNoneOp: views.create_none,
    tokens.FutureWaitOp: products.wait,
    tokens.WaitOp: products.wait,
    updates.AtomicCasOp: atomics.atomic_cas,
    updates.AtomicRmwOp: atomics.atomic_rmw,
}


def _add_all(table: Mapping[type[Operation], Handler]) -> None:
    for kind, handler in table.items():
        add_handler(kind, handler)


for _table in (_ARITHMETIC, _CONTROL, _PIPELINES, _TILES, _MEMORY):
    _add_all(_table)
