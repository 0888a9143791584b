"""Views of global memory: a tensor, and ways to see it as tiles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntAttr, NoneAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.enums import PaddingValueAttr, PtrAttr
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import (
    check_grid,
    check_indices,
    check_padding,
    check_sparse,
    check_sparse_indices,
    check_traversal,
)
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import print_type
from tileas_xdsl.dialects.cuda_tile.types.tile_types import (
    TileType,
    integers,
    is_number,
    print_ptr_attr,
)
from tileas_xdsl.dialects.cuda_tile.types.view_syntax import (
    parse_dim_map,
    parse_numbers,
    parse_padding,
    parse_tensor_view,
    parse_tensor_view_body,
    parse_tile_shape,
    print_dim_map,
    print_extents,
    print_padding,
    print_tile_shape,
)

Numbers = Iterable[int] | ArrayAttr[IntAttr]


def _numbers(values: Numbers) -> ArrayAttr[IntAttr]:
    if isinstance(values, ArrayAttr):
        return cast("ArrayAttr[IntAttr]", values)
    return integers(values)


def _plain(values: ArrayAttr[IntAttr]) -> tuple[int, ...]:
    return tuple(value.data for value in values)


@irdl_attr_definition
class TensorViewType(ParametrizedAttribute, TypeAttribute):
    """`!cuda_tile.tensor_view<?x16xf32, strides=[?,1]>`: a tensor in global memory.

    Extents and strides count elements; `DYNAMIC_INDEX` stands for one that is known at run time.
    """

    name = "cuda_tile.tensor_view"
    element_type: Attribute
    shape: ArrayAttr[IntAttr]
    strides: ArrayAttr[IntAttr]
    ptr_attr: PtrAttr | NoneAttr

    def __init__(
        self,
        element_type: Attribute,
        shape: Numbers,
        strides: Numbers,
        ptr_attr: PtrAttr | NoneAttr | None = None,
    ) -> None:
        super().__init__(element_type, _numbers(shape), _numbers(strides), ptr_attr or NoneAttr())

    def get_shape(self) -> tuple[int, ...]:
        """The extents."""
        return _plain(self.shape)

    def get_strides(self) -> tuple[int, ...]:
        """How many elements apart neighbours along each dimension are."""
        return _plain(self.strides)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element, shape, strides, ptr_attr = parse_tensor_view_body(parser)
        return element, integers(shape), integers(strides), ptr_attr

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for extent in self.get_shape():
                printer.print_string("?x" if extent == DYNAMIC_INDEX else f"{extent}x")
            print_type(printer, self.element_type)
            if self.shape.data:
                printer.print_string(", strides=[")
                print_extents(printer, self.get_strides())
                printer.print_string("]")
            print_ptr_attr(printer, self.ptr_attr)

    def verify(self) -> None:
        if not is_number(self.element_type):
            raise VerifyException(f"a tensor view has no elements of type {self.element_type}")
        shape, strides = self.get_shape(), self.get_strides()
        if len(shape) != len(strides):
            text = message("cuda_tile.tensor_view.ranks", shape=len(shape), strides=len(strides))
            raise VerifyException(text)
        if any(extent <= 0 and extent != DYNAMIC_INDEX for extent in shape):
            raise VerifyException(message("cuda_tile.tensor_view.sizes", shape=_bracketed(shape)))
        for stride in strides:
            if stride <= 0 and stride != DYNAMIC_INDEX:
                raise VerifyException(
                    message("cuda_tile.tensor_view.stride_positive", stride=stride)
                )


def _bracketed(values: Sequence[int]) -> str:
    return f"[{', '.join('?' if value == DYNAMIC_INDEX else str(value) for value in values)}]"


class TileView(ParametrizedAttribute, TypeAttribute):
    """A tensor view partitioned into tiles: an index selects a tile."""

    if TYPE_CHECKING:  # each kind has these parameters, in an order of its own
        tile_shape: ArrayAttr[IntAttr]
        tensor_view: TensorViewType
        padding_value: PaddingValueAttr | NoneAttr

    def get_tile_shape(self) -> tuple[int, ...]:
        """The extents of a tile."""
        return _plain(self.tile_shape)

    @property
    def index_rank(self) -> int:
        """How many numbers select a tile."""
        return len(self.tile_shape)

    @property
    def tile_type(self) -> TileType:
        """The type of the tiles."""
        return TileType(self.tile_shape, self.tensor_view.element_type)

    def check_index(self, types: Sequence[Attribute]) -> None:
        """Raise `VerifyException` if values of these types are no index."""
        check_indices(types)


def _optional(padding: PaddingValueAttr | NoneAttr | None) -> PaddingValueAttr | NoneAttr:
    return padding or NoneAttr()


def _default_map(dim_map: Numbers | None, tile_shape: ArrayAttr[IntAttr]) -> ArrayAttr[IntAttr]:
    return integers(range(len(tile_shape))) if dim_map is None else _numbers(dim_map)


@irdl_attr_definition
class PartitionViewType(TileView):
    """`!cuda_tile.partition_view<tile=(4x2), tensor_view<...>, dim_map=[1, 0]>`.

    Tiles side by side; dimension `i` of a tile runs along dimension `dim_map[i]` of the tensor.
    """

    name = "cuda_tile.partition_view"
    tile_shape: ArrayAttr[IntAttr]
    tensor_view: TensorViewType
    dim_map: ArrayAttr[IntAttr]
    padding_value: PaddingValueAttr | NoneAttr

    def __init__(
        self,
        tile_shape: Numbers,
        tensor_view: TensorViewType,
        dim_map: Numbers | None = None,
        padding_value: PaddingValueAttr | NoneAttr | None = None,
    ) -> None:
        tile = _numbers(tile_shape)
        super().__init__(tile, tensor_view, _default_map(dim_map, tile), _optional(padding_value))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            tile = parse_tile_shape(parser)
            parser.parse_punctuation(",")
            padding = parse_padding(parser)
            tensor = parse_tensor_view(parser, TensorViewType)
            return integers(tile), tensor, integers(parse_dim_map(parser, len(tile))), padding

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_tile_shape(printer, self.get_tile_shape())
            printer.print_string(", ")
            print_padding(printer, self.padding_value)
            print_type(printer, self.tensor_view)
            print_dim_map(printer, _plain(self.dim_map))

    def verify(self) -> None:
        _check_partition(self, self.dim_map)


def _check_partition(view: TileView, dim_map: ArrayAttr[IntAttr]) -> None:
    """What views have in common whose tiles form a grid."""
    tensor = view.tensor_view
    element = tensor.element_type
    check_grid(view.get_tile_shape(), len(tensor.shape), element, _plain(dim_map))
    check_padding(view.padding_value, element)


@irdl_attr_definition
class StridedViewType(TileView):
    """`!cuda_tile.strided_view<tile=(2), traversal_strides=[3], tensor_view<...>>`.

    Tiles begin `traversal_strides` elements apart, so that they may overlap or leave gaps.
    """

    name = "cuda_tile.strided_view"
    tile_shape: ArrayAttr[IntAttr]
    traversal_strides: ArrayAttr[IntAttr]
    tensor_view: TensorViewType
    dim_map: ArrayAttr[IntAttr]
    padding_value: PaddingValueAttr | NoneAttr

    def __init__(
        self,
        tile_shape: Numbers,
        traversal_strides: Numbers,
        tensor_view: TensorViewType,
        dim_map: Numbers | None = None,
        padding_value: PaddingValueAttr | NoneAttr | None = None,
    ) -> None:
        tile = _numbers(tile_shape)
        super().__init__(
            tile,
            _numbers(traversal_strides),
            tensor_view,
            _default_map(dim_map, tile),
            _optional(padding_value),
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            tile = parse_tile_shape(parser)
            parser.parse_punctuation(",")
            steps = parse_numbers(parser, "traversal_strides")
            parser.parse_punctuation(",")
            padding = parse_padding(parser)
            tensor = parse_tensor_view(parser, TensorViewType)
            dim_map = integers(parse_dim_map(parser, len(tile)))
            return integers(tile), integers(steps), tensor, dim_map, padding

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_tile_shape(printer, self.get_tile_shape())
            printer.print_string(", traversal_strides=[")
            print_extents(printer, _plain(self.traversal_strides))
            printer.print_string("], ")
            print_padding(printer, self.padding_value)
            print_type(printer, self.tensor_view)
            print_dim_map(printer, _plain(self.dim_map))

    def verify(self) -> None:
        _check_partition(self, self.dim_map)
        check_traversal(_plain(self.traversal_strides), self.index_rank)


@irdl_attr_definition
class GatherScatterViewType(TileView):
    """`!cuda_tile.gather_scatter_view<tile=(8x16), tensor_view<...>, sparse_dim=0>`.

    Along `sparse_dim` an index is a tile of positions, one for each slice of the tile.
    """

    name = "cuda_tile.gather_scatter_view"
    tile_shape: ArrayAttr[IntAttr]
    tensor_view: TensorViewType
    sparse_dim: IntAttr
    padding_value: PaddingValueAttr | NoneAttr

    def __init__(
        self,
        tile_shape: Numbers,
        tensor_view: TensorViewType,
        sparse_dim: int | IntAttr,
        padding_value: PaddingValueAttr | NoneAttr | None = None,
    ) -> None:
        dimension = sparse_dim if isinstance(sparse_dim, IntAttr) else IntAttr(sparse_dim)
        super().__init__(_numbers(tile_shape), tensor_view, dimension, _optional(padding_value))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            tile = parse_tile_shape(parser)
            parser.parse_punctuation(",")
            padding = parse_padding(parser)
            tensor = parse_tensor_view(parser, TensorViewType)
            parser.parse_punctuation(",")
            parser.parse_keyword("sparse_dim")
            parser.parse_punctuation("=")
            sparse = parser.parse_integer(allow_boolean=False, allow_negative=False)
            return integers(tile), tensor, IntAttr(sparse), padding

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_tile_shape(printer, self.get_tile_shape())
            printer.print_string(", ")
            print_padding(printer, self.padding_value)
            print_type(printer, self.tensor_view)
            printer.print_string(f", sparse_dim={self.sparse_dim.data}")

    def verify(self) -> None:
        tensor = self.tensor_view
        rank, element = len(tensor.shape), tensor.element_type
        check_sparse(self.get_tile_shape(), rank, element, self.sparse_dim.data)
        check_padding(self.padding_value, tensor.element_type)

    def check_index(self, types: Sequence[Attribute]) -> None:
        check_sparse_indices(types, self.get_tile_shape(), self.sparse_dim.data)
