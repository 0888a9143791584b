"""The state of the conversion: insertion point, expanded values, and 1:N conversion of `scf`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import PtrAddOp
from tileas_xdsl.transforms.pipeline_to_nvgpu.value_expansion import (
    Parts,
    expanded,
    is_whole,
    parts_of,
)

Values = Sequence[SSAValue]
Handler = Callable[["Writer", Operation], Sequence[Values]]
"""Writes what an operation becomes; gives for each result its parts, one if it stays whole."""

CARRIERS = (scf.ForOp, scf.IfOp, scf.WhileOp)
ENDS = (scf.YieldOp, scf.ConditionOp)

OpT = TypeVar("OpT", bound=Operation)


@dataclass
class Writer:
    """A walk through a function that replaces operations by what they become."""

    handlers: Mapping[type[Operation], Handler]
    counted: bool
    """Whether states have their count with them: only where somebody asks for one."""
    parts: dict[SSAValue, Values] = field(default_factory=dict[SSAValue, Values])
    _dead: list[Operation] = field(default_factory=list[Operation])
    _dead_arguments: list[BlockArgument] = field(default_factory=list[BlockArgument])
    _at: Operation | None = None

    def run(self, block: Block) -> None:
        """Replace the operations of a block, and of all blocks inside."""
        for op in tuple(block.ops):
            self.lower(op)

    def lower(self, op: Operation) -> None:
        """Replace one operation; it is erased at the end."""
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
        """Erase what was replaced."""
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
            if isinstance(op, ENDS):
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
        """Add an operation in front of the one that is lowered, and at its place in the source."""
        assert self._at is not None
        op.location = self._at.location
        return Builder(InsertPoint.before(self._at)).insert(op)

    def inline(self, body: Block, arguments: Values) -> Values:
        """Move a body in front of the operation, without its end; gives what it yields."""
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
        """Operations that are done where a condition holds."""
        assert self._at is not None
        for inner in (inner for op in body for inner in op.walk()):
            inner.location = self._at.location
        self.insert(scf.IfOp(condition, [], [Block([*body, scf.YieldOp()])]))

    @contextmanager
    def inside(self, condition: SSAValue) -> Generator[None]:
        """Write what is done where a condition holds."""
        assert self._at is not None
        outer, end = self._at, scf.YieldOp()
        end.location = outer.location
        self.insert(scf.IfOp(condition, [], [Block([end])]))
        self._at = end
        yield
        self._at = outer

    # Numbers

    def number(self, value: int, type_: IntegerType = i32) -> SSAValue:
        """A constant."""
        return self.insert(arith.ConstantOp(IntegerAttr(value, type_))).result

    def add(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """A sum."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.AddiOp(lhs, rhs)).result

    def multiply(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """A product."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.MuliOp(lhs, rhs)).result

    def subtract(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """A difference."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.SubiOp(lhs, rhs)).result

    def divide(self, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """The quotient of natural numbers, rounded down."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.DivUIOp(lhs, rhs)).result

    def least(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The smaller one of natural numbers."""
        return self.pick(self.compare("ult", lhs, rhs), lhs, rhs)

    def both(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """Whether two conditions hold."""
        return self.insert(arith.AndIOp(lhs, rhs)).result

    def negated(self, condition: SSAValue) -> SSAValue:
        """Whether a condition does not hold."""
        return self.insert(arith.XOrIOp(condition, self.number(1, i1))).result

    def compare(self, how: str, lhs: SSAValue, rhs: SSAValue | int) -> SSAValue:
        """A comparison, as `arith.cmpi` calls it."""
        rhs = self.number(rhs) if isinstance(rhs, int) else rhs
        return self.insert(arith.CmpiOp(lhs, rhs, how)).result

    def flip(self, parity: SSAValue, when: SSAValue) -> SSAValue:
        """The other parity where a condition holds."""
        bit = self.insert(arith.ExtUIOp(when, i32)).result
        return self.insert(arith.XOrIOp(parity, bit)).result

    def pick(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """One or the other."""
        return self.insert(arith.SelectOp(condition, yes, no)).result

    def barrier(self, first: SSAValue, index: SSAValue | int) -> SSAValue:
        """A barrier of an array, by its index."""
        if index == 0:
            return first
        index = self.number(index) if isinstance(index, int) else index
        return self.insert(PtrAddOp(first, index)).result
