"""Products into tensor memory whose operands are written again before anybody has waited for them.

Products read shared memory in the background.  A stage of a pipeline is released by what they
commit to; for a tile that is no stage, whoever reads the sums has waited.  Where the tile is
written before that, in a later round of a loop or further on, the product must be waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func, scf
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.accumulators import KernelSums, Sums, common_block
from tileas_xdsl.dialects.nv_tileas.compute import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.memory import TiledLoadBase
from tileas_xdsl.dialects.nv_tileas.memory_copy import CopyBase
from tileas_xdsl.dialects.nv_tileas.slices import AllocTensorOp, ExtractSliceOp

_PARTS = (ExtractSliceOp, ViewOp)
_SUMS = 2
"""The operand of a product that is no tile in shared memory."""


def waited_products(sums: KernelSums) -> Sequence[MatrixProduct]:
    """The products that are waited for where they are."""
    return [
        product
        for place in sums.places
        for product in place.products
        if any(_comes_too_soon(product, w, place) for w in _writers_of_operands(product))
    ]


def _writers_of_operands(product: MatrixProduct) -> Iterator[Operation]:
    for index, operand in enumerate(product.operands):
        tile = _whole(operand)
        if index != _SUMS and isinstance(tile, OpResult):
            yield from _writers(tile)


def _whole(value: SSAValue) -> SSAValue:
    """The tile that a value is a part or a view of."""
    while isinstance(value.owner, _PARTS):
        value = value.owner.operands[0]
    return value


def _writers(tile: OpResult) -> Iterator[Operation]:
    """What may write a tile in memory: who makes it, and all that do not only read it."""
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


def _comes_too_soon(product: Operation, writer: Operation, place: Sums) -> bool:
    """Whether a tile is written behind a product with nobody reading its sums in between."""
    block = common_block([product, writer])
    if block is None:
        return True
    begun, written, read = (_position(op, block) for op in (product, writer, place.ready_at))
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
