"""Atomic updates of what pointers point to: of one element, or of one for each of a tile.

Two pointers of a tile may be equal: their updates happen one after the other, in any order.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import bf16, f16, f32, f64, i16, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import VarConstraint, traits_def
from xdsl.irdl.constraints import AnyAttr
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode, RmwModeAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.access_checks import check_access
from tileas_xdsl.dialects.nv_tileas.memory.arguments import Mode, mode_attribute
from tileas_xdsl.dialects.nv_tileas.memory.checks import check_mask, check_tokens
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import ATOMIC, check_ordering
from tileas_xdsl.dialects.nv_tileas.memory.structure import OrderedOp, memory_op
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, scalar_type_of, shape_of
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Ordering

FLOATS: tuple[Attribute, ...] = (f16, bf16, f32, f64)
INTEGERS: tuple[Attribute, ...] = (i32, i64)
WHOLE: tuple[Attribute, ...] = (*INTEGERS, f32, f64)
"""What hardware exchanges: 32 or 64 bits."""

ELEMENTS: dict[RmwMode, tuple[Attribute, ...]] = {
    RmwMode.ADD: (*INTEGERS, *FLOATS),
    RmwMode.MIN: (*INTEGERS, *FLOATS),
    RmwMode.MAX: (*INTEGERS, *FLOATS),
    RmwMode.XCHG: WHOLE,
    **dict.fromkeys((RmwMode.AND, RmwMode.OR, RmwMode.XOR, RmwMode.UMIN, RmwMode.UMAX), INTEGERS),
}
"""What each mode updates."""

COMPARED: tuple[Attribute, ...] = (i16, i32, i64, f32, f64)
"""What is compared, bit by bit."""

_TAIL = (
    "(`mask` $mask^ `:` type($mask))? (`after` $token^ `:` type($token))? attr-dict"
    " `:` type($value) `,` type($base) `->` type($result) (`,` type($out_token)^)?"
)


class PointedAtomicOp(OrderedOp):
    """Base: what is not masked is updated; the result is what was there."""

    value: fields.Operand = fields.operand(position=1)
    base: fields.Operand = fields.operand()
    mask: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    token: fields.OptOperand = fields.opt_operand(default=None, kw_only=True)
    result: fields.Result[Attribute] = fields.typed_result(type=fields.type_of("value"))
    out_token: fields.OptResult = fields.opt_typed_result(type=fields.type_of("token"))

    custom_directives = (Ordering,)
    traits = traits_def(MemoryConsistency(), MemoryReadEffect(), MemoryWriteEffect())

    @property
    def element(self) -> Attribute:
        """The type of what is updated."""
        return scalar_type_of(self.value.type)

    def check_update(self) -> None:
        """Check the pointers, the value, the mask and the memory order."""
        check_tokens(self, self.token, self.out_token)
        if pointer_of(self.base.type) is None:
            raise op_error(self, f"updates what pointers point to, not {self.base.type}")
        check_access(self, self.base.type, (), self.value.type)
        # Value and result are in registers of their own layouts once tiles are laid out.
        if not _is_same_tile(self.result.type, self.value.type):
            raise op_error(self, f"gives {self.value.type}, not {self.result.type}")
        check_ordering(self, ATOMIC, self.mem_semantic, self.mem_scope)
        check_mask(self, self.mask, self.value.type)


@memory_op
class AtomicRmwOp(PointedAtomicOp):
    """Updates elements by a value: `add` to `xchg`."""

    name = "nv_tileas.atomic_rmw"

    rmw_mode: Mode = fields.prop(RmwModeAttr, convert=mode_attribute, alias="mode")

    assembly_format = (
        f"$rmw_mode $value `,` $base custom<Ordering>($mem_semantic, $mem_scope) {_TAIL}"
    )

    def verify_(self) -> None:
        self.check_update()
        mode = self.rmw_mode.data
        if mode not in ELEMENTS:
            wanted = "atomic_cas" if mode is RmwMode.CMPXCHG else "rmw_mode 'add'"
            raise op_error(self, f"has no rmw_mode '{mode.value}': use {wanted}")
        if self.element not in ELEMENTS[mode]:
            listed = ", ".join(map(str, ELEMENTS[mode]))
            raise op_error(self, f"updates {listed} by '{mode.value}', not {self.element}")


@memory_op
class AtomicCasOp(PointedAtomicOp):
    """Puts a value where memory has the bits of another one."""

    name = "nv_tileas.atomic_cas"

    _VALUE: ClassVar = VarConstraint("VALUE", AnyAttr())

    value: fields.Operand = fields.operand(_VALUE)
    compare: fields.Operand = fields.operand(_VALUE)

    assembly_format = (
        f"$compare `,` $value `,` $base custom<Ordering>($mem_semantic, $mem_scope) {_TAIL}"
    )

    def verify_(self) -> None:
        self.check_update()
        if self.element not in COMPARED:
            listed = ", ".join(map(str, COMPARED))
            raise op_error(self, f"compares {listed}, not {self.element}")


def _is_same_tile(first: Attribute, second: Attribute) -> bool:
    """Return whether types are equal but for the layouts of tiles."""
    if shape_of(first) is None or shape_of(second) is None:
        return first == second
    return shape_of(first) == shape_of(second) and element_of(first) == element_of(second)
