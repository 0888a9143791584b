"""Steps of the verifiers of memory operations: ordering, bounds, padding, atomic modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FixedBitwidthType,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    bf16,
    f16,
    f32,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.enums import (
    MemScopeAttr,
    MemSemantic,
    MemSemanticAttr,
    RmwMode,
    SpecialPaddingAttr,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

Bounds: TypeAlias = DenseArrayBase[IntegerType]

W, X, A, R, AR = (
    MemSemantic.WEAK,
    MemSemantic.RELAXED,
    MemSemantic.ACQUIRE,
    MemSemantic.RELEASE,
    MemSemantic.ACQ_REL,
)


@dataclass(frozen=True, slots=True)
class Ordering:
    """The semantics that a kind of access may have, and how its verifier spells the attributes."""

    allowed: frozenset[MemSemantic]
    scope_with_weak: str = message("nv_tileas.mem_scope.weak")
    scope_missing: str = message("nv_tileas.mem_scope.missing")


TILED = Ordering(frozenset((W, X)))
LOAD = Ordering(frozenset((W, X, A)))
STORE = Ordering(frozenset((W, X, R)))
ATOMIC = Ordering(
    frozenset((W, X, A, R, AR)),
    message("nv_tileas.tiled_atomic_rmw.weak_scope"),
    message("nv_tileas.tiled_atomic_rmw.missing_scope"),
)

_UNSUPPORTED: Mapping[MemSemantic, str] = {
    A: message("nv_tileas.mem_semantic.acquire"),
    R: message("nv_tileas.mem_semantic.release"),
    AR: message("nv_tileas.mem_semantic.acq_rel"),
}


def check_ordering(
    op: Operation,
    ordering: Ordering,
    semantic: MemSemanticAttr | None,
    scope: MemScopeAttr | None,
) -> None:
    """A semantic that the access may have, and a scope iff it is not weak."""
    word = W if semantic is None else semantic.data
    if word not in ordering.allowed:
        raise op_error(op, _UNSUPPORTED[word])
    if word is W and scope is not None:
        raise op_error(op, ordering.scope_with_weak)
    if word is not W and scope is None:
        raise op_error(op, ordering.scope_missing)


def check_in_bounds(op: Operation, in_bounds: Bounds | None, tile: Attribute) -> None:
    """One flag for each dimension of the tile; by default nothing is known to stay inside."""
    rank = len(shape_of(tile) or ())
    if in_bounds is not None and len(in_bounds) != rank:
        text = message("nv_tileas.in_bounds.count", expected=rank, found=len(in_bounds))
        raise op_error(op, text)


def check_padding_type(op: Operation, padding: Attribute | None, element: Attribute | None) -> None:
    """A value of the element type, or a special one where elements are floats."""
    if padding is None:
        return
    if isinstance(padding, SpecialPaddingAttr):
        if not isinstance(element, AnyFloat):
            raise op_error(
                op,
                message("nv_tileas.padding.float_only"),
            )
        return
    if not isa(padding, IntegerAttr | FloatAttr) or padding.type != element:
        raise op_error(op, f"expects a padding value of type {element}, but got {padding}")


def check_load_padding(op: Operation, padding: Attribute | None, in_bounds: Bounds | None) -> None:
    """Only an access that may leave its bounds is padded."""
    if padding is not None and in_bounds is not None and all(in_bounds.get_values()):
        raise op_error(op, message("nv_tileas.tiled_load.padding_in_bounds"))


def check_store_padding(op: Operation, padding: Attribute | None, in_bounds: Bounds | None) -> None:
    """Where `in_bounds` is given, it is true without padding and false with it."""
    if in_bounds is None:
        return
    flags = in_bounds.get_values()
    if padding is None and not all(flags):
        raise op_error(op, message("nv_tileas.tiled_store.inbounds_without_padding"))
    if padding is not None and any(flags):
        raise op_error(op, message("nv_tileas.tiled_store.inbounds_with_padding"))


_HALF_MODES = frozenset((RmwMode.ADD, RmwMode.MAX, RmwMode.MIN))
_INTEGER_MODES = frozenset((RmwMode.AND, RmwMode.OR, RmwMode.XOR, RmwMode.UMIN, RmwMode.UMAX))
_ATOMIC_ELEMENTS: Sequence[Attribute] = (f16, bf16, f32, f64, i32, i64)
_INTEGERS: Sequence[Attribute] = (i32, i64)

TMA_REDUCED: Mapping[RmwMode, Sequence[Attribute]] = {
    RmwMode.ADD: (*_INTEGERS, f32, f16, bf16),
    **dict.fromkeys((RmwMode.MIN, RmwMode.MAX), (*_INTEGERS, f16, bf16)),
    **dict.fromkeys(_INTEGER_MODES, _INTEGERS),
}
"""What each mode reduces.  Source: PTX ISA, cp.reduce.async.bulk.tensor."""


def check_atomic(op: Operation, mode: RmwMode, element: Attribute | None) -> None:
    """The element types and modes that atomics on tiles do not have."""
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 0
    floating = isinstance(element, AnyFloat)
    if bits == 8:
        raise op_error(op, message("nv_tileas.tiled_atomic_rmw.eight_bits"))
    if bits == 16 and not floating:
        raise op_error(op, message("nv_tileas.tiled_atomic_rmw.int16"))
    if bits == 16 and mode not in _HALF_MODES:
        raise op_error(op, message("nv_tileas.tiled_atomic_rmw.float16_modes"))
    if mode is RmwMode.ADDF:
        raise op_error(op, message("nv_tileas.tiled_atomic_rmw.fadd"))
    if mode is RmwMode.XCHG:
        raise op_error(op, message("nv_tileas.tiled_atomic_rmw.xchg"))
    if floating and mode in _INTEGER_MODES:
        raise op_error(op, f"rmw_mode '{mode.value}' is for integers, but elements are {element}")
    _check_update(op, mode, element)


def _check_update(op: Operation, mode: RmwMode, element: Attribute | None) -> None:
    """Atomics have these elements, and no operand to compare with."""
    if element not in _ATOMIC_ELEMENTS:
        listed = " or ".join(str(e) for e in _ATOMIC_ELEMENTS)
        raise op_error(op, f"updates elements of type {listed}, not {element}")
    if mode is RmwMode.CMPXCHG:
        raise op_error(op, f"rmw_mode '{mode.value}' compares with a value, but there is none")


def check_tma_reduction(op: Operation, mode: RmwMode, element: Attribute | None) -> None:
    """The element types that TMA reduces by this mode."""
    reduced = TMA_REDUCED.get(mode, ())
    if element not in reduced:
        listed = " or ".join(str(e) for e in reduced)
        raise op_error(op, f"TMA reduces {listed} by '{mode.value}', not {element}")
