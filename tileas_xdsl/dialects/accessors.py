"""What `op.lhs` asks: the accessors of xDSL for operands and results, in a quarter of their time.

An accessor of xDSL asks for the kind of what it reads, for a view of the operands, and that for
what is a tuple of them already.  Formats know by the class of an accessor what they fill, so these
are derived from those.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import unpack
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.irdl.operations import (
    BaseAttrAccessor,
    BeforeVariadicSingleAccessor,
    OptionalAttrAccessor,
    SingleAttrAccessor,
    VariadicAttrAccessor,
    VarIRConstruct,
)

from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects.field_init import SEGMENTS

_item: Callable[[tuple[SSAValue, ...], int], SSAValue] = vars(tuple)["__getitem__"]
"""Without the question of `SSAValues` whether the index is a slice."""


def faster_accessor(accessor: object) -> object:
    """Return an accessor for the same; others than of one operand, one result or a group stay."""
    # Classes are compared: there are thousands of accessors, and theirs are abstract.
    if type(accessor) is BeforeVariadicSingleAccessor:
        made = _AT_INDEX.get(accessor.construct)
        return accessor if made is None else made(accessor.construct, accessor.idx)
    found = _IN_GROUPS.get(type(accessor))
    if found is None or not isinstance(accessor, BaseAttrAccessor):
        return accessor
    if accessor.construct is not VarIRConstruct.OPERAND or not _is_property(accessor.option):
        return accessor
    return found(accessor.construct, accessor.idx, accessor.option)


def _is_property(option: object) -> bool:
    return isinstance(option, AttrSizedOperandSegments) and option.as_property


class _Operand(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: type | None = None) -> SSAValue:
        return _item(operands_of(obj), self.idx)


class _Result(BeforeVariadicSingleAccessor):
    def __get__(self, obj: Operation, objtype: type | None = None) -> OpResult:
        return cast("OpResult", _item(obj.results, self.idx))


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


_AT_INDEX: dict[VarIRConstruct, type[BeforeVariadicSingleAccessor]] = {
    VarIRConstruct.OPERAND: _Operand,
    VarIRConstruct.RESULT: _Result,
}
_IN_GROUPS: dict[type, type[BaseAttrAccessor]] = {
    SingleAttrAccessor: _OperandBehindGroups,
    OptionalAttrAccessor: _OptionalOperand,
    VariadicAttrAccessor: _OperandGroup,
}


def _sizes(op: Operation) -> tuple[int, ...]:
    """Return how many operands each group of an operation has."""
    sizes = cast("DenseArrayBase[IntegerType]", op.properties[SEGMENTS])
    return _unpacked(sizes.data.data)


@cache
def _unpacked(data: bytes) -> tuple[int, ...]:
    return unpack(f"<{len(data) // 4}i", data)
