"""What `op.lhs` asks: the accessors of xDSL for operands and results, in a quarter of their time.

An accessor of xDSL asks for the kind of what it reads, for a view of the operands, and that for
what is a tuple of them already.  Formats know by the class of an accessor what they fill, so these
are derived from those.  One operand, result or region in front of all groups is at a fixed place,
in operations of xDSL too: `xdsl_core` gives its accessor the method `single_part`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from struct import unpack
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.irdl.operations import (
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    OptionalAttrAccessor,
    SingleAttrAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)

from tileas_xdsl.diagnostics.walking import operands_of, successors_of
from tileas_xdsl.dialects.field_plans import SEGMENTS

_OPERAND, _RESULT = VarIRConstruct.OPERAND, VarIRConstruct.RESULT

_item: Callable[[tuple[SSAValue, ...], int], SSAValue] = vars(tuple)["__getitem__"]
"""Without the question of `SSAValues` whether the index is a slice."""


def faster_accessor(accessor: object) -> object:
    """Return an accessor for the same operands beside groups; others stay."""
    found = _IN_GROUPS.get(type(accessor))
    if found is None or not isinstance(accessor, BaseAttrAccessor):
        return accessor
    if accessor.construct is not VarIRConstruct.OPERAND or not _is_property(accessor.option):
        return accessor
    return found(accessor.construct, accessor.idx, accessor.option)


def _is_property(option: object) -> bool:
    return isinstance(option, AttrSizedOperandSegments) and option.as_property


def single_part(
    self: BeforeVariadicSingleAccessor, obj: Operation, objtype: type | None = None
) -> SSAValue | Region | Block:
    """Return what is at a fixed place: no group is in front of it."""
    construct = self.construct
    if construct is _OPERAND:
        return _item(operands_of(obj), self.idx)
    if construct is _RESULT:
        return _item(obj.results, self.idx)
    parts = obj.regions if construct is VarIRConstruct.REGION else successors_of(obj)
    return parts[self.idx]


class _OperandBehindGroups(SingleAttrAccessor):
    def __get__(self, obj: Operation, objtype: type | None = None) -> SSAValue:
        return _item(operands_of(obj), sum(_sizes(obj)[: self.idx]))


class _OptionalOperand(OptionalAttrAccessor):
    def __get__(self, obj: Operation, objtype: type | None = None) -> SSAValue | None:
        sizes = _sizes(obj)
        return _item(operands_of(obj), sum(sizes[: self.idx])) if sizes[self.idx] else None


class _OperandGroup(VariadicAttrAccessor):
    def __get__(self, obj: Operation, objtype: type | None = None) -> tuple[SSAValue, ...]:
        sizes = _sizes(obj)
        first = sum(sizes[: self.idx])
        return operands_of(obj)[first : first + sizes[self.idx]]


_IN_GROUPS: dict[type, type[BaseAttrAccessor]] = {
    SingleAttrAccessor: _OperandBehindGroups,
    OptionalAttrAccessor: _OptionalOperand,
    VariadicAttrAccessor: _OperandGroup,
}


def _sizes(op: Operation) -> tuple[int, ...]:
    """Return how many operands each group of an operation has."""
    sizes = cast("DenseArrayBase[IntegerType]", op.properties[SEGMENTS])
    return _unpacked(sizes.data.data)


@lru_cache(maxsize=4096)
def _unpacked(data: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(data) // 4}i", data)
