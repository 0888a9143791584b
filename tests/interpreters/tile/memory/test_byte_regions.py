"""Regions against sets of bytes."""

from __future__ import annotations

import random

import numpy as np

from tileas_xdsl.interpreters.tile.memory.byte_regions import Region


def places(offset: int, shape: tuple[int, ...], strides: tuple[int, ...], item: int) -> set[int]:
    """The bytes of a window, one by one."""
    found: set[int] = set()
    for index in np.ndindex(*shape):
        start = offset + sum(i * s for i, s in zip(index, strides, strict=True))
        found |= set(range(start, start + item))
    return found


def window(rng: random.Random, pitch: int) -> tuple[Region, set[int]]:
    """A window of one or two matrices of rows `pitch` bytes apart, or elements here and there."""
    item = rng.choice([1, 2, 4])
    offset = rng.randrange(0, 150)
    match rng.randrange(5):
        case 0:
            shape, strides = (rng.randint(1, 12),), (item * rng.choice([1, 1, 2, 3]),)
        case 1 | 2:
            shape, strides = (rng.randint(1, 5), rng.randint(1, pitch // item)), (pitch, item)
        case 3:
            shape = (rng.randint(1, 3), rng.randint(1, 4), rng.randint(1, pitch // item))
            strides = (pitch * 4, pitch, item)
        case _:
            offsets = np.array([rng.randrange(0, 200) * item for _ in range(rng.randint(1, 6))])
            found = {int(start) + k for start in offsets for k in range(item)}
            return Region.of_elements(offsets, item), found
    order = rng.sample(range(len(shape)), len(shape))
    shape, strides = tuple(shape[k] for k in order), tuple(strides[k] for k in order)
    return Region.of_window(offset, shape, strides, item), places(offset, shape, strides, item)


def test_windows_meet_where_they_have_a_byte_in_common() -> None:
    rng = random.Random(0)
    met = covered = 0
    for _ in range(12000):
        pitch = rng.choice([8, 16, 24, 32])
        (a, mine), (b, theirs) = window(rng, pitch), window(rng, pitch)
        common = mine & theirs
        assert a.overlaps(b) == b.overlaps(a) == bool(common)
        if common:
            assert a.first_common(b) == b.first_common(a) == min(common)
            met += 1
        if a.covers(b):
            assert theirs <= mine
            covered += 1
        if a.is_like(b):
            assert mine == theirs
        assert a.covers(a) or not a.is_contiguous
    assert met > 3000
    assert covered > 100


def test_a_region_knows_its_bytes() -> None:
    rng = random.Random(1)
    for _ in range(2000):
        region, mine = window(rng, rng.choice([8, 16, 24]))
        found = (region.starts[:, None] + np.arange(region.run)).ravel().tolist()
        assert sorted(set(found)) == sorted(mine)
        assert (region.low, region.high) == (min(mine), max(mine) + 1)
        if region.is_contiguous:
            assert len(mine) == region.high - region.low


def test_contiguous_dimensions_are_one_run() -> None:
    whole = Region.of_window(8, (3, 4, 5), (80, 20, 4), 4)
    assert (whole.run, whole.outer, whole.is_contiguous) == (240, (), True)
    rows = Region.of_window(0, (4, 3, 5), (100, 20, 4), 4)
    assert (rows.run, rows.outer, rows.high) == (60, ((100, 4),), 360)
    column = Region.of_window(4, (6, 1), (100, 4), 4)
    assert (column.run, column.outer) == (4, ((100, 6),))
    scalar = Region.of_window(12, (), (), 4)
    assert (scalar.low, scalar.high, scalar.is_contiguous) == (12, 16, True)


def test_columns_of_one_matrix_are_apart() -> None:
    left = Region.of_window(0, (8, 4), (64, 4), 4)
    right = Region.of_window(16, (8, 4), (64, 4), 4)
    assert not left.overlaps(right)
    across = Region.of_window(12, (8, 2), (64, 4), 4)
    assert left.overlaps(across)
    assert right.overlaps(across)
    assert not Region.of_window(60, (7, 1), (64, 4), 4).overlaps(left)
    assert Region.of_window(60, (7, 2), (64, 4), 4).overlaps(left)
