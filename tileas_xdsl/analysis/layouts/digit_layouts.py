"""Register layouts by digits: which digits of each coordinate index lanes or registers.

Digits that a tile is too small for are not there: its threads then have the elements several times,
as do threads that no digit names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.operations.digits import Digit, layout_of_modes, with_replicas
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout


@dataclass(frozen=True, slots=True)
class Part:
    """A digit of a coordinate, counted by threads or by registers."""

    count: int
    """How many values it has; fewer where the extent is smaller."""
    step: int = 0
    """Threads from one value to the next; 0 where registers count it."""
    order: int = 0
    """Among the digits that registers count, those of lower order are next to one another."""


def layout_of_parts(
    shape: tuple[int, ...], parts: Sequence[Sequence[Part]], used: int, threads: int
) -> RegisterLayout:
    """The layout of a tile whose coordinates have these digits each, the lowest first.

    Of `threads` the first `used` are counted, a power of two; extents are powers of two.
    """
    kept = [list(_kept(extent, digits)) for extent, digits in zip(shape, parts, strict=True)]
    steps = _register_steps([part for digits in kept for part in digits if not part.step])
    modes: list[list[Digit]] = [
        [
            (part.count, E(THREAD, part.step) if part.step else E(VALUE, steps[part.order]))
            for part in digits
        ]
        for digits in kept
    ]
    counted = [part for digits in kept for part in digits if part.step]
    replicas: list[Digit] = [(count, E(THREAD, step)) for step, count in _gaps(counted, used)]
    layout = with_replicas(layout_of_modes(*modes), replicas)
    return RegisterLayout(layout, shape, threads)


def _kept(extent: int, parts: Sequence[Part]) -> Iterator[Part]:
    """The digits that an extent has."""
    for part in parts:
        count = min(part.count, extent)
        extent //= count
        if count > 1:
            yield Part(count, part.step, part.order)
    assert extent == 1, "the digits do not cover the tile"


def _register_steps(parts: Sequence[Part]) -> dict[int, int]:
    """By the order of a digit, registers from one of its values to the next."""
    ordered = sorted(parts, key=lambda part: part.order)
    return {
        part.order: prod(before.count for before in ordered[:position])
        for position, part in enumerate(ordered)
    }


def _gaps(parts: Sequence[Part], threads: int) -> Iterator[tuple[int, int]]:
    """Steps and extents of the digits of a thread's number that nothing counts by."""
    end = 1
    for part in sorted(parts, key=lambda part: part.step):
        if part.step > end:
            yield end, part.step // end
        end = part.step * part.count
    if threads > end:
        yield end, threads // end
