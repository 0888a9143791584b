"""Short tiles that are read at run-time coordinates: an element in each lane, and shuffles.

layout  (16,8):(1@thread,16@thread)     16 elements, in lanes 0 to 15 and 16 to 31 of 4 warps
element %i                              shfl.idx of lane %i, in all lanes together
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.operations.digits import Digit, layout_of_line, with_replicas
from tileas_xdsl.layout.registers.register_layout import THREAD, RegisterLayout
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import add, cast_index, multiply
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.warp_shuffle import of_lane
from tileas_xdsl.threads.convert.element_conversion import CARRIERS
from tileas_xdsl.threads.registers.vector_values import element, is_vector, joined, length
from tileas_xdsl.threads.smem.scratch_buffer import Scratch


def lanes_layout(layout: RegisterLayout) -> RegisterLayout | None:
    """Return the layout of a line of at most 32 elements, one in each lane of all warps.

    None of what is longer, or of more dimensions.
    """
    if len(layout.shape) != 1 or WARP % layout.shape[0] or layout.threads % WARP:
        return None
    (extent,) = layout.shape
    copies: list[Digit] = [(layout.threads // extent, E(THREAD, extent))]
    digits: list[Digit] = [(extent, E(THREAD))]
    line = layout_of_line(digits, layout.shape)
    return RegisterLayout(with_replicas(line, copies), layout.shape, layout.threads)


def taken_from_lanes(
    e: ThreadBuilder, table: RegisterTile, type_: Attribute | None, index: SSAValue
) -> SSAValue:
    """Return the elements at an index, or at each of a vector of them; all lanes take part."""
    entry = element(e, table.parts[0], 0)
    numbers = [element(e, index, k) for k in range(length(index))]
    lanes = [cast_index(e, number, i32) for number in numbers]
    found = [from_carrier(e, of_lane(e, entry, lane), type_) for lane in lanes]
    return joined(e, found) if is_vector(index) else found[0]


def scratch_element(
    e: ThreadBuilder,
    buffer: Scratch,
    shape: Sequence[int],
    indices: Sequence[SSAValue],
    guard: SSAValue | None = None,
) -> SSAValue:
    """The element at indices, from shared memory."""
    position = indices[0]
    for extent, index in zip(shape[1:], indices[1:], strict=True):
        position = add(e, multiply(e, position, extent), index)
    return e.insert(LoadOp(advance(e, buffer.pointer, position), buffer.element, guard)).result


def from_carrier(e: ThreadBuilder, value: SSAValue, type_: Attribute | None) -> SSAValue:
    """An element as it was before it travelled."""
    if type_ is None or type_ not in CARRIERS:
        return value
    return e.insert(CARRIERS[type_].back(value, type_)).result
