"""Handlers of reductions and scans: which of the algorithms of `threads.reduce` lowers one.

The layout of the source decides how much a thread can combine by itself:

    accumulators of wgmma, along rows      in registers, then shuffles among 4 lanes
    accumulators of which warpgroups have columns, too     then between those through shared memory
    blocked by rows, along rows            in registers, then shuffles, then between warps of a row
    blocked by rows, along columns         in registers, then an exchange through shared memory
    one dimension, blocked otherwise       in registers, lanes and warps, to one scalar
    any other                              along the axis, in the layout of the lines

A body that is no single commutative operation (argmax, say) goes through `_by_any_body`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.analysis.values.one_hot import one_hot_line
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.layout.registers.blocked import blocked
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import has_whole_rows, is_accumulator
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import DotToken, Lowered, RegisterTile
from tileas_xdsl.threads.convert.element_conversion import CARRIERS
from tileas_xdsl.threads.reduce.accumulator_row_reduce import reduce_spread_rows
from tileas_xdsl.threads.reduce.argminmax import reduce_in_place
from tileas_xdsl.threads.reduce.axis_reduce import fragment_of_rows, reduce_axis
from tileas_xdsl.threads.reduce.combiner import Combiner
from tileas_xdsl.threads.reduce.lane_sums import (
    LANES_APART,
    OF_LANES,
    sum_over_lanes,
    sums_of_threads,
)
from tileas_xdsl.threads.reduce.one_hot import choose_lines
from tileas_xdsl.threads.reduce.ordered_combiner import OrderedCombiner
from tileas_xdsl.threads.reduce.ordered_select import is_free_of_order
from tileas_xdsl.threads.reduce.scan import ExclusivePrefix, scan_in_thread
from tileas_xdsl.threads.reduce.spread_lines import SpreadLines, near_lines
from tileas_xdsl.threads.reduce.warp_reduce import (
    reduce_accumulator_rows,
    reduce_columns,
    reduce_row_groups,
    reduce_to_scalar,
)
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import as_fragment, in_registers, layout_of
from tileas_xdsl.threads.registers.vector_split import has_closed_form


def reduce_tile(e: ThreadBuilder, op: ReduceOp) -> Sequence[Lowered]:
    """Tiles without a dimension."""
    found, combiner = e.get(op.source), Combiner.of_body(e, op)
    if OF_LANES in op.attributes:
        return [_over_lanes(e, op)]
    if combiner is None or not isinstance(found, RegisterTile):
        return reduce(e, op)
    axis = op.axis.value.data
    if LANES_APART in op.attributes:
        has_rows = is_accumulator(found.layout) and has_whole_rows(found.layout)
        return reduce(e, op) if has_rows else [_parts_of_threads(e, op, combiner)]
    spread = SpreadLines.of(found.layout, axis)
    if spread is None:
        return reduce(e, op)
    if (hot := one_hot_line(op)) is not None:
        return [choose_lines(combiner, op, found, spread, hot)]
    is_spread = axis == 1 and not _has_algorithm(found.layout)
    if not is_spread and near_lines(found.layout, axis, e.agent.warps) is None:
        return reduce(e, op)
    return [reduce_spread_rows(combiner, op, found, spread)]


def _has_algorithm(layout: RegisterLayout) -> bool:
    """Whether the form of a layout says how its rows are reduced where they are.

    Not rows of accumulators that warpgroups share: each thread has a piece of every one it has.
    """
    return has_closed_form(layout) and (not is_accumulator(layout) or has_whole_rows(layout))


def _over_lanes(e: ThreadBuilder, op: ReduceOp) -> RegisterTile:
    """The sums of what threads have kept of lines."""
    combiner = Combiner.of_body(e, op)
    given, layout = (encoded_layout(e, op, v.type) for v in (op.source, op.outputs[0]))
    summed = encoded_layout(e, op, op.attributes[OF_LANES])
    spread = None if summed is None else SpreadLines.of(summed, op.axis.value.data)
    if combiner is None or given is None or layout is None:
        raise op_error(op, "threads have parts of sums in registers alone, with a layout")
    if spread is None:
        raise op_error(op, "names no tile whose lines threads share by powers of two")
    return sum_over_lanes(combiner, op, in_registers(e, op, op.source, given), layout, spread)


def _parts_of_threads(e: ThreadBuilder, op: ReduceOp, combiner: Combiner) -> RegisterTile:
    """The sums of what each thread has of a line of a tile."""
    layout = encoded_layout(e, op, op.source.type)
    spread = None if layout is None else SpreadLines.of(layout, op.axis.value.data)
    if layout is None or spread is None:
        raise op_error(op, "threads keep parts of lines that they share by powers of two alone")
    return sums_of_threads(combiner, in_registers(e, op, op.source, layout), spread)


def reduce(e: ThreadBuilder, op: ReduceOp) -> Sequence[Lowered]:
    """Tiles without a dimension."""
    combiner = Combiner.of_body(e, op)
    if combiner is None:
        return _by_any_body(e, op)
    shape, axis = tuple(op.source.type.get_shape()), op.axis.value.data
    sums = _accumulators(e, op)
    if sums is not None and axis == 1:
        apart = LANES_APART in op.attributes
        return [reduce_accumulator_rows(combiner, sums, lanes_apart=apart)]
    if LANES_APART in op.attributes:
        raise op_error(op, "lanes keep parts of the rows of wgmma accumulators alone")
    given = _layout_of_source(e, op, shape)
    form = blocked(given)
    kept = (*shape[:axis], *shape[axis + 1 :])
    encoded = encoded_layout(e, op, op.outputs[0].type)
    layout = encoded if encoded and blocked(encoded) else layout_of(e, op, kept)
    is_last = axis == len(shape) - 1
    if form is None or (form.is_by_rows and not is_last and len(shape) > 2):
        return reduce_axis(e, op)
    if not form.is_by_rows and len(shape) > 1:
        return reduce_axis(e, op)
    source = in_registers(e, op, op.source, given)
    if not form.is_by_rows:
        return [reduce_to_scalar(combiner, op, source, form, layout)]
    if not is_last:
        return [reduce_columns(combiner, op, source, form, layout)]
    return [as_fragment(e, op, reduce_row_groups(combiner, op, source, form), layout)]


def _by_any_body(e: ThreadBuilder, op: ReduceOp) -> Sequence[Lowered]:
    """Reduce by any body: in the given layout if that is cheap and the body commutative."""
    if CARRIERS.keys() & {element_of(source.type) for source in op.sources}:
        return reduce_axis(e, op)
    spread = _spread_of_source(e, op)
    if spread is None or not spread.is_near(e.agent.warps) or not is_free_of_order(op):
        return reduce_axis(e, op)
    return reduce_in_place(e, op, spread)


def _spread_of_source(e: ThreadBuilder, op: ReduceOp) -> SpreadLines | None:
    """Return the lines of the first source that is in registers, else as a load would leave it."""
    shape, axis = tuple(op.source.type.get_shape()), op.axis.value.data
    for found in map(e.get, op.sources):
        if isinstance(found, RegisterTile):
            return SpreadLines.of(found.layout, axis)
    return SpreadLines.of(layout_of(e, op, shape), axis)


def _layout_of_source(e: ThreadBuilder, op: ReduceOp, shape: tuple[int, ...]) -> RegisterLayout:
    """Return the layout to reduce in: the source's if its chunks are of one row, else a new one.

    A vector is one row, however wide the chunks are that its load chose.
    """
    found = e.get(op.source)
    form = blocked(found.layout) if isinstance(found, RegisterTile) else None
    if isinstance(found, RegisterTile) and form is not None:
        is_vector = len(shape) == 1 and form.copies == 1 and not form.is_row_values
        if form.is_by_rows or is_vector:
            return found.layout
    return layout_of(e, op, shape)


def _accumulators(e: ThreadBuilder, op: ReduceOp) -> RegisterTile | None:
    """Return the source of a reduction if warpgroups have whole rows of accumulators, else None."""
    found = e.get(op.source)
    tile = found.fragment if isinstance(found, DotToken) else found
    if not isinstance(tile, RegisterTile) or not is_accumulator(tile.layout):
        return None
    if not has_whole_rows(tile.layout):
        return None
    encoded = encoded_layout(e, op, op.source.type)
    return tile if encoded in (None, tile.layout) else None


def scan(e: ThreadBuilder, op: ScanOp) -> Sequence[Lowered]:
    """Tiles of running combinations."""
    work, backward = OrderedCombiner.of(e, op), op.reverse is not None
    # Three levels: registers of a thread, lanes of a warp, warps of a block. Each level gives the
    # one below it the combination of all that comes before it.
    runs = [scan_in_thread(work, work.run(line), backward) for line in range(work.split.lines)]
    before = ExclusivePrefix(work, backward)
    lanes = [before.of_lanes(run[-1]) for run in runs]
    warps = before.of_warps([total for total, _ in lanes])
    done = [
        before.behind(run, lane, warp)
        for run, (_, lane), warp in zip(runs, lanes, warps, strict=True)
    ]
    rows = [row for run in done for row in (reversed(run) if backward else run)]
    return [
        fragment_of_rows(e, tile, work.split.layout, [row[k] for row in rows])
        for k, tile in enumerate(work.tiles)
    ]


HANDLERS: Handlers = {
    ReduceOp: reduce_tile,
    ScanOp: scan,
}
