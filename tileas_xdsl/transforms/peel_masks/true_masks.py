"""Take masks that hold for all elements out of the body of a loop.

%m = generate { yield (cmpi ...) }                  // known to be true
%b = generate { yield (extract %m[0, %column]) }
%t = generate { yield (select (extract %b[...]), (extract %s[...]), -inf) }   ->   %s

Masks may be numbers: what multiplies by one is left out as a selection is.  A comparison that holds
for no element selects as one that holds for all, and a branch that does nothing goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf, tensor
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp
from tileas_xdsl.transforms.peel_masks.masking_branches import idle_side
from tileas_xdsl.transforms.peel_masks.wanted_truth import is_negation


class TrueMasks:
    """Comparisons of which is known whether they hold, and what follows of them."""

    def __init__(self, comparisons: Mapping[SSAValue, bool]) -> None:
        self.known = dict(comparisons)
        """Masks, and the numbers that they become."""
        self.removed = 0
        """Selections."""

    def remove(self, block: Block) -> bool:
        """Fold what depends on the masks; return whether that removes selections of elements."""
        for op in list(block.ops):
            if isinstance(op, GenerateOp):
                self._fold_tile(op)
            else:
                self._fold(op)
        for value in list(self.known):
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
            self.known[op.result] = self.known[end.operands[0]]
        elif (same := _copied(op, end.operands[0])) is not None:
            op.result.replace_all_uses_with(same)

    def _fold(self, op: Operation) -> None:
        """Fold an operation on numbers, or on tiles."""
        match op:
            case arith.SelectOp() if op.cond in self.known:
                self.removed += 1
                op.result.replace_all_uses_with(op.lhs if self.known[op.cond] else op.rhs)
            case scf.IfOp() if op.cond in self.known and self.known[op.cond] is idle_side(op):
                self._leave_out(op)
            case arith.MulfOp() if float_mode(op).exact:
                self.removed += self._combine(op, neutral=True)
            case arith.AndIOp():
                self._combine(op, neutral=True, other=False)
            case arith.OrIOp():
                self._combine(op, neutral=False, other=True)
            case arith.XOrIOp() if op.lhs in self.known and is_negation(op):
                self.known[op.result] = not self.known[op.lhs]
            case tensor.ExtractOp() | ExpandDimsOp() | arith.UIToFPOp():
                if op.operands[0] in self.known:
                    self.known[op.results[0]] = self.known[op.operands[0]]
            case _:
                return

    def _combine(
        self,
        op: arith.MulfOp | arith.AndIOp | arith.OrIOp,
        neutral: bool,
        other: bool | None = None,
    ) -> bool:
        """Fold what is its other operand for a neutral one, and one that decides; say whether."""
        for one, rest in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if self.known.get(one) is neutral:
                self._forward(op.result, rest)
                return True
            if one in self.known and self.known[one] is other:
                self.known[op.result] = self.known[one]
                return True
        return False

    def _leave_out(self, branch: scf.IfOp) -> None:
        """Let the results of a branch be what it yields where it does nothing."""
        idle = branch.true_region if self.known[branch.cond] else branch.false_region
        yielded = idle.block.last_op
        assert yielded is not None, "branches with results yield them"
        self.removed += 1
        for result, value in zip(branch.results, yielded.operands, strict=True):
            self._forward(result, value)

    def _forward(self, result: SSAValue, value: SSAValue) -> None:
        if value in self.known:
            self.known[result] = self.known[value]
        else:
            result.replace_all_uses_with(value)

    def _replace_by_constant(self, value: SSAValue) -> None:
        """What is left reads a mask that is a constant, such as an access of memory."""
        owner = value.owner
        assert isinstance(owner, Operation)
        one = constant(Builder(InsertPoint.before(owner)), int(self.known[value]), value.type)
        assert isinstance(one.owner, Operation)
        one.owner.location = owner.location
        value.replace_all_uses_with(one)


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
