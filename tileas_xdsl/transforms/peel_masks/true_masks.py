"""Take masks that hold for all elements out of the body of a loop.

%m = generate { yield (cmpi ...) }                  // known to be true
%b = generate { yield (extract %m[0, %column]) }
%t = generate { yield (select (extract %b[...]), (extract %s[...]), -inf) }   ->   %s
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, TensorType, i1
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp


class TrueMasks:
    """Comparisons that hold, and what follows of them."""

    def __init__(self, comparisons: Iterable[Operation | Block]) -> None:
        self.known: dict[SSAValue, bool] = {
            op.results[0]: True for op in comparisons if isinstance(op, Operation)
        }
        self.removed = 0
        """Selections."""

    def remove(self, block: Block) -> bool:
        """Fold what depends on the masks; return whether that removes selections of elements."""
        for op in list(block.ops):
            if isinstance(op, GenerateOp):
                self._fold_tile(op)
            else:
                self._fold(op)
        for value in self.known:
            if any(use.operation.parent is block for use in value.uses):
                self._replace_by_constant(value)
        _erase_unused(block)
        return self.removed > 0

    def _fold_tile(self, op: GenerateOp) -> None:
        body = op.body.block
        for inner in list(body.ops):
            self._fold(inner)
        end = body.last_op
        if end is None:
            return
        if end.operands[0] in self.known:
            self.known[op.result] = True
        elif (same := _copied(op, end.operands[0])) is not None:
            op.result.replace_all_uses_with(same)

    def _fold(self, op: Operation) -> None:
        """Fold an operation on numbers, or on tiles."""
        match op:
            case arith.SelectOp() if op.cond in self.known:
                self.removed += 1
                op.result.replace_all_uses_with(op.lhs)
            case arith.AndIOp() if op.lhs in self.known or op.rhs in self.known:
                self._forward(op.result, op.rhs if op.lhs in self.known else op.lhs)
            case arith.OrIOp() if op.lhs in self.known or op.rhs in self.known:
                self.known[op.result] = True
            case tensor.ExtractOp() if op.tensor in self.known:
                self.known[op.result] = True
            case ExpandDimsOp() if op.source in self.known:
                self.known[op.result] = True
            case _:
                return

    def _forward(self, result: SSAValue, value: SSAValue) -> None:
        if value in self.known:
            self.known[result] = True
        else:
            result.replace_all_uses_with(value)

    def _replace_by_constant(self, value: SSAValue) -> None:
        """What is left reads a mask that is a constant, such as an access of memory."""
        owner = value.owner
        assert isinstance(owner, Operation)
        true: IntegerAttr | DenseIntOrFPElementsAttr = IntegerAttr(1, i1)
        if isinstance(type_ := value.type, TensorType):
            true = DenseIntOrFPElementsAttr.from_list(TensorType(i1, type_.get_shape()), [1])
        constant = arith.ConstantOp(true)
        constant.location = owner.location
        Rewriter.insert_op(constant, InsertPoint.before(owner))
        value.replace_all_uses_with(constant.result)


def _copied(op: GenerateOp, value: SSAValue) -> SSAValue | None:
    """The tile that a tile is, element by element."""
    made, arguments = value.owner, op.body.block.args
    if not isinstance(made, tensor.ExtractOp) or tuple(made.indices) != tuple(arguments):
        return None
    return made.tensor if made.tensor.type == op.result.type else None


def _erase_unused(block: Block) -> None:
    """Erase what nothing reads any more, the last first."""
    ops: Sequence[Operation] = list(block.ops)
    for op in reversed(ops):
        inner = [one for region in op.regions for inside in region.blocks for one in inside.ops]
        for one in reversed(inner):
            if one.results and not _is_read(one) and is_side_effect_free(one):
                Rewriter.erase_op(one)
        if op.results and not _is_read(op) and is_side_effect_free(op):
            Rewriter.erase_op(op)


def _is_read(op: Operation) -> bool:
    return any(result.first_use for result in op.results)
