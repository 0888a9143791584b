"""What a tile is computed from, element by element, up to sums of products and loaded tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.base import shape_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows


def element_wise_roots(value: SSAValue) -> Iterator[SSAValue]:
    """The tiles that a tile is computed from, element by element; no constants.

    Each is visited once: a tile that each of 32 steps reads twice is on 2**32 paths.
    """
    pending, visited = [value], {value}
    while pending:
        tile = pending.pop()
        if is_uniform(tile.owner):
            continue
        read = sources(tile.owner)
        if not read:
            yield tile
        pending += [source for source in read if source not in visited]
        visited.update(read)


def sources(made: Operation | Block) -> Sequence[SSAValue]:
    """The tiles that an operation computes a tile from, element by element; else none."""
    if isinstance(made, GenerateOp):
        return [read.tensor for read in _large_reads(made)] if keeps_elements(made) else ()
    return made.operands if isinstance(made, Operation) and is_elementwise(made) else ()


def keeps_elements(op: GenerateOp) -> bool:
    """Whether tiles as large as the result are read only at the coordinates of each element.

    So `generate { sitofp (extract %sum[%i, %j]) }` is as element-wise as `arith.sitofp`; tiles of
    fewer elements are broadcasts, read anywhere.
    """
    coordinates = tuple(op.body.block.args)
    return all(tuple(read.indices) == coordinates for read in _large_reads(op))


def _large_reads(op: GenerateOp) -> list[tensor.ExtractOp]:
    """The reads of tiles with as many elements as the result."""
    size = prod(op.result.type.get_shape())
    reads = instances_in(op, tensor.ExtractOp)
    return [read for read in reads if prod(shape_of(read.tensor.type)) >= size]


def is_elementwise(op: Operation) -> bool:
    """Whether elements stay in their row and column: arithmetic, or a view that keeps rows."""
    return is_view(op) or (layout_role(op) is LayoutRole.ELEMENTWISE and not op.regions)


def is_view(op: Operation) -> bool:
    """Whether an operation shows a matrix with other dimensions of one element beside its rows."""
    if not isinstance(op, ExpandDimsOp) and not keeps_rows(op):
        return False
    source, result = op.operands[0], op.results[0]
    keeps_columns = shape_of(source.type)[-1] == shape_of(result.type)[-1]
    return keeps_columns and _is_matrix(result) and _is_matrix(source)


def _is_matrix(value: SSAValue) -> bool:
    """Whether one dimension of a tile has all rows: `64x1x128` has 64 of 128 elements."""
    rows = shape_of(value.type)[:-1]
    return len(rows) > 0 and prod(rows) == max(rows)


def is_uniform(op: Operation | Block) -> bool:
    """Whether all elements of a tile are one number."""
    return isinstance(op, tensor.SplatOp) or is_splat_constant(op)


def is_splat_constant(op: Operation | Block) -> bool:
    """Whether an operation is a constant tile of one repeated element."""
    if not isinstance(op, arith.ConstantOp):
        return False
    return isinstance(value := op.value, DenseIntOrFPElementsAttr) and is_splat(value)


def is_accumulator(value: SSAValue) -> bool:
    """Whether a product gives a tile, as the last value of loops around it too."""
    return product_of(value) is not None


def product_of(value: SSAValue) -> DotOp | None:
    """Return the product that gives a tile, as the last value of loops around it too."""
    made = value.owner
    if isinstance(made, scf.ForOp) and isinstance(value, OpResult):
        end = made.body.block.last_op
        return None if end is None else product_of(end.operands[value.index])
    return made if isinstance(made, DotOp) else None
