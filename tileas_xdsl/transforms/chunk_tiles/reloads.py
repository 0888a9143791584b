"""Load tiles again behind a product, instead of holding them in registers while it is made.

    %k = tiled_load ... after %none                %k = tiled_load ... after %none
    %s = dot (truncf %k), ...            ->        %s = dot (truncf %k), ...
    ...  %k in 64 registers of a thread            ...
    %u = mulf %k, ...                              %l = tiled_load ... after %none
                                                   %u = mulf %l, ...

A load that nothing orders, and that nothing is ordered behind, gives the same tile at any place;
the second one finds it in a cache.  Tiles that products read from shared memory stay there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.liveness.tiles import peak_registers
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.chunk_tiles.plan import SHARED_REGISTERS, WARP, tile_words

READ_REGISTERS = 120
"""Registers of live tiles in a thread from which on tiles are loaded again, where sums come from
tensor memory, each read whole into registers side by side: the gated delta rule spills from 128 on
(ptxas 13.5, sm_100a); with products in registers from `SHARED_REGISTERS` on."""


@dataclass(frozen=True)
class _Reading:
    """A use of a loaded tile: by way of views and wider elements, in some operation of a block."""

    use: Use
    by: Sequence[Operation]
    at: Operation


def load_again(kernel: func.FuncOp, target: Target) -> None:
    """Load tiles again behind products, where those that are live take too many registers."""
    if not has_instance(kernel, DotOp):
        return
    threads = KernelFacts(kernel).spec.num_warps * WARP
    most = READ_REGISTERS if target.has_tensor_memory else SHARED_REGISTERS
    if peak_registers(kernel.body, tile_words) <= most * threads:
        return
    for load in instances_in(kernel, TiledLoadOp):
        if _may_be_anywhere(load):
            _load_behind_products(load)


def _may_be_anywhere(load: TiledLoadOp) -> bool:
    """Whether no token orders a load behind something, or something behind it."""
    if load.token is None or not isinstance(load.token.owner, CreateNoneOp):
        return False
    return load.out_token is None or not any(load.out_token.uses)


def _load_behind_products(load: TiledLoadOp) -> None:
    block = load.parent
    assert block is not None
    readings = sorted(_readings(load, (), block), key=lambda one: block.get_operation_index(one.at))
    if any(isinstance(one.use.operation, ConvertLayoutOp) for one in readings):
        return
    products = [op for op in block.ops if isinstance(op, DotOp)]
    before = 0
    copied: dict[SSAValue, SSAValue] = {}
    for n, one in enumerate(readings):
        position = block.get_operation_index(one.at)
        products_before = sum(block.get_operation_index(op) < position for op in products)
        if n and products_before > before:
            copied = {}
            Rewriter.insert_op(load.clone(copied), InsertPoint.before(one.at))
        before = products_before
        if copied:
            _read_copy(one, copied)


def _read_copy(reading: _Reading, copied: dict[SSAValue, SSAValue]) -> None:
    """Let a use read what was loaded again, by way of views and wider elements of it."""
    for op in reading.by:
        if op.results[0] not in copied:
            Rewriter.insert_op(op.clone(copied), InsertPoint.before(reading.at))
    use = reading.use
    use.operation.operands[use.index] = copied[use.operation.operands[use.index]]


def _readings(op: Operation, by: tuple[Operation, ...], block: Block) -> Iterator[_Reading]:
    for use in op.results[0].uses:
        user = use.operation
        if isinstance(user, ViewOp | arith.ExtFOp):
            yield from _readings(user, (*by, user), block)
        elif (at := block.find_ancestor_op_in_block(user)) is not None:
            yield _Reading(use, by, at)
