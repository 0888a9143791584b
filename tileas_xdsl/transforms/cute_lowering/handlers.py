"""The handler table of `cute-to-llvm`, for operations of `cute`.

A `cute` value becomes an LLVM struct of its dynamic leaves, or nothing if its type says it
whole:

    !cute.int_tuple<"(?,4)">        -> !llvm.struct<(i32)>
    !cute.layout<"(8,4):(1,8)">     -> nothing
    !cute.ptr<f16, gmem>            -> !llvm.ptr<1>
    memref view with dynamic layout -> the pointer and the leaves

    %s = cute.tuple_add(%a, %b)     -> llvm.extractvalue, llvm.add, llvm.insertvalue per leaf

Operations of the layout algebra share one handler (`algebra`): the dialect's own Python
semantics computes a symbolic result, whose expressions are then emitted. Only pointers, memory
and registers need handlers of their own. `HANDLERS[MyOp] = handler` lowers a further operation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import llvm
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.tiled import CopyMakeFragmentOp, MmaMakeFragmentOp
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Number,
    Pointer,
    Tree,
    View,
    numbers,
    symbol,
)
from tileas_xdsl.dialects.cute.layout_algebra.composed_layouts import MakeSwizzleOp
from tileas_xdsl.dialects.cute.layout_algebra.divisibility import AssumeOp, DerefineOp
from tileas_xdsl.dialects.cute.layout_algebra.tuples import MakeTupleBase, StaticOp, leaf_number
from tileas_xdsl.dialects.cute.layout_algebra.unpacking import (
    GetLayoutsFromTileOp,
    GetLeavesOp,
    GetScalarsOp,
    UnpackTupleOp,
)
from tileas_xdsl.dialects.cute.memory import pointers
from tileas_xdsl.dialects.cute.memory.partitions import MakeFragmentLikeOp
from tileas_xdsl.dialects.cute.memory.views import (
    AllocaOp,
    ApplySwizzleOp,
    MemRefLoadOp,
    MemRefLoadVecOp,
    MemRefStoreOp,
    MemRefStoreVecOp,
)
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.elements import as_vector
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.expr.expression import Expression
from tileas_xdsl.transforms.cute_lowering.fast_division import DIVISIONS
from tileas_xdsl.transforms.cute_lowering.lowering_state import Lowering, bits_of

Handler = Callable[[Any, Lowering], None]


def algebra(op: AlgebraOp, low: Lowering) -> None:
    """Lower an operation of the layout algebra: compute its leaves and pack them."""
    low.define(op, op.results[0], op.result_value())


def unpack(
    op: GetLeavesOp | GetScalarsOp | UnpackTupleOp | GetLayoutsFromTileOp, low: Lowering
) -> None:
    """Lower an operation whose results are parts of one value."""
    for result, value in zip(op.results, op.values(), strict=True):
        low.define(op, result, value)


def make_tuple(op: MakeTupleBase, low: Lowering) -> None:
    """Lower a tuple of operands."""
    result = op.result
    carrier = low.carrier(result)
    if carrier is None:
        low.values[result] = None
        return
    given = [leaf_number(op, element) for element in op.elements]
    wanted = [n for n in numbers(symbol(result)) if isinstance(n, Expression)]
    unknown = [n for n in given if isinstance(n, Expression)]
    parts = [
        (path, low.number(have, want.width))
        for path, want, have in zip(carrier.leaves, wanted, unknown, strict=True)
    ]
    low.values[result] = low.pack(carrier.type, parts)


def static_value(op: StaticOp | MakeSwizzleOp, low: Lowering) -> None:
    """Lower a value that its type says whole: nothing is emitted."""
    low.values[op.result] = None


def same_value(op: AssumeOp | DerefineOp, low: Lowering) -> None:
    """Lower a cast between types that say more or less of the same leaves."""
    low.define(op, op.result, symbol(op.source))


# Pointers


def _pointer(value: SSAValue) -> Pointer:
    found = symbol(value)
    assert isinstance(found, Pointer)
    return found


def add_offset(op: pointers.PtrAddOp, low: Lowering) -> None:
    """Advance a pointer."""
    offset = symbol(op.offset)
    number: Any = offset.number if isinstance(offset, Number) else offset.tree
    address = low.step(op, low.base_of(op.ptr), _pointer(op.ptr), number)
    low.values[op.result] = address


def recast(op: pointers.RecastPtrOp, low: Lowering) -> None:
    """Lower a recast to the same address: pointers of LLVM have no element type."""
    low.values[op.result] = low.base_of(op.ptr)


def ptrtoint(op: pointers.PtrToIntOp, low: Lowering) -> None:
    """The address as an integer."""
    low.values[op.result] = low.insert(llvm.PtrToIntOp(low.base_of(op.ptr), op.result.type))


def inttoptr(op: pointers.IntToPtrOp, low: Lowering) -> None:
    """Cast an address to a pointer."""
    type_ = low.memory.pointer(op.result.type.space)
    low.values[op.result] = low.insert(
        llvm.IntToPtrOp.create(operands=[low.of(op.address)], result_types=[type_])
    )


def apply_swizzle(op: ApplySwizzleOp, low: Lowering) -> None:
    """Apply a swizzle to an address."""
    low.values[op.result] = low.swizzled(low.base_of(op.ptr), op.applied)


def _plain(op: pointers.LoadOp | pointers.StoreOp) -> None:
    """Raise for accesses with an order or predicate, which a target-specific dialect lowers."""
    stated = [name for name in ("cache", "order", "scope", "pred") if getattr(op, name) is not None]
    if stated:
        raise op_error(op, f"is lowered by an architecture if it has {' and '.join(stated)}")


def ptr_load(op: pointers.LoadOp, low: Lowering) -> None:
    """Load an element or a fragment."""
    _plain(op)
    pointer = _pointer(op.ptr)
    address = low.base_of(op.ptr)
    if offset := pointers.access_offset(op):
        address = low.step(op, address, pointer, offset)
    low.values[op.result] = low.insert(_load(address, op.result.type, pointer.align))


def ptr_store(op: pointers.StoreOp, low: Lowering) -> None:
    """Store an element or a fragment."""
    _plain(op)
    pointer = _pointer(op.ptr)
    address = low.base_of(op.ptr)
    if offset := pointers.access_offset(op):
        address = low.step(op, address, pointer, offset)
    low.effect(_store(low.of(op.value), address))


def _load(address: SSAValue, type_: Any, align: int) -> Operation:
    del align
    return llvm.LoadOp(address, type_)


def _store(value: SSAValue, address: SSAValue) -> Operation:
    return llvm.StoreOp(value, address)


# Views


def _element_address(op: Operation, view: SSAValue, coord: Any, low: Lowering) -> SSAValue:
    """Return the address of an element of a view."""
    value = symbol(view)
    assert isinstance(value, View)
    assert isinstance(value.iterator, Pointer)
    _addressable(op, value.iterator)
    pointer = value.iterator.moved(value.layout.index(coord))
    return low.followed(op, pointer)


def _addressable(op: Operation, pointer: Pointer) -> None:
    if bits_of(pointer.element) is None:
        raise op_error(op, f"{pointer.element} has no address of its own in memory")


def _coordinate(coord: SSAValue) -> Any:
    value = symbol(coord)
    return value.tree if isinstance(value, Tree) else value.number


def memref_load(op: MemRefLoadOp, low: Lowering) -> None:
    """Load an element of a view."""
    address = _element_address(op, op.source, _coordinate(op.coord), low)
    low.values[op.result] = low.insert(llvm.LoadOp(address, op.result.type))


def memref_store(op: MemRefStoreOp, low: Lowering) -> None:
    """Store an element of a view."""
    address = _element_address(op, op.destination, _coordinate(op.coord), low)
    low.effect(llvm.StoreOp(low.of(op.value), address))


def _elements(view: SSAValue) -> range:
    type_ = view.type
    assert isinstance(type_, MemRefType)
    return range(int_tuple.product(type_.layout.shape))


def load_vec(op: MemRefLoadVecOp, low: Lowering) -> None:
    """Load a view element by element into a vector."""
    type_ = as_vector(op.result.type)
    assert type_ is not None
    element = type_.get_element_type()
    vector = low.insert(llvm.UndefOp(type_))
    for index in _elements(op.source):
        address = _element_address(op, op.source, index, low)
        loaded = low.insert(llvm.LoadOp(address, element))
        vector = low.insert(llvm.InsertElementOp(vector, loaded, low.number(index, 32)))
    low.values[op.result] = vector


def store_vec(op: MemRefStoreVecOp, low: Lowering) -> None:
    """Store a vector to a view element by element.

    The vector is spilled to the stack first: xDSL's `llvm` dialect has no `extractelement`.
    """
    type_ = as_vector(op.value.type)
    assert type_ is not None
    vector = low.of(op.value)
    element = type_.get_element_type()
    one = low.number(1, 32)
    spilled = low.insert(llvm.AllocaOp(one, vector.type, 64))
    low.effect(llvm.StoreOp(vector, spilled))
    for index in _elements(op.destination):
        slot = low.insert(
            llvm.GEPOp(spilled, [llvm.GEP_USE_SSA_VAL], element, [low.number(index, 32)])
        )
        value = low.insert(llvm.LoadOp(slot, element))
        low.effect(llvm.StoreOp(value, _element_address(op, op.destination, index, low)))


def alloca(op: AllocaOp, low: Lowering) -> None:
    """Allocate registers on the stack, where LLVM promotes them."""
    _allocate(op, op.result, low)


def make_fragment(
    op: MakeFragmentLikeOp | MmaMakeFragmentOp | CopyMakeFragmentOp, low: Lowering
) -> None:
    """Lower to a layout, or to an allocation with that layout."""
    if isinstance(op.result.type, MemRefType):
        _allocate(op, op.result, low)
    else:
        algebra(op, low)


def _allocate(op: Operation, result: SSAValue, low: Lowering) -> None:
    type_ = result.type
    assert isinstance(type_, MemRefType)
    if type_.space is not AddressSpace.RMEM:
        raise op_error(op, f"allocates registers here, not {type_.space}")
    if bits_of(type_.element_type) is None:
        raise op_error(op, f"{type_.element_type} has no address of its own in memory")
    count = low.number(type_.layout.cosize(), 32)
    plain = llvm.AllocaOp(count, type_.element_type, max(type_.align, 16))
    pointer = low.memory.pointer(type_.space)
    plain.drop_all_references()
    made = llvm.AllocaOp.create(
        operands=[count], properties=dict(plain.properties), result_types=[pointer]
    )
    low.values[result] = low.insert(made)


HANDLERS: dict[type[Operation], Handler] = {
    StaticOp: static_value,
    MakeSwizzleOp: static_value,
    GetLeavesOp: unpack,
    GetScalarsOp: unpack,
    GetLayoutsFromTileOp: unpack,
    UnpackTupleOp: unpack,
    AssumeOp: same_value,
    DerefineOp: same_value,
    pointers.PtrAddOp: add_offset,
    pointers.RecastPtrOp: recast,
    pointers.PtrToIntOp: ptrtoint,
    pointers.IntToPtrOp: inttoptr,
    pointers.LoadOp: ptr_load,
    pointers.StoreOp: ptr_store,
    ApplySwizzleOp: apply_swizzle,
    MemRefLoadOp: memref_load,
    MemRefStoreOp: memref_store,
    MemRefLoadVecOp: load_vec,
    MemRefStoreVecOp: store_vec,
    AllocaOp: alloca,
    MakeFragmentLikeOp: make_fragment,
    MmaMakeFragmentOp: make_fragment,
    CopyMakeFragmentOp: make_fragment,
    **DIVISIONS,
}
"""Operations that are no plain algebra."""


def handler_of(op: Operation) -> Handler | None:
    """Return the handler of an operation of `cute`; None if an architecture lowers it."""
    if (found := HANDLERS.get(type(op))) is not None:
        return found
    if isinstance(op, MakeTupleBase):
        return make_tuple
    return algebra if isinstance(op, AlgebraOp) else None
