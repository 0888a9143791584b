"""The pass `tileas-fuse-positions`: elements that follow from their coordinates are computed there.

Masks are made of ranges, comparisons and broadcasts, which would each be a tile of its own, laid
out for itself and moved.  Inside of the `generate` that uses them they are integers of a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tileas_xdsl.analysis.layout_flow import LayoutRole, layout_role
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert

Place: TypeAlias = Sequence[SSAValue]
"""The coordinates of an element."""


MOST_OPERATIONS = 16
"""What an element may take; dearer ones are computed once, in a tile of their own."""


@dataclass
class Positions:
    """Which tiles follow from the coordinates of their elements, scalars and constants alone."""

    _costs: dict[Operation, int | None] = field(default_factory=dict[Operation, int | None])

    def tell(self, tile: SSAValue) -> bool:
        """Whether positions tell the elements of a tile, in a few operations."""
        cost = self._cost(tile)
        return cost is not None and cost <= MOST_OPERATIONS

    def _cost(self, tile: SSAValue) -> int | None:
        """The operations that an element takes; None where it depends on more than its place."""
        op = tile.owner
        if not isinstance(op, Operation) or space_of(tile.type) is not None:
            return None
        if op not in self._costs:
            self._costs[op] = self._of(op)
        return self._costs[op]

    def _of(self, op: Operation) -> int | None:
        match op:
            case tensor.SplatOp():
                return 0
            case arith.ConstantOp():
                return None if _number(op) is None else 0
            case ExpandDimsOp():
                return self._cost(op.source)
            case ViewOp():
                return None if _axes_kept(op) is None else self._cost(op.source)
            case GenerateOp():
                return _sum(map(self._of_plain, op.body.block.ops))
            case _:
                return _sum([1, *map(self._cost, op.operands)]) if _is_elementwise(op) else None

    def _of_plain(self, op: Operation) -> int | None:
        """What an operation of a body takes; None where it reads what positions do not tell."""
        if isinstance(op, tensor.ExtractOp):
            return self._cost(op.tensor)
        if isinstance(op, YieldOp):
            return 0
        return 1 if op.name.startswith("arith.") and not op.regions else None


def _sum(costs: Iterable[int | None]) -> int | None:
    total = 0
    for cost in costs:
        if cost is None:
            return None
        total += cost
    return total


def _is_elementwise(op: Operation) -> bool:
    """Whether each element is made of those of other tiles at the same place."""
    return (
        layout_role(op) is LayoutRole.ELEMENTWISE
        and op.name.startswith("arith.")
        and not op.regions
        and len(op.results) == 1
        and all(shape_of(v.type) == shape_of(op.results[0].type) for v in op.operands)
    )


def _number(op: arith.ConstantOp) -> Any:
    """What all elements of a constant tile are; None where they differ."""
    value = op.value
    if not isinstance(value, DenseIntOrFPElementsAttr) or not value.is_splat():
        return None
    return next(iter(value.iter_attrs()))


def _axes_kept(op: ViewOp) -> list[int | None] | None:
    """For each dimension of the source that of the result, None for an extent of 1.

    None as a whole where the view changes more than dimensions of one.
    """
    there, here = shape_of(op.source.type), shape_of(op.result.type)
    if op.indices or op.offset is not None or op.source.type is op.result.type:
        return None
    wide = [axis for axis, extent in enumerate(here) if extent != 1]
    if [here[axis] for axis in wide] != [extent for extent in there if extent != 1]:
        return None
    left = iter(wide)
    return [None if extent == 1 else next(left) for extent in there]


def element_at(tile: SSAValue, place: Place, insert: Insert) -> SSAValue:
    """The element of a tile that positions tell, computed from its coordinates."""
    op = tile.owner
    assert isinstance(op, Operation)
    return _RULES.get(type(op), _elementwise)(op, place, insert)


def _splat(op: tensor.SplatOp, place: Place, insert: Insert) -> SSAValue:
    return op.input


def _constant(op: arith.ConstantOp, place: Place, insert: Insert) -> SSAValue:
    return insert(arith.ConstantOp(_number(op))).result


def _expanded(op: ExpandDimsOp, place: Place, insert: Insert) -> SSAValue:
    axis = op.axis.value.data
    return element_at(op.source, [*place[:axis], *place[axis + 1 :]], insert)


def _viewed(op: ViewOp, place: Place, insert: Insert) -> SSAValue:
    axes = _axes_kept(op)
    assert axes is not None
    return element_at(op.source, [insert.index(0) if k is None else place[k] for k in axes], insert)


def _generated(op: GenerateOp, place: Place, insert: Insert) -> SSAValue:
    block = op.body.block
    here: dict[SSAValue, SSAValue] = dict(zip(block.args, place, strict=True))
    for inner in block.ops:
        if isinstance(inner, YieldOp):
            return here.get(inner.operands[0], inner.operands[0])
        if isinstance(inner, tensor.ExtractOp):
            indices = [here.get(index, index) for index in inner.indices]
            here[inner.result] = element_at(inner.tensor, indices, insert)
        else:
            insert(inner.clone(here))
    raise AssertionError("the body of a generate ends with a yield")


def _elementwise(op: Operation, place: Place, insert: Insert) -> SSAValue:
    elements = [element_at(value, place, insert) for value in op.operands]
    made = type(op).create(
        operands=elements,
        result_types=[element_of(op.results[0].type)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    return insert(made).results[0]


_RULES: Mapping[type[Operation], Callable[[Any, Place, Insert], SSAValue]] = {
    ExpandDimsOp: _expanded,
    GenerateOp: _generated,
    ViewOp: _viewed,
    arith.ConstantOp: _constant,
    tensor.SplatOp: _splat,
}


@dataclass
class FuseElement(RewritePattern):
    """In a `generate`, an element that its coordinates tell is computed instead of taken."""

    positions: Positions = field(default_factory=Positions)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.parent_op(), GenerateOp) or not self.positions.tell(op.tensor):
            return
        rewriter.replace(op, [], [element_at(op.tensor, op.indices, Insert(rewriter.insert))])


@dataclass(frozen=True)
class TileasFusePositions(ModulePass):
    """Compute elements that follow from their coordinates where they are used.

    Those are elements of ranges, splats, constants, and what operations of `arith`, new dimensions
    and other `generate` make of them in a few operations.  Tiles that are loaded or multiplied are
    still taken from.
    """

    name = "tileas-fuse-positions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the pass."""
        apply_patterns(op, [FuseElement()], dce=True)
