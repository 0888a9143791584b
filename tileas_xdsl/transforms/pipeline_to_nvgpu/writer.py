"""The 1:N conversion driver of `convert-pipeline-to-nvgpu`.

A value of `cutlass` becomes several values: a pipeline its two barrier arrays, a pipeline state
a stage index and a phase parity, a work tile its linear index and validity. `Writer.parts` maps
each such value to its parts. All of `scf` that carries one is rebuilt with the parts in its
place; anything else that would carry one is an error.

    scf.for ... iter_args(%s = %s0) {                %14, %15 = scf.for ... iter_args(%16, %17) {
      ...                                              ...
      %t = cutlass.pipeline.state.increment %s         %20 = arith.addi %16, %11 : i32     index + 1
      scf.yield %t                                     %21 = arith.cmpi eq, %20, %12 : i32
    }                                                  %22 = arith.select %21, %13, %20
                                                       %24 = arith.xori %17, %23           parity
                                                       scf.yield %22, %24 : i32, i32

MLIR has this as its 1:N dialect conversion; xDSL has none. Replaced operations and block
arguments are erased at the end, users first, because parts may still be built from them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import PtrAddOp
from tileas_xdsl.transforms.pipeline_to_nvgpu.value_expansion import (
    Parts,
    expanded,
    is_whole,
    parts_of,
)

Values = Sequence[SSAValue]
Handler = Callable[["Writer", Operation], Sequence[Values]]
"""Convert an operation; return the parts of each result, a single one if it is not expanded."""

CARRIERS = (scf.ForOp, scf.IfOp, scf.WhileOp)
TERMINATORS = (scf.YieldOp, scf.ConditionOp)

OpT = TypeVar("OpT", bound=Operation)


@dataclass
class Writer:
    """Walk a function and replace operations by their handlers."""

    handlers: Mapping[type[Operation], Handler]
    counted: bool
    """Whether states carry their count: only in functions that read it."""
    parts: dict[SSAValue, Values] = field(default_factory=dict[SSAValue, Values])
    _dead: list[Operation] = field(default_factory=list[Operation])
    _dead_arguments: list[BlockArgument] = field(default_factory=list[BlockArgument])
    _at: Operation | None = None

    def run(self, block: Block) -> None:
        """Convert the operations of a block and of nested blocks."""
        for op in tuple(block.ops):
            self.lower(op)

    def lower(self, op: Operation) -> None:
        """Convert one operation; it is erased at the end."""
        outer, self._at = self._at, op
        handler = self.handlers.get(type(op))
        if handler is None:
            self._pass_through(op)
        else:
            for result, values in zip(op.results, handler(self, op), strict=True):
                self._bind(result, values)
            self._dead.append(op)
        self._at = outer

    def finish(self) -> None:
        """Erase all replaced operations, users first."""
        for op in reversed(self._dead):
            op.detach()
            op.erase()
        for argument in reversed(self._dead_arguments):
            argument.block.erase_arg(argument)

    def _bind(self, value: SSAValue, values: Values) -> None:
        if is_whole(value.type):
            self.parts[value] = values
        else:
            value.replace_all_uses_with(values[0])

    # Structure

    def _pass_through(self, op: Operation) -> None:
        blocks = [block for region in op.regions for block in region.blocks]
        arguments = [argument for block in blocks for argument in block.args]
        if any(is_whole(value.type) for value in (*op.operands, *op.results, *arguments)):
            if isinstance(op, TERMINATORS):
                op.operands = self._flat(op.operands)
                return
            if not isinstance(op, CARRIERS):
                names = ", ".join(carrier.name for carrier in CARRIERS)
                raise op_error(op, f"has values of cutlass, which only {names} hand on")
            for block in blocks:
                self._expand_arguments(block)
            self._rebuild(op)
        for block in blocks:
            self.run(block)

    def _flat(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        return [v for value in values for v in (self.parts.get(value, (value,)))]

    def _split(self, type_: Attribute) -> Parts:
        return parts_of(type_, self.counted)

    def _expand_arguments(self, block: Block) -> None:
        for argument in reversed(block.args):
            if not is_whole(argument.type):
                continue
            place = argument.index + 1
            types = enumerate(self._split(argument.type))
            self.parts[argument] = [block.insert_arg(type_, place + k) for k, type_ in types]
            self._dead_arguments.append(argument)

    def _rebuild(self, op: Operation) -> None:
        types = expanded([result.type for result in op.results], self._split)
        new = type(op).create(
            operands=self._flat(op.operands),
            result_types=types,
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[op.detach_region(region) for region in tuple(op.regions)],
        )
        self.insert(new)
        rest = list(new.results)
        for result in op.results:
            count = len(self._split(result.type)) if is_whole(result.type) else 1
            self._bind(result, rest[:count])
            del rest[:count]
        self._dead.append(op)

    # Writing

    def insert(self, op: OpT) -> OpT:
        """Insert in front of the converted operation, with its location."""
        assert self._at is not None
        op.location = self._at.location
        return Builder(InsertPoint.before(self._at)).insert(op)

    def inline(self, body: Block, arguments: Values) -> Values:
        """Move a body in front of the operation and return what its terminator yields."""
        assert self._at is not None
        at, end = self._at, body.last_op
        assert end is not None
        for argument, value in zip(body.args, arguments, strict=True):
            argument.replace_all_uses_with(value)
        for op in tuple(body.ops):
            op.detach()
            if op is not end:
                Builder(InsertPoint.before(at)).insert(op)
                self.lower(op)
        yielded = tuple(end.operands)
        end.erase()
        return yielded

    def when(self, condition: SSAValue, body: Sequence[Operation]) -> None:
        """Insert operations under a condition."""
        assert self._at is not None
        for inner in (inner for op in body for inner in operations_in(op)):
            inner.location = self._at.location
        self.insert(scf.IfOp(condition, [], [Block([*body, scf.YieldOp()])]))

    @contextmanager
    def inside(self, condition: SSAValue) -> Generator[None]:
        """Let a `with` block insert under a condition."""
        assert self._at is not None
        outer, end = self._at, scf.YieldOp()
        end.location = outer.location
        self.insert(scf.IfOp(condition, [], [Block([end])]))
        self._at = end
        yield
        self._at = outer

    # Numbers

    def number(self, value: int, type_: IntegerType = i32) -> SSAValue:
        """Insert a constant."""
        return self.insert(arith.ConstantOp(IntegerAttr(value, type_))).result

    def add(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """Insert an addition."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.AddiOp(lhs, rhs)).result

    def multiply(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """Insert a multiplication."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.MuliOp(lhs, rhs)).result

    def subtract(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """Insert a subtraction."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.SubiOp(lhs, rhs)).result

    def divide(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """Insert an unsigned division."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.DivUIOp(lhs, rhs)).result

    def least(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Insert an unsigned minimum."""
        return self.pick(self.compare("ult", lhs, rhs), lhs, rhs)

    def both(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Insert a logical and."""
        return self.insert(arith.AndIOp(lhs, rhs)).result

    def negated(self, condition: SSAValue) -> SSAValue:
        """Insert a logical not."""
        return self.insert(arith.XOrIOp(condition, self.number(1, i1))).result

    def compare(self, how: str, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """Insert a comparison with a predicate of `arith.cmpi`."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.CmpiOp(lhs, rhs, how)).result

    def flip(self, parity: SSAValue, when: SSAValue) -> SSAValue:
        """Insert the flip of a parity under a condition."""
        bit = self.insert(arith.ExtUIOp(when, i32)).result
        return self.insert(arith.XOrIOp(parity, bit)).result

    def pick(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """Insert a select."""
        return self.insert(arith.SelectOp(condition, yes, no)).result

    def barrier(self, first: SSAValue, index: SSAValue | int) -> SSAValue:
        """Return the address of a barrier in an array."""
        if index == 0:
            return first
        index = self.number(index) if isinstance(index, int) else index
        return self.insert(PtrAddOp(first, index)).result
