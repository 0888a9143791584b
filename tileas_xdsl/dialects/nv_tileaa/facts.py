"""What is known of values without looking: divisors, bounds, equal neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    irdl_attr_definition,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.assumed_facts import BoundsAttr, DivisibilityAttr
from tileas_xdsl.dialects.nv_tileaa.base import element_of, numbers, shape_of
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.layout.integers import is_power_of_two


@irdl_attr_definition(init=False)
class DivByAttr(DivisibilityAttr):
    """`#nv_tileaa.div_by<16>`: integers, or addresses in bytes, divided by a power of two.

    `div_by<16, every 8 along 0>`: the first of every 8 elements along dimension 0 is; the others
    of the eight follow it one by one.  Of an array, `every 1 along 0` says that each of its rows
    begins at such an address.
    """

    name = "nv_tileaa.div_by"

    def verify(self) -> None:
        if not is_power_of_two(self.divisor.data):
            raise VerifyException(f"a divisor is a power of two, not {self.divisor.data}")
        if (group := self.group) is not None and group[0] < 1:
            raise VerifyException(f"a group has at least one element, not {group[0]}")


@irdl_attr_definition(init=False)
class BoundedAttr(BoundsAttr):
    """`#nv_tileaa.bounded<0, ?>`: integers, read as signed, from the first to the last."""

    name = "nv_tileaa.bounded"


@irdl_attr_definition
class SameElementsAttr(ParametrizedAttribute):
    """`#nv_tileaa.same_elements<array<i64: 1, 4>>`: chunks of 1 by 4 neighbours have one value."""

    name = "nv_tileaa.same_elements"
    chunk: DenseArrayBase[IntegerType]

    def __init__(self, chunk: Sequence[int] | DenseArrayBase[IntegerType]) -> None:
        super().__init__(chunk if isinstance(chunk, DenseArrayBase) else numbers(chunk))

    def verify(self) -> None:
        if any(extent < 1 for extent in self.chunk.get_values()):
            raise VerifyException("a chunk has at least one element along each dimension")


ATTRIBUTES = (BoundedAttr, DivByAttr, SameElementsAttr)


@tileas_op
class AssumeOp(TileasOp):
    """A value of which something is known; what breaks the promise has no meaning."""

    name = "nv_tileaa.assume"

    T: ClassVar = VarConstraint("T", AnyAttr())

    source: fields.Operand = fields.operand(T)
    fact: fields.Field[Attribute, Attribute] = fields.prop(AnyAttr())
    result: fields.Result[Attribute] = fields.typed_result(
        T, type=fields.type_of("source"), init=False
    )

    traits = traits_def(Pure())
    assembly_format = "$source `,` $fact attr-dict `:` type($result)"

    def verify_(self) -> None:
        type_: Attribute = self.source.type
        fact = self.fact
        if not isinstance(fact, ATTRIBUTES):
            raise op_error(self, f"states divisors, bounds or equal elements, not {fact}")
        if self.result.type != type_:
            raise op_error(self, f"gives {type_}, not {self.result.type}")
        element = element_of(type_)
        kinds = (IntegerType, PtrType, *((MemRefType,) if isinstance(fact, DivByAttr) else ()))
        if not isinstance(element, kinds):
            raise op_error(self, f"knows facts of integers, pointers and arrays, not of {type_}")
        if isinstance(fact, BoundedAttr) and not isinstance(element, IntegerType):
            raise op_error(self, f"bounds integers, not {type_}")
        rank = type_.get_num_dims() if isinstance(type_, MemRefType) else len(shape_of(type_))
        if isinstance(fact, SameElementsAttr) and len(fact.chunk) != rank:
            raise op_error(self, f"a chunk of a tile of rank {rank} has as many extents")
        group = fact.group if isinstance(fact, DivByAttr) else None
        if group is not None and not 0 <= group[1] < rank:
            raise op_error(self, f"groups elements along dimension {group[1]} of rank {rank}")
