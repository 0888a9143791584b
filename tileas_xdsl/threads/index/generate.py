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

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import IndexType, IntegerType, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.xdsl_ops import selection
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.elementwise_ops import on_vectors
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    bit_width,
    cast_index,
    i1_constant,
    i64_constant,
    logical_and,
    xor,
)
from tileas_xdsl.threads.codegen.known_integers import constant_value, divisor_of, most_of
from tileas_xdsl.threads.codegen.lowered_values import (
    RegisterTile,
    Scalar,
    Splat,
    held_as,
)
from tileas_xdsl.threads.convert.element_conversion import map_elements
from tileas_xdsl.threads.convert.register_conversion import carried
from tileas_xdsl.threads.index.compared_runs import ComparedRuns, may_branch
from tileas_xdsl.threads.index.generate_body import Choice, GenerateBody, Path, Step
from tileas_xdsl.threads.index.masked_elements import selected
from tileas_xdsl.threads.index.per_thread_tables import (
    Flags,
    Table,
    is_simple,
    tabulated,
)
from tileas_xdsl.threads.index.runtime_elements import (
    from_carrier,
    lanes_layout,
    scratch_element,
    taken_from_lanes,
)
from tileas_xdsl.threads.index.wrapped_positions import wrapped_positions
from tileas_xdsl.threads.registers.register_gather import (
    Gathered,
    coordinates_of,
    gathered,
    held_by,
)
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    element,
    joined,
    numbers,
    repeated,
)
from tileas_xdsl.threads.smem.scratch_buffer import Scratch, spilled

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

HALF_RANGE = 1 << (WORD_BITS - 1)


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
    taken: dict[Operation, Gathered] = field(default_factory=dict[Operation, Gathered])
    """Elements extracted at statically known coordinates, by `extract` operation."""
    scratch_buffers: dict[SSAValue, Scratch] = field(default_factory=dict[SSAValue, Scratch])
    """Shared-memory copies of tiles that are read at run-time coordinates."""
    in_lanes: dict[SSAValue, RegisterTile] = field(default_factory=dict[SSAValue, RegisterTile])
    """Short tiles that are read at run-time coordinates, an element a lane."""
    vectors: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    """Vectors that several register blocks share."""

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

    @property
    def count(self) -> int:
        """Registers of a block."""
        return vectors_of(self.layout).length

    # tiles

    def fetch(self) -> None:
        """Load or spill source tiles, so that their elements can be read where needed."""
        for step in self.body.steps:
            if isinstance(step, Step) and isinstance(step.op, tensor.ExtractOp):
                self._fetch(step, step.op)

    def _fetch(self, step: Step, op: tensor.ExtractOp) -> None:
        e, source = self.e, op.tensor
        if op.result not in self.body.wanted or isinstance(e.get(source), Splat):
            return
        tile = in_registers(e, op, source)
        if all(index in self.body.known for index in op.indices):
            self.taken[op] = gathered(e, op, tile, self._positions(step, op, tile))
        elif not step.path and (lanes := lanes_layout(tile.layout)) is not None:
            if source not in self.in_lanes:
                self.in_lanes[source] = carried(e, in_registers(e, op, source, lanes))
        elif source not in self.scratch_buffers:
            self.scratch_buffers[source] = spilled(e, op, carried(e, tile))

    def _positions(self, step: Step, op: tensor.ExtractOp, tile: RegisterTile) -> Table:
        """By register, the element that is extracted; -1 where it is not needed."""
        shape, flags = tile.layout.shape, self.body.wanted[op.result]
        path = self.body.flags(step.path)
        flags = flags if path is None else flags & path
        indices = [np.broadcast_to(self.body.known[v], flags.shape) for v in op.indices]
        for axis, index in enumerate(indices):
            inside = (index >= 0) & (index < shape[axis])
            wrong = flags & ~inside
            if wrong.any() and not self.body.unknown(step.path):
                raise op_error(
                    op,
                    f"takes element {int(index[wrong][0])} along dimension {axis} of a tile of "
                    f"{'x'.join(map(str, shape))}",
                )
            flags = flags & inside
        if not indices:
            return np.where(flags, 0, -1)
        safe = tuple(np.where(flags, index, 0) for index in indices)
        return np.where(flags, np.ravel_multi_index(safe, shape, order="F"), -1)

    # blocks

    def part(self, block: int) -> SSAValue:
        """The registers of one block."""
        self.block, self.values = block, {}
        for step in self.body.steps:
            if any(v in self.body.wanted and v not in self.body.known for v in step.results):
                self._lower(step)
        end = self.op.body.block.last_op
        assert end is not None
        value = self._value(end.operands[0])
        return value if _is_vector(value) else repeated(self.e, value, self.count)

    def _slice(self, table: Table) -> Table:
        whole = np.broadcast_to(table, self.held.shape)
        return whole[:, self.block * self.count : (self.block + 1) * self.count]

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
            made = _flags(e, table != 0, held)
        else:
            made = self._numbers(value.type, np.where(held, table, -1), table)
        if made is not None:
            return made
        owner = value.owner
        if isinstance(owner, Operation) and not isinstance(owner, GenerateOp):
            return self._computed(owner)[0]
        columns = [_number(e, value.type, table[:, k]) for k in range(self.count)]
        return joined(e, columns)

    def _numbers(self, type_: Attribute, asked: Table, table: Table) -> SSAValue | None:
        """Emit a per-thread value plus a constant per register; None where that does not do."""
        e, count = self.e, self.count
        valid = table.min() >= 0
        steps = table - table[:, :1]
        if not valid or (steps != steps[0]).any() or not is_simple(asked[:, 0]):
            return None
        first = _number(e, type_, table[:, 0])
        offsets: list[int] = steps[0].tolist()
        if not any(offsets):
            return first
        return add(e, repeated(e, first, count), numbers(e, offsets, type_))

    def _lower(self, step: Step | Choice) -> None:
        if isinstance(step, Choice):
            self.values[step.result] = self._chosen(step)
        elif isinstance(step.op, tensor.ExtractOp):
            self.values[step.op.result] = self._extract(step.op, step.path)
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
        vectors = [value for value in used if _is_vector(found[value])]
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
                first = _number(self.e, position.type, table[:, k])
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
        return value if _is_vector(value) else repeated(self.e, value, self.count)

    def _one_by_one(self, op: Operation, vectors: Sequence[SSAValue]) -> Sequence[SSAValue]:
        e, given = self.e, list[list[SSAValue]]()
        whole = {value: self._value(value) for value in vectors}
        for k in range(self.count):
            for value in vectors:
                e.values[value] = Scalar(element(e, whole[value], k))
            e.lower(op)
            given.append([e.scalar(value) for value in op.results])
        return [joined(e, [row[position] for row in given]) for position in range(len(op.results))]

    # choices

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
            here = _at(e, self._value(step.condition), k)
            found.append(e.insert(selection(here, *arms)).result)
        return joined(e, found)

    def _selected(self, condition: SSAValue, step: Choice) -> SSAValue:
        e, both = self.e, [self._value(value) for value in (step.taken, step.other)]
        if not _is_vector(condition):
            if any(map(_is_vector, both)):
                both = [self._vector(value) for value in both]
            return e.insert(selection(condition, *both)).result
        made = step.condition.owner if may_branch(self.op, both[0]) else None
        runs = ComparedRuns.of(e, made, self._known, self._value)
        return runs.selected(e, *both) if runs else selected(e, self.op, condition, *both)

    # elements of tiles

    def _extract(self, op: tensor.ExtractOp, path: Path) -> SSAValue:
        found = self.e.get(op.tensor)
        if isinstance(found, Splat):
            return splat_scalar(self.e, found)
        if op.tensor in self.in_lanes and not path:
            index = self._value(op.indices[0])
            type_ = element_of(op.tensor.type)
            return taken_from_lanes(self.e, self.in_lanes[op.tensor], type_, index)
        if op not in self.taken:
            return self._from_scratch(op, path)
        taken, first = self.taken[op], self.block * self.count
        if taken.is_one(first, self.count):
            return self._once((op, taken.column[first]), lambda: taken.single(first))
        columns = tuple(taken.column[first : first + self.count])
        return self._once((op, columns), lambda: taken.vector(first, self.count))

    def _once(self, key: tuple[object, ...], make: Callable[[], SSAValue]) -> SSAValue:
        """Return a value that is emitted in the first block that needs it."""
        if key not in self.vectors:
            self.vectors[key] = make()
        return self.vectors[key]

    def _from_scratch(self, op: tensor.ExtractOp, path: Path) -> SSAValue:
        e, buffer = self.e, self.scratch_buffers[op.tensor]
        shape = shape_of(op.tensor.type) or ()
        indices = [self._value(value) for value in op.indices]
        guards = [(self._value(value), holds_) for value, holds_ in path]
        if not any(map(_is_vector, [*indices, *(value for value, _ in guards)])):
            value = scratch_element(e, buffer, shape, indices, _all_hold(e, guards))
            return from_carrier(e, value, element_of(op.tensor.type))
        found: list[SSAValue] = []
        for k in range(self.count):
            here = [_at(e, value, k) for value in indices]
            guard = _all_hold(e, [(_at(e, value, k), holds_) for value, holds_ in guards])
            value = scratch_element(e, buffer, shape, here, guard)
            found.append(from_carrier(e, value, element_of(op.tensor.type)))
        return joined(e, found)


def _at(e: ThreadBuilder, value: SSAValue, k: int) -> SSAValue:
    return element(e, value, k) if _is_vector(value) else value


def _all_hold(e: ThreadBuilder, guards: Sequence[tuple[SSAValue, bool]]) -> SSAValue | None:
    """Return the conjunction of conditions of a path; None without any."""
    found: SSAValue | None = None
    for value, wanted in guards:
        here = value if wanted else xor(e, value, i1_constant(e, True))
        found = logical_and(e, found, here)
    return found


def _flags(e: ThreadBuilder, flags: Flags, held: Flags) -> SSAValue | None:
    """Emit per-register `i1` constants that are uniform across threads; None where they differ."""
    if (flags | ~held).all() or not (flags & held).any():
        return i1_constant(e, bool((flags & held).any()))
    bits: list[SSAValue] = []
    for k in range(flags.shape[1]):
        wanted = flags[held[:, k], k]
        if wanted.all() or not wanted.any():
            bits.append(i1_constant(e, bool(wanted.any())))
            continue
        return None
    return joined(e, bits)


def _number(e: ThreadBuilder, type_: Attribute, table: Table) -> SSAValue:
    """The entry of this thread, in a type."""
    low = int(table.min())
    if low < -HALF_RANGE or int(table.max()) >= HALF_RANGE:
        return _of_halves(e, table)
    moved = table - low if low < 0 else table
    value, constant = tabulated(e, moved)
    value = add(e, value, constant + min(low, 0))
    if isinstance(type_, IndexType):
        return cast_index(e, value, type_)
    bits = bit_width(type_)
    if bits == WORD_BITS:
        return value
    kind: Any = arith.ExtSIOp if bits > WORD_BITS else arith.TruncIOp
    return e.insert(kind(value, type_)).result


def _of_halves(e: ThreadBuilder, table: Table) -> SSAValue:
    """Emit entries of more than 32 bits as upper and lower half."""
    upper = e.insert(arith.ExtSIOp(_number(e, i32, table >> WORD_BITS), i64)).result
    signed = (table & (2 * HALF_RANGE - 1) ^ HALF_RANGE) - HALF_RANGE
    lower = e.insert(arith.ExtUIOp(_number(e, i32, signed), i64)).result
    moved = e.insert(arith.ShLIOp(upper, i64_constant(e, WORD_BITS))).result
    return e.insert(arith.OrIOp(moved, lower)).result


def _is_vector(value: SSAValue) -> bool:
    return isinstance(value.type, VectorType)


def _is_lifted(op: Operation) -> bool:
    """Whether an operation works on vectors as it does on scalars."""
    known: Any = (*arith.Arith.operations, *math.Math.operations)
    return type(op) in known and len(op.results) == 1 and not isinstance(op, ONE_BY_ONE)


def _converts_elements(op: Operation) -> bool:
    """Whether an operation makes a float of each integer, or the other way round."""
    return isinstance(op, arith.SIToFPOp | arith.UIToFPOp) and op.input.type != i1


def splat_scalar(e: ThreadBuilder, tile: Splat) -> SSAValue:
    """The only value that a tile has."""
    if isinstance(tile.constant, SSAValue):
        return tile.constant
    constant: Any = tile.constant
    return e.insert(arith.ConstantOp(constant)).result
