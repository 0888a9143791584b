"""Split a thread's iterations into the widest legal memory accesses, with their predicates.

The offset of each iteration is affine in run-time scalars, with tables `(threads, iterations)`
of constants and coefficients (`ThreadAffine`). `w` adjacent iterations become one access of `w`
elements if, in every thread that runs them,

* their offsets differ by 0, 1, ..., w - 1 (and the coefficients of scalars not at all),
* the first offset is a multiple of w, by its constant and by the divisors known of each scalar,
* they are predicated alike, and in bounds together or out of bounds together.

Widths are tried from 16 bytes (`ld.global.v4.b32`) down. Eight f16 at `8 * thread + k` are thus
one access; at `8 * thread + k + 1` they are eight. Loads out of bounds give 0, stores are
dropped:

    %p = arith.cmpi ult, %i, %n                       one unsigned test covers i >= 0 and i < n
    %v = cute.ptr.load %ptr, %p : vector<8xf16>
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    index_constant,
    logical_and,
    multiply,
)
from tileas_xdsl.threads.codegen.known_integers import divisor_of
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.codegen.pointer_ops import advance, recast
from tileas_xdsl.threads.convert.element_conversion import storage_type
from tileas_xdsl.threads.index.per_thread_tables import Flags
from tileas_xdsl.threads.index.thread_affine import (
    ThreadAffine,
    at_iteration,
    column,
    is_uniform,
    of_scalar,
    tables_of,
    uniform,
)
from tileas_xdsl.threads.registers.vector_values import (
    element,
    joined,
    strip,
    zero,
)
from tileas_xdsl.transforms.lower_tl.buffer_locations import SharedLocation
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState
from tileas_xdsl.transforms.lower_tl.memory.global_addresses import WideAddress, has_32_bit_offsets
from tileas_xdsl.transforms.lower_tl.memory.smem_offsets import shared_offset

ACCESS_BYTES = 16


@dataclass(frozen=True)
class Bound:
    """An index that has to be less than an extent, and not negative."""

    index: ThreadAffine
    extent: SSAValue | int


@dataclass(frozen=True)
class VectorAccess:
    """Adjacent iterations of a thread that one memory access covers."""

    first: int
    count: int


@dataclass
class Access:
    """A load or store of one element in each iteration of a thread."""

    work: LoopBodyState
    op: Operation
    pointer: SSAValue
    """To elements where the buffer begins."""
    element: Attribute
    """As memory holds it."""
    offset: ThreadAffine
    """In elements."""
    flags: Flags
    """Which iterations may do it: `(threads, iterations)`."""
    bounds: tuple[Bound, ...]
    """What only run time decides."""
    most: int = ACCESS_BYTES
    """Elements of a piece, at most."""
    sizes: tuple[SSAValue, ...] = ()
    """Extents and strides of the array that only run time knows."""
    chosen: Sequence[VectorAccess] | None = None
    """The pieces, where they are chosen already."""
    wide: WideAddress | None = None
    """How addresses are computed where offsets are not proven to have 32 bits."""

    @staticmethod
    def of(
        work: LoopBodyState,
        op: Operation,
        location: GlobalView | SharedLocation,
        indices: Sequence[ThreadAffine],
        flags: Flags,
        most: int = ACCESS_BYTES,
    ) -> Access:
        """Return the access of a buffer at indices, by the iterations of `flags`."""
        type_ = location.element
        stored = storage_type(type_)
        bits = element_bits(stored)
        if bits is None:
            raise op_error(op, f"accesses elements of {type_}, and memory holds whole bytes")
        if isinstance(location, SharedLocation):
            pointer = recast(work.e, location.pointer(work.e), stored)
            offset = shared_offset(work, location, indices, bits // 8)
            return Access(work, op, pointer, stored, offset, flags, (), most)
        known, bounds = _bounded(work, indices, location)
        pointer = location.pointer if stored == type_ else recast(work.e, location.pointer, stored)
        offset = _linear(work, indices, location)
        sizes = tuple(v for v in (*location.extents, *location.strides) if isinstance(v, SSAValue))
        flags = flags & known
        found = Access(work, op, pointer, stored, offset, flags, bounds, most, sizes)
        if not has_32_bit_offsets(location):
            found.wide = WideAddress.of(work, pointer, indices, location)
        return found

    @property
    def size(self) -> int:
        """Bytes of an element."""
        bits = element_bits(self.element)
        assert bits is not None
        return bits // 8

    @property
    def widest(self) -> int:
        """The elements that an access moves at most."""
        return min(self.work.vector or ACCESS_BYTES, ACCESS_BYTES // self.size, self.most)

    @cached_property
    def pieces(self) -> Sequence[VectorAccess]:
        """The accesses that cover all iterations which do anything."""
        return list(self._pieces()) if self.chosen is None else self.chosen

    def _pieces(self) -> Iterator[VectorAccess]:
        first, count = 0, self.work.count
        while first < count:
            if not column(self.flags, first).any():
                first += 1
                continue
            width = next(w for w in self._widths() if self.is_piece(first, w))
            yield VectorAccess(first, width)
            first += width

    def _widths(self) -> Iterator[int]:
        width = 1 << (self.widest.bit_length() - 1)
        while width:
            yield width
            width //= 2

    def is_piece(self, first: int, width: int) -> bool:
        """Return whether one access can cover `width` iterations from `first` on."""
        if width == 1:
            return True
        end = first + width
        if end > self.work.count or not self.work.path_is_uniform:
            return False
        flags = self.flags[:, first:end]
        if (flags != flags[:, :1]).any():
            return False
        threads = flags[:, 0]
        return self._is_run(threads, first, width) and self._is_uniform_inside(
            threads, first, width
        )

    def _is_run(self, threads: Flags, first: int, width: int) -> bool:
        """Whether elements are contiguous, and the first one is aligned to the width."""
        e, steps = self.work.e, np.arange(width)
        for table, step in (
            (self.offset.constant, 1),
            *((t, 0) for t in self.offset.terms.values()),
        ):
            offsets = _columns_of(table, first, width, threads)
            if (offsets - offsets[:, :1] != step * steps).any():
                return False
        if (_columns_of(self.offset.constant, first, 1, threads) % width).any():
            return False
        return all(
            not (_columns_of(table, first, 1, threads) * divisor_of(e, value) % width).any()
            for value, table in self.offset.terms.items()
        )

    def _is_uniform_inside(self, threads: Flags, first: int, width: int) -> bool:
        """Return whether all elements of a vector access are in bounds, or none is."""
        return all(self._has_uniform_bounds(bound, threads, first, width) for bound in self.bounds)

    def _has_uniform_bounds(self, bound: Bound, threads: Flags, first: int, width: int) -> bool:
        e, extent = self.work.e, bound.extent
        windows = [_columns_of(t, first, width, threads) for t in tables_of(bound.index)]
        if all((window == window[:, :1]).all() for window in windows):
            return True
        # An aligned vector cannot straddle a bound that is a multiple of its width.
        factor = extent if isinstance(extent, int) else divisor_of(e, extent)
        scalars = [1, *(divisor_of(e, value) for value in bound.index.terms)]
        aligned = all(
            not (window[:, :1] * scalar % width).any()
            for window, scalar in zip(windows, scalars, strict=True)
        )
        rest = windows[0] - windows[0][:, :1]
        grows = bool((rest >= 0).all() and (rest < width).all())
        same = all((window == window[:, :1]).all() for window in windows[1:])
        return factor % width == 0 and aligned and grows and same

    @property
    def is_one(self) -> bool:
        """Whether all iterations of a thread access one element under the same predicate."""
        alike = is_uniform(self.offset) and all(is_uniform(bound.index) for bound in self.bounds)
        return self.work.count > 1 and alike and self.work.path_is_uniform

    # code

    def guard(self, piece: VectorAccess) -> SSAValue | None:
        """Return the predicate under which a thread does an access; None if all do."""
        e = self.work.e
        return logical_and(
            e, logical_and(e, self.thread(piece), self.inside(piece)), self.asked(piece)
        )

    def thread(self, piece: VectorAccess) -> SSAValue | None:
        """Return the predicate of the threads that do an access; None if all do."""
        return self.work.guard(column(self.flags, piece.first)[:, 0])

    def asked(self, piece: VectorAccess) -> SSAValue | None:
        """Return the predicate of a piece given by the program; None without one."""
        return self.work.condition(piece.first)

    def inside(self, piece: VectorAccess) -> SSAValue | None:
        """Return the predicate that an access is in bounds; None if it always is."""
        work, e = self.work, self.work.e
        result: SSAValue | None = None
        for bound in self.bounds:
            index = work.at(bound.index, piece.first)
            extent = bound.extent
            limit = (
                index_constant(e, extent)
                if isinstance(extent, int)
                else cast_index(e, extent, index.type)
            )
            inside = e.insert(arith.CmpiOp(index, limit, "ult")).result
            result = logical_and(e, result, inside)
        return result

    def address(self, piece: VectorAccess) -> tuple[SSAValue, int]:
        """Return the pointer of an access and an immediate offset in elements."""
        work, e = self.work, self.work.e
        mine = column(self.flags, piece.first)[:, 0]
        hints = work.iterations.hints(piece.first)
        if self.wide is not None:
            return self.wide.at(piece.first, mine, hints, self.size, piece.count)
        step = at_iteration(self.offset, piece.first)
        value, constant = work.state.writer.split(step, mine, hints)
        if value is None:
            return self._constant_address(constant, piece)
        # Immediate offsets are unsigned here, and must keep the alignment of the vector.
        if constant < 0 or constant % piece.count:
            value, constant = add(e, value, constant), 0
        alignment = self.size * piece.count
        return advance(e, self.pointer, value, alignment), constant

    def _constant_address(self, constant: int, piece: VectorAccess) -> tuple[SSAValue, int]:
        if constant >= 0:
            return self.pointer, constant
        alignment = self.size * piece.count
        return advance(self.work.e, self.pointer, constant, alignment), 0


def _columns_of(table: np.ndarray, first: int, width: int, mine: Flags) -> np.ndarray:
    """The table rows of some threads, for `width` iterations: `(threads, width)`."""
    steps = table if table.shape[1] == 1 else table[:, first : first + width]
    rows = steps if steps.shape[0] == 1 else steps[mine]
    return np.broadcast_to(rows, (rows.shape[0], width))


def _bounded(
    work: LoopBodyState, indices: Sequence[ThreadAffine], view: GlobalView
) -> tuple[Flags, tuple[Bound, ...]]:
    """Return the iterations statically in bounds, and the bounds to check at run time."""
    flags = np.ones((1, 1), dtype=bool)
    bounds: list[Bound] = []
    for index, extent in zip(indices, view.extents, strict=True):
        if index.is_constant and (index.constant < 0).any():
            flags = flags & (index.constant >= 0)
        if not isinstance(extent, int):
            bounds.append(Bound(index, extent))
            continue
        limits = index.range(work.state.ranges.get)
        if index.is_constant:
            flags = flags & (index.constant < extent)
        elif limits is None or (limits[0] < 0).any() or (limits[1] >= extent).any():
            bounds.append(Bound(index, extent))
    return flags, tuple(bounds)


def _linear(work: LoopBodyState, indices: Sequence[ThreadAffine], view: GlobalView) -> ThreadAffine:
    """The offset in elements from the base of an array."""
    total = uniform(0)
    for index, stride in zip(indices, view.strides, strict=True):
        total = total.plus(
            index.times(stride) if isinstance(stride, int) else _scaled(work, index, stride)
        )
    return total


def _scaled(work: LoopBodyState, index: ThreadAffine, stride: SSAValue) -> ThreadAffine:
    """Multiply an index by a run-time stride.

    The constant becomes the coefficient of the stride; each term of the index becomes a new
    scalar, its product with the stride.
    """
    e = work.e
    scalar = cast_index(e, stride, index_constant(e, 0).type)
    found = of_scalar(scalar).times(index.constant)
    for value, table in index.terms.items():
        term = of_scalar(multiply(e, cast_index(e, value, scalar.type), scalar))
        found = found.plus(term.times(table))
    return found


def load(access: Access) -> SSAValue:
    """Load the elements of all iterations; a uniform element is loaded once."""
    work, e = access.work, access.work.e
    if access.is_one:
        flags = np.repeat(access.flags.any(axis=1, keepdims=True), work.count, axis=1)
        return load_vector(replace(access, flags=flags), VectorAccess(0, 1))
    found = {piece.first: load_vector(access, piece) for piece in access.pieces}
    parts: list[SSAValue] = []
    step = 0
    while step < work.count:
        value = found.get(step)
        width = 1 if value is None else _width(value)
        parts.append(zero(e, access.element) if value is None else value)
        step += width
    if work.count == 1:
        return element(e, parts[0], 0)
    return joined(e, parts)


def _width(value: SSAValue) -> int:
    type_ = value.type
    return type_.get_shape()[0] if isinstance(type_, VectorType) else 1


def load_vector(access: Access, piece: VectorAccess) -> SSAValue:
    """Load the elements of one access; 0 where its predicate is false."""
    pointer, offset = access.address(piece)
    many = VectorType(access.element, [piece.count])
    type_: Attribute = access.element if piece.count == 1 else many
    return access.work.e.insert(LoadOp(pointer, type_, access.guard(piece), offset=offset)).result


def store(access: Access, value: SSAValue) -> None:
    """Store the elements of all iterations; `value` is a scalar or a vector."""
    e = access.work.e
    for piece in access.pieces:
        mine = (
            element(e, value, piece.first)
            if piece.count == 1
            else strip(e, access.work.spread(value), piece.first, piece.count)
        )
        store_vector(access, piece, mine, access.guard)


def store_vector(
    access: Access,
    piece: VectorAccess,
    value: SSAValue,
    guard: Callable[[VectorAccess], SSAValue | None],
) -> None:
    """Store the elements of one access under a predicate."""
    pointer, offset = access.address(piece)
    access.work.e.insert(StoreOp(value, pointer, guard(piece), offset=offset))
