"""Tiles read as elements of another width: the emulator and the tile interpreter agree with numpy.

Splitting an element, and joining parts that a thread holds side by side, moves nothing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS
from tileas_xdsl.layout.registers.blocked import blocked_layout, row_values_layout, rows_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout
from tileas_xdsl.threads.registers.reinterpret_bits import joined_layout, unit_layout

ct = pytest.importorskip("cuda.tile")

TYPES = (
    np.float64, np.int8, ml_dtypes.bfloat16, np.float32, ml_dtypes.float8_e5m2, np.int64, np.uint8,
    np.uint32, np.float16, np.uint64, np.int16, ml_dtypes.float8_e4m3fn, np.int32, np.float64,
)  # fmt: skip
"""Every width is read as every other one, between neighbours, and so are floats as integers."""


def _bits(rng: np.random.Generator, count: int, dtype: Any) -> Any:
    """Elements of any bits, NaNs among them."""
    return rng.integers(0, 256, count * np.dtype(dtype).itemsize).astype(np.uint8).view(dtype)


@ct.kernel
def packed_and_unpacked(x, y, count: ct.Constant[int]):
    tile = ct.load(x, index=(0,), shape=(count,))
    ct.store(y, index=(0,), tile=ct.unpack_from_bytes(ct.pack_to_bytes(tile), y.dtype))


COUNTS = (16, 128, 2048)
CASES = [
    (source, result, COUNTS[(number + turn) % 3])
    for number, (source, result) in enumerate(pairwise(TYPES))
    for turn in range(2)
]


@pytest.mark.sample(13)
@pytest.mark.parametrize(("source", "result", "count"), CASES)
def test_elements_of_one_width_as_those_of_another(source: Any, result: Any, count: int) -> None:
    x = _bits(np.random.default_rng(count), count, source)
    wanted = x.view(np.uint8).view(result)
    y = np.zeros_like(wanted)
    target = TARGETS[count % 3 == 1]
    kernel = tileas.compile(packed_and_unpacked, x, y, count, target=target)
    for run in (kernel.simulate, kernel.emulate):
        found = np.asarray(run(x, y, count, grid=1).arrays[1])
        np.testing.assert_array_equal(found.view(np.uint8), wanted.view(np.uint8))
    if count == 2048 or (count == 128 and wanted.itemsize <= x.itemsize):
        assert not re.search(r"(ld|st)\.shared", kernel.ptx)
        assert kernel.ptx.count("shfl.sync") <= 1  # the index of the warp, where there are several


@ct.kernel
def bytes_of_columns(x, y, rows: ct.Constant[int], columns: ct.Constant[int]):
    tile = ct.transpose(ct.load(x, (0, 0), (rows, columns)))
    lines = ct.astype(ct.reshape(ct.pack_to_bytes(tile), (columns, 4 * rows)), ct.int32)
    ct.store(y, (0,), ct.sum(lines, axis=1))


@ct.kernel
def alone(x, y):
    ct.scatter(y, (), ct.unpack_from_bytes(ct.pack_to_bytes(ct.gather(x, ())), y.dtype).reshape(()))


@ct.kernel
def product_of_words(a, b, c):
    """The right operand is words of two f16 each."""
    words = ct.load(b, (0, 0), (32, 32))
    right = ct.reshape(ct.unpack_from_bytes(ct.pack_to_bytes(words), ct.float16), (32, 64))
    total = ct.mma(ct.load(a, (0, 0), (64, 32)), right, ct.zeros((64, 64), ct.float32))
    ct.store(c, (0,), ct.unpack_from_bytes(ct.pack_to_bytes(total * 2), ct.int64))


@pytest.mark.parametrize("target", TARGETS)
def test_tiles_of_any_layout(target: str) -> None:
    """The bits of a transposed tile, of a scalar, of an operand and of an accumulator."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((32, 64)).astype(np.float32)
    a, b = (rng.standard_normal(n).astype(np.float16) for n in ((64, 32), (32, 64)))
    c = np.zeros(2048, np.int64)
    columns = np.ascontiguousarray(x.T).view(np.uint8).reshape(64, -1).sum(axis=1)
    cases: list[tuple[Any, list[Any], Any, Any, float]] = [
        (bytes_of_columns, [x, np.zeros(64, np.int32), 32, 64], columns, np.int32, 0),
        (alone, [np.array(2.5, np.float32), np.array(0, np.int32)], 2.5, np.float32, 0),
        (product_of_words, [a, b.view(np.int32), c], 2 * (a @ b), np.float32, 2e-2),
    ]
    for kernel, arguments, wanted, dtype, tolerance in cases:
        made = tileas.compile(kernel, *arguments, target=target)
        for run in (made.simulate, made.emulate):
            arrays = run(*arguments, grid=1).arrays
            found = np.asarray(arrays[2 if kernel is product_of_words else 1]).reshape(-1)
            flat = np.asarray(wanted).reshape(-1)
            np.testing.assert_allclose(found.view(dtype), flat, tolerance, tolerance)


LAYOUTS = [
    blocked_layout((128,), 4, 4),
    blocked_layout((64, 32), 4, 2),
    rows_layout((16, 256), 4, 4),
    row_values_layout(rows_layout((16, 256), 4, 4)),
    accumulator_layout(64, 32, 1),
]


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize("per", [1, 2, 8])
def test_a_layout_of_parts_and_back(layout: RegisterLayout, per: int) -> None:
    units = unit_layout(layout, per)
    assert units.held.shape == (layout.threads, layout.values * per)
    found = joined_layout(units, layout.shape, per)
    assert found is not None
    assert found.has_same_map(layout)


def test_parts_of_an_element_in_two_threads_are_not_joined() -> None:
    assert joined_layout(blocked_layout((128,), 4, 4), (64,), 2) is None
