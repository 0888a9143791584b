"""Clone loops as planned: slices go on from the one before them, or have results of their own."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.dialects.nv_tileas.builders.arith import (
    add,
    constant,
    maximum,
    mul,
    select,
    sub,
)
from tileas_xdsl.transforms.slicing.counted_loop import CountedLoop, Number, known
from tileas_xdsl.transforms.slicing.legality import check_inside
from tileas_xdsl.transforms.slicing.partial_results import identities
from tileas_xdsl.transforms.slicing.plan import SlicePlan
from tileas_xdsl.transforms.slicing.slice_counts import SLICE_COUNT
from tileas_xdsl.transforms.slicing.static_slices import settle_windows


def cut(plans: Sequence[SlicePlan]) -> None:
    """Cut every loop, inner ones first; raises `OpError` before anything is changed."""
    for plan in plans:
        check_inside(plan.loop, plan.inside)
    for plan in plans:
        for carrier in plan.carriers:
            carrier.attributes.pop(SLICE_COUNT, None)
    for plan in reversed(plans):
        _cut(plan)


def _cut(plan: SlicePlan) -> None:
    """Replace a loop by its slices."""
    loop = plan.loop
    builder = Builder(InsertPoint.before(loop.op))
    builder.operation_insertion_handler.append(lambda op: _locate(op, loop.op))
    *starts, last = _starts(builder, plan)
    ends = [*starts[1:], last]
    neutral = None if plan.partial is None else identities(builder, loop, plan.partial)
    carried, partial = loop.initial, list[Sequence[SSAValue]]()
    for first, end, part in zip(starts, ends, plan.ranges, strict=False):
        made = builder.insert(loop.part(first, end, carried))
        partial.append(loop.carried(made))
        carried = partial[-1] if neutral is None else neutral
        _settle(made, part.only)
    made = builder.insert(loop.last(last, carried))
    _settle(made, plan.ranges[-1].only)
    results = _results(builder, plan, [*partial, made.results])
    for old, new in zip(loop.op.results, results, strict=True):
        old.replace_all_uses_with(new)
    loop.op.detach()
    loop.op.erase()


def _results(
    builder: Builder, plan: SlicePlan, partial: Sequence[Sequence[SSAValue]]
) -> Sequence[SSAValue]:
    """Return the results of the whole loop: those of the last slice, or all combined."""
    if plan.partial is None:
        return partial[-1]
    return [
        reduction.combined(builder, [results[index] for results in partial])
        for index, reduction in enumerate(plan.partial)
    ]


def _locate(op: Operation, loop: Operation) -> None:
    op.location = loop.location


def _settle(made: Operation, only: int | None) -> None:
    if only is not None and isinstance(made, scf.ForOp):
        settle_windows(made, only)


def _starts(builder: Builder, plan: SlicePlan) -> list[SSAValue]:
    """Where each slice begins."""
    loop, numbers = plan.loop, [part.first for part in plan.ranges[1:]]
    known_numbers = [number for number in numbers if isinstance(number, int)]
    if len(known_numbers) < len(numbers):
        return [loop.first, *_share_starts(builder, loop, plan.count)]
    return [loop.first, *(_named_constant(builder, loop, number) for number in known_numbers)]


def _named_constant(builder: Builder, loop: CountedLoop, number: int) -> SSAValue:
    value = constant(builder, number, loop.type)
    value.name_hint = f"c{number}" if number >= 0 else f"cm{-number}"
    return value


def _share_starts(builder: Builder, loop: CountedLoop, count: int) -> list[SSAValue]:
    """Where equal shares of the iterations end, which is where the next slice begins.

    A loop without iterations has shares of none.  The distance is unsigned: that from the least
    number to the greatest fits.  Only the end of the last share may lie past the greatest number,
    if it is the end of the loop and steps are longer than one; then it is the end itself.
    """
    first, by_one = loop.first, known(loop.step) == 1
    end = _value(builder, loop, loop.end)
    trip_count = sub(builder, maximum(builder, end, first), first)
    parts = constant(builder, count, loop.type)
    if by_one:
        return _multiples(builder, first, _divided(builder, trip_count, parts), count)
    step = _value(builder, loop, loop.step)
    trip_count = builder.insert(arith.CeilDivUIOp(trip_count, step)).result
    share = _divided(builder, trip_count, parts)
    starts = _multiples(builder, first, mul(builder, share, step), count)
    covered = mul(builder, share, parts)
    is_all = builder.insert(arith.CmpiOp(covered, trip_count, "eq")).result
    return [*starts[:-1], select(builder, is_all, end, starts[-1])]


def _divided(builder: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    return builder.insert(arith.DivUIOp(a, b)).result


def _multiples(builder: Builder, first: SSAValue, length: SSAValue, count: int) -> list[SSAValue]:
    """`first` plus one, two, ... lengths."""
    starts = [add(builder, first, length)]
    while len(starts) < count:
        starts.append(add(builder, starts[-1], length))
    return starts


def _value(builder: Builder, loop: CountedLoop, number: Number) -> SSAValue:
    return constant(builder, number, loop.type) if isinstance(number, int) else number
