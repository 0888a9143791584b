"""Lowering of `generate`: tiles computed element-wise from coordinates, for one thread's elements.

The body is emitted once per block of registers: values uniform across the block are scalars, all
others vectors.  Elements of other tiles at statically known coordinates are gathered in advance;
those at run-time coordinates are read from lanes
if one warp holds them all, else from shared memory.

    %g = nv_tileas.generate : tensor<2x64xf32> {      one warp; a thread has two columns of both
    ^bb0(%i: index, %j: index):                       rows: blocks of two registers
      %e = tensor.extract %t[%i, %j]
      %below = arith.cmpi sle, %j, %i            ->   %j0 = arith.addi %lane2, dense<[0, 1]>
      %s = arith.select %below, %e, %zero             row 0: %b = arith.cmpi sle, %j0, %c0  (vector)
      nv_tileas.yield %s                              row 1: %b = arith.cmpi sle, %j0, %c1
    }                                                 %s = arith.select %b, %t0, %zeros

`%t` has the layout of the result, so that `tensor.extract` renames registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.elementwise_ops import on_vectors
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    i1_constant,
)
from tileas_xdsl.threads.codegen.known_integers import constant_value, divisor_of, most_of
from tileas_xdsl.threads.codegen.lowered_values import (
    Scalar,
    held_as,
)
from tileas_xdsl.threads.convert.element_conversion import map_elements
from tileas_xdsl.threads.index.compared_runs import ComparedRuns, may_branch
from tileas_xdsl.threads.index.generate_body import Choice, GenerateBody, Step
from tileas_xdsl.threads.index.known_values import flag_constants, table_entry
from tileas_xdsl.threads.index.masked_elements import selected
from tileas_xdsl.threads.index.per_thread_tables import (
    Table,
    is_simple,
)
from tileas_xdsl.threads.index.source_tiles import SourceTiles
from tileas_xdsl.threads.index.wrapped_positions import wrapped_positions
from tileas_xdsl.threads.registers.register_gather import (
    coordinates_of,
    held_by,
)
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    element,
    is_vector,
    joined,
    numbers,
    repeated,
)

ONE_BY_ONE = (
    arith.CmpfOp,
    arith.CmpiOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.IndexCastOp,
    arith.SIToFPOp,
    arith.TruncIOp,
    arith.UIToFPOp,
)
"""Operations of `arith` that xDSL defines on scalars only."""

BELOW_RIGHT = (2, 5, 6, 9)
"""Predicates of `arith.cmpi` that ask whether the left is below the right, or not: slt, sge."""

BELOW_LEFT = (3, 4, 7, 8)
"""Those that ask whether the right is below the left, or not: sle, sgt."""


@dataclass
class Generation:
    """State of lowering the body of a `generate`."""

    e: ThreadBuilder
    op: GenerateOp
    layout: RegisterLayout
    block: int = 0
    """The current block of registers."""
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Lowered values of the body in the current block: scalars, or vectors of its registers."""

    @cached_property
    def held(self) -> Table:
        """`(threads, registers)`: the element in each register of all blocks, -1 for none."""
        return held_by(self.layout)

    @cached_property
    def body(self) -> GenerateBody:
        """The body, with what is known of it."""
        arguments = coordinates_of(self.held, self.layout.shape)
        block = self.op.body.block
        return GenerateBody.of(block, arguments, np.greater_equal(self.held, 0), self._outside)

    def _outside(self, value: SSAValue) -> int | None:
        found = self.e.values.get(value)
        is_whole = isinstance(value.type, IndexType | IntegerType)
        return constant_value(found.value) if is_whole and isinstance(found, Scalar) else None

    @cached_property
    def sources(self) -> SourceTiles:
        """The tiles whose elements the body extracts."""
        return SourceTiles(self.e, self.body)

    @property
    def count(self) -> int:
        """Registers of a block."""
        return vectors_of(self.layout).length

    @property
    def registers(self) -> range:
        """Those of the current block."""
        return range(self.block * self.count, (self.block + 1) * self.count)

    def part(self, block: int) -> SSAValue:
        """The registers of one block."""
        self.block, self.values = block, {}
        for step in self.body.steps:
            if any(v in self.body.wanted and v not in self.body.known for v in step.results):
                self._lower(step)
        end = self.op.body.block.last_op
        assert end is not None
        value = self._value(end.operands[0])
        return value if is_vector(value) else repeated(self.e, value, self.count)

    def _slice(self, table: Table) -> Table:
        here = self.registers
        return np.broadcast_to(table, self.held.shape)[:, here.start : here.stop]

    def _value(self, value: SSAValue) -> SSAValue:
        """Return a value of the body, lowered for the current block."""
        if value not in self.values:
            found = self.body.known.get(value)
            if found is None:
                return self.e.scalar(value)
            self.values[value] = self._made(value, self._slice(found))
        return self.values[value]

    def _made(self, value: SSAValue, table: Table) -> SSAValue:
        """Emit an integer known by thread from its table, else as the program computes it."""
        e, held = self.e, self._slice(self.held) >= 0
        if value.type == i1:
            made = flag_constants(e, table != 0, held)
        else:
            made = self._numbers(value.type, np.where(held, table, -1), table)
        if made is not None:
            return made
        owner = value.owner
        if isinstance(owner, Operation) and not isinstance(owner, GenerateOp):
            return self._computed(owner)[0]
        columns = [table_entry(e, value.type, table[:, k]) for k in range(self.count)]
        return joined(e, columns)

    def _numbers(self, type_: Attribute, asked: Table, table: Table) -> SSAValue | None:
        """Emit a per-thread value plus a constant per register; None where that does not do."""
        e, count = self.e, self.count
        valid = table.min() >= 0
        steps = table - table[:, :1]
        if not valid or (steps != steps[0]).any() or not is_simple(asked[:, 0]):
            return None
        first = table_entry(e, type_, table[:, 0])
        offsets: list[int] = steps[0].tolist()
        if not any(offsets):
            return first
        return add(e, repeated(e, first, count), numbers(e, offsets, type_))

    def _lower(self, step: Step | Choice) -> None:
        if isinstance(step, Choice):
            self.values[step.result] = self._chosen(step)
        elif isinstance(step.op, tensor.ExtractOp):
            found = self.sources.extracted(step.op, step.path, self.registers, self._value)
            self.values[step.op.result] = found
        else:
            made = self._computed(step.op)
            self.values.update(zip(step.op.results, made, strict=True))

    def _computed(self, op: Operation) -> Sequence[SSAValue]:
        """Emit an operation for the current block."""
        if isinstance(op, arith.CmpiOp) and (flag := self._compared_once(op)) is not None:
            return [flag]
        if isinstance(op, arith.AndIOp):
            wrapped = wrapped_positions(self.e, op, self._known, self._value)
            if wrapped is not None:
                return [wrapped]
        used = {
            value for inner in operations_in(op) for value in inner.operands if self._is_mine(value)
        }
        found = {value: self._value(value) for value in used}
        vectors = [value for value in used if is_vector(found[value])]
        self.e.values.update({value: Scalar(here) for value, here in found.items()})
        if not vectors:
            self.e.lower(op)
            return [self.e.scalar(value) for value in op.results]
        if _is_lifted(op):
            return [self._on_vectors(op)]
        if _converts_elements(op):
            return [map_elements(self.e, found[vectors[0]], type(op), held_as(op.results[0].type))]
        return self._one_by_one(op, vectors)

    def _compared_once(self, op: arith.CmpiOp) -> SSAValue | None:
        """Emit one comparison for all positions between two multiples of what divides their bound.

        Of positions `8 t` to `8 t + 7` all or none are below a multiple of 8; `8 t` decides.
        None where they have to be compared one by one.
        """
        is_left = op.lhs in self.body.known
        position, bound = (op.lhs, op.rhs) if is_left else (op.rhs, op.lhs)
        allowed = BELOW_RIGHT if is_left else BELOW_LEFT
        if op.predicate.value.data not in allowed or self._is_mine(bound):
            return None
        if position not in self.body.known or not isinstance(self.e.values.get(bound), Scalar):
            return None
        limit, table = self.e.scalar(bound), self._slice(self.body.known[position])
        divisor, most = divisor_of(self.e, limit), most_of(limit)
        if divisor < 2 or table.min() < 0:
            return None
        # Two registers with equal quotients in every thread share a comparison. For a divisor of 8
        # and positions 0 to 15 that are two comparisons instead of 16.
        flags: dict[bytes, SSAValue] = {}
        found: list[SSAValue] = []
        for k in range(self.count):
            bucket = (table[:, k] // divisor).tobytes()
            if bucket not in flags:
                first = table_entry(self.e, position.type, table[:, k])
                sides = (first, limit) if is_left else (limit, first)
                made = self.e.insert(arith.CmpiOp(*sides, op.predicate.value.data)).result
                is_behind = is_left and most is not None and table[:, k].min() > most
                flags[bucket] = i1_constant(self.e, False) if is_behind else made
            found.append(flags[bucket])
        return found[0] if len(flags) == 1 else joined(self.e, found)

    def _known(self, value: SSAValue) -> Table | None:
        found = self.body.known.get(value)
        return None if found is None else self._slice(found)

    def _is_mine(self, value: SSAValue) -> bool:
        """Whether a value is one of the body."""
        return value in self.values or value in self.body.known

    def _on_vectors(self, op: Operation) -> SSAValue:
        operands = [self._vector(self._value(value)) for value in op.operands]
        type_ = VectorType(held_as(op.results[0].type), [self.count])
        return on_vectors(self.e, op, operands, type_)

    def _vector(self, value: SSAValue) -> SSAValue:
        return value if is_vector(value) else repeated(self.e, value, self.count)

    def _one_by_one(self, op: Operation, vectors: Sequence[SSAValue]) -> Sequence[SSAValue]:
        e, given = self.e, list[list[SSAValue]]()
        whole = {value: self._value(value) for value in vectors}
        for k in range(self.count):
            for value in vectors:
                e.values[value] = Scalar(element(e, whole[value], k))
            e.lower(op)
            given.append([e.scalar(value) for value in op.results])
        return [joined(e, [row[position] for row in given]) for position in range(len(op.results))]

    def _chosen(self, step: Choice) -> SSAValue:
        """Select between two values: per register at compile time where known, else at run time."""
        known = self.body.known.get(step.condition)
        if known is None:
            return self._selected(self._value(step.condition), step)
        flags, held = self._slice(known) != 0, self._slice(self.held) >= 0
        if (flags | ~held).all():
            return self._value(step.taken)
        if not (flags & held).any():
            return self._value(step.other)
        by_register = [flags[held[:, k], k] for k in range(self.count)]
        sides = [
            None if some.any() and not some.all() else bool(some.all()) for some in by_register
        ]
        return self._mixed(step, sides)

    def _mixed(self, step: Choice, sides: Sequence[bool | None]) -> SSAValue:
        """Each register from where it is known to come, or selected."""
        e, found = self.e, list[SSAValue]()
        both = [self._vector(self._value(value)) for value in (step.taken, step.other)]
        for k, side in enumerate(sides):
            arms = [element(e, value, k) for value in both]
            if side is not None:
                found.append(arms[0 if side else 1])
                continue
            here = element(e, self._value(step.condition), k)
            found.append(e.insert(selection(here, *arms)).result)
        return joined(e, found)

    def _selected(self, condition: SSAValue, step: Choice) -> SSAValue:
        e, both = self.e, [self._value(value) for value in (step.taken, step.other)]
        if not is_vector(condition):
            if any(map(is_vector, both)):
                both = [self._vector(value) for value in both]
            return e.insert(selection(condition, *both)).result
        made = step.condition.owner if may_branch(self.op, both[0]) else None
        runs = ComparedRuns.of(e, made, self._known, self._value)
        return runs.selected(e, *both) if runs else selected(e, self.op, condition, *both)


def _is_lifted(op: Operation) -> bool:
    """Whether an operation works on vectors as it does on scalars."""
    known: Any = (*arith.Arith.operations, *math.Math.operations)
    return type(op) in known and len(op.results) == 1 and not isinstance(op, ONE_BY_ONE)


def _converts_elements(op: Operation) -> bool:
    """Whether an operation makes a float of each integer, or the other way round."""
    return isinstance(op, arith.SIToFPOp | arith.UIToFPOp) and op.input.type != i1
