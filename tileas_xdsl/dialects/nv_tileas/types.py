"""Types of `nv_tileas`: tokens, iterators, views and descriptors."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr, TupleType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.clauses import INTEGER, Clause, ClausedType, Form, parameter_of
from tileas_xdsl.dialects.nv_tileas.attributes import LayoutAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.shared_parsing import (
    parse_payload_type,
    parse_shape_and_element,
    print_shape_and_element,
)

PAYLOAD = Form(parse_payload_type)
SPACE = parameter_of(SpaceAttr)


@irdl_attr_definition
class ProducerTokenType(ParametrizedAttribute, TypeAttribute):
    """Ownership of a stage that is being written.  Carries no data."""

    name = "nv_tileas.async.pipeline.producer_token"


@irdl_attr_definition
class ConsumerTokenType(ParametrizedAttribute, TypeAttribute):
    """Ownership of a stage that is being read.  Carries no data."""

    name = "nv_tileas.async.pipeline.consumer_token"


@irdl_attr_definition
class MemTokenType(ParametrizedAttribute, TypeAttribute):
    """An edge in the order of memory effects."""

    name = "nv_tileas.mem_token"


@irdl_attr_definition
class TmaDescType(ParametrizedAttribute, TypeAttribute):
    """A TMA descriptor (tensor map)."""

    name = "nv_tileas.tma_desc"


@irdl_attr_definition
class AsyncTokenType(ClausedType, TypeAttribute):
    """`!nv_tileas.token`: completion of asynchronous work; `!nv_tileas.token<T>` delivers a `T`."""

    name = "nv_tileas.token"
    payload: Attribute

    CLAUSES = (Clause(PAYLOAD, default=NoneAttr()),)

    def __init__(self, payload: Attribute | None = None) -> None:
        super().__init__(NoneAttr() if payload is None else payload)

    @property
    def delivered(self) -> Attribute | None:
        """The type of the value that `async.wait` returns; None for a bare token."""
        return None if isinstance(self.payload, NoneAttr) else self.payload


@irdl_attr_definition
class IteratorType(ClausedType, TypeAttribute):
    """`iterator<T, 3, smem>`: a rotating handle of a pipeline's stages.

    `payload` is what a stage holds (a `tuple` for several tiles); the number of stages and the
    space of the payload may be left open.
    """

    name = "nv_tileas.async.pipeline.iterator"
    payload: Attribute
    count: IntAttr | NoneAttr
    space: SpaceAttr | NoneAttr

    CLAUSES = (
        Clause(PAYLOAD), Clause(INTEGER, default=NoneAttr()), Clause(SPACE, default=NoneAttr()),
    )  # fmt: skip

    def __init__(
        self, payload: Attribute, count: int | None = None, space: Space | None = None
    ) -> None:
        super().__init__(
            payload,
            NoneAttr() if count is None else IntAttr(count),
            NoneAttr() if space is None else SpaceAttr(space),
        )

    @property
    def payload_types(self) -> tuple[Attribute, ...]:
        """The types of the values in a stage."""
        if isinstance(self.payload, TupleType):
            return self.payload.types.data
        return (self.payload,)

    @property
    def stages(self) -> int | None:
        """The number of stages, None where the type leaves it open."""
        return self.count.data if isinstance(self.count, IntAttr) else None

    def verify(self) -> None:
        if self.stages is not None and self.stages < 1:
            raise VerifyException(f"an iterator has at least one stage, not {self.stages}")


@irdl_attr_definition
class TiledViewType(ParametrizedAttribute, TypeAttribute):
    """`!nv_tileas.tiled_view<128x64xf16, smem, <(128,64),(64,1)>>`: a tile in memory.

    Residency belongs to the type: views of one shape in different spaces are different types.
    """

    name = "nv_tileas.tiled_view"
    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    residency: SpaceAttr
    layout: LayoutAttr | NoneAttr

    def __init__(
        self,
        shape: Sequence[int] | ArrayAttr[IntAttr],
        element_type: Attribute,
        residency: Space | SpaceAttr,
        layout: LayoutAttr | NoneAttr | None = None,
    ) -> None:
        super().__init__(
            shape if isinstance(shape, ArrayAttr) else ArrayAttr([IntAttr(d) for d in shape]),
            element_type,
            residency if isinstance(residency, SpaceAttr) else SpaceAttr(residency),
            NoneAttr() if layout is None else layout,
        )

    @property
    def space(self) -> Space:
        """Where the tile lives."""
        return self.residency.data

    def get_shape(self) -> tuple[int, ...]:
        """The extents; `DYNAMIC_INDEX` for one that is not known."""
        return tuple(d.data for d in self.shape)

    def get_element_type(self) -> Attribute:
        """The type of the elements."""
        return self.element_type

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        layout: LayoutAttr | NoneAttr = NoneAttr()
        with parser.in_angle_brackets():
            shape, element = parse_shape_and_element(parser)
            parser.parse_punctuation(",", ": a view says where it lives, gmem, smem, tmem or rmem")
            space = SpaceAttr(parser.parse_str_enum(Space))
            if parser.parse_optional_punctuation(","):
                layout = LayoutAttr(LayoutAttr.parse_parameter(parser))
        return shape, element, space, layout

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_shape_and_element(printer, self.get_shape(), self.element_type)
            printer.print_string(f", {self.space.value}")
            if isinstance(self.layout, LayoutAttr):
                printer.print_string(f", {self.layout.data}")
