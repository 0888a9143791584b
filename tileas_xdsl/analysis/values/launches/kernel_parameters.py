"""The launch parameters of a tile kernel, in order.

An array is a pointer, then the dynamic extents and strides of its type; a scalar is itself.  TMA
descriptors are not passed by the caller.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, StridedLayoutAttr
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.types import TmaDescType


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a launch passes: `ptr`, `size`, `stride` or `scalar` of an argument."""

    kind: str
    argument: int
    axis: int | None = None

    def __str__(self) -> str:
        axis = "" if self.axis is None else f" {self.axis}"
        return f"{self.kind} {self.argument}{axis}"


def parameters_of(kernel: func.FuncOp) -> Sequence[Parameter]:
    """The parameters of all arguments of a kernel."""
    types = enumerate(kernel.function_type.inputs)
    return [found for position, type_ in types for found in _of_argument(position, type_)]


def _of_argument(position: int, type_: Attribute) -> Iterator[Parameter]:
    if isinstance(type_, TmaDescType):
        return
    if not isa(type_, MemRefType[Attribute]):
        yield Parameter("scalar", position)
        return
    yield Parameter("ptr", position)
    for axis, extent in enumerate(type_.get_shape()):
        if extent == DYNAMIC_INDEX:
            yield Parameter("size", position, axis)
    if isinstance(type_.layout, StridedLayoutAttr):
        for axis, stride in enumerate(type_.layout.get_strides()):
            if stride is None:
                yield Parameter("stride", position, axis)
