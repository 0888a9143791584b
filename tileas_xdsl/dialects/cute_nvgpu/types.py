"""Types of `cute_nvgpu`: descriptors of shared memory and of tensor maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.cute.atom.interfaces import TensorMapType
from tileas_xdsl.dialects.cute.types.layouts import LayoutAttr, read_layout
from tileas_xdsl.dialects.cute.types.views import HandleViewType
from tileas_xdsl.dialects.shared_parsing import parse_layout_string
from tileas_xdsl.layout import Layout

__all__ = [
    "SmemDescType",
    "SmemDescViewType",
    "TmaDescriptorIm2colType",
    "TmaDescriptorTiledType",
    "tma_descriptor",
]


@irdl_attr_definition
class SmemDescType(ParametrizedAttribute, TypeAttribute):
    """A matrix descriptor of shared memory, 64 bits (PTX ISA 9.7.15.5.1)."""

    name = "cute_nvgpu.smem_desc"


@irdl_attr_definition
class TmaDescriptorTiledType(ParametrizedAttribute, TensorMapType, TypeAttribute):
    """A tiled tensor map of 128 bytes, an argument of the kernel (CUtensorMap)."""

    name = "cute_nvgpu.tma_descriptor_tiled"

    @property
    def kind(self) -> str:
        return "tiled"


@irdl_attr_definition
class TmaDescriptorIm2colType(ParametrizedAttribute, TensorMapType, TypeAttribute):
    """A tensor map of 128 bytes for columns of pixels, an argument of the kernel."""

    name = "cute_nvgpu.tma_descriptor_im2col"

    @property
    def kind(self) -> str:
        return "im2col"


@irdl_attr_definition
class SmemDescViewType(ParametrizedAttribute, HandleViewType, TypeAttribute):
    """`!cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,4):(0,2)">`: descriptors in a row.

    The layout says how many 16-byte units each is from the first.
    """

    name = "cute_nvgpu.smem_desc_view"
    source: Attribute
    layout_attr: LayoutAttr

    @property
    def layout(self) -> Layout:
        """The number of a descriptor to its distance in units of 16 bytes."""
        return self.layout_attr.data

    def with_layout(self, layout: Layout) -> SmemDescViewType:
        return SmemDescViewType(self.source, LayoutAttr(layout))

    def verify(self) -> None:
        if not isinstance(self.source, SmemDescType):
            raise VerifyException(
                f"a view is of descriptors !cute_nvgpu.smem_desc, not {self.source}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            source = parser.parse_type()
            parser.parse_punctuation(",", ": a view has a layout")
            layout: Any = parse_layout_string(parser, read_layout)
        if not isinstance(layout, Layout):
            parser.raise_error("the layout of a view of descriptors is a plain one")
        return source, LayoutAttr(layout)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.source)
            printer.print_string(f', "{self.layout}"')


tma_descriptor = TmaDescriptorTiledType()
