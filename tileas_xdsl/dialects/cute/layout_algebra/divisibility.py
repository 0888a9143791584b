"""What is known of numbers, said and forgotten, and division by a divisor that stays the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.operation import CuteOp, InferredOp
from tileas_xdsl.dialects.cute.base.symbolic_values import numbers, symbol
from tileas_xdsl.dialects.cute.types.integers import (
    DivisibleType,
    FastDivisorType,
    width_and_divisor,
)
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout.expr.expression import Expression, divisor_of


@irdl_op_definition
class AssumeOp(CuteOp):
    """The same integer, with a divisor that the program vouches for."""

    name = "cute.assume"
    source = operand_def()
    result = result_def(DivisibleType)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        facts = width_and_divisor(self.source.type)
        if facts is None or facts[0] != self.result.type.WIDTH:
            raise op_error(
                self,
                f"says more of an integer, and cannot turn {self.source.type} into "
                f"{self.result.type}",
            )


@irdl_op_definition
class DerefineOp(CuteOp):
    """The same value, of whose numbers the type knows less: a 4 becomes a `?`."""

    name = "cute.derefine"
    source = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if not forgets(self.source.type, self.result.type, self.source, self.result):
            raise op_error(
                self, f"forgets numbers, and cannot turn {self.source.type} into {self.result.type}"
            )


def forgets(source: Attribute, result: Attribute, value: SSAValue, made: SSAValue) -> bool:
    """Whether `result` is `source` but for numbers that it does not know."""
    if isinstance(source, PtrType) and isinstance(result, PtrType):
        weaker = PtrType(source.element_type, source.space, result.align, source.swizzle)
        return weaker == result and source.align % result.align == 0
    if type(source) is not type(result):
        return False
    known, wanted = list(numbers(symbol(value))), list(numbers(symbol(made)))
    return len(known) == len(wanted) and all(
        _is_weaker(k, w) for k, w in zip(known, wanted, strict=True)
    )


def _is_weaker(known: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Expression):
        return known == wanted
    width = known.width if isinstance(known, Expression) else wanted.width
    return width == wanted.width and divisor_of(known) % wanted.divisor == 0


# Division


@irdl_op_definition
class CreateDivisorOp(InferredOp):
    """A positive divisor, with what turns division by it into a multiplication."""

    name = "cute.fast_divmod.create_divisor"
    divisor = operand_def(i32)
    result = result_def(FastDivisorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return (FastDivisorType(32),)


@irdl_op_definition
class GetDivisorOp(InferredOp):
    """The divisor itself."""

    name = "cute.fast_divmod.get_divisor"
    prepared = operand_def(FastDivisorType)
    result = result_def(i32)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return (i32,)


@irdl_op_definition
class GetAuxOp(InferredOp):
    """What the division by a divisor is made of: the multiplier and two shifts."""

    name = "cute.fast_divmod.get_aux"
    prepared = operand_def(FastDivisorType)
    multiplier = result_def(i32)
    shift1 = result_def(i8)
    shift2 = result_def(i8)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return (i32, i8, i8)


@irdl_op_definition
class MakeDivisorOp(InferredOp):
    """A divisor with the multiplier and the shifts that `get_aux` has given of it."""

    name = "cute.fast_divmod.make_divisor"
    divisor = operand_def(i32)
    multiplier = operand_def(i32)
    shift1 = operand_def(i8)
    shift2 = operand_def(i8)
    result = result_def(FastDivisorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return (FastDivisorType(32),)


@irdl_op_definition
class DivideOp(InferredOp):
    """The quotient of a number that is not negative."""

    name = "cute.fast_divmod.divide"
    dividend = operand_def(i32)
    prepared = operand_def(FastDivisorType)
    quotient = result_def(i32)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return (i32,)


@irdl_op_definition
class ComputeOp(InferredOp):
    """Quotient and remainder of a number that is not negative."""

    name = "cute.fast_divmod.compute"
    dividend = operand_def(i32)
    prepared = operand_def(FastDivisorType)
    quotient = result_def(i32)
    remainder = result_def(i32)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        return (i32, i32)
