"""Changes of layout that are made as one, verified, and undone if an operation is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.diagnostics.verification.verify import operation_errors
from tileas_xdsl.dialects.ir_queries import owning_op
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile

_UNUSED = (ConvertLayoutOp, GenerateOp, arith.ConstantOp, tensor.SplatOp)
"""What goes when nothing uses it any more."""


class RefusedRetypeError(Exception):
    """The verifier refuses an operation after a change of layout; the change is undone."""

    def __init__(self, errors: list[Diagnostic]) -> None:
        super().__init__(*errors)
        self.errors = errors


def laid_out(type_: Attribute, encoding: Attribute) -> Tile:
    """The type of the same tile in another layout."""
    tile = as_tile(type_)
    assert tile is not None
    return TensorType(tile.element_type, tile.get_shape(), encoding)


@dataclass
class Retyping:
    """A change of layouts.  `commit` verifies it, then erases what it has left without a use."""

    rewriter: PatternRewriter | None = None
    """Told of what happens, where the change is part of a greedy rewriting."""
    _undo: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    _touched: dict[Operation, None] = field(default_factory=dict[Operation, None])
    _left: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def retype(self, value: SSAValue, encoding: Attribute) -> None:
        """Give `value` another layout, in place; a constant takes its elements along."""
        old = value.type
        new = laid_out(old, encoding)
        self._set_type(value, new)
        owner = value.owner
        if isinstance(owner, arith.ConstantOp):
            self._set_constant(owner, new)
        self._touch(owning_op(value))
        for use in value.uses:
            self._touch(use.operation)
            self._touch(use.operation.parent_op())

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """Let an operation use another value."""
        old = op.operands[index]
        op.operands[index] = value
        self._undo.append(lambda: op.operands.__setitem__(index, old))
        self._touch(op)
        if isinstance(old.owner, Operation):
            self._left[old.owner] = None

    def redirect(self, uses: list[Use], value: SSAValue) -> None:
        """Let all of these uses be of `value`."""
        for use in uses:
            self.set_operand(use.operation, use.index, value)

    def insert_after(self, value: SSAValue, new: Operation, like: Operation) -> None:
        """Put a new operation right behind the definition of `value`, with the place of `like`."""
        self._insert(new, _behind(value), like)

    def insert_before(self, op: Operation, new: Operation) -> None:
        """Put a new operation right before another, with its place in the file."""
        self._insert(new, InsertPoint.before(op), op)

    def remade_before(self, op: Operation, value: SSAValue, encoding: Attribute) -> SSAValue:
        """What the producer of `value` makes if it is run anew before `op`, in another layout."""
        owner = value.owner
        assert isinstance(owner, Operation)
        new = owner.clone()
        new.results[0].name_hint = value.name_hint
        self.insert_before(op, new)
        self.retype(new.results[0], encoding)
        return new.results[0]

    def convert_after(self, value: SSAValue, encoding: Attribute, like: Operation) -> SSAValue:
        """A new conversion of `value`, right behind its definition."""
        new = ConvertLayoutOp(value, laid_out(value.type, encoding))
        new.result.name_hint = value.name_hint
        self.insert_after(value, new, like)
        return new.result

    def commit(self) -> None:
        """Verify what was changed; raises `RefusedRetypeError`, and has changed nothing then."""
        errors = [error for op in self._touched for error in operation_errors(op)]
        if errors:
            for undo in reversed(self._undo):
                undo()
            raise RefusedRetypeError(errors)
        if self.rewriter is not None:
            for op in self._touched:
                self.rewriter.notify_op_modified(op)
        for op in self._left:
            self._erase_unused(op)

    def abandon(self, op: Operation) -> None:
        """Erase `op` at the end, if nothing uses it then."""
        self._left[op] = None

    def _insert(self, new: Operation, point: InsertPoint, like: Operation) -> None:
        new.location = like.location
        Rewriter.insert_op(new, point)
        self._undo.append(lambda: Rewriter.erase_op(new))
        self._touch(new)

    def _set_type(self, value: SSAValue, type_: Attribute) -> None:
        old = value.type
        value._type = type_  # pyright: ignore[reportPrivateUsage]
        self._undo.append(lambda: setattr(value, "_type", old))

    def _set_constant(self, op: arith.ConstantOp, type_: Tile) -> None:
        old = op.value
        if isinstance(old, DenseIntOrFPElementsAttr):
            # Of the old element type, which the attribute's own type is bound to.
            dense = TensorType(old.get_element_type(), type_.get_shape(), type_.encoding)
            op.properties["value"] = DenseIntOrFPElementsAttr(dense, old.data)
            self._undo.append(lambda: op.properties.__setitem__("value", old))

    def _touch(self, op: Operation | None) -> None:
        if op is not None:
            self._touched[op] = None

    def _erase_unused(self, op: Operation) -> None:
        """Erase an operation without uses that has no effect, and what nothing else uses then."""
        pending = [op]
        while pending:
            op = pending.pop()
            if op.parent is None or any(result.uses for result in op.results):
                continue
            if not isinstance(op, _UNUSED):
                continue
            pending += [v.owner for v in op.operands if isinstance(v.owner, Operation)]
            if self.rewriter is not None:
                self.rewriter.erase(op)
            else:
                Rewriter.erase_op(op)


def _behind(value: SSAValue) -> InsertPoint:
    match value:
        case OpResult(op=op):
            return InsertPoint.after(op)
        case BlockArgument(block=block):
            return InsertPoint.at_start(block)
        case _:
            raise AssertionError(f"{value} is defined nowhere")
