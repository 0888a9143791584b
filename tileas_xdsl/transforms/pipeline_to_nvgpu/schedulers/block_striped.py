"""Lower block-striped loads, stores and atomic reductions of accumulators."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute import LoadOp, MakeFragmentOp, PtrAddOp, SliceFragmentOp, StoreOp
from tileas_xdsl.dialects.cute.base.operation import built
from tileas_xdsl.dialects.cute.memory.views import MemRefLoadVecOp, MemRefStoreVecOp
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu import AtomicRmwOp
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


@dataclass(frozen=True)
class Stripes:
    """What a thread has of an array."""

    data: SSAValue
    """Registers."""
    first: SSAValue
    """Where the first piece of the thread is."""
    threads: int
    width: int
    """Elements of a piece."""

    @property
    def type(self) -> MemRefType:
        """The type of the registers."""
        type_ = self.data.type
        assert isinstance(type_, MemRefType)
        return type_

    @property
    def places(self) -> range:
        """Elements from the first piece to each one."""
        pieces = int(self.type.layout.size()) // self.width
        return range(0, pieces * self.threads * self.width, self.threads * self.width)


def stripes(
    w: Writer, data: SSAValue, array: SSAValue, thread: SSAValue, *, threads: int, width: int
) -> Stripes:
    """The elements of a thread; every piece is as aligned as it is wide."""
    type_ = array.type
    assert isinstance(type_, PtrType)
    place = w.multiply(thread, width)
    first = w.insert(PtrAddOp(array, place, width * type_.element_bytes)).result
    return Stripes(data, first, threads, width)


def load(w: Writer, s: Stripes) -> SSAValue:
    """All elements of a thread in a row."""
    piece = VectorType(s.type.element_type, [s.width])
    return w.insert(
        MakeFragmentOp([w.insert(LoadOp(s.first, piece, offset=n)) for n in s.places])
    ).result


def kept(w: Writer, s: Stripes) -> SSAValue:
    """What the registers hold."""
    return w.insert(built(MemRefLoadVecOp, [s.data])).result


def keep(w: Writer, s: Stripes, value: SSAValue) -> None:
    """Let the registers hold a fragment."""
    w.insert(MemRefStoreVecOp.create(operands=[value, s.data]))


def total(w: Writer, s: Stripes) -> SSAValue:
    """The sums of what the registers and the array hold."""
    add = arith.AddfOp if isinstance(s.type.element_type, AnyFloat) else arith.AddiOp
    return w.insert(add(kept(w, s), load(w, s))).result


def store(w: Writer, s: Stripes, value: SSAValue) -> None:
    """Put a fragment into the elements of the thread."""
    for n, place in enumerate(s.places):
        piece = w.insert(SliceFragmentOp(value, n * s.width, s.width))
        w.insert(StoreOp(piece, s.first, offset=place))


def _of(w: Writer, op: cutlass.BlockStripedOp) -> Stripes:
    threads, width = value_of(op.threads), value_of(op.width)
    return stripes(w, op.data, op.array, op.thread, threads=threads, width=width)


def _load(w: Writer, op: cutlass.BlockStripedLoadOp) -> list[Values]:
    s = _of(w, op)
    keep(w, s, load(w, s))
    return []


def _load_add(w: Writer, op: cutlass.BlockStripedLoadAddOp) -> list[Values]:
    s = _of(w, op)
    keep(w, s, total(w, s))
    return []


def _store(w: Writer, op: cutlass.BlockStripedStoreOp) -> list[Values]:
    s = _of(w, op)
    store(w, s, kept(w, s))
    return []


def _reduce(w: Writer, op: cutlass.BlockStripedReduceOp) -> list[Values]:
    s = _of(w, op)
    value, element = kept(w, s), s.type.element_type
    for n in range(op.elements):
        one = w.insert(vector.ExtractOp(value, [n], element)).result
        place = w.number(s.places[n // s.width] + n % s.width)
        at = w.insert(PtrAddOp(s.first, place))
        w.insert(AtomicRmwOp(op.kind.data, one, at, order="relaxed", scope="gpu"))
    return []


HANDLERS: Any = {
    cutlass.BlockStripedLoadAddOp: _load_add,
    cutlass.BlockStripedLoadOp: _load,
    cutlass.BlockStripedReduceOp: _reduce,
    cutlass.BlockStripedStoreOp: _store,
}
