"""The pass `scalarize-vectors`: what is read element by element is computed element by element.

    %p = arith.addi %base, %offsets : vector<64xi64>   // 128 registers, live until the last access
    %first = vector.extract %p[0]
    store %x, %first
    %second = vector.extract %p[1]
    store %y, %second

becomes

    %first = arith.addi %b0, %o0 : i64                 // 2 registers, live until their access
    store %x, %first
    %second = arith.addi %b1, %o1 : i64
    store %y, %second

A tile of a thread is one vector, which an operation gives as a whole.  Of addresses and masks only
single elements are used, each by one access; a vector of them in front of all accesses costs the
registers that ptxas then spills.  What other operations read whole, or in another block, stays.
An element that was put into a vector, or packed into a word of one, is read where it comes from.
Source: the scalarizer of LLVM, which begins at what is stored instead.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from xdsl.context import Context
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    VectorType,
    i8,
    i16,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects.cute import LoadOp, MakeFragmentOp
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import Kinds, instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.xdsl_ops import constant_op, extraction, on_types
from tileas_xdsl.threads.registers.vector_values import element_type
from tileas_xdsl.transforms.arithmetic.vector_parts import put_in

_MADE, _VECTORS = Kinds(vector.BroadcastOp, MakeFragmentOp), Kinds(VectorType)


@dataclass(frozen=True)
class ScalarizeVectors(ModulePass):
    """Compute elements where they are read, of vectors that are read in no other way."""

    name = "scalarize-vectors"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        work = _Scalarizer()
        for extract in instances_in(op, vector.ExtractOp):
            work.replace(extract)
        work.erase_unused()
        work.sink()


@dataclass(eq=False)
class _Scalarizer:
    """Replaces extracts of vectors whose elements can be computed alone."""

    _read: list[SSAValue] = field(default_factory=list[SSAValue])
    """Vectors whose elements are read no more."""
    _taken: list[SSAValue] = field(default_factory=list[SSAValue])
    """Elements that were computed one by one, and read out of the vector that was made of them."""
    _by_elements: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])

    def replace(self, extract: vector.ExtractOp) -> None:
        """Let what reads an element read what is computed in the extract's place."""
        position = _constant_position(extract)
        if position is None:
            return
        if self._is_computed_alone(extract.vector, extract):
            element = self._element(extract.vector, position, extract)
        elif (element := self._put_in(extract.vector, position)) is None:
            return
        self._read.append(extract.vector)
        extract.results[0].replace_all_uses_with(element)
        Rewriter.erase_op(extract)

    def erase_unused(self) -> None:
        """Erase vectors that nothing reads, and what only they were made of."""
        waiting = list(dict.fromkeys(value.owner for value in self._read))
        while waiting:
            op = waiting.pop()
            if isinstance(op, Block) or op.parent is None or not _is_dead(op):
                continue
            waiting += dict.fromkeys(value.owner for value in op.operands)
            Rewriter.erase_op(op)

    def sink(self) -> None:
        """Compute elements in front of their readers, once no vector is made of them."""
        for value in dict.fromkeys(self._taken):
            _sink(value)

    def _is_computed_alone(self, source: SSAValue, reader: Operation) -> bool:
        """Whether an element of a vector needs no other, and its operands are at hand."""
        made = source.owner
        if not isinstance(made, Operation):
            return False
        if _are_scalars(made):
            return True
        return made.parent is reader.parent and self._is_split(made)

    def _is_split(self, op: Operation) -> bool:
        """Whether an operation works on vectors element by element, and so is what it gives."""
        return (
            type(op) in arith.Arith.operations
            and not isinstance(op, arith.ConstantOp)
            and len(op.results) == 1
            and isinstance(op.results[0].type, VectorType)
            and is_side_effect_free(op)
            and not _is_of_words(op)
            and self._is_read_by_elements(op.results[0])
        )

    def _is_read_by_elements(self, value: SSAValue) -> bool:
        if value not in self._by_elements:
            users = [use.operation for use in value.uses]
            self._by_elements[value] = all(
                isinstance(user, vector.ExtractOp) or self._is_split(user) for user in users
            )
        return self._by_elements[value]

    @memoized_walk
    def _element(self, value: SSAValue, position: int, reader: Operation) -> SSAValue:
        """Return one element of a vector, computed before its user; a scalar as it is."""
        type_ = element_type(value)
        if not isinstance(value.type, VectorType):
            return value
        match value.owner:
            case vector.BroadcastOp() as made if _are_scalars(made):
                return made.source
            case MakeFragmentOp() as made if _are_scalars(made):
                self._taken.append(made.operands[position])
                return made.operands[position]
            case arith.ConstantOp(value=DenseIntOrFPElementsAttr() as dense):
                return _inserted(_constant(dense, type_, position), reader)
            case Operation() as made if made.parent is reader.parent and self._is_split(made):
                operands = [self._element(each, position, reader) for each in made.operands]
                return _inserted(on_types(made, operands, [type_]), reader)
            case _:
                found = self._put_in(value, position)
                if found is not None:
                    return found
                return _inserted(extraction(value, position, type_), reader)

    def _put_in(self, value: SSAValue, position: int) -> SSAValue | None:
        """Return the scalar that an element of a vector was; None for one that was none."""
        found = put_in(value, position)
        if found is not None:
            self._taken.append(found)
        return found


def _is_dead(op: Operation) -> bool:
    return is_side_effect_free(op) and not any(result.uses for result in op.results)


def _is_of_words(op: Operation) -> bool:
    """Whether an operation computes several integers in each register, of words that are there."""
    if not isinstance(op, _OF_WORDS) or element_type(op.results[0]) not in (i8, i16):
        return False
    if isinstance(op, _SHIFTS) and not isinstance(op.rhs.owner, arith.ConstantOp):
        return False
    return all(map(_is_of_memory, op.operands))


def _is_of_memory(value: SSAValue) -> bool:
    """Whether a vector has its elements in words: it was loaded, or is computed of such ones."""
    match value.owner:
        case vector.BitcastOp() | LoadOp() | arith.ConstantOp():
            return True
        case MakeFragmentOp() as made if not _are_scalars(made):
            return all(map(_is_of_memory, made.operands))
        case Operation() as made:
            return _is_of_words(made)
        case _:
            return False


_SHIFTS = (arith.ShLIOp, arith.ShRUIOp)
"""What is computed of packed integers at once if it is by a constant."""

_OF_WORDS = (
    *(arith.AddiOp, arith.MinUIOp, arith.MaxUIOp, arith.MinSIOp, arith.MaxSIOp),
    *(arith.SubiOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp, *_SHIFTS),
)
"""What is computed of packed integers at once (`packed_integers.py`)."""


def _constant_position(extract: vector.ExtractOp) -> int | None:
    """Return the static position of an extracted element; None for a dynamic one."""
    if extract.dynamic_position:
        return None
    (position,) = extract.static_position.get_values()
    return position


def _are_scalars(op: Operation) -> bool:
    """Whether a vector is put together of single elements."""
    return _MADE[type(op)] and not any(_VECTORS[type(value.type)] for value in operands_of(op))


def _constant(dense: DenseIntOrFPElementsAttr, type_: Any, position: int) -> arith.ConstantOp:
    values = dense.get_values()
    number: Any = values[0 if is_splat(dense) else position]
    made = FloatAttr(number, type_) if isinstance(number, float) else IntegerAttr(number, type_)
    return constant_op(made)


def _sink(value: SSAValue) -> None:
    """Compute a number in front of its only reader, and what only it reads."""
    made, user = value.owner, value.get_user_of_unique_use()
    if (
        isinstance(made, Operation)
        and user is not None
        and made.parent is user.parent
        and type(made) in arith.Arith.operations
        and is_side_effect_free(made)
    ):
        made.detach()
        Rewriter.insert_op(made, InsertPoint.before(user))
        for operand in made.operands:
            _sink(operand)


def _inserted(op: Operation, reader: Operation) -> SSAValue:
    Rewriter.insert_op(op, InsertPoint.before(reader))
    return op.results[0]
