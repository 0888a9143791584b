"""Appends operations at a place of the IR, with the line of Python that is imported."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    FileLineColLoc,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.frontend.tilelang.refusals import refusal
from tileas_xdsl.frontend.tilelang.traced.graph import Node, SourceLine

OpT = TypeVar("OpT", bound=Operation)

INDEX = IndexType()


@dataclass
class Emitter:
    """Where operations go."""

    block: Block
    line: SourceLine | None = None
    is_iteration: bool = False
    """Whether operations are of one iteration of a parallel loop, not of the block."""

    @property
    def location(self) -> LocationAttr:
        """Where in Python the statement stands."""
        if self.line is None:
            return UnknownLoc()
        return FileLineColLoc(StringAttr(self.line.file), IntAttr(self.line.line), IntAttr(1))

    def insert(self, op: OpT) -> OpT:
        """Append an operation."""
        op.location = self.location
        self.block.add_op(op)
        return op

    def refusal(self, construct: str, why: str) -> DiagnosticError:
        """The error for what is not imported, at the line of the statement."""
        return refusal(self.line, construct, why)

    @contextmanager
    def within(self, block: Block, *, is_iteration: bool | None = None) -> Generator[Block]:
        """Append to another block meanwhile."""
        outer = self.block, self.is_iteration
        self.block = block
        if is_iteration is not None:
            self.is_iteration = is_iteration
        try:
            yield block
        finally:
            self.block, self.is_iteration = outer

    @contextmanager
    def at(self, statement: Node) -> Generator[None]:
        """Stand at the line of a statement; those without one stand where their parent does."""
        outer = self.line
        self.line = statement.line or outer
        yield
        self.line = outer

    def index_constant(self, number: int) -> SSAValue:
        """A constant index."""
        return self.insert(arith.ConstantOp(IntegerAttr(number, INDEX))).result

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        """A constant of a type, integers modulo their width."""
        if isinstance(type_, AnyFloat):
            return self.insert(arith.ConstantOp(FloatAttr(float(number), type_))).result
        value_type: Attribute = type_
        if isinstance(type_, IndexType):
            return self.index_constant(int(number))
        width = bits_of(value_type)
        wrapped = int(number) % (1 << width)
        signed = wrapped - (1 << width) if width > 1 and wrapped >> (width - 1) else wrapped
        return self.insert(arith.ConstantOp(IntegerAttr(signed, IntegerType(width)))).result
