"""Read and write elements of views as fragments, in registers or memory.

A view is a pointer and a layout from coordinates to offsets. In registers, the offsets choose
elements of the fragment that is the allocation's value now. In memory, elements that follow one
another are one vector access: of a view `(2,4):(4,1)` the elements 0, 2, 4, 6 (colexicographic)
have the offsets 0, 1, 2, 3, and are one load of `vector<4>`. A swizzle keeps aligned pieces of
`2^base` bytes together, so runs are cut there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby
from math import gcd
from typing import Any

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, MakeFragmentOp, SliceFragmentOp, StoreOp
from tileas_xdsl.dialects.cute.base.symbolic_values import Pointer, View, symbol
from tileas_xdsl.dialects.cute.memory.pointers import ACCESSED
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.expr.expression import Expression
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.register_file import runs

Indices = Sequence[int]
"""Elements of a view, colexicographically."""


@dataclass(frozen=True)
class Side:
    """Some elements of a view: what one instruction reads or writes."""

    view: SSAValue
    indices: Indices

    @property
    def element(self) -> Attribute:
        """Their type."""
        assert isinstance(self.view.type, MemRefType)
        return self.view.type.element_type


def view_of(conv: Converter, value: SSAValue) -> tuple[Pointer, Any]:
    """The pointer and the layout of a view of memory."""
    known = symbol(value)
    if not isinstance(known, View) or not isinstance(known.iterator, Pointer):
        raise op_error(conv.at, f"is lowered for views of memory, not {value.type}")
    return known.iterator, known.layout


def is_registers(value: SSAValue) -> bool:
    """Whether a value is a view of registers."""
    return isinstance(value.type, MemRefType) and value.type.space == "rmem"


def places(conv: Converter, value: SSAValue, indices: Indices) -> Sequence[int]:
    """Elements of a view of registers in their allocation."""
    pointer, layout = view_of(conv, value)
    first = conv.register_view(pointer)
    return [first.offset + _known(conv, layout.index(index)) for index in indices]


def _known(conv: Converter, offset: Any) -> int:
    if not isinstance(offset, int):
        raise op_error(conv.at, "reaches registers by an index that only run time knows")
    return offset


def read(conv: Converter, value: SSAValue, indices: Indices) -> SSAValue:
    """The fragment of some elements of a view."""
    if is_registers(value):
        base = conv.views[value].base
        return conv.registers.read(base, places(conv, value, indices))
    pointer, layout = view_of(conv, value)
    _check_memory(conv, pointer)
    parts: list[SSAValue] = []
    for run_pointer, count in _contiguous_runs(pointer, layout, indices):
        type_ = VectorType(pointer.element, [count])
        parts.append(conv.insert(LoadOp(conv.access(run_pointer), type_)))
    return parts[0] if len(parts) == 1 else conv.insert(MakeFragmentOp(parts))


def write(conv: Converter, value: SSAValue, indices: Indices, fragment: SSAValue) -> None:
    """Put a fragment into some elements of a view."""
    if is_registers(value):
        found = places(conv, value, indices)
        if len(set(found)) != len(found):
            raise op_error(conv.at, f"writes the same registers twice: {value.type}")
        conv.registers.write(conv.views[value].base, found, fragment)
        return
    pointer, layout = view_of(conv, value)
    _check_memory(conv, pointer)
    first = 0
    for run_pointer, count in _contiguous_runs(pointer, layout, indices):
        part = fragment
        if count != len(indices):
            part = conv.insert(SliceFragmentOp(fragment, first, count))
        conv.effect(StoreOp(part, conv.access(run_pointer)))
        first += count


def _check_memory(conv: Converter, pointer: Pointer) -> None:
    if pointer.space not in ACCESSED:
        raise op_error(conv.at, f"accesses {', '.join(ACCESSED)}, not {pointer.space}")
    if element_bits(pointer.element) is None:
        raise op_error(conv.at, f"{pointer.element} has no address of its own in memory")


def _contiguous_runs(
    pointer: Pointer, layout: Any, indices: Indices
) -> Iterator[tuple[Pointer, int]]:
    """Yield a pointer and a length per run of elements that are contiguous in memory."""
    for start, same in groupby(indices, partial(_open_part, layout)):
        known = [_known_part(layout, index) for index in same]
        begin = pointer.moved(start)
        for run in runs(known):
            yield from _unswizzled(begin, run)


def _digits(layout: Layout, index: int) -> Iterator[tuple[int, Any]]:
    """The coordinate of an index in every leaf of a layout, with the leaf's stride."""
    for extent, stride in layout.leaves():
        index, digit = divmod(index, extent)
        yield digit, stride


def _open_part(layout: Any, index: int) -> Any:
    """Of an offset, what only run time knows."""
    if not isinstance(layout, Layout):
        offset = layout.index(index)
        return 0 if isinstance(offset, int) else offset
    digits = _digits(layout, index)
    return sum(d * stride for d, stride in digits if d and isinstance(stride, Expression))


def _known_part(layout: Any, index: int) -> int:
    """Of an offset, the rest."""
    if not isinstance(layout, Layout):
        offset = layout.index(index)
        return offset if isinstance(offset, int) else 0
    digits = _digits(layout, index)
    return sum(d * stride for d, stride in digits if not isinstance(stride, Expression))


def _unswizzled(pointer: Pointer, run: range) -> Iterator[tuple[Pointer, int]]:
    """A swizzle keeps what is in an aligned piece of `2^base` bytes together."""
    if not pointer.swizzle.bits:
        yield pointer.moved(run.start), len(run)
        return
    size = (element_bits(pointer.element) or 8) // 8
    unit = max(1, gcd(pointer.align, 1 << pointer.swizzle.base) // size)
    start = run.start
    while start < run.stop:
        stop = min(run.stop, start - start % unit + unit)
        yield pointer.moved(start), stop - start
        start = stop


def contiguous(conv: Converter, value: SSAValue, indices: Indices) -> Pointer | None:
    """Where elements begin that lie one behind the other in memory; None if they do not."""
    pointer, layout = view_of(conv, value)
    found = list(_contiguous_runs(pointer, layout, indices))
    return found[0][0] if len(found) == 1 else None
