"""What memory accesses must be like: order, scope, hints, alignment, atomic operations."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import emit_warning
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp
from tileas_xdsl.dialects.cuda_tile.enums import (
    AtomicRMWMode,
    MemoryOrderingSemantics,
    MemoryOrderingSemanticsAttr,
)
from tileas_xdsl.dialects.cuda_tile.hints import HintReports, OptimizationHintsAttr, hint_reports
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.types.scalars import (
    bit_width,
    is_float,
    is_integer,
    name_of_scalar,
)
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, element_of
from tileas_xdsl.layout.integers import is_power_of_two

_WEAK = MemoryOrderingSemantics.WEAK
_RELAXED = MemoryOrderingSemantics.RELAXED


def order_of(op: CudaTileOp) -> MemoryOrderingSemantics:
    """How an access is ordered."""
    semantics = op.properties["memory_ordering_semantics"]
    assert isinstance(semantics, MemoryOrderingSemanticsAttr)
    return semantics.data


def _check_order(op: CudaTileOp, kind: str, strongest: MemoryOrderingSemantics) -> None:
    order = order_of(op)
    if order not in (_WEAK, _RELAXED, strongest):
        raise op.refuse("cuda_tile.access.order", ordering=strongest, given=order)
    has_scope = "memory_scope" in op.properties
    if order is _WEAK and has_scope:
        raise op.refuse("cuda_tile.access.weak_has_scope", access=kind)
    if order is not _WEAK and not has_scope:
        raise op.refuse("cuda_tile.access.needs_scope", ordering=order, access=kind)


def check_load_order(op: CudaTileOp) -> None:
    """A load is weak, relaxed or acquires; all but weak ones have a scope."""
    _check_order(op, "load", MemoryOrderingSemantics.ACQUIRE)


def check_store_order(op: CudaTileOp) -> None:
    """A store is weak, relaxed or releases; all but weak ones have a scope."""
    _check_order(op, "store", MemoryOrderingSemantics.RELEASE)


def check_atomic_order(op: CudaTileOp) -> None:
    """An atomic access is not weak."""
    if order_of(op) is _WEAK:
        raise op.refuse("cuda_tile.atomic.order")


def check_hints(op: CudaTileOp, allowed: Sequence[str]) -> None:
    """Warn of hints that the operation does not take; they never change what it means."""
    hints, reports = op.properties.get("optimization_hints"), hint_reports()
    if reports is HintReports.SILENT or not isinstance(hints, OptimizationHintsAttr):
        return
    problems = list(hints.problems(allowed))
    for problem in problems:
        emit_warning(op, problem, prefix=False)
    if problems and reports is HintReports.ERROR:
        raise op.refuse("cuda_tile.hints.failed")


def check_alignment(op: CudaTileOp) -> None:
    """The alignment is a power of two, and enough for the elements."""
    alignment = op.properties["alignment"]
    assert isinstance(alignment, IntegerAttr)
    for name in ("num_elem", "alignment"):
        number = op.properties[name]
        if isinstance(number, IntegerAttr) and number.value.data < 0:
            constraint = message("cuda_tile.attribute.not_negative_i64")
            raise op.refuse("cuda_tile.attribute.constraint", name=name, constraint=constraint)
    bytes_ = alignment.value.data
    if not is_power_of_two(bytes_):
        raise op.refuse("cuda_tile.alloca.power_of_two")
    pointer = element_of(op.results[0].type)
    assert isinstance(pointer, PtrType)
    natural = _natural_size(pointer.pointee)
    if bytes_ < natural:
        raise op.refuse(
            "cuda_tile.alloca.alignment",
            alignment=bytes_,
            size=natural,
            element=quoted(pointer.pointee),
        )


def _natural_size(element: Attribute) -> int:
    """Whole bytes of an element, as the open dialect counts: one for `i1`, none for 4 bits."""
    width = bit_width(element)
    return 1 if width == 1 else width // 8


_INTEGER_MODES = frozenset(AtomicRMWMode) - {AtomicRMWMode.ADDF, AtomicRMWMode.XCHG}


def check_atomic_mode(op: CudaTileOp, mode: AtomicRMWMode, element: Attribute) -> None:
    """The elements are of a type that the hardware updates so."""
    if mode in _INTEGER_MODES:
        right = is_integer(element) and bit_width(element) in (32, 64)
        key = "cuda_tile.atomic.integer_modes"
    elif mode is AtomicRMWMode.ADDF:
        names = ("f16", "bf16", "f32", "f64")
        right = is_float(element) and name_of_scalar(element) in names
        key = "cuda_tile.atomic.float_modes"
    else:
        right = _is_word(element)
        key = "cuda_tile.atomic.word_modes"
    if not right:
        raise op.refuse(key, mode=mode)


def _is_word(element: Attribute) -> bool:
    is_number = is_float(element) or is_integer(element)
    return is_number and bit_width(element) in (32, 64)


def check_compared(op: CudaTileOp, element: Attribute) -> None:
    """Check that compare-and-swap works on 32 or 64 bits."""
    if not _is_word(element):
        raise op.refuse("cuda_tile.atomic_cas.type")


def pointee_of(type_: Attribute) -> Attribute:
    """What a tile of pointers points to."""
    pointer = element_of(type_)
    assert isinstance(pointer, PtrType)
    return pointer.pointee
