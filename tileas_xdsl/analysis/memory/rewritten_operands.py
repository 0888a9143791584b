"""Tensor-memory MMAs whose shared-memory operands are overwritten before any wait.

MMAs read shared memory asynchronously.  A pipeline stage is released by their commit; for any other
tile, a reader of the accumulator has waited.  Where the tile is written before that, in a later
iteration of a loop or further on, the MMA must be waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func, scf
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.memory.accumulators import TmemAccumulator, TmemAccumulators, common_block
from tileas_xdsl.dialects.nv_tileas.compute.dot import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp

_PARTS = (ExtractSliceOp, ViewOp)
_ACCUMULATOR = 2
"""The operand of a product that is no tile in shared memory."""


def waited_products(accumulators: TmemAccumulators) -> Sequence[MatrixProduct]:
    """The products that are waited for where they are."""
    return [
        product
        for accumulator in accumulators.accumulators
        for product in accumulator.products
        if any(_comes_too_soon(product, w, accumulator) for w in _writers_of_operands(product))
    ]


def _writers_of_operands(product: MatrixProduct) -> Iterator[Operation]:
    for index, operand in enumerate(product.operands):
        tile = _whole(operand)
        if index != _ACCUMULATOR and isinstance(tile, OpResult):
            yield from _writers(tile)


def _whole(value: SSAValue) -> SSAValue:
    """The tile that a value is a part or a view of."""
    while isinstance(value.owner, _PARTS):
        value = value.owner.operands[0]
    return value


def _writers(tile: OpResult) -> Iterator[Operation]:
    """Yield operations that may write a tile in memory: producer and non-reading users."""
    if not isinstance(tile.op, AllocTensorOp):
        yield tile.op
    pending: list[SSAValue] = [tile]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, _PARTS):
                pending += user.results
            elif not _only_reads(user, use.index):
                yield user


def _only_reads(op: Operation, index: int) -> bool:
    if isinstance(op, CopyBase):
        return index == 0
    return isinstance(op, MatrixProduct | ConvertLayoutOp | TiledLoadBase)


def _comes_too_soon(product: Operation, writer: Operation, accumulator: TmemAccumulator) -> bool:
    """Return whether a write may follow an MMA with no read of its accumulator in between."""
    block = common_block([product, writer])
    if block is None:
        return True
    begun, written, read = (_position(op, block) for op in (product, writer, accumulator.ready_at))
    assert begun is not None
    assert written is not None
    if written < begun and not _runs_again(block):
        return False
    return read is None or read < begun or begun < written < read


def _position(op: Operation, block: Block) -> int | None:
    """The number of the operation of a block that an operation is in, if it is in one."""
    found = block.find_ancestor_op_in_block(op)
    return None if found is None else next(k for k, one in enumerate(block.ops) if one is found)


def _runs_again(block: Block) -> bool:
    """Whether a block is the body of a loop, or within one."""
    parent = block.parent_op()
    while parent is not None and not isinstance(parent, func.FuncOp):
        if isinstance(parent, scf.ForOp | scf.WhileOp):
            return True
        parent = parent.parent_op()
    return False
