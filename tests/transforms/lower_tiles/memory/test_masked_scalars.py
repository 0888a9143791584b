"""Scalars that are loaded, stored and updated under a mask: bounds checks, padding, memory order.

The emulator and the tile interpreter agree with numpy, for indices below, in and above the arrays.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS, check
from tests.support.plain_kernels import kernel as kernel_text

ct = pytest.importorskip("cuda.tile")

COUNT, BLOCKS, BEFORE = 6, 12, 3
"""Elements; blocks, one for each index; the indices that are below the array."""
DTYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.int32, np.int64, np.float64)


@ct.kernel
def copied(x, flags, y):
    b = ct.bid(0)
    i = b - 3
    ct.scatter(y, b, ct.gather(x, i, padding_value=5))
    odd = ct.gather(x, i, mask=(i & 1) == 1, padding_value=3)
    ct.scatter(y, b + 12, odd, mask=ct.gather(flags, i) != 0)
    ct.scatter(y, i + 33, odd)
    ct.scatter(y, i - 12, odd)


@pytest.mark.sample(7)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_what_is_out_of_bounds_is_padded_and_not_stored(dtype: Any, target: str) -> None:
    """The last two scatters leave the array at its end and at its beginning."""
    rng = np.random.default_rng(17)
    x, y = ((20 * rng.standard_normal(n)).astype(dtype) for n in (COUNT, 36))
    flags = np.array([1, 0, 1, 1, 0, 0], np.int32)
    wanted = y.copy()
    for b in range(BLOCKS):
        i = b - BEFORE
        inside = 0 <= i < COUNT
        wanted[b] = x[i] if inside else 5
        odd = x[i] if inside and i % 2 else 3
        if inside and flags[i]:
            wanted[b + BLOCKS] = odd
        if i + 33 < len(y):
            wanted[i + 33] = odd
    made = tileas.compile(copied, x, flags, y, target=target)
    for run in (made.simulate, made.emulate):
        found = run(x, flags, y, grid=BLOCKS)
        np.testing.assert_array_equal(found.arrays[2], wanted)
    assert made.emulate(x, flags, y, grid=BLOCKS).findings == []
    # One predicated instruction for each access: nothing loops over lanes.
    assert made.ptx.count("ld.global") == 3
    assert made.ptx.count("st.global") == 4


@ct.kernel
def updated(sums, largest, taken, left):
    b = ct.bid(0)
    i = b - 3
    ct.atomic_add(sums, i, b + 1)
    ct.atomic_max(largest, i, 40)
    old = ct.atomic_cas(taken, i, 0, b)
    # What an update of nothing gives is not used.
    ct.scatter(left, i, old)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_nothing_is_updated_out_of_bounds(dtype: Any, target: str) -> None:
    rng = np.random.default_rng(5)
    sums, largest, left = (rng.integers(-90, 90, COUNT).astype(dtype) for _ in range(3))
    taken = np.array([0, 7, 0, -1, 0, 9], dtype)
    index = np.arange(COUNT)
    wanted = (
        sums + (index + BEFORE + 1).astype(dtype),
        np.maximum(largest, np.array(40, dtype)),
        np.where(taken == 0, (index + BEFORE).astype(dtype), taken),
        taken,
    )
    made = tileas.compile(updated, sums, largest, taken, left, target=target)
    for run in (made.simulate, made.emulate):
        found = run(sums, largest, taken, left, grid=BLOCKS)
        for array, right in zip(found.arrays, wanted, strict=True):
            np.testing.assert_array_equal(array, right)


@pytest.mark.parametrize("order", ["", "relaxed gpu", "acquire gpu"])
def test_the_mask_of_an_ordered_scalar_is_kept(order: str) -> None:
    """Of four blocks two load behind the pointer; the others may not follow it and are padded."""
    pointer = "!nv_tileaa.ptr<i32, 1>"
    released = order.replace("acquire", "release")
    text = kernel_text(
        f"%a: {pointer}, %b: {pointer}",
        f"""%two = arith.constant 2 : index
  %far = arith.constant 1000000 : index
  %m = arith.cmpi ult, %x, %two : index
  %off = arith.select %m, %x, %far : index
  %p = nv_tileaa.addptr %a, %off : {pointer}, index
  %v = nv_tileas.load %p {order} mask %m : i1 {{atom = #ldg, padding_value = 77 : i32}} : {pointer} -> i32
  %q = nv_tileaa.addptr %b, %x : {pointer}, index
  nv_tileas.store %v, %q {{atom = #stg}} : i32, {pointer}
  %r = nv_tileaa.addptr %b, %off : {pointer}, index
  %four = arith.constant 4 : index
  %s = nv_tileaa.addptr %r, %four : {pointer}, index
  nv_tileas.store %v, %s {released} mask %m : i1 {{atom = #stg}} : i32, {pointer}""",  # noqa: E501
    )
    numbers = np.random.default_rng(3).integers(1, 99, 4).astype(np.int32)
    before = np.full(8, -1, np.int32)
    expected = np.array([*numbers[:2], 77, 77, *numbers[:2], -1, -1], np.int32)
    check(text, (numbers, before), expected, (4, 1, 1))


def test_a_masked_element_of_an_array_is_padded_or_left() -> None:
    """Elements at coordinates, which must be in bounds only where the mask holds."""
    text = kernel_text(
        "%a: memref<3xf32>, %b: memref<4xf32>",
        """%three = arith.constant 3 : index
  %m = arith.cmpi ult, %x, %three : index
  %v = nv_tileas.load %a[%x] mask %m : i1 {atom = #ldg, padding_value = 2.5 : f32} : memref<3xf32> -> f32
  nv_tileas.store %v, %b[%x] {atom = #stg} : f32, memref<4xf32>
  %n = arith.cmpi eq, %x, %one : index
  %w = arith.addf %v, %v : f32
  nv_tileas.store %w, %b[%x] mask %n : i1 {atom = #stg} : f32, memref<4xf32>""",  # noqa: E501
    )
    numbers = np.random.default_rng(4).standard_normal(3).astype(np.float32)
    expected = np.array([numbers[0], 2 * numbers[1], numbers[2], 2.5], np.float32)
    check(text, (numbers, np.zeros(4, np.float32)), expected, (4, 1, 1))
