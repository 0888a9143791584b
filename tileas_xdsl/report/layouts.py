"""The layouts that a compilation gave to tiles, each with a picture and the line that needed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.compiled_kernel import Stage
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.nv_tileas.attributes import (
    TENSOR_MEMORY_AXES,
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.inference.explanation import pictures
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.output.draw import draw_layout
from tileas_xdsl.layout.output.facts import facts
from tileas_xdsl.transforms.layouts.tl_layout_inference import lay_out

_LAID_OUT = (SharedEncoding, BlockedEncoding, DotOperandEncoding, LinearEncoding)

LineOf = Callable[[Location], str]
"""The source text of a place, empty if it is not known."""


@dataclass(frozen=True)
class LaidOutTile:
    """A type of tiles with a layout, and the first operation that has such a tile."""

    type: str
    """As it stands in the text of the IR."""
    title: str
    place: Location | None
    svg: str
    """Empty where there is no picture of such a layout."""
    facts: Sequence[tuple[str, str]]


@dataclass
class LayoutCollector:
    """Collects laid out tiles from modules; of each type the first one that a pass made."""

    found: dict[TensorType[Attribute], Location | None] = field(
        default_factory=dict[TensorType[Attribute], "Location | None"]
    )

    def watch(self, stage: Stage, module: ModuleOp) -> None:
        """Collect the types of a module that a pass left."""
        del stage
        for value, op in _values(module):
            if isa(value.type, TensorType) and isinstance(value.type.encoding, _LAID_OUT):
                self.found.setdefault(value.type, location_of(op))

    def tiles(self, line_of: LineOf) -> Sequence[LaidOutTile]:
        """Return what was found, with pictures."""
        return [_laid_out(type_, place, line_of) for type_, place in self.found.items()]


def fragments(module: ModuleOp, target: str) -> Iterator[LaidOutTile]:
    """Yield who owns what of the fragments and loops of `tl` kernels that have layouts."""
    for kernel in [op for op in module.clone().walk() if isinstance(op, KernelOp)]:
        try:
            program, decisions = lay_out(kernel, target)
        except DiagnosticError:
            continue
        for name, svg in pictures(program, decisions):
            yield LaidOutTile("", f"{name} of the block program", location_of(kernel), svg, ())


def _values(module: ModuleOp) -> Iterator[tuple[SSAValue, Operation]]:
    for op in module.walk():
        for value in op.results:
            yield value, op
        for region in op.regions:
            for block in region.blocks:
                for value in block.args:
                    yield value, op


def _laid_out(type_: TensorType[Attribute], place: Location | None, line_of: LineOf) -> LaidOutTile:
    layout, bits = _layout_of(type_)
    shape = "x".join(map(str, type_.get_shape()))
    title = f"{shape} {element_name(type_.element_type)} {_where(type_.encoding)}"
    if place is not None and (line := line_of(place)):
        title += f": {line}"
    try:
        svg, found = draw_layout(layout, bits, title=title), facts(layout, bits)
    except LayoutError:
        svg, found = "", [("layout", str(layout))]
    return LaidOutTile(str(type_), title, place, svg, found)


def _where(encoding: Attribute) -> str:
    match encoding:
        case SharedEncoding():
            return "in shared memory"
        case LinearEncoding(data=layout) if set(layout.axes()) & TENSOR_MEMORY_AXES:
            return "in tensor memory"
        case DotOperandEncoding():
            return "in registers, as a matrix instruction has it"
        case _:
            return "in registers"


def _layout_of(type_: TensorType[Attribute]) -> tuple[AnyLayout | MemoryLayout, int | None]:
    """The layout of a tile, and the bits of an element of one in memory."""
    match type_.encoding:
        case SharedEncoding(data=memory):
            return memory, bits_of(type_.element_type)
        case BlockedEncoding(data=layout) | DotOperandEncoding(data=layout):
            return layout, None
        case LinearEncoding(data=layout):
            return layout, None
        case _:
            raise ValueError(f"{type_} has no layout")
