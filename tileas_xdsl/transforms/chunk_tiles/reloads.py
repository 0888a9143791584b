"""Load tiles again behind a product, instead of holding them in registers while it is made.

    %k = tiled_load ... after %none                %k = tiled_load ... after %none
    %s = dot (truncf %k), ...            ->        %s = dot (truncf %k), ...
    ...  %k in 64 registers of a thread            ...
    %u = mulf %k, ...                              %l = tiled_load ... after %none
                                                   %u = mulf %l, ...

A load that nothing orders, and that nothing is ordered behind, gives the same tile at any place;
the second one finds it in a cache.  What products read from shared memory is copied there once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, func
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.liveness.tiles import peak_registers
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.chunk_tiles.register_demand import SHARED_REGISTERS, tile_words

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
    threads = spec_of(kernel).num_warps * WARP
    most = READ_REGISTERS if target.has_tensor_memory else SHARED_REGISTERS
    if peak_registers(kernel.body, tile_words) <= most * threads:
        return
    for load in instances_in(kernel, TiledLoadOp):
        if may_be_anywhere(load):
            _load_behind_products(load, target)


def may_be_anywhere(load: TiledLoadOp) -> bool:
    """Whether no token orders a load behind something, or something behind it."""
    if load.token is None or not isinstance(load.token.owner, CreateNoneOp):
        return False
    return load.out_token is None or not any(load.out_token.uses)


def _load_behind_products(load: TiledLoadOp, target: Target) -> None:
    """Load a tile behind each product that it is read behind, unless it is stored for that one.

    What is stored for a product before stays in registers where sums are there, too: loading it
    again took a state space model from 166 to 154 TFLOP/s on sm_90a, where it spills nothing.
    """
    block = load.parent
    assert block is not None
    products = [block.get_operation_index(op) for op in block.ops if isinstance(op, DotOp)]
    placed = [(block.get_operation_index(one.at), one) for one in _readings(load, (), block)]
    readings = sorted(placed, key=lambda pair: pair[0])
    behind = [bisect_left(products, position) for position, _ in readings]
    stored = [n for n, (_, one) in enumerate(readings) if _is_stored(one)]
    if any(behind[n] > behind[0] for n in stored) or (stored and not target.has_tensor_memory):
        return
    copied: dict[SSAValue, SSAValue] = {}
    for n, (_, one) in enumerate(readings):
        if n and behind[n] > behind[n - 1]:
            copied = {}
            Rewriter.insert_op(load.clone(copied), InsertPoint.before(one.at))
        if copied:
            _read_copy(one, copied)


def _is_stored(reading: _Reading) -> bool:
    """Whether a use copies a tile to shared memory, for products."""
    return isinstance(reading.use.operation, ConvertLayoutOp)


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
