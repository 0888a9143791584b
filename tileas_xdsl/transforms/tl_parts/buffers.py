"""The parts of buffers: one allocation for each, and which one an access to a region touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.tl.base import element_of, shape_of
from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp, AllocSharedOp
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.transforms.tl_parts.extents import Box, boxes, starts

MAX_PARTS = 8
"""Parts of a buffer: each operation on it is written once for each."""


class CutError(Exception):
    """An operation that cannot be cut into operations on parts."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op, self.reason = op, reason


@dataclass
class Parts:
    """The parts of the buffers of one kernel."""

    made: dict[SSAValue, dict[Box, SSAValue]] = field(
        default_factory=dict[SSAValue, dict[Box, SSAValue]]
    )

    def is_cut(self, buffer: SSAValue) -> bool:
        """Whether a buffer has several parts."""
        return buffer in self.made

    def cuts(self, buffer: SSAValue) -> Sequence[Sequence[int]]:
        """Return where the parts of a buffer begin along each axis."""
        whole = [(0,)] * len(shape_of(buffer.type))
        return [starts(n) for n in shape_of(buffer.type)] if self.is_cut(buffer) else whole

    def boxes(self, buffer: SSAValue) -> Sequence[Box]:
        """Return the parts of a buffer, or the whole of one that is not cut."""
        shape = shape_of(buffer.type)
        return boxes(shape, [()] * len(shape))

    def part(self, buffer: SSAValue, box: Box) -> SSAValue:
        """Return the buffer that has a part, which may be all of it."""
        return self.made[buffer][box] if self.is_cut(buffer) else buffer

    def holding(
        self, op: Operation, buffer: SSAValue, firsts: Sequence[int]
    ) -> tuple[SSAValue, Box]:
        """Return the part of a cut buffer that has an element; raises outside of it."""
        for box, part in self.made[buffer].items():
            inside = zip(box, firsts, strict=True)
            if all(s.start <= first < s.start + s.length for s, first in inside):
                return part, box
        raise CutError(op, "accesses what a buffer does not have")

    def allocate(self, op: AllocFragmentOp | AllocSharedOp) -> None:
        """Allocate the parts of a buffer whose extents are no powers of two."""
        shape, element = shape_of(op.buffer.type), element_of(op.buffer.type)
        if all(map(is_power_of_two, shape)):
            return
        parts = self.boxes(op.buffer)
        if op.layout is not None:
            raise CutError(op, "has a layout that the program states")
        if len(parts) > MAX_PARTS:
            extents = "x".join(map(str, shape))
            text = f"has {extents} elements, and extents of tiles are powers of two"
            raise CutError(op, f"{text}: in {len(parts)} parts, more than {MAX_PARTS}")
        self.made[op.buffer] = {}
        for box in parts:
            part = type(op)(tuple(s.length for s in box), element)
            part.buffer.name_hint = op.buffer.name_hint
            insert(part, op)
            self.made[op.buffer][box] = part.buffer


def insert(made: Operation, before: Operation) -> None:
    """Insert an operation before the one that it is a part of."""
    made.location = before.location
    Rewriter.insert_op(made, InsertPoint.before(before))


def moved(before: Operation, index: SSAValue, distance: int) -> SSAValue:
    """Return an index further on."""
    if distance == 0:
        return index
    number = arith.ConstantOp(IntegerAttr(distance, IndexType()))
    insert(number, before)
    total = arith.AddiOp(index, number.result)
    insert(total, before)
    return total.result


def number(before: Operation, value: int) -> SSAValue:
    """Return a constant index."""
    made = arith.ConstantOp(IntegerAttr(value, IndexType()))
    insert(made, before)
    return made.result
