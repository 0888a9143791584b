"""Reductions, scans and generated tiles: operations whose body computes one element.

A body runs once on whole slices where it can be lifted; else element by element, as the caller runs
regions.  Sums, products and extremes of a reduction are combined in halves, every step rounded to
the element type; other bodies go from the first element to the last, as every scan does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, Float32Type, Float64Type
from xdsl.ir import Block, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    Array,
    FloatFormat,
    dtype_of,
    float_format,
    to_float,
    widened,
)
from tileas_xdsl.interpreters.tile.numerics.floats import float_op, has_mode
from tileas_xdsl.interpreters.tile.numerics.integers import signed_of, unsigned_of, width_of, wrap
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import (
    RunBody,
    ValueOf,
    VectorizedBody,
    is_vectorizable,
    scalar_at,
)

Step: TypeAlias = Callable[[Array, Array], Array]
Along: TypeAlias = Callable[..., Any]
"""`np.ufunc.reduce` or `np.ufunc.accumulate`."""

INTEGER_COMBINERS: Mapping[type[Operation], tuple[np.ufunc, bool]] = {
    arith.AddiOp: (np.add, False),
    arith.AndIOp: (np.bitwise_and, False),
    arith.MaxSIOp: (np.maximum, False),
    arith.MaxUIOp: (np.maximum, True),
    arith.MinSIOp: (np.minimum, False),
    arith.MinUIOp: (np.minimum, True),
    arith.MuliOp: (np.multiply, False),
    arith.OrIOp: (np.bitwise_or, False),
    arith.XOrIOp: (np.bitwise_xor, False),
}
"""Combiners of integers, and whether they read them unsigned.  Their order makes no difference."""


@dataclass(frozen=True)
class Extreme:
    """A combiner that gives one of its operands; of two zeros, the one of sign `negative_zero`."""

    ufunc: np.ufunc
    negative_zero: bool


EXTREMES: Mapping[type[Operation], Extreme] = {
    arith.MaximumfOp: Extreme(np.maximum, False),
    arith.MaxnumfOp: Extreme(np.fmax, False),
    arith.MinimumfOp: Extreme(np.minimum, True),
    arith.MinnumfOp: Extreme(np.fmin, True),
}
"""Combiners of floats that round nothing.  Their order makes no difference."""

ROUNDING: Mapping[type[Operation], np.ufunc] = {
    arith.AddfOp: np.add,
    arith.MulfOp: np.multiply,
}
"""Combiners of floats that round."""


def combiner_of(block: Block) -> type[Operation] | None:
    """Return the operation of a body on two scalars, if its order of combination is free."""
    op, last = block.first_op, block.last_op
    if op is None or last is None or op.next_op is not last or len(op.operands) != 2:
        return None
    if set(op.operands) != set(block.args) or last.operands[0] is not op.results[0]:
        return None
    kind = type(op)
    known = kind in INTEGER_COMBINERS or kind in EXTREMES or kind in ROUNDING
    return kind if known else None


def reduce_tiles(
    op: ReduceOp, sources: Sequence[Array], value_of: ValueOf, run_body: RunBody
) -> tuple[Array, ...]:
    """`nv_tileas.reduce`: `sources` without dimension `axis`.

    `value_of` gives what the body uses from outside; `run_body` runs it where it does not lift.
    """
    axis = op.axis.value.data
    _check_extent(op, sources[0], axis)
    kind = combiner_of(op.body.block)
    if kind is None:
        lines = [np.moveaxis(source, axis, 0) for source in sources]
        return tuple(_sequential(op, lines, value_of, run_body)[-1])
    return (_reduced(op, kind, sources[0]),)


def _reduced(op: ReduceOp, kind: type[Operation], source: Array) -> Array:
    axis = op.axis.value.data
    if kind in INTEGER_COMBINERS:
        return _combined_integers(op, kind, source, np.ufunc.reduce)
    if kind in EXTREMES and not _has_mode(op):
        return _extreme(EXTREMES[kind], source, axis, np.ufunc.reduce)
    return _halved(_step(op, kind), np.moveaxis(source, axis, 0))


def scan_tiles(
    op: ScanOp, sources: Sequence[Array], value_of: ValueOf, run_body: RunBody
) -> tuple[Array, ...]:
    """`nv_tileas.scan`: running combinations along `axis`, from the last element if it reverses."""
    axis = op.axis.value.data
    _check_extent(op, sources[0], axis)
    if op.reverse is None:
        return tuple(_scanned(op, sources, value_of, run_body))
    backward = [np.flip(source, axis) for source in sources]
    return tuple(np.flip(tile, axis) for tile in _scanned(op, backward, value_of, run_body))


def _scanned(
    op: ScanOp, sources: Sequence[Array], value_of: ValueOf, run_body: RunBody
) -> Sequence[Array]:
    axis, kind, source = op.axis.value.data, combiner_of(op.body.block), sources[0]
    if kind is not None and kind in INTEGER_COMBINERS:
        return [_combined_integers(op, kind, source, np.ufunc.accumulate)]
    if _has_mode(op):
        kind = None
    if kind is not None and kind in EXTREMES:
        return [_extreme(EXTREMES[kind], source, axis, np.ufunc.accumulate)]
    if kind is not None and kind in ROUNDING and _rounds_itself(op):
        with np.errstate(all="ignore"):
            return [ROUNDING[kind].accumulate(source, axis=axis)]
    found = _sequential(op, [np.moveaxis(s, axis, 0) for s in sources], value_of, run_body)
    stacked = [np.stack([lines[k] for lines in found]) for k in range(len(sources))]
    return [np.moveaxis(tile, 0, axis) for tile in stacked]


def _check_extent(op: ReduceOp | ScanOp, source: Array, axis: int) -> None:
    if source.shape[axis] == 0:
        raise fault(op, f"dimension {axis} has no elements to combine")


def _combined_integers(
    op: ReduceOp | ScanOp, kind: type[Operation], source: Array, along: Along
) -> Array:
    """The integers combined wide, by `np.ufunc.reduce` or `np.ufunc.accumulate`, then wrapped."""
    ufunc, is_unsigned = INTEGER_COMBINERS[kind]
    width = width_of(op.source.type)
    assert width is not None
    wide = (unsigned_of if is_unsigned else signed_of)(source, width)
    result = along(ufunc, wide, axis=op.axis.value.data)
    return np.asarray(wrap(np.asarray(result), width), source.dtype)


def _extreme(extreme: Extreme, source: Array, axis: int, along: Along) -> Array:
    """The floats combined by `np.ufunc.reduce` or `np.ufunc.accumulate`, then their zeros."""
    wide = source if source.dtype == np.float64 else widened(source)
    with np.errstate(invalid="ignore"):
        result = np.asarray(along(extreme.ufunc, wide, axis=axis))
    if not np.all(result):
        wanted = (wide == 0) & (np.signbit(wide) == extreme.negative_zero)
        sign = np.asarray(along(np.logical_or, wanted, axis=axis)) == extreme.negative_zero
        result = np.where(result == 0, np.where(sign, -0.0, 0.0).astype(wide.dtype), result)
    return result.astype(source.dtype)


def _has_mode(op: ReduceOp | ScanOp) -> bool:
    """Whether the body is one operation on floats that rounds in a direction or flushes."""
    inner = op.body.block.first_op
    return inner is not None and type(inner) in (*ROUNDING, *EXTREMES) and has_mode(inner)


def _halved(step: Step, lines: Array) -> Array:
    """Reduce the first dimension as a tree: the halves combined until one line is left."""
    with np.errstate(all="ignore"):
        while (count := len(lines)) > 1:
            half = count // 2
            combined = step(lines[:half], lines[half : 2 * half])
            lines = combined if count % 2 == 0 else np.concatenate([combined, lines[2 * half :]])
    return np.asarray(lines[0])


def _step(op: ReduceOp, kind: type[Operation]) -> Step:
    """Return what combines two arrays as the body does, every result rounded."""
    inner = op.body.block.first_op
    known = float_format(op.source.type.element_type)
    assert inner is not None
    assert known is not None
    if _has_mode(op):
        return lambda a, b: float_op(inner, [a, b])
    return ROUNDING[kind] if _rounds_itself(op) else _rounded_step(ROUNDING[kind], known)


def _rounds_itself(op: ReduceOp | ScanOp) -> bool:
    """Whether numpy computes in the element type, with its rounding."""
    return isinstance(op.source.type.element_type, Float32Type | Float64Type)


def _rounded_step(ufunc: np.ufunc, known: FloatFormat) -> Step:
    return lambda a, b: to_float(ufunc(widened(a), widened(b)), known)


def _sequential(
    op: ReduceOp | ScanOp, tiles: Sequence[Array], value_of: ValueOf, run_body: RunBody
) -> list[Sequence[Array]]:
    """The running combinations of the first dimension, from the first line to the last."""
    block, shape = op.body.block, tiles[0].shape[1:]
    results: list[Sequence[Array]] = [[np.asarray(lines[0]) for lines in tiles]]
    if len(tiles[0]) == 1:
        return results
    body = VectorizedBody(block, value_of).all_of if is_vectorizable(block) else _each(op, run_body)
    for k in range(1, len(tiles[0])):
        found = body(*results[-1], *(np.asarray(lines[k]) for lines in tiles))
        results.append([_filled(values, shape) for values in found])
    return results


def _each(op: ReduceOp | ScanOp, run_body: RunBody) -> Callable[..., Sequence[Array]]:
    """The body, run for one element after the other."""

    def step(*tiles: Array) -> Sequence[Array]:
        results = [np.empty(tile.shape, tile.dtype) for tile in tiles[: len(tiles) // 2]]
        for position in np.ndindex(tiles[0].shape):
            found = run_body(op.body, [scalar_at(tile, position) for tile in tiles])
            for result, value in zip(results, found, strict=True):
                result[position] = value
        return results

    return step


def _filled(values: Array, shape: tuple[int, ...]) -> Array:
    """The values, repeated to `shape` where the body did not use all of its arguments."""
    return values if values.shape == shape else np.array(np.broadcast_to(values, shape))


def generate_tile(op: GenerateOp, value_of: ValueOf, run_body: RunBody) -> Array:
    """`nv_tileas.generate`: a tile whose elements the body computes from their coordinates."""
    shape, dtype = op.result.type.get_shape(), dtype_of(op.result.type.element_type)
    if DYNAMIC_INDEX in shape:
        raise fault(op, f"generates a tile of known extents, not {op.result.type}")
    block = op.body.block
    if is_vectorizable(block):
        grid = np.indices(shape, sparse=True)
        return _filled(VectorizedBody(block, value_of)(*grid), shape)
    result = np.empty(shape, dtype)
    for position in np.ndindex(shape):
        (result[position],) = run_body(op.body, position)
    return result
