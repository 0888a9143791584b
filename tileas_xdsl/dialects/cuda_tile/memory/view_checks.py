"""Which views exist, and which values are an index into one: `Types.cpp` of the open dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import NoneAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.cuda_tile.enums import PaddingValue, PaddingValueAttr
from tileas_xdsl.dialects.cuda_tile.types.scalars import is_float
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType, check_tile, listed


def check_grid(
    tile: Sequence[int], tensor_rank: int, element: Attribute, dim_map: Sequence[int]
) -> None:
    """A view whose tiles form a grid: dimension `i` of a tile is dimension `dim_map[i]`."""
    _check_rank(tile, tensor_rank)
    if len(dim_map) != len(tile):
        raise VerifyException(
            message("cuda_tile.view.dim_map_size", expected=len(tile), given=len(dim_map))
        )
    _check_extents(tile)
    _check_map(dim_map, tensor_rank)
    check_tile(tile, element)


def check_sparse(
    tile: Sequence[int], tensor_rank: int, element: Attribute, sparse_dim: int
) -> None:
    """A view that gathers slices along one dimension."""
    _check_rank(tile, tensor_rank)
    _check_extents(tile)
    if sparse_dim >= tensor_rank:
        raise VerifyException(
            message("cuda_tile.view.gather_dimension", rank=tensor_rank, dim=sparse_dim)
        )
    check_tile(tile, element)


def _check_rank(tile: Sequence[int], tensor_rank: int) -> None:
    if not tile:
        raise VerifyException(message("cuda_tile.view.tile_rank_0"))
    if len(tile) != tensor_rank:
        raise VerifyException(
            message("cuda_tile.view.tile_rank", rank=tensor_rank, tile_rank=len(tile))
        )


def _check_extents(tile: Sequence[int]) -> None:
    if any(extent & (extent - 1) for extent in tile):
        raise VerifyException(message("cuda_tile.view.tile_powers_of_two", shape=listed(tile)))


def _check_map(dim_map: Sequence[int], tensor_rank: int) -> None:
    used: dict[int, int] = {}
    for tile_dim, target in enumerate(dim_map):
        if target < 0:
            raise VerifyException(message("cuda_tile.view.target_negative", dim=target))
        if target >= tensor_rank:
            raise VerifyException(
                message("cuda_tile.view.target_outside", rank=tensor_rank, dim=target)
            )
        if target in used:
            text = message(
                "cuda_tile.view.target_twice", dim=target, first=used[target], second=tile_dim
            )
            raise VerifyException(text)
        used[target] = tile_dim


def check_traversal(steps: Sequence[int], rank: int) -> None:
    """The distances between the tiles of a strided view."""
    if len(steps) != rank:
        raise VerifyException(
            message("cuda_tile.view.traversal_count", expected=rank, given=len(steps))
        )
    if any(step <= 0 for step in steps):
        raise VerifyException(message("cuda_tile.view.traversal_positive", strides=listed(steps)))


def check_padding(padding: PaddingValueAttr | NoneAttr, element: Attribute) -> None:
    """All padding values but zero are of floats."""
    if isinstance(padding, NoneAttr) or padding.data is PaddingValue.ZERO or is_float(element):
        return
    raise VerifyException(
        message("cuda_tile.view.padding_float", padding=padding.data, element=quoted(element))
    )


def quoted(type_: Attribute) -> str:
    """A type as MLIR shows it in messages."""
    return f"'{type_}'"


def check_indices(types: Sequence[Attribute]) -> None:
    """An index of scalars of one type, given those of tiles."""
    for type_ in types:
        if _rank(type_):
            raise VerifyException(message("cuda_tile.view.index_scalar", type=quoted(type_)))
    for index, type_ in enumerate(types):
        if type_ != types[0]:
            text = message(
                "cuda_tile.view.index_same",
                index=index,
                expected=quoted(types[0]),
                given=quoted(type_),
            )
            raise VerifyException(text)


def _rank(type_: Attribute) -> int:
    assert isinstance(type_, TileType)
    return type_.rank


def check_sparse_indices(types: Sequence[Attribute], tile: Sequence[int], sparse_dim: int) -> None:
    """An index of scalars of one type, but along `sparse_dim` a position for each slice."""
    positions = types[sparse_dim]
    assert isinstance(positions, TileType)
    if positions.rank != 1:
        raise VerifyException(
            message("cuda_tile.view.sparse_rank", dim=sparse_dim, rank=positions.rank)
        )
    if positions.size != tile[sparse_dim]:
        text = message(
            "cuda_tile.view.sparse_size",
            size=positions.size,
            dim=sparse_dim,
            extent=tile[sparse_dim],
        )
        raise VerifyException(text)
    _check_dense_indices(types, sparse_dim)


def _check_dense_indices(types: Sequence[Attribute], sparse_dim: int) -> None:
    first: Attribute | None = None
    for index, type_ in enumerate(types):
        if index == sparse_dim:
            continue
        if _rank(type_):
            raise VerifyException(message("cuda_tile.view.sparse_scalar", index=index))
        first = first or type_
        if type_ != first:
            text = message(
                "cuda_tile.view.sparse_same",
                index=index,
                expected=quoted(first),
                given=quoted(type_),
            )
            raise VerifyException(text)
