"""Types of views, an iterator with a layout, and of the iterators that are no pointers.

`!cute.memref<f16, smem, align<128>, S<3,4,3>, "(8,64):(64,1)">` is a view of memory: the swizzle
belongs to the pointer, the layout does not have it.  `!cute.coord_tensor<"(0,0)",
"(?,?):(1@1,1@0)">` is a view of coordinates, and `!cute.desc_iter<...>` a descriptor that can be
moved.  A value carries the pointer or the unknown coordinates, and the unknown leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace, AddressSpaceAttr
from tileas_xdsl.dialects.cute.types.layouts import AnyLayoutType, layout_type, read_layout
from tileas_xdsl.dialects.cute.types.pointers import (
    UNSWIZZLED,
    PtrType,
    SwizzleType,
    natural_alignment,
    parse_clauses,
    parse_element_and_space,
    print_pointed,
)
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType, TreeAttribute
from tileas_xdsl.dialects.shared_parsing import parse_layout_string
from tileas_xdsl.layout import NO_SWIZZLE, ComposedLayout, Layout, Swizzle
from tileas_xdsl.layout.axes import mode_path
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import is_tuple, show
from tileas_xdsl.layout.layout import coprofile
from tileas_xdsl.layout.output.text import parse_tuple_type


@dataclass(frozen=True, init=False)
class PointedType(ParametrizedAttribute):
    """A pointer and a layout behind it."""

    element_type: Attribute
    address_space: AddressSpaceAttr
    alignment: IntAttr
    address_swizzle: SwizzleType
    layout_type: Attribute

    def __init__(
        self,
        element_type: Attribute,
        space: AddressSpace | str,
        layout: Layout | ComposedLayout,
        alignment: int | None = None,
        swizzle: Swizzle = NO_SWIZZLE,
    ) -> None:
        """`alignment` in bytes, by default that of one element."""
        super().__init__(
            element_type,
            AddressSpaceAttr(AddressSpace(space)),
            IntAttr(natural_alignment(element_type) if alignment is None else alignment),
            SwizzleType(swizzle) if swizzle.bits else UNSWIZZLED,
            layout_type(layout),
        )

    @property
    def space(self) -> AddressSpace:
        """Where the elements are."""
        return self.address_space.data

    @property
    def align(self) -> int:
        """What the address is a multiple of, in bytes."""
        return self.alignment.data

    @property
    def swizzle(self) -> Swizzle:
        """How byte addresses are permuted."""
        return self.address_swizzle.data

    @property
    def layout(self) -> Layout | ComposedLayout:
        """Where each element is, counted in elements."""
        assert isinstance(self.layout_type, AnyLayoutType)
        return self.layout_type.data

    @property
    def iterator(self) -> PtrType:
        """The type of the pointer."""
        return PtrType(self.element_type, self.space, self.align, self.swizzle)

    def verify(self) -> None:
        layout = self.layout
        if isinstance(layout, Layout) and any(layout.axes()):
            raise VerifyException(
                message(
                    "cute.memref.codomain",
                    iterator=self.iterator,
                    layout=layout,
                    profile=_profile(layout),
                )
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element, space = parse_element_and_space(parser)
            alignment, swizzle = parse_clauses(parser)
            layout: Any = parse_layout_string(parser, read_layout)
        if alignment is None:
            alignment = natural_alignment(element)
        return element, space, IntAttr(alignment), swizzle, layout_type(layout)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_pointed(printer, self.element_type, self.space, self.align, self.swizzle)
            printer.print_string(f', "{self.layout}"')


class HandleViewType(ABC):
    """A view whose iterator only another dialect knows: descriptors of shared memory."""

    @property
    @abstractmethod
    def layout(self) -> Layout:
        """How far each element is from the first, in units of the iterator."""

    @abstractmethod
    def with_layout(self, layout: Layout) -> Attribute:
        """The type of a view with the same iterator and another layout."""


@irdl_attr_definition
class MemRefType(PointedType, TypeAttribute):
    """A view of memory or registers."""

    name = "cute.memref"


@irdl_attr_definition
class DescIterType(PointedType, TypeAttribute):
    """A descriptor that can be moved: pointer, shape, stride, swizzle and rank in one value."""

    name = "cute.desc_iter"


@irdl_attr_definition
class ArithTupleIterType(TreeAttribute, TypeAttribute):
    """`!cute.arith_tuple_iter<"(0,?)">`: an iterator over coordinates."""

    name = "cute.arith_tuple_iter"


@irdl_attr_definition
class CoordTensorType(ParametrizedAttribute, TypeAttribute):
    """A view of coordinates: where it begins, and a layout with scaled bases."""

    name = "cute.coord_tensor"
    start: Attribute
    layout_type: Attribute

    def __init__(self, start: Any, layout: Layout | ComposedLayout) -> None:
        super().__init__(IntTupleType(start), layout_type(layout))

    @property
    def origin(self) -> Any:
        """The coordinate of the first element."""
        assert isinstance(self.start, IntTupleType)
        return self.start.data

    @property
    def layout(self) -> Layout | ComposedLayout:
        """How far each element is from the first."""
        assert isinstance(self.layout_type, AnyLayoutType)
        return self.layout_type.data

    def verify(self) -> None:
        layout = innermost(self.layout)
        if not all(_is_mode(self.origin, axis) for axis in layout.axes()):
            raise VerifyException(
                message(
                    "cute.memref.codomain",
                    iterator=ArithTupleIterType(self.origin),
                    layout=layout,
                    profile=_profile(layout),
                )
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            start: Any = parse_layout_string(parser, parse_tuple_type)
            parser.parse_punctuation(",", ": a view of coordinates has a layout")
            layout: Any = parse_layout_string(parser, read_layout)
        return IntTupleType(start), layout_type(layout)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f'"{show(self.origin)}", "{self.layout}"')


def _is_mode(tree: Any, axis: str) -> bool:
    """Whether an axis is the path to an integer of a coordinate; no axis is all of it."""
    path = () if axis == "" else mode_path(axis)
    if path is None:
        return False
    for mode in path:
        if not is_tuple(tree) or mode >= len(tree):
            return False
        tree = tree[mode]
    return not is_tuple(tree)


def _profile(layout: Layout) -> str:
    """The profile of the codomain, or its axes if they nest."""
    try:
        return show(coprofile(layout))
    except LayoutError:
        return ", ".join(layout.axes())
