"""Atoms of TMA that a kernel makes for its arguments.

An atom says the box; which array it is of, and how it lies in shared memory, says the operation
that makes the atom.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    i1,
    i64,
)
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.symbolic_values import Tree, View, symbol
from tileas_xdsl.dialects.cute.types.layouts import ComposedLayoutType
from tileas_xdsl.dialects.cute.types.views import ArithTupleIterType, CoordTensorType, MemRefType
from tileas_xdsl.dialects.cute_nvgpu import (
    GetGridConstantPointerOp,
    GetTmaDescAddrOp,
    MakeExecTmaOp,
    MakeTmaDescTiledOp,
    PrefetchAtomDescOp,
    PrefetchTmaDescOp,
    tma_descriptor,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.tma_copies import box_of, dimensions
from tileas_xdsl.dialects.cute_nvgpu.tma.partition_atoms import BoxOp, MakePartitionOp
from tileas_xdsl.layout import BYTE_SWIZZLES, NO_SWIZZLE, Layout, Swizzle
from tileas_xdsl.layout.axes import E
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import values_of
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter

DESCRIPTOR = "tma_descriptor_ptr"

NAMES = {swizzle: name for name, swizzle in BYTE_SWIZZLES.items()}
"""What tensor maps call swizzles."""


def make_partition(op: MakePartitionOp, conv: Converter) -> None:
    """An atom that knows its tensor map, and the coordinates of a tensor."""
    swizzle = _swizzle(op)
    conv.atoms[op.atom] = {DESCRIPTOR: conv.maps.argument(_recipe(op, conv, swizzle), swizzle)}
    type_ = op.coordinates.type
    assert isinstance(type_, CoordTensorType)
    assert isinstance(type_.layout, Layout)
    shape = symbol(op.gmem).layout.shape
    origin = Tree(ArithTupleIterType, type_.origin)
    conv.define(op.coordinates, View(origin, Layout(shape, type_.layout.stride)))
    conv.kill(op)


def make_descriptor(op: MakeTmaDescTiledOp, conv: Converter) -> None:
    """The tensor map itself."""
    swizzle = _swizzle(op)
    conv.replace(op.result, conv.maps.argument(_recipe(op, conv, swizzle), swizzle))
    conv.kill(op)


def make_executable(op: MakeExecTmaOp, conv: Converter) -> None:
    """The atom that executes has the tensor map of the one that partitions."""
    conv.atoms[op.atom] = values_of(conv, op.source)
    conv.kill(op)


def prefetch_descriptor(op: PrefetchAtomDescOp, conv: Converter) -> None:
    """The thread that is there prefetches."""
    conv.effect(PrefetchTmaDescOp(descriptor_of(conv, op, op.atom)))
    conv.kill(op)


def _swizzle(op: BoxOp) -> Swizzle:
    type_ = op.smem_layout.type
    outer = type_.data.outer if isinstance(type_, ComposedLayoutType) else NO_SWIZZLE
    swizzle = outer if isinstance(outer, Swizzle) and outer.bits else NO_SWIZZLE
    if swizzle not in NAMES:
        raise op_error(op, f"makes no tensor map that swizzles by {swizzle}")
    return swizzle


def _recipe(op: BoxOp, conv: Converter, swizzle: Swizzle) -> DictionaryAttr:
    """What a launch needs for the map."""
    number = conv.maps.arrays.get(op.gmem)
    if number is None:
        raise op_error(op, "makes tensor maps of arguments of the kernel, as they are given")
    type_ = op.gmem.type
    assert isinstance(type_, MemRefType)
    return DictionaryAttr(
        {
            "argument": IntegerAttr(number, i64),
            "box": DenseArrayBase.from_list(i64, _box(op)),
            "element": type_.element_type,
            "swizzle": StringAttr(NAMES[swizzle]),
            "nan_fill": BoolAttr(0, i1),
        }
    )


def _box(op: BoxOp) -> Sequence[int]:
    """The extents of a box, innermost first; the array lies with its last axis innermost."""
    array, basis = op.global_layout, op.basis
    wanted = [str(mode) for mode in reversed(range(array.rank))]
    if list(dimensions(basis)) != wanted or array[-1].stride != 1:
        raise op_error(
            op, f"makes tensor maps of arrays whose last axis is innermost, not of {op.gmem.type}"
        )
    leaves = list(box_of(basis, op.share).leaves())
    if [stride for _, stride in leaves] != [E(dimension) for dimension in range(array.rank)]:
        raise op_error(op, f"makes tensor maps of boxes with one run along each axis: {basis}")
    return [int(extent) for extent, _ in leaves]


def descriptor_of(conv: Converter, op: Operation, atom: SSAValue) -> SSAValue:
    """The tensor map that an atom executes."""
    found = values_of(conv, atom).get(DESCRIPTOR)
    if found is None:
        raise op_error(op, f"executes no tensor map: {DESCRIPTOR} is not set")
    if found.type == tma_descriptor:
        return found
    if isinstance(found.owner, GetTmaDescAddrOp | GetGridConstantPointerOp):
        return found.owner.desc
    raise op_error(op, f"takes {DESCRIPTOR} of cute_nvgpu.get_tma_desc_addr")
