"""Scalars of a kernel as steps that a launch computes (`target/launches/launch_numbers.py`).

What a value in loops depends on besides their variables is computed: `invariants` of `%i + 2 * %k`
in a loop over `%k` are `%i` and 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects import arith, gpu, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import is_parameter
from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp
from tileas_xdsl.layout.units import WORD_BITS
from tileas_xdsl.target.launches.launch_numbers import (
    BLOCK,
    GRID,
    OPERATIONS,
    SCALAR,
    SELECT,
    WIDE,
)

_SAME = (arith.IndexCastOp, arith.ExtSIOp, AssumeOp)
"""Operations that give the number of their operand, where it has so many bits."""

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


@dataclass(eq=False)
class LaunchSteps:
    """The steps of some scalars of one kernel, each once."""

    steps: list[str] = field(default_factory=list[str])
    _known: dict[SSAValue, int | None] = field(default_factory=dict[SSAValue, "int | None"])

    def of(self, value: SSAValue | int) -> int | None:
        """Return the step that computes a number; None where a launch does not know it."""
        if isinstance(value, int):
            return self.step(str(value))
        if value not in self._known:
            self._known[value] = self._written(value)
        return self._known[value]

    def step(self, text: str) -> int:
        """Return the index of a step."""
        if text not in self.steps:
            self.steps.append(text)
        return self.steps.index(text)

    @memoized_walk
    def invariants(self, value: SSAValue) -> Sequence[int] | None:
        """Return what a value depends on besides variables of loops, each once; None if unknown."""
        if (found := self.of(value)) is not None:
            return [found]
        if isinstance(value, BlockArgument):
            is_variable = isinstance(value.owner.parent_op(), scf.ForOp) and value.index == 0
            return [] if is_variable else None
        op = value.owner
        if not isinstance(op, Operation) or not is_of_scalars(op):
            return None
        parts = [self.invariants(operand) for operand in op.operands]
        known = [part for part in parts if part is not None]
        steps = dict.fromkeys(step for part in known for step in part)
        return None if len(known) < len(parts) else [*steps]

    def _written(self, value: SSAValue) -> int | None:
        if isinstance(value, BlockArgument):
            is_number = is_parameter(value) and isinstance(value.type, IntegerType | IndexType)
            return self.step(f"{SCALAR} {value.index}") if is_number else None
        match value.owner:
            case arith.ConstantOp(value=IntegerAttr() as number):
                is_boolean = _bits(value.type) == 1
                text = str(abs(number.value.data) if is_boolean else number.value.data)
                return self.step(f"{WIDE} {text}" if _bits(value.type) > WORD_BITS else text)
            case gpu.BlockIdOp() as op:
                return self.step(f"{BLOCK} {op.dimension.data}")
            case gpu.GridDimOp() as op:
                return self.step(f"{GRID} {op.dimension.data}")
            case op if isinstance(op, _SAME):
                keeps = _bits(value.type) >= _bits(op.operands[0].type) >= WORD_BITS
                return self.of(op.operands[0]) if keeps else self._of_word(value)
            case arith.TruncIOp():
                return self._of_word(value)
            case arith.ExtUIOp() as op:
                return self._operation("maxui", (op.input, op.input), _bits(op.input.type))
            case arith.CmpiOp() as op:
                return self._operation(_PREDICATES[op.predicate.value.data], op.operands)
            case Operation() as op if op.name.removeprefix("arith.") in (*OPERATIONS, SELECT):
                name = op.name.removeprefix("arith.")
                return self._operation(name, op.operands, _bits(value.type))
            case _:
                return None

    def _of_word(self, value: SSAValue) -> int | None:
        """The step that is known where a wider number is one of 32 bits."""
        (operand,) = value.owner.operands if isinstance(value.owner, Operation) else (value,)
        return (
            self._operation("maxsi", (operand, operand)) if _bits(value.type) >= WORD_BITS else None
        )

    def _operation(
        self, name: str, operands: Sequence[SSAValue], bits: int = WORD_BITS
    ) -> int | None:
        steps = [self.of(operand) for operand in operands]
        words = [*[WIDE] * (bits > WORD_BITS), name, *map(str, steps)]
        return None if None in steps else self.step(" ".join(words))


def _bits(type_: Attribute) -> int:
    """The bits of a number, at least 32 of an index; 0 of what is none."""
    if isinstance(type_, IndexType):
        return WORD_BITS
    return type_.bitwidth if isinstance(type_, IntegerType) else 0
