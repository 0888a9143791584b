"""Plan how a loop is sliced: the sub-ranges of its clones, checked before anything is rewritten.

    scf.for %i = 0 to 64 step 1 iter_args(%acc = %init) { ... } {sliceCount = 2}

is planned as the ranges [0, 32) and [32, 64); `rewrite` writes

    %r0 = scf.for %i = 0 to 32 step 1 iter_args(%acc = %init) { ... }
    %r1 = scf.for %i = 32 to 64 step 1 iter_args(%acc = %r0) { ... }

With 65 iterations a third loop covers the remainder [64, 65).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.transforms.slicing.counted_loop import (
    CountedFor,
    CountedLoop,
    bits_of_counter,
    known,
)
from tileas_xdsl.transforms.slicing.counted_while import counted_while
from tileas_xdsl.transforms.slicing.legality import check_body, check_initial, check_lower_bound
from tileas_xdsl.transforms.slicing.partial_results import Reduction, reductions_of
from tileas_xdsl.transforms.slicing.slice_counts import Loop, Request, requested_loops

MAX_COPIES = 1024
"""Copies of one body, those of loops around it multiplied in."""


@dataclass(frozen=True)
class AfterShares:
    """The counter behind so many equal shares of iterations, computed when the loop is reached."""

    shares: int


Boundary: TypeAlias = int | AfterShares | None
"""Where a slice begins or ends; None is where the loop itself does."""


@dataclass(frozen=True)
class SliceRange:
    """The part of the range that a slice covers."""

    first: Boundary
    end: Boundary
    only: int | None = None
    """The counter, where it is known that the slice has one iteration."""


@dataclass(frozen=True)
class SlicePlan:
    """How a loop is cut.

    The first slice starts from what the loop starts from, every other from what the one before it
    carried, or, if slices are independent, from the identity of its reduction.
    """

    loop: CountedLoop
    count: int
    """The equal shares; a dynamic or uneven division has one range more."""
    ranges: tuple[SliceRange, ...]
    inside: frozenset[Operation]
    """The loop and every operation in it."""
    carriers: tuple[Operation, ...]
    """The operations that carry the attribute."""
    partial: tuple[Reduction, ...] | None = None
    """How results of independent slices become one; None where slices follow one another."""


def plan_slices(root: Operation, *, independent: bool) -> list[SlicePlan]:
    """The plans of all loops to slice in `root`, outer ones first; nothing is changed.

    With `independent`, slices get results of their own, which are combined.
    Raises `OpError` with the first problem of each loop that cannot be sliced.
    """
    plans: list[SlicePlan] = []
    problems: list[Diagnostic] = []
    for request in requested_loops(root):
        try:
            plans.append(_plan(request, independent))
        except OpError as error:
            problems += error.diagnostics
    if problems:
        raise OpError(*problems)
    _check_size(plans)
    return plans


def _plan(request: Request, independent: bool) -> SlicePlan:
    count = _integer(request)
    loop = _counted(request.loop)
    trip_count = _trips(loop)
    if not _fits(count, loop, trip_count):
        raise _bad_count(request)
    if count > MAX_COPIES:
        raise _too_many(loop, count)
    check_body(loop)
    check_lower_bound(loop)
    check_initial(loop)
    dynamic = trip_count is None
    ranges = _dynamic_ranges(count) if dynamic else _known_ranges(loop, count, trip_count)
    partial = reductions_of(loop) if independent and len(ranges) > 1 else None
    return SlicePlan(
        loop, count, ranges, frozenset(operations_in(loop.op)), request.carriers, partial
    )


def _counted(op: Loop) -> CountedLoop:
    loop = CountedFor(op) if isinstance(op, scf.ForOp) else counted_while(op)
    if (step := known(loop.step)) is not None and step < 1:
        raise op_error(op, f"the step of a sliced loop is positive, not {step}")
    return loop


def _integer(request: Request) -> int:
    if not isinstance(request.count, IntegerAttr):
        raise _bad_count(request)
    return cast("IntegerAttr", request.count).value.data


def _bad_count(request: Request) -> OpError:
    return op_error(request.carriers[0], message("slicing.slice_count"))


def _trips(loop: CountedLoop) -> int | None:
    """How many iterations the loop has, None if that is not known."""
    first, end, step = known(loop.first), known(loop.end), known(loop.step)
    if first is None or end is None or step is None:
        return None
    return max(0, -((first - end) // step))


def _fits(count: int, loop: CountedLoop, trip_count: int | None) -> bool:
    """Whether each slice can have an iteration."""
    most = (1 << bits_of_counter(loop.type)) - 1 if trip_count is None else trip_count
    return 1 <= count <= most


def _known_ranges(loop: CountedLoop, count: int, trip_count: int) -> tuple[SliceRange, ...]:
    """Equal shares, then what is left of the range."""
    first, step = known(loop.first), known(loop.step)
    assert first is not None
    assert step is not None
    share, rest = divmod(trip_count, count)
    starts = [first + k * share * step for k in range(count + (rest > 0))]
    trips_of = [share] * count + [rest] * (rest > 0)
    boundaries: list[Boundary] = [None, *starts[1:], None]
    return tuple(
        SliceRange(begin, end, start if iterations == 1 else None)
        for (begin, end), start, iterations in zip(
            pairwise(boundaries), starts, trips_of, strict=True
        )
    )


def _dynamic_ranges(count: int) -> tuple[SliceRange, ...]:
    """Equal shares, then what is left, perhaps nothing; one share is the whole range."""
    shares = [AfterShares(k) for k in range(1, count + 1)] if count > 1 else []
    return tuple(SliceRange(*ends) for ends in pairwise([None, *shares, None]))


def _check_size(plans: Sequence[SlicePlan]) -> None:
    """No body is copied too often, the slices of loops around it included."""
    copies: dict[Operation, int] = {}
    for plan in plans:
        around = plan.loop.op.parent_op()
        while around is not None and around not in copies:
            around = around.parent_op()
        copies_of_plan = len(plan.ranges) * (copies[around] if around is not None else 1)
        if copies_of_plan > MAX_COPIES:
            raise _too_many(plan.loop, copies_of_plan)
        copies[plan.loop.op] = copies_of_plan


def _too_many(loop: CountedLoop, copies: int) -> OpError:
    return op_error(loop.op, f"would be copied {copies} times; {MAX_COPIES} is the most")
