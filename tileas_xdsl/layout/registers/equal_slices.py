"""Slices of a register tile that lie alike in the threads that hold it.

    whole   (2,4,2,4,4):(1@value,1@thread,4@value,64@thread,8@value)     256 columns of mma.sync
    slices  (2,4,2,4,2):(1@value,1@thread,4@value,64@thread,8@value)     128 of them

Columns 128 to 255 lie in the same threads as columns 0 to 127, further on in their registers: each
slice at a multiple of its extents has the same layout, whatever its offset is at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tileas_xdsl.layout.axes import E, Offset, coefficient_of
from tileas_xdsl.layout.operations.digits import Digit, layout_of_modes
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout


@lru_cache(maxsize=256)
def equal_slices(whole: RegisterLayout, shape: tuple[int, ...]) -> RegisterLayout | None:
    """Return the layout of each slice of extents `shape` that begins at a multiple of them.

    None where slices lie in different threads, or where one begins within a digit of the layout.

    >>> from tileas_xdsl.layout.layout import Layout
    >>> halves = Layout((4, (2, 2)), (E("thread"), (E("value"), E("value", 2))))
    >>> str(equal_slices(RegisterLayout(halves, (4, 4), 4), (4, 2)).layout)
    '(4,2):(1@thread,1@value)'
    """
    modes: list[Sequence[Digit]] = []
    dropped: list[Digit] = []
    for axis, mode in enumerate(whole.layout):
        digits = [digit for digit in mode.leaves() if digit[0] > 1]
        found = _split(digits, shape[axis] if axis < len(shape) else mode.size())
        if found is None or any(coefficient_of(step, THREAD) for _, step in found[1]):
            return None
        modes.append(found[0])
        dropped += found[1]
    # Each slice has its own of the values that a dropped digit counts: what is beyond moves up.
    for extent, stride in sorted(dropped, key=lambda d: -coefficient_of(d[1], VALUE)):
        step = coefficient_of(stride, VALUE)
        modes = [[(n, _moved_up(s, step, extent)) for n, s in mode] for mode in modes]
    return RegisterLayout(layout_of_modes(*modes), shape, whole.threads)


def _split(digits: Sequence[Digit], extent: int) -> tuple[list[Digit], list[Digit]] | None:
    """Split the digits of a coordinate into those below an extent and those that count extents."""
    kept: list[Digit] = []
    for k, (size, stride) in enumerate(digits):
        if extent % size:
            if size % extent:
                return None
            rest = (size // extent, stride * extent)
            return [*kept, (extent, stride)], [rest, *digits[k + 1 :]]
        kept.append((size, stride))
        extent //= size
    return kept, []


def _moved_up(stride: Offset, step: int, extent: int) -> Offset:
    """The stride of a digit without `extent` values at multiples of `step`, which lie below it."""
    value = coefficient_of(stride, VALUE)
    return stride - E(VALUE, value - value // extent) if value > step else stride
