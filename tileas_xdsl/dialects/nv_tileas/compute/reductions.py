"""Reductions and scans of tiles: a body combines what was combined before with the next elements.

They may take several tiles of one shape at once, as values and their positions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, i32
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.field_init import init_of_groups
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.compute.combiners import check_axis, check_combiner
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.spaces import TILE, Tile
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

Value = SSAValue | Operation


class CombiningOp(TileasOp):
    """Base: `sources`, tiles of one shape; the body takes the accumulators, then the elements."""

    sources = var_operand_def(TILE)
    axis = prop_def(IntegerAttr.constr(i32))
    atom = opt_prop_def(AtomAttr)
    outputs = var_result_def(TILE)
    body = region_def("single_block")

    assembly_format = "$sources attr-dict `:` type($sources) `->` type($outputs) $body"

    @property
    def source(self) -> SSAValue[Tile]:
        """The first tile, which is the only one of most operations."""
        return cast("SSAValue[Tile]", self.sources[0])

    @property
    def result(self) -> OpResult[Tile]:
        """What becomes of the first tile."""
        return self.outputs[0]

    @property
    def tiles(self) -> Sequence[Tile]:
        """The types of the sources."""
        return [cast("Tile", source.type) for source in self.sources]

    def check_sources(self) -> None:
        """The axis, the shapes, and the body."""
        if not self.sources:
            raise op_error(self, "combines the elements of one tile at least")
        first = self.tiles[0]
        check_axis(self, first, self.axis.value.data)
        for tile in self.tiles[1:]:
            if tile.get_shape() != first.get_shape():
                raise op_error(self, f"combines tiles of one shape, not {first} and {tile}")
        if len(self.outputs) != len(self.sources):
            raise op_error(
                self, f"gives {len(self.outputs)} tiles for {len(self.sources)} that it takes"
            )
        atom = None if self.atom is None else self.atom.data
        check_combiner(self, self.body, [tile.element_type for tile in self.tiles], atom)


def _sources(source: Value | Sequence[Value]) -> Sequence[SSAValue]:
    given = source if isinstance(source, Sequence) else [source]
    return [SSAValue.get(value) for value in given]


def _properties(axis: int, atom: AtomAttr | str | None) -> dict[str, Attribute | None]:
    return {
        "axis": IntegerAttr(axis, 32),
        "atom": AtomAttr.of(atom) if isinstance(atom, str) else atom,
    }


@tileas_op
class ReduceOp(CombiningOp):
    """Reduce tiles along dimension `axis`: the region combines accumulators with the next elements.

    The region is associative; the association is unspecified, the order of elements is kept.  With
    an atom, the region does what the atom specifies.
    """

    name = "nv_tileas.reduce"

    traits = traits_def(MemoryConsistency())

    def __init__(
        self,
        source: Value | Sequence[Value],
        axis: int,
        body: Region | Block,
        *,
        atom: AtomAttr | str | None = None,
        result_type: Attribute | None = None,
    ) -> None:
        """Without `result_type`, which is for one source, the results are not laid out."""
        sources = _sources(source)
        if result_type is None:
            tiles = [SSAValue.get(value, type=TensorType[Attribute]).type for value in sources]
            results: list[Attribute] = [
                TensorType(tile.element_type, _without(tile, axis)) for tile in tiles
            ]
        else:
            results = [result_type]
        init_of_groups(
            self,
            operands=[sources],
            properties=_properties(axis, atom),
            result_types=[results],
            regions=[Region(body) if isinstance(body, Block) else body],
        )

    def verify_(self) -> None:
        axis = self.axis.value.data
        if self.sources:
            check_axis(self, self.tiles[0], axis)
        for tile, output in zip(self.tiles, self.outputs, strict=False):
            result = output.type
            wanted = TensorType(tile.element_type, _without(tile, axis))
            if TensorType(result.element_type, result.get_shape()) != wanted:
                raise op_error(self, f"gives {wanted}, not {result}")
        self.check_sources()


@tileas_op
class ScanOp(CombiningOp):
    """Tiles of running combinations along `axis`, each including its own element.

    With `reverse`, it runs from the last element to the first.
    """

    name = "nv_tileas.scan"

    reverse = opt_prop_def(UnitAttr)

    traits = traits_def(MemoryConsistency())

    def __init__(
        self,
        source: Value | Sequence[Value],
        axis: int,
        body: Region | Block,
        *,
        reverse: bool = False,
        atom: AtomAttr | str | None = None,
        result_type: Attribute | None = None,
    ) -> None:
        """Without `result_type`, which is for one source, results have the types of sources."""
        sources = _sources(source)
        results = [value.type for value in sources] if result_type is None else [result_type]
        init_of_groups(
            self,
            operands=[sources],
            properties={**_properties(axis, atom), "reverse": UnitAttr() if reverse else None},
            result_types=[results],
            regions=[Region(body) if isinstance(body, Block) else body],
        )

    def verify_(self) -> None:
        if self.sources:
            check_axis(self, self.tiles[0], self.axis.value.data)
        for source, output in zip(self.tiles, self.outputs, strict=False):
            result = output.type
            kept = (source.element_type, source.get_shape())
            if kept != (result.element_type, result.get_shape()):
                raise op_error(
                    self, f"a scan keeps shape and elements of {source}, unlike {result}"
                )
        self.check_sources()


def _without(tile: Tile, axis: int) -> tuple[int, ...]:
    shape = tile.get_shape()
    return (*shape[:axis], *shape[axis + 1 :])
