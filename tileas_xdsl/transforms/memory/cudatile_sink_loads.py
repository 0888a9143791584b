"""The pass `cudatile-sink-loads`: weights that all rows use are loaded behind reductions of rows.

    %x = load_ptr_tko %rows              %x = load_ptr_tko %rows
    %w = load_ptr_tko %weights           %s = reduce %x
    %v = ftof %w                   ->    %w = load_ptr_tko %weights
    %s = reduce %x                       %v = ftof %w
    ... %x, %s, %v                       ... %x, %s, %v

Programs load all that they need first.  Weights that each tile block loads are in the cache, and
hold registers while the row is reduced, with which another tile block would load its row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cuda_tile.enums import MemoryOrderingSemantics
from tileas_xdsl.dialects.cuda_tile.memory.pointers import LoadPtrTkoOp
from tileas_xdsl.dialects.cuda_tile.memory.views import LoadViewTkoOp
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp
from tileas_xdsl.dialects.cuda_tile.tiles.reductions import ReduceOp
from tileas_xdsl.dialects.cuda_tile.tiles.shapes import GetTileBlockIdOp
from tileas_xdsl.dialects.kinds import instances_in


@dataclass(frozen=True)
class CudatileSinkLoads(ModulePass):
    """Load what is the same in all tile blocks behind the reductions in front of its use.

    Needs: kernels of Tile IR, as a program has them.

    Leaves: weak loads whose addresses no tile block's number, and no loop, decides, and what is
    computed of these alone, in front of the first operation that uses it, where a reduction of the
    same block stands between.  Tokens order what they ordered before.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "cudatile-sink-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        blocks = {id(one.parent): one.parent for one in instances_in(op, ReduceOp)}
        for block in blocks.values():
            if block is not None and isinstance(block.parent_op(), EntryOp):
                _sink_lines(block)


def _sink_lines(block: Block) -> None:
    lines, order = _Lines(), _numbers(block)
    reductions = [op for op in order if isinstance(op, ReduceOp)]
    for op in reversed([op for op in order if lines.has(op)]):
        first = min(_users(op, block), key=order.__getitem__, default=op)
        if any(order[op] < order[one] < order[first] for one in reductions):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(first))
            order = _numbers(block)


def _numbers(block: Block) -> Mapping[Operation, int]:
    return {op: number for number, op in enumerate(block.ops)}


def _users(op: Operation, block: Block) -> Iterable[Operation]:
    """The operations of the block that use a result, or have one inside that does."""
    found = (block.find_ancestor_op_in_block(use.operation) for v in op.results for use in v.uses)
    return [user for user in found if user is not None]


class _Lines:
    """Operations that load what is the same in all tile blocks, or compute with it alone."""

    def __init__(self) -> None:
        self.same: dict[SSAValue, bool] = {}
        self.loaded: dict[SSAValue, bool] = {}

    def has(self, op: Operation) -> bool:
        """Whether an operation is one of them, once those in front of it have been asked."""
        is_load = isinstance(op, LoadPtrTkoOp | LoadViewTkoOp) and _is_weak(op)
        is_same = (is_load or _is_pure(op)) and all(map(self._is_same, op.operands))
        is_loaded = is_load or any(self.loaded.get(value, False) for value in op.operands)
        for value in op.results:
            self.same[value], self.loaded[value] = is_same, is_loaded
        return is_same and is_loaded

    def _is_same(self, value: SSAValue) -> bool:
        return isinstance(value, BlockArgument) or self.same.get(value, False)


def _is_pure(op: Operation) -> bool:
    is_id = isinstance(op, GetTileBlockIdOp | ReduceOp)
    return not is_id and not op.regions and is_side_effect_free(op)


def _is_weak(op: LoadPtrTkoOp | LoadViewTkoOp) -> bool:
    return op.memory_ordering_semantics.data is MemoryOrderingSemantics.WEAK
