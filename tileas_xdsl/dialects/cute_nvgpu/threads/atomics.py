"""Atomic updates in memory by one thread: of an element, or of neighbours, each for itself."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.checks import pointer
from tileas_xdsl.dialects.cute.types.elements import as_vector, integer_bits
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, keyword
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["AtomicCasOp", "AtomicRmwOp"]

INTEGERS = (32, 64)
"""Widths that integers are updated in."""

COMPARED = (16, 32, 64)
"""Widths that integers are compared in."""

ORDERS = ("relaxed", "acquire", "release", "acq_rel")

SCOPES = ("cta", "cluster", "gpu", "sys")

FLOATS: Mapping[str, tuple[type[Attribute], ...]] = {
    "add": (Float16Type, BFloat16Type, Float32Type, Float64Type),
}
"""What floats do by one instruction; their exchange is that of their bits."""

VECTORS: Mapping[type[Attribute], tuple[int, ...]] = {
    Float32Type: (2, 4),
    Float16Type: (2, 4, 8),
    BFloat16Type: (2, 4, 8),
}
"""How many neighbours one instruction adds to, where nobody wants what was there."""

UPDATES = ("add", "and", "exch", "inc", "max", "min", "or", "umax", "umin", "xor")

COUNTERS: Mapping[str, int] = {"inc": 32}
"""Bits of what is counted: up to the value, and from there to 0 again."""


def has_update(kind: str, element: Attribute) -> bool:
    """Whether one instruction updates elements of a type, or a vector of them (PTX ISA, atom)."""
    if (vector := as_vector(element)) is not None:
        lengths = VECTORS.get(type(vector.element_type), ())
        return kind == "add" and list(vector.get_shape()) in [[length] for length in lengths]
    if isinstance(element, AnyFloat):
        return isinstance(element, FLOATS.get(kind, ()))
    bits = integer_bits(element)
    return bits in INTEGERS and bits == COUNTERS.get(kind, bits)


class AtomicOp(IRDLOperation):
    """Base: `order` and `scope` are PTX's; without them the update is relaxed on the device."""

    value = operand_def()
    ptr = operand_def()
    compare = opt_operand_def()
    pred = opt_operand_def(i1)
    order = opt_prop_def(StringAttr)
    scope = opt_prop_def(StringAttr)
    result = result_def()

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def check_update(self) -> None:
        """The element, the order and the scope."""
        source, value = pointer(self, self.ptr, "address"), self.value.type
        vector = as_vector(value)
        element = value if vector is None else vector.element_type
        if element != source.element_type or self.result.type != value:
            raise op_error(self, f"updates {source.element_type}, not {value}")
        order, scope = (None if a is None else a.data for a in (self.order, self.scope))
        if order is not None and order not in ORDERS:
            raise op_error(self, f"has an order {' or '.join(ORDERS)}, not {order}")
        if scope is not None and scope not in SCOPES:
            raise op_error(self, f"has a scope {' or '.join(SCOPES)}, not {scope}")
        if (order is None) != (scope is None):
            raise op_error(self, "says order and scope together")


@irdl_op_definition
class AtomicRmwOp(AtomicOp):
    """Updates an element; the result is what was there, zero where `pred` is false.

    A vector adds to neighbours, and its result is not used.
    """

    name = "cute_nvgpu.arch.atomic_rmw"

    kind = prop_def(StringAttr)

    assembly_format = (
        "$kind $value `,` $ptr (`compare` $compare^ `:` type($compare))? (`order` $order^)?"
        " (`scope` $scope^)? (`if` $pred^)? attr-dict `:` type($value) `,` type($ptr)"
        " `->` type($result)"
    )

    def __init__(
        self,
        kind: str,
        value: Value,
        ptr: Value,
        pred: Value | None = None,
        *,
        order: str | None = None,
        scope: str | None = None,
    ) -> None:
        super().__init__(
            operands=[value, ptr, None, pred],
            result_types=[SSAValue.get(value).type],
            properties={
                "kind": keyword(kind),
                "order": None if order is None else keyword(order),
                "scope": None if scope is None else keyword(scope),
            },
        )

    def verify_(self) -> None:
        self.check_update()
        kind = self.kind.data
        if self.compare is not None:
            raise op_error(self, "compares with nothing: atomic_cas does")
        if kind not in UPDATES:
            raise op_error(self, f"updates by {', '.join(UPDATES)}, not by {kind}")
        if not has_update(kind, self.value.type):
            raise op_error(self, f"has no {kind} of {self.value.type}")
        if as_vector(self.value.type) is None:
            return
        if any(self.result.uses):
            raise op_error(self, "gives what was there of one element, not of a vector")
        if (space := pointer(self, self.ptr, "address").space) != "gmem":
            raise op_error(self, f"updates vectors in global memory, not in {space}")


@irdl_op_definition
class AtomicCasOp(AtomicOp):
    """Puts `value` where `compare` is; the result is what was there, zero without `pred`."""

    name = "cute_nvgpu.arch.atomic_cas"

    assembly_format = (
        "$value `,` $ptr (`compare` $compare^ `:` type($compare))? (`order` $order^)?"
        " (`scope` $scope^)? (`if` $pred^)? attr-dict `:` type($value) `,` type($ptr)"
        " `->` type($result)"
    )

    def __init__(
        self,
        compare: Value,
        value: Value,
        ptr: Value,
        pred: Value | None = None,
        *,
        order: str | None = None,
        scope: str | None = None,
    ) -> None:
        super().__init__(
            operands=[value, ptr, compare, pred],
            result_types=[SSAValue.get(value).type],
            properties={
                "order": None if order is None else keyword(order),
                "scope": None if scope is None else keyword(scope),
            },
        )

    def verify_(self) -> None:
        self.check_update()
        type_ = self.value.type
        if self.compare is None or self.compare.type != type_:
            raise op_error(self, f"compares with {type_}")
        if integer_bits(type_) not in COMPARED:
            raise op_error(self, f"compares integers of 16, 32 or 64 bits, not {type_}")
