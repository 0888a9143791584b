"""Handlers of array descriptors: base pointer, extents and strides as scalars.

What is promised of scalars makes accesses wide; without a promise threads look when they run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, FixedBitwidthType, IndexType, i32, i64
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects import cute
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import BitcastOp, IntToPtrOp, PtrToIntOp
from tileas_xdsl.dialects.nv_tileaa.facts import AssumeOp, BoundedAttr, DivByAttr
from tileas_xdsl.dialects.nv_tileaa.memory.block_memory import AllocaOp
from tileas_xdsl.dialects.nv_tileaa.memory.globals import GetGlobalOp, GlobalOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp, BasePointerOp, pointer_of
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.tma.tensor_map_bytes import SIZE as SLOT
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    constant_like,
    i64_constant,
)
from tileas_xdsl.threads.codegen.known_integers import divisor_of
from tileas_xdsl.threads.codegen.lowered_values import (
    ARRAY_ALIGNMENT,
    GlobalView,
    Lowered,
    RegisterTile,
    Scalar,
)
from tileas_xdsl.threads.gmem.launch_memory.arena import allocate_slots
from tileas_xdsl.threads.gmem.pointers.pointer_tiles import (
    distance,
    followed,
    memory_pointer,
)
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.registers.register_tile import common_layout, in_registers


def make_memref(e: ThreadBuilder, op: MakeMemrefOp) -> Sequence[Lowered]:
    """Lower the construction of an array: a view of all of its elements."""
    pointer, element = op.pointer.type, op.array.element_type
    assert isinstance(pointer, PtrType)
    size = bits_of(element) // 8
    if not size:
        raise op_error(op, f"shows elements of {element}, and those of whole bytes are reached")
    address = e.scalar(op.pointer)
    if op.offset is not None:
        address = add(e, address, distance(e, e.scalar(op.offset), size))
    alignment = max(gcd(divisor_of(e, address), ARRAY_ALIGNMENT), size)
    rank = len(op.array.get_shape())
    view = GlobalView(
        followed(e, address, memory_pointer(op, pointer, alignment)),
        element,
        tuple(_count(e, op.extent(axis)) for axis in range(rank)),
        tuple(_count(e, op.stride(axis)) for axis in range(rank)),
        (0,) * rank,
        alignment=alignment,
    )
    return [view]


def subview(e: ThreadBuilder, op: memref.SubviewOp) -> Sequence[Lowered]:
    """Lower the part of an array that begins where it does: the same view with other extents."""
    source, sizes = e.get(op.source), iter(op.sizes)
    begins = all(n == 0 for n in op.static_offsets.get_values())
    is_dense = all(n == 1 for n in op.static_strides.get_values())
    if not isinstance(source, GlobalView) or not begins or not is_dense:
        raise op_error(op, "shows a part of an array that begins elsewhere, or leaves elements out")
    extents = [
        _count(e, next(sizes) if n == DYNAMIC_INDEX else n) for n in op.static_sizes.get_values()
    ]
    return [replace(source, extents=tuple(extents))]


def reinterpret_cast(e: ThreadBuilder, op: memref.ReinterpretCastOp) -> Sequence[Lowered]:
    """Lower another shape of an array's memory, of extents and strides that are constant."""
    source = e.get(op.source)
    if not isinstance(source, GlobalView) or op.offsets or op.sizes or op.strides:
        raise op_error(op, "shows an array in a shape that run time knows")
    extents, strides = op.static_sizes.get_values(), op.static_strides.get_values()
    starts = (0,) * len(extents)
    return [replace(source, extents=tuple(extents), strides=tuple(strides), starts=starts)]


def _count(e: ThreadBuilder, number: SSAValue | int) -> SSAValue | int:
    """Return an element count as `i32`, `i64` or `index`; narrow integers are zero-extended."""
    if isinstance(number, int):
        return number
    value = e.scalar(number)
    type_: Attribute = value.type
    if not isinstance(type_, FixedBitwidthType) or type_ in (i32, i64):
        return value
    if type_.bitwidth < i32.bitwidth:
        return e.insert(arith.ExtUIOp(value, i32)).result
    return cast_index(e, value, IndexType())


def assume(e: ThreadBuilder, op: AssumeOp) -> Sequence[Lowered]:
    """Return the same value, and record its divisor if the assumption always holds.

    A number between two bounds is written as one that is cut to them, of which accesses can tell.
    """
    found, fact = e.get(op.source), op.fact
    if isinstance(fact, BoundedAttr) and isinstance(found, Scalar):
        return [_bounded(e, found, *fact.bounds)]
    always = isinstance(op.parent_op(), func.FuncOp)
    if not always or not isinstance(fact, DivByAttr) or fact.group is not None:
        return [found]
    divisor = fact.divisor.data
    if isinstance(found, Scalar):
        e.promised[found.value] = max(divisor, e.promised.get(found.value, 1))
    elif isinstance(found, GlobalView):
        alignment = max(gcd(divisor, ARRAY_ALIGNMENT), found.alignment)
        return [replace(found, alignment=alignment)]
    return [found]


def _bounded(e: ThreadBuilder, found: Scalar, least: int | None, most: int | None) -> Scalar:
    if least is None or most is None:
        return found
    low, high = (constant_like(e, found.value, bound) for bound in (least, most))
    above = e.insert(arith.MaxSIOp(found.value, low)).result
    value = e.insert(arith.MinSIOp(above, high)).result
    e.promised[value] = e.promised.get(found.value, 1)
    return Scalar(value)


def same(e: ThreadBuilder, op: BitcastOp | IntToPtrOp | PtrToIntOp) -> Sequence[Lowered]:
    """Addresses are integers."""
    return [e.get(op.source)]


def add_pointer(e: ThreadBuilder, op: AddPtrOp) -> Sequence[Lowered]:
    """Advance each address by a number of elements."""
    pointer = pointer_of(op.base.type)
    assert pointer is not None
    size = (element_bits(pointer.pointee) or 8) // 8
    found = e.get(op.base)
    if isinstance(found, Scalar):
        return [Scalar(add(e, found.value, distance(e, e.scalar(op.offset), size)))]
    layout = common_layout(e, op, op.result.type, [found, e.get(op.offset)])
    base, offset = (in_registers(e, op, value, layout) for value in op.operands)
    parts = [add(e, a, distance(e, b, size)) for a, b in zip(base.parts, offset.parts, strict=True)]
    return [RegisterTile(layout, i64, tuple(parts))]


def base_pointer(e: ThreadBuilder, op: BasePointerOp) -> Sequence[Lowered]:
    """Return the address of the first element of an array."""
    view = e.get(op.array)
    if not isinstance(view, GlobalView) or any(view.starts):
        raise op_error(op, "asks where an array begins that is a part of another one")
    address = e.insert(cute.PtrToIntOp(view.pointer)).result
    e.promised[address] = view.alignment
    return [Scalar(address)]


def get_global(e: ThreadBuilder, op: GetGlobalOp) -> Sequence[Lowered]:
    """Return the address of the first element of a global."""
    type_ = memory_pointer(op, op.result.type)
    name, module = op.global_name.data, e.plan.kernel.parent_op()
    known = operations_in(module) if module is not None else ()
    if not any(isinstance(inner, GlobalOp) and inner.sym_name.data == name for inner in known):
        raise op_error(op, f"asks for the address of @{name}, and the module has no such global")
    pointer = e.insert(cute.AddressOfOp(op.global_name.data, type_)).result
    return [Scalar(e.insert(cute.PtrToIntOp(pointer)).result)]


def alloca(e: ThreadBuilder, op: AllocaOp) -> Sequence[Lowered]:
    """Return the address of memory that only this block has, in the arena of the launch.

    In a loop it is the same memory again, once all threads have finished with it.
    """
    type_ = op.result.type
    assert isinstance(type_, PtrType)
    alignment = op.alignment.value.data
    size = ceil_div(op.num_elem.value.data * (element_bits(type_.pointee) or 8), 8)
    beyond = max(alignment - SLOT, 0)
    if runs_again(op):
        synchronize_agent(e)
    bytes_ = allocate_slots(e, ceil_div(size + beyond, SLOT))
    address = e.insert(cute.PtrToIntOp(bytes_)).result
    if beyond:
        last = e.insert(arith.AddiOp(address, i64_constant(e, alignment - 1))).result
        address = e.insert(arith.AndIOp(last, i64_constant(e, -alignment))).result
    e.promised[address] = max(alignment, SLOT)
    return [Scalar(address)]


HANDLERS: Handlers = {
    AddPtrOp: add_pointer,
    AllocaOp: alloca,
    AssumeOp: assume,
    BasePointerOp: base_pointer,
    BitcastOp: same,
    GetGlobalOp: get_global,
    IntToPtrOp: same,
    MakeMemrefOp: make_memref,
    PtrToIntOp: same,
    memref.ReinterpretCastOp: reinterpret_cast,
    memref.SubviewOp: subview,
}
