"""Pointers: arithmetic, other readings of the same memory, loads and stores of one thread."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import lru_cache
from math import gcd

from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import (
    EffectInstance,
    MemoryEffect,
    MemoryEffectKind,
    MemoryWriteEffect,
    Pure,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import one_of, pointer
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import element_of, stored_bytes
from tileas_xdsl.dialects.cute.types.integers import DivisibleType
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.dialects.field_init import as_value
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout.expr.expression import Variable, divisor_of

__all__ = [
    "IntToPtrOp",
    "LoadOp",
    "PtrAddOp",
    "PtrToIntOp",
    "RecastPtrOp",
    "StoreOp",
    "access_alignment",
    "access_offset",
]

Value = SSAValue | Operation

LOAD_CACHE_MODES = ("always", "global", "streaming", "last_use", "none")
"""How a load uses the caches; PTX calls them ca, cg, cs, lu, cv."""

LOAD_ORDERS = ("relaxed", "acquire")
STORE_ORDERS = ("relaxed", "release")
"""How strong accesses are ordered; those without an order are weak."""

SCOPES = ("cta", "cluster", "gpu", "sys")
"""Who observes the order."""

STORE_CACHE_MODES = ("write_back", "global", "streaming", "write_through")
"""How a store uses the caches; PTX calls them wb, cg, cs, wt."""

_OFFSETS = (i32, i64, IndexType())

ACCESSED = (AddressSpace.GMEM, AddressSpace.SMEM, AddressSpace.GENERIC)
"""What loads and stores of one thread reach."""


@irdl_op_definition
class PtrAddOp(FieldsOp):
    """The pointer `offset` elements further on."""

    name = "cute.add_offset"

    ptr = operand_def()
    offset = operand_def()
    result = result_def(PtrType)

    traits = traits_def(Pure())
    assembly_format = (
        "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset) `->` type($result)"
    )

    def __init__(self, ptr: Value, offset: Value, alignment: int | None = None) -> None:
        """`alignment` in bytes is what the writer knows of the result; else what follows."""
        ptr, offset = as_value(ptr), as_value(offset)
        super().__init__(operands=[ptr, offset], result_types=[_moved(ptr, offset, alignment)])

    def verify_(self) -> None:
        source = pointer(self, self.ptr, "base")
        if not _is_number(self.offset.type):
            one_of(self, self.offset, "offset", _OFFSETS)
        result = self.result.type
        if _aligned(source, result.align) != result:
            raise op_error(self, f"moves {source}, and cannot turn it into {result}")
        constant = constant_integer(self.offset)
        if constant is None:
            return
        known = gcd(source.align, constant * source.element_bytes)
        if result.align > source.align or known >= result.align:
            return
        raise op_error(
            self,
            f"moves {source} by {constant * source.element_bytes} bytes, which is not "
            f"aligned to {result.align}",
        )


def _is_number(type_: Attribute) -> bool:
    """Whether an offset is a tuple of one integer, or an integer with a divisor."""
    if isinstance(type_, IntTupleType):
        return isinstance(type_.data, (int, Variable))
    return isinstance(type_, DivisibleType)


def _moved(ptr: SSAValue, offset: SSAValue, alignment: int | None) -> Attribute:
    type_ = ptr.type
    if not isinstance(type_, PtrType):
        return type_
    if alignment is None:
        steps = _multiple(offset)
        alignment = gcd(type_.align, steps * type_.element_bytes)
    return type_ if alignment == type_.align else _aligned(type_, alignment)


@lru_cache(1 << 10)
def _aligned(type_: PtrType, alignment: int) -> PtrType:
    """Return the type of the same pointers with another alignment, of which there are few."""
    return PtrType(type_.element_type, type_.space, alignment, type_.swizzle)


def _multiple(offset: SSAValue) -> int:
    """What an offset is known to be a multiple of."""
    if isinstance(offset.type, IntTupleType):
        return divisor_of(offset.type.data)
    if isinstance(offset.type, DivisibleType):
        return offset.type.data
    constant = constant_integer(offset)
    return 1 if constant is None else constant


@irdl_op_definition
class RecastPtrOp(FieldsOp):
    """The same address, with another element."""

    name = "cute.recast_iter"

    ptr = operand_def()
    result = result_def(PtrType)

    traits = traits_def(Pure())
    assembly_format = "$ptr attr-dict `:` type($ptr) `->` type($result)"

    def __init__(self, ptr: Value, element: Attribute, alignment: int | None = None) -> None:
        ptr = SSAValue.get(ptr)
        type_ = ptr.type
        if isinstance(type_, PtrType):
            type_ = PtrType(element, type_.space, alignment or type_.align, type_.swizzle)
        super().__init__(operands=[ptr], result_types=[type_])

    def verify_(self) -> None:
        source = pointer(self, self.ptr, "base")
        if source.space is not self.result.type.space:
            raise op_error(self, f"keeps {source} in {source.space}: {self.result.type} is not")
        if source.swizzle != self.result.type.swizzle:
            raise op_error(self, f"keeps the swizzle {source.swizzle} of {source}")


@irdl_op_definition
class PtrToIntOp(FieldsOp):
    """The address as an integer: 32 bits of shared memory, 64 bits of global memory."""

    name = "cute.ptrtoint"

    ptr = operand_def()
    result = result_def(IntegerType)

    traits = traits_def(Pure())
    assembly_format = "$ptr attr-dict `:` type($ptr) `->` type($result)"

    def __init__(self, ptr: Value) -> None:
        ptr = as_value(ptr)
        bits = ptr.type.address_bits if isinstance(ptr.type, PtrType) else 64
        super().__init__(operands=[ptr], result_types=[IntegerType(bits)])

    def verify_(self) -> None:
        source = pointer(self, self.ptr, "base")
        if self.result.type.width.data != source.address_bits:
            raise op_error(
                self,
                f"gives an address of {source.space}, i{source.address_bits}, "
                f"not {self.result.type}",
            )


@irdl_op_definition
class IntToPtrOp(FieldsOp):
    """The pointer with an address: 32 bits of shared memory, 64 bits of global memory."""

    name = "cute.inttoptr"

    address: fields.Operand = fields.operand(IntegerType)
    result: fields.Result[PtrType] = fields.typed_result(PtrType)

    traits = traits_def(Pure())
    assembly_format = "$address attr-dict `:` type($address) `->` type($result)"

    def verify_(self) -> None:
        result, address = self.result.type, SSAValue.get(self.address, type=IntegerType).type
        if address.width.data != result.address_bits:
            raise op_error(
                self, f"takes an address of {result.space}, i{result.address_bits}, not {address}"
            )


def _check_access(op: Operation, ptr: SSAValue, value: Attribute) -> None:
    source = pointer(op, ptr, "address")
    if source.space is AddressSpace.RMEM:
        raise op_error(op, "accesses memory, and rmem is registers: use the fragment itself")
    if source.space not in ACCESSED:
        raise op_error(op, f"accesses {', '.join(ACCESSED)}, not {source.space}")
    if source.swizzle.bits:
        raise op_error(op, f"accesses plain addresses: apply the swizzle of {source} before")
    if stored_bytes(value) is None:
        raise op_error(op, f"expects an element or a fragment vector<NxT>, but got {value}")
    if element_of(value) != source.element_type:
        raise op_error(op, f"accesses {source.element_type} through {source}, not {value}")


def access_alignment(op: LoadOp | StoreOp) -> int:
    """Bytes by which the place of an access is known to be aligned; `op` is verified."""
    source = pointer(op, op.ptr, "address")
    return gcd(source.align, access_offset(op) * source.element_bytes)


def access_offset(op: LoadOp | StoreOp) -> int:
    """Elements from the pointer of an access to its place."""
    return 0 if op.offset is None else op.offset.value.data


def _check_fill(op: LoadOp) -> None:
    """A fill is an element of the pointer, for where the predicate does not hold."""
    if op.fill is None:
        return
    if op.pred is None:
        raise op_error(op, "fills what a predicate leaves out, and has none")
    assert isinstance(op.ptr.type, PtrType)
    if op.fill.type != op.ptr.type.element_type:
        raise op_error(op, f"fills {op.ptr.type.element_type}, not {op.fill}")


def _check_cache(op: Operation, cache: StringAttr | None, modes: tuple[str, ...]) -> None:
    if cache is not None and cache.data not in modes:
        raise op_error(op, f"has cache mode {' or '.join(modes)}, not {cache.data}")


def _check_order(
    op: Operation,
    order: StringAttr | None,
    scope: StringAttr | None,
    cache: StringAttr | None,
    orders: tuple[str, ...],
) -> None:
    if (order is None) != (scope is None):
        raise op_error(op, "says order and scope together")
    if order is not None and order.data not in orders:
        raise op_error(op, f"has an order {' or '.join(orders)}, not {order.data}")
    if scope is not None and scope.data not in SCOPES:
        raise op_error(op, f"has a scope {' or '.join(SCOPES)}, not {scope.data}")
    if order is not None and cache is not None:
        raise op_error(op, "is weak if it has a cache mode")


def _offset(elements: int) -> IntegerAttr[IntegerType] | None:
    return IntegerAttr(elements, i64) if elements else None


def _word(mode: str | None) -> StringAttr | None:
    return None if mode is None else StringAttr(mode)


_READ = frozenset((EffectInstance(MemoryEffectKind.READ),))
_READ_AND_ORDER = _READ | {EffectInstance(MemoryEffectKind.WRITE)}


class OrderedLoadEffect(MemoryEffect):
    """The operation reads; one with an order sees what others write, again and again."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return _READ_AND_ORDER if "order" in op.properties else _READ


@irdl_op_definition
class LoadOp(FieldsOp):
    """Reads an element, or the N elements of a fragment from N consecutive places.

    The first place is `offset` elements behind the pointer.  Where `pred` is false nothing is read,
    and every element of the result is `fill`, by default zero.
    """

    name = "cute.ptr.load"

    ptr = operand_def()
    pred = opt_operand_def(i1)
    result = result_def()
    fill = opt_prop_def(FloatAttr | IntegerAttr)
    offset = opt_prop_def(IntegerAttr.constr(i64))
    cache = opt_prop_def(StringAttr)
    order = opt_prop_def(StringAttr)
    scope = opt_prop_def(StringAttr)

    traits = traits_def(OrderedLoadEffect())
    assembly_format = (
        "$ptr (`offset` $offset^)? (`if` $pred^)? (`fill` $fill^)? (`cache` $cache^)?"
        " (`order` $order^)? (`scope` $scope^)? attr-dict"
        " `:` type($ptr) `->` type($result)"
    )

    def __init__(
        self,
        ptr: Value,
        result_type: Attribute,
        pred: Value | None = None,
        *,
        fill: FloatAttr | IntegerAttr | None = None,
        offset: int = 0,
        cache: str | None = None,
        order: str | None = None,
        scope: str | None = None,
    ) -> None:
        """Without `pred` there is nothing to `fill`."""
        super().__init__(
            operands=[ptr, pred],
            result_types=[result_type],
            properties={
                "fill": None if pred is None else fill,
                "offset": _offset(offset),
                "cache": _word(cache),
                "order": _word(order),
                "scope": _word(scope),
            },
        )

    def verify_(self) -> None:
        _check_access(self, self.ptr, self.result.type)
        _check_fill(self)
        _check_cache(self, self.cache, LOAD_CACHE_MODES)
        _check_order(self, self.order, self.scope, self.cache, LOAD_ORDERS)


@irdl_op_definition
class StoreOp(FieldsOp):
    """Writes an element, or the N elements of a fragment to N consecutive places.

    The first place is `offset` elements behind the pointer.
    """

    name = "cute.ptr.store"

    value: fields.Operand = fields.operand()
    ptr: fields.Operand = fields.operand()
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)
    offset: fields.Field[IntegerAttr | None, int] = fields.opt_prop(
        IntegerAttr.constr(i64), default=0, kw_only=True, convert=_offset
    )
    cache: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    order: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)
    scope: fields.OptString = fields.opt_prop(StringAttr, default=None, kw_only=True)

    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$value `,` $ptr (`offset` $offset^)? (`if` $pred^)? (`cache` $cache^)?"
        " (`order` $order^)? (`scope` $scope^)? attr-dict"
        " `:` type($value) `,` type($ptr)"
    )

    def verify_(self) -> None:
        _check_access(self, self.ptr, self.value.type)
        _check_cache(self, self.cache, STORE_CACHE_MODES)
        _check_order(self, self.order, self.scope, self.cache, STORE_ORDERS)
