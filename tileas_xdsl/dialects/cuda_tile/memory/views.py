"""Memory through views: tensors, ways to see them as tiles, and loads and stores of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import (
    GATHER_SCATTER_VIEW,
    INT_TILE,
    PARTITION_VIEW,
    SCALAR_INT,
    STRIDED_VIEW,
    TENSOR_VIEW,
    TILE,
    TILE_VIEW,
    TOKEN,
)
from tileas_xdsl.dialects.cuda_tile.enums import MemoryOrderingSemanticsAttr, MemoryScopeAttr
from tileas_xdsl.dialects.cuda_tile.hints import OF_VIEW_ACCESS, OptimizationHintsAttr
from tileas_xdsl.dialects.cuda_tile.memory.access_checks import (
    check_hints,
    check_load_order,
    check_store_order,
)
from tileas_xdsl.dialects.cuda_tile.memory.access_directives import (
    Order,
    parse_access,
    print_access,
)
from tileas_xdsl.dialects.cuda_tile.memory.indexed import (
    SEGMENT_SIZES,
    Extras,
    flags_of,
    parse_extras,
    parse_indexed,
    parse_values,
    print_extras,
    print_indexed,
    print_types_of,
    segments,
)
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.view_types import (
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileView,
)


class _MakeViewOp(CudaTileOp):
    """Partition a tensor view into tiles."""

    VIEW: ClassVar[type[TileView]]
    tensor_view = operand_def(TENSOR_VIEW)

    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> _MakeViewOp:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        view = parse_type(parser)
        if not isinstance(view, cls.VIEW):
            name = cls.VIEW.name.rpartition(".")[2]
            text = message("cuda_tile.expected.view_type", expected=name, given=quoted(view))
            parser.raise_error(text, at_position=position)
        tensor = parser.resolve_operand(operand, view.tensor_view)
        return cls.create(operands=[tensor], result_types=[view], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.tensor_view)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        print_type(printer, self.results[0].type)

    def check(self) -> None:
        view, given = self.results[0].type, self.tensor_view.type
        assert isinstance(view, TileView)
        if given != view.tensor_view:
            raise self.refuse(
                "cuda_tile.view.of_other_tensor",
                given=quoted(given),
                expected=quoted(view.tensor_view),
            )


@cuda_tile_op
class MakePartitionViewOp(_MakeViewOp):
    """Tiles side by side."""

    name = "cuda_tile.make_partition_view"
    VIEW: ClassVar = PartitionViewType
    result = result_def(PARTITION_VIEW)


@cuda_tile_op
class MakeStridedViewOp(_MakeViewOp):
    """Tiles any distance apart."""

    name = "cuda_tile.make_strided_view"
    VIEW: ClassVar = StridedViewType
    result = result_def(STRIDED_VIEW)


@cuda_tile_op
class MakeGatherScatterViewOp(_MakeViewOp):
    """Tiles of slices that each have an index of their own."""

    name = "cuda_tile.make_gather_scatter_view"
    VIEW: ClassVar = GatherScatterViewType
    result = result_def(GATHER_SCATTER_VIEW)


class _GetShapeOp(CudaTileOp):
    """The extents of something: one result each, all of one type."""

    SOURCE: ClassVar[type[TensorViewType | TileView]]
    EXPECTED: ClassVar[str]
    """The key of the message for a source of another type."""
    COUNT: ClassVar[str]
    """The key of the message for another number of results."""

    results_ = var_result_def(SCALAR_INT)
    traits = traits_def(Pure())

    @staticmethod
    def rank_of(type_: Attribute) -> int:
        """How many extents a source of this type has."""
        if isinstance(type_, TensorViewType):
            return len(type_.shape)
        assert isinstance(type_, TileView)
        return type_.index_rank

    @classmethod
    def parse(cls, parser: Parser) -> _GetShapeOp:
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        position = parser.pos
        source = parse_type(parser)
        if not isinstance(source, cls.SOURCE):
            text = message(cls.EXPECTED, type=quoted(source))
            parser.raise_error(text, at_position=position)
        parser.parse_punctuation("->")
        result = parse_type(parser)
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[result] * cls.rank_of(source),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operands[0])
        printer.print_string(" : ")
        print_type(printer, self.operands[0].type)
        printer.print_string(" -> ")
        print_type(printer, self.results[0].type)

    def check(self) -> None:
        rank = self.rank_of(self.operands[0].type)
        if len(self.results) != rank:
            raise self.refuse(self.COUNT, expected=rank, given=len(self.results))


@cuda_tile_op
class GetTensorShapeOp(_GetShapeOp):
    """The extents of a tensor in elements."""

    name = "cuda_tile.get_tensor_shape"
    SOURCE: ClassVar = TensorViewType
    EXPECTED: ClassVar = "cuda_tile.expected.tensor_view"
    COUNT: ClassVar = "cuda_tile.results.tensor_rank"
    src = operand_def(TENSOR_VIEW)


@cuda_tile_op
class GetIndexSpaceShapeOp(_GetShapeOp):
    """How many indices a view has along each of its dimensions."""

    name = "cuda_tile.get_index_space_shape"
    SOURCE: ClassVar = TileView
    EXPECTED: ClassVar = "cuda_tile.expected.tile_view"
    COUNT: ClassVar = "cuda_tile.results.index_rank"
    src = operand_def(TILE_VIEW)


class _ViewAccessOp(CudaTileOp):
    """Base of a load and a store."""

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = opt_prop_def(MemoryScopeAttr)
    optimization_hints = opt_prop_def(OptimizationHintsAttr)
    inbounds = prop_def(DenseArrayBase)

    def check_access(self, view: Attribute, indices: Sequence[SSAValue], tile: Attribute) -> None:
        """The index selects a tile of the view, and this is its type."""
        assert isinstance(view, TileView)
        if len(indices) != view.index_rank:
            raise self.refuse(
                "cuda_tile.access.index_count", expected=view.index_rank, given=len(indices)
            )
        if tile != view.tile_type:
            raise self.refuse(
                "cuda_tile.access.tile_type", expected=quoted(view.tile_type), given=quoted(tile)
            )
        try:
            view.check_index([index.type for index in indices])
        except VerifyException as error:
            raise op_error(self, str(error)) from error
        check_hints(self, OF_VIEW_ACCESS)
        flags = flags_of(self.inbounds)
        if len(flags) != len(indices):
            raise self.refuse("cuda_tile.inbounds.size", given=len(flags), expected=len(indices))


def _properties(order: Order, extras: Extras, sizes: Sequence[int]) -> dict[str, Attribute]:
    semantics, scope = order
    properties: dict[str, Attribute] = {"memory_ordering_semantics": semantics}
    if scope is not None:
        properties["memory_scope"] = scope
    return {**properties, **extras.properties, SEGMENT_SIZES: segments(*sizes)}


@cuda_tile_op
class LoadViewTkoOp(_ViewAccessOp):
    """One tile of a view."""

    name = "cuda_tile.load_view_tko"

    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    token = opt_operand_def(TOKEN)
    tile = result_def(TILE)
    result_token = result_def(TOKEN)

    @classmethod
    def parse(cls, parser: Parser) -> LoadViewTkoOp:
        order = parse_access(parser, view=True)
        indexed = parse_indexed(parser)
        extras = parse_extras(parser, indexed)
        parser.parse_punctuation(":")
        values = parse_values(parser, indexed, extras.token)
        parser.parse_punctuation("->")
        tile = parse_type(parser)
        parser.parse_punctuation(",")
        sizes = (1, len(values.indices), len(values.token))
        return cls.create(
            operands=[values.view, *values.indices, *values.token],
            result_types=[tile, parse_type(parser)],
            properties=_properties(order, extras, sizes),
            attributes=extras.attributes,
        )

    def print(self, printer: Printer) -> None:
        print_access(printer, self.memory_ordering_semantics, self.memory_scope)
        printer.print_string(" ")
        print_indexed(printer, self.view, self.index)
        print_extras(printer, self, self.token)
        printer.print_string(" : ")
        print_types_of(printer, self.view, self.index)
        printer.print_string(" -> ")
        print_type(printer, self.tile.type)
        printer.print_string(", ")
        print_type(printer, self.result_token.type)

    def check(self) -> None:
        self.check_access(self.view.type, self.index, self.tile.type)
        check_load_order(self)


@cuda_tile_op
class StoreViewTkoOp(_ViewAccessOp):
    """One tile of a view is set."""

    name = "cuda_tile.store_view_tko"

    tile = operand_def(TILE)
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    @classmethod
    def parse(cls, parser: Parser) -> StoreViewTkoOp:
        order = parse_access(parser, view=True)
        stored = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        indexed = parse_indexed(parser)
        extras = parse_extras(parser, indexed)
        parser.parse_punctuation(":")
        tile = parser.resolve_operand(stored, parse_type(parser))
        parser.parse_punctuation(",")
        values = parse_values(parser, indexed, extras.token)
        parser.parse_punctuation("->")
        sizes = (1, 1, len(values.indices), len(values.token))
        return cls.create(
            operands=[tile, values.view, *values.indices, *values.token],
            result_types=[parse_type(parser)],
            properties=_properties(order, extras, sizes),
            attributes=extras.attributes,
        )

    def print(self, printer: Printer) -> None:
        print_access(printer, self.memory_ordering_semantics, self.memory_scope)
        printer.print_string(" ")
        printer.print_ssa_value(self.tile)
        printer.print_string(", ")
        print_indexed(printer, self.view, self.index)
        print_extras(printer, self, self.token)
        printer.print_string(" : ")
        print_type(printer, self.tile.type)
        printer.print_string(", ")
        print_types_of(printer, self.view, self.index)
        printer.print_string(" -> ")
        print_type(printer, self.result_token.type)

    def check(self) -> None:
        self.check_access(self.view.type, self.index, self.tile.type)
        check_store_order(self)
