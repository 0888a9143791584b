"""The handler table of `convert-cute-to-nvgpu`: integers, pointers, fragments, instructions.

Each handler replaces one operation through the `Converter`. Operations of the layout algebra
share one: their result is computed symbolically by the dialect and only its dynamic leaves are
emitted. `memref_load` and `memref_store` of registers become reads and writes of SSA values:

    %v = cute.memref.load(%r, %c)        vector.extract of the current value of %r
    cute.memref.store(%r, %c, %x)        a new value of %r, with element %c replaced

Copies, MMAs, atoms and tensor maps are in files of their own; this one has the rest and the
table. `HANDLERS[MyOp] = handler` makes the pass lower a further operation.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import vector
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import cute_nvgpu as nvgpu
from tileas_xdsl.dialects.cute import (
    AddressSpace,
    LoadOp,
    MakeFragmentOp,
    PtrAddOp,
    PtrType,
    StoreOp,
)
from tileas_xdsl.dialects.cute.atom.calls import (
    CopyAtomCallOp,
    MakeAtomOp,
    MakeTiledCopyOp,
    MakeTiledMmaOp,
    MmaAtomCallOp,
)
from tileas_xdsl.dialects.cute.atom.copy_gemm import CopyOp, GemmOp
from tileas_xdsl.dialects.cute.atom.interfaces import AtomType
from tileas_xdsl.dialects.cute.atom.tiled import CopyMakeFragmentOp, MmaMakeFragmentOp
from tileas_xdsl.dialects.cute.base.operands import numbers_of
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, CuteOp
from tileas_xdsl.dialects.cute.base.symbolic_values import Number, Tree, is_integer, numbers, symbol
from tileas_xdsl.dialects.cute.layout_algebra.composed_layouts import MakeSwizzleOp
from tileas_xdsl.dialects.cute.layout_algebra.divisibility import AssumeOp, DerefineOp
from tileas_xdsl.dialects.cute.layout_algebra.tuples import MakeTupleBase, StaticOp, leaf_number
from tileas_xdsl.dialects.cute.layout_algebra.unpacking import (
    GetLayoutsFromTileOp,
    GetLeavesOp,
    GetScalarsOp,
    UnpackTupleOp,
)
from tileas_xdsl.dialects.cute.memory.partitions import MakeFragmentLikeOp
from tileas_xdsl.dialects.cute.memory.views import (
    AllocaOp,
    AllocSmemOp,
    ApplySwizzleOp,
    MemRefLoadOp,
    MemRefLoadVecOp,
    MemRefStoreOp,
    MemRefStoreVecOp,
)
from tileas_xdsl.dialects.cute.registers.reductions import ReduceOp
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.layout.expr.expression import Expression
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import (
    get_value,
    make_atom,
    make_tiled,
    set_value,
)
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter, Handler
from tileas_xdsl.transforms.cute_to_nvgpu.copies.atom_copies import convert_copy
from tileas_xdsl.transforms.cute_to_nvgpu.copies.tma_atoms import (
    make_descriptor,
    make_executable,
    make_partition,
    prefetch_descriptor,
)
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import (
    is_registers,
    read,
    view_of,
    write,
)
from tileas_xdsl.transforms.cute_to_nvgpu.fast_division import DIVISIONS
from tileas_xdsl.transforms.cute_to_nvgpu.fragment_allocation import (
    allocate_elements,
    allocate_registers,
    make_fragment,
)
from tileas_xdsl.transforms.cute_to_nvgpu.mma.async_waits import convert_wait
from tileas_xdsl.transforms.cute_to_nvgpu.mma.mma_calls import convert_product
from tileas_xdsl.transforms.cute_to_nvgpu.reductions import reduce_fragment

# Integers


def _algebra(op: AlgebraOp, conv: Converter) -> None:
    conv.define(op.results[0], op.result_value())
    conv.kill(op)


def _unpack(
    op: GetLeavesOp | GetScalarsOp | UnpackTupleOp | GetLayoutsFromTileOp | nvgpu.TmaPartitionOp,
    conv: Converter,
) -> None:
    for result, value in zip(op.results, op.values(), strict=True):
        conv.define(result, value)
    conv.kill(op)


def _make_tuple(op: MakeTupleBase, conv: Converter) -> None:
    """A tuple of operands; only those that its type does not state need a value."""
    given = [leaf_number(op, element) for element in op.elements]
    wanted = [n for n in numbers(symbol(op.result)) if isinstance(n, Expression)]
    unknown = [n for n in given if isinstance(n, Expression)]
    pairs = zip(wanted, unknown, strict=True)
    conv.leaves[op.result] = [conv.number(have, want.width) for want, have in pairs]
    conv.kill(op)


def _static_value(op: StaticOp | MakeSwizzleOp, conv: Converter) -> None:
    if not isinstance(op.result.type, AtomType):
        conv.leaves[op.result] = []
    conv.kill(op)


def _same_value(op: AssumeOp | DerefineOp, conv: Converter) -> None:
    conv.define(op.result, symbol(op.source))
    conv.kill(op)


# Pointers


def _add_offset(op: PtrAddOp, conv: Converter) -> None:
    is_tensor_memory = op.result.type.space is AddressSpace.TMEM
    if is_integer(op.offset.type) and not is_tensor_memory:
        return
    offset: Any = symbol(op.offset)
    if is_tensor_memory:
        conv.define(op.result, symbol(op.ptr).moved(numbers_of(offset, "the offset")))
        conv.kill(op)
        return
    distance = offset.number if isinstance(offset, Number) else numbers_of(offset, "the offset")
    moved = PtrAddOp(op.ptr, conv.number(distance), op.result.type.align)
    conv.replace(op.result, conv.insert(moved))
    conv.kill(op)


def _apply_swizzle(op: ApplySwizzleOp, conv: Converter) -> None:
    conv.replace(op.result, conv.swizzled(op.ptr, op.applied))
    conv.kill(op)


# Allocations


def _alloc_smem_view(op: AllocSmemOp, conv: Converter) -> None:
    type_ = op.result.type
    conv.pointers[op.result] = _allocated_smem(op, type_.iterator, int(type_.layout.cosize()), conv)
    conv.leaves[op.result] = []
    conv.kill(op)


def _alloc_smem_elements(op: nvgpu.AllocSmemOp, conv: Converter) -> None:
    conv.replace(op.result, _allocated_smem(op, op.result.type, op.count, conv))
    conv.kill(op)


def _allocated_smem(op: Operation, type_: PtrType, count: int, conv: Converter) -> SSAValue:
    """Return a pointer to the next free bytes of dynamic shared memory."""
    bits = element_bits(type_.element_type)
    if bits is None:
        raise op_error(op, f"{type_.element_type} has no address of its own in memory")
    start = align_up(conv.smem_bytes, type_.align)
    pointer = nvgpu.GetDynSmemOp.create(
        properties=dict(nvgpu.GetDynSmemOp(start).properties), result_types=[type_]
    )
    conv.smem_bytes = start + count * bits // 8
    return conv.insert(pointer)


# Elements


def _index(value: SSAValue) -> Any:
    known = symbol(value)
    return known.tree if isinstance(known, Tree) else known.number


def _load(op: MemRefLoadOp, conv: Converter) -> None:
    pointer, layout = view_of(conv, op.source)
    offset = layout.index(_index(op.coord))
    if not is_registers(op.source):
        loaded = conv.insert(LoadOp(conv.access(pointer.moved(offset)), op.result.type))
    else:
        register = conv.register_view(pointer.moved(offset))
        one = conv.registers.read(register.base, [register.offset])
        loaded = conv.insert(vector.ExtractOp(one, [0], op.result.type))
    conv.replace(op.result, loaded)
    conv.kill(op)


def _store(op: MemRefStoreOp, conv: Converter) -> None:
    pointer, layout = view_of(conv, op.destination)
    offset = layout.index(_index(op.coord))
    if not is_registers(op.destination):
        conv.effect(StoreOp(op.value, conv.access(pointer.moved(offset))))
    else:
        register = conv.register_view(pointer.moved(offset))
        one = conv.insert(MakeFragmentOp([op.value]))
        conv.registers.write(register.base, [register.offset], one)
    conv.kill(op)


def _all(view: SSAValue) -> range:
    assert isinstance(view.type, MemRefType)
    return range(view.type.layout.size())


def _load_vector(op: MemRefLoadVecOp, conv: Converter) -> None:
    conv.replace(op.result, read(conv, op.source, _all(op.source)))
    conv.kill(op)


def _store_vector(op: MemRefStoreVecOp, conv: Converter) -> None:
    write(conv, op.destination, _all(op.destination), op.value)
    conv.kill(op)


HANDLERS: dict[type[Operation], Handler] = {
    AllocSmemOp: _alloc_smem_view,
    AllocaOp: allocate_registers,
    ApplySwizzleOp: _apply_swizzle,
    AssumeOp: _same_value,
    nvgpu.AtomGetValueOp: get_value,
    nvgpu.AtomSetValueOp: set_value,
    CopyAtomCallOp: convert_copy,
    CopyMakeFragmentOp: allocate_registers,
    CopyOp: convert_copy,
    DerefineOp: _same_value,
    GemmOp: convert_product,
    GetLayoutsFromTileOp: _unpack,
    GetLeavesOp: _unpack,
    GetScalarsOp: _unpack,
    MakeAtomOp: make_atom,
    nvgpu.AllocRmemOp: allocate_elements,
    nvgpu.AllocSmemOp: _alloc_smem_elements,
    nvgpu.MakeExecTmaOp: make_executable,
    nvgpu.MakeTmaDescTiledOp: make_descriptor,
    nvgpu.MakeTmemCopyOp: make_tiled,
    nvgpu.PrefetchAtomDescOp: prefetch_descriptor,
    MakeFragmentLikeOp: allocate_registers,
    nvgpu.MakeNonExecTiledTmaLoadOp: make_partition,
    nvgpu.MakeNonExecTiledTmaReduceOp: make_partition,
    nvgpu.MakeNonExecTiledTmaStoreOp: make_partition,
    MakeSwizzleOp: _static_value,
    MakeTiledCopyOp: make_tiled,
    MakeTiledMmaOp: make_tiled,
    MemRefLoadOp: _load,
    MemRefLoadVecOp: _load_vector,
    MemRefStoreOp: _store,
    MemRefStoreVecOp: _store_vector,
    MmaAtomCallOp: convert_product,
    MmaMakeFragmentOp: make_fragment,
    PtrAddOp: _add_offset,
    ReduceOp: reduce_fragment,
    StaticOp: _static_value,
    nvgpu.TmaPartitionOp: _unpack,
    nvgpu.TmemWaitOp: convert_wait,
    UnpackTupleOp: _unpack,
    nvgpu.WgmmaWaitOp: convert_wait,
    **DIVISIONS,
}
"""Operations that are no plain algebra."""

MAKERS = (
    nvgpu.AllocRmemOp,
    nvgpu.AllocSmemOp,
    nvgpu.MakeTmaDescTiledOp,
    nvgpu.PrefetchAtomDescOp,
)
"""Operations of `cute_nvgpu` that only this lowering reads."""


def handler_of(op: Operation) -> Handler | None:
    """Return the handler of an operation; None for one that stays."""
    if (found := HANDLERS.get(type(op))) is not None:
        return found
    if isinstance(op, MakeTupleBase):
        return _make_tuple
    if isinstance(op, AlgebraOp):
        return _algebra
    if isinstance(op, CuteOp):
        raise op_error(op, "is not lowered by convert-cute-to-nvgpu")
    return None
