"""Loads and stores through pointers, one element each: `nv_tileas.load` and `nv_tileas.store`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp as LoadElementOp
from tileas_xdsl.dialects.cute import PtrType as MemoryPointer
from tileas_xdsl.dialects.cute import StoreOp as StoreElementOp
from tileas_xdsl.dialects.nv_tileaa.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, MemSemanticAttr
from tileas_xdsl.dialects.nv_tileas.memory_access import (
    AsyncLoadOp,
    LoadBase,
    LoadOp,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma_checks import bits_of
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.cells import (
    Cell,
    cells_to_load,
    cells_to_store,
)
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter, Handler
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.fragments import element, filled
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.plain_memory import order, padded, padding_of
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.pointers import followed, memory_pointer
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.registers import common_layout, in_registers
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import (
    Fragment,
    Ghost,
    LoadToken,
    Lowered,
    Scalar,
)


def load(e: Emitter, op: LoadOp) -> Sequence[Lowered]:
    """What pointers point to; what is masked is padded."""
    return [loaded(e, op), *token_of(op)]


def async_load(e: Emitter, op: AsyncLoadOp) -> Sequence[Lowered]:
    """The same: the hardware waits where registers are used."""
    found = loaded(e, op)
    if not isinstance(found, Fragment):
        raise op_error(op, "loads a single element in the background, which is not lowered yet")
    return [LoadToken(found), *token_of(op)]


def loaded(e: Emitter, op: LoadBase) -> Scalar | Fragment:
    """The value of a load, in registers."""
    check_weak(op, op.mem_semantic)
    type_ = _pointer(op, op.base)
    order(e, op)
    if shape_of(op.base.type) is None:
        pointer = followed(e, e.scalar(op.base), type_)
        return Scalar(e.insert(LoadElementOp(pointer, type_.element_type)).result)
    layout = common_layout(e, op, op.base.type, [e.get(op.base)])
    base = in_registers(e, op, op.base, layout)
    mask = None if op.mask is None else in_registers(e, op, op.mask, layout)
    padding = padding_of(op.padding_value, type_.element_type)
    rows: list[dict[int, SSAValue]] = [{} for _ in base.parts]
    for cell in cells_to_load(e, layout, bits_of(i64)):
        exists = e.both(cell.exists, chosen(e, mask, cell))
        pointer = followed(e, element(e, base.parts[cell.block], cell.register), type_)
        value = e.insert(LoadElementOp(pointer, type_.element_type, exists)).result
        rows[cell.block][cell.register] = padded(e, value, exists, padding)
    parts = [filled(e, row, layout.registers, type_.element_type) for row in rows]
    return Fragment(layout, type_.element_type, tuple(parts))


def store(e: Emitter, op: StoreOp) -> Sequence[Lowered]:
    """Each element to where its pointer points; a single one by one thread."""
    check_weak(op, op.mem_semantic)
    type_ = _pointer(op, op.base)
    order(e, op)
    if shape_of(op.base.type) is None:
        pointer = followed(e, e.scalar(op.base), type_)
        e.insert(StoreElementOp(e.scalar(op.value), pointer, first_thread(e)))
        return token_of(op)
    layout = common_layout(e, op, op.value.type, [e.get(op.base), e.get(op.value)])
    base, value = (in_registers(e, op, v, layout) for v in (op.base, op.value))
    mask = None if op.mask is None else in_registers(e, op, op.mask, layout)
    for cell in cells_to_store(e, layout, bits_of(i64)):
        exists = e.both(cell.exists, chosen(e, mask, cell))
        pointer = followed(e, element(e, base.parts[cell.block], cell.register), type_)
        single = element(e, value.parts[cell.block], cell.register)
        e.insert(StoreElementOp(single, pointer, exists))
    return token_of(op)


def _pointer(op: Operation, base: SSAValue) -> MemoryPointer:
    pointer = pointer_of(base.type)
    if pointer is None:
        raise op_error(
            op,
            f"reaches {element_of(base.type)} at coordinates of elements, which is not lowered to "
            "threads yet: use a tiled access with offsets",
        )
    return memory_pointer(op, pointer)


def chosen(e: Emitter, mask: Fragment | None, cell: Cell) -> SSAValue | None:
    """Whether a mask leaves an element; None where there is no mask."""
    return None if mask is None else element(e, mask.parts[cell.block], cell.register)


def first_thread(e: Emitter) -> SSAValue | None:
    """Whether this is the first thread of the agent; None if only one is here."""
    if e.by_one_thread:
        return None
    first = e.is_equal(e.lane, 0)
    return first if e.agent.warps == 1 else e.both(first, e.is_equal(e.warp, 0))


def check_weak(op: Operation, semantic: MemSemanticAttr | None) -> None:
    """Nothing but data moves: what others may wait for is an atomic operation."""
    if semantic is not None and semantic.data is not MemSemantic.WEAK:
        raise op_error(op, f"is {semantic.data.value}; only weak accesses are lowered yet")


def token_of(op: Any) -> Sequence[Lowered]:
    """The token of an access that is done in order."""
    return [Ghost()] if op.out_token is not None else []


_TABLE: Any = {AsyncLoadOp: async_load, LoadOp: load, StoreOp: store}

POINTED_MEMORY: Mapping[type[Operation], Handler] = _TABLE
"""Accesses through pointers."""
