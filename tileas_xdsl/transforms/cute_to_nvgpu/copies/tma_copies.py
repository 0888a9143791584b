"""Lower TMA copies: a box of a tensor to shared memory, or back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.calls import CopyAtomCallOp
from tileas_xdsl.dialects.cute.atom.copy_gemm import CopyOp
from tileas_xdsl.dialects.cute.base.operands import is_static_layout
from tileas_xdsl.dialects.cute.base.symbolic_values import Pointer, Tree, View, symbol
from tileas_xdsl.dialects.cute.types.views import CoordTensorType, MemRefType
from tileas_xdsl.dialects.cute_nvgpu import PairTmaLoadOp, TmaLoadOp, TmaReduceOp, TmaStoreOp
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer, text
from tileas_xdsl.dialects.cute_nvgpu.atoms.tma_copies import (
    TmaCopyType,
    TmaLoadType,
    TmaReduceType,
    TmaStoreType,
    first_elements,
)
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.axes import coefficient_of
from tileas_xdsl.layout.int_tuple import flat
from tileas_xdsl.transforms.cute_to_nvgpu.atom_values import values_of
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.copies.tma_atoms import descriptor_of

CopyCallOp = CopyOp | CopyAtomCallOp


def convert_load(op: CopyCallOp, conv: Converter, atom: TmaLoadType) -> None:
    """One `cp.async.bulk.tensor` to shared memory for each box."""
    values = values_of(conv, op.atom)
    barrier, mask = values.get("tma_bar"), values.get("mcast_mask")
    if barrier is None:
        raise op_error(op, "completes at no mbarrier: tma_bar is not set")
    _check_mode(op, text(atom.mode))
    _check_policy(op, values)
    if atom.is_multicast != (mask is not None):
        raise op_error(op, f"has a mask of blocks for multicast, and only then: {atom}")
    pair = integer(atom.num_cta) == 2
    if pair and mask is not None:
        raise op_error(op, f"is not lowered for multicast by pairs of blocks: {atom}")
    desc = descriptor_of(conv, op, op.atom)
    for coords, smem in _boxes(op, conv, atom, desc, op.sources[0], op.destinations[0]):
        if pair:
            conv.effect(PairTmaLoadOp(desc, smem, barrier, coords))
        else:
            conv.effect(TmaLoadOp(desc, smem, barrier, coords, mask))
    conv.kill(op)


def convert_store(op: CopyCallOp, conv: Converter, atom: TmaStoreType) -> None:
    """One `cp.async.bulk.tensor` to global memory for each box."""
    for desc, coords, smem in _stored_boxes(op, conv, atom):
        conv.effect(TmaStoreOp(desc, smem, coords))
    conv.kill(op)


def convert_reduce(op: CopyCallOp, conv: Converter, atom: TmaReduceType) -> None:
    """One `cp.reduce.async.bulk.tensor` for each box."""
    for desc, coords, smem in _stored_boxes(op, conv, atom):
        conv.effect(TmaReduceOp(desc, smem, coords, text(atom.kind).lower()))
    conv.kill(op)


def _stored_boxes(
    op: CopyCallOp, conv: Converter, atom: TmaStoreType | TmaReduceType
) -> Iterator[tuple[SSAValue, Sequence[SSAValue], SSAValue]]:
    """The descriptor of each box of a store, its coordinates, and its place in shared memory."""
    _check_mode(op, text(atom.mode))
    _check_policy(op, values_of(conv, op.atom))
    desc = descriptor_of(conv, op, op.atom)
    for coords, smem in _boxes(op, conv, atom, desc, op.destinations[0], op.sources[0]):
        yield desc, coords, smem


def _check_mode(op: Operation, mode: str) -> None:
    if mode != "tiled":
        raise op_error(op, f"is lowered for copies of boxes, not in mode {mode}")


def _check_policy(op: Operation, values: Any) -> None:
    if values.get("cache_policy") is not None:
        raise op_error(op, "is not lowered with a cache policy")


def _boxes(
    op: CopyCallOp,
    conv: Converter,
    atom: TmaCopyType,
    desc: SSAValue,
    gmem: SSAValue,
    smem: SSAValue,
) -> Sequence[tuple[Sequence[SSAValue], SSAValue]]:
    """The coordinates and the place in shared memory of each copy."""
    where, memory = symbol(gmem), symbol(smem)
    if not isinstance(gmem.type, CoordTensorType):
        raise op_error(op, f"copies between views of coordinates and of smem, not {gmem.type}")
    assert isinstance(where, View)
    assert isinstance(where.iterator, Tree)
    if not isinstance(smem.type, MemRefType) or not isinstance(memory.iterator, Pointer):
        raise op_error(op, f"copies between views of coordinates and of smem, not {smem.type}")
    _check_swizzle(op, conv, desc, smem.type)
    box = atom.box
    once = box.size()
    _check_order(op, gmem, where.layout, box)
    _check_order(op, smem, memory.layout, Layout(once))
    found: list[tuple[Sequence[SSAValue], SSAValue]] = []
    for first in range(0, memory.layout.size(), once):
        coordinates: Any = where.layout.index(first)
        starts = flat(where.iterator.tree)
        coords = [
            conv.number(start + coefficient_of(coordinates, str(axis)), 32)
            for axis, start in enumerate(starts)
        ]
        pointer: Pointer = memory.iterator.moved(memory.layout.index(first))
        found.append((coords, conv.address(pointer)))
    return found


def _check_order(op: CopyCallOp, view: SSAValue, layout: Any, expected: Layout) -> None:
    """What is copied at once lies in the order of the box."""
    once = expected.size()
    plain = isinstance(layout, Layout) and is_static_layout(layout) and layout.size() % once == 0
    if plain and first_elements(layout, once) == first_elements(expected, once):
        return
    raise op_error(
        op, f"copies boxes {expected} of {op.atom.type}, which {view.type} has not: partition it"
    )


def _check_swizzle(op: CopyCallOp, conv: Converter, desc: SSAValue, type_: MemRefType) -> None:
    """Both sides agree on the order of bytes in shared memory."""
    known = conv.maps.swizzles.get(desc)
    if known is not None and known != type_.swizzle:
        raise op_error(op, f"copies by a tensor map that swizzles by {known}, but got {type_}")
