"""Weights beside rotated rows, kept in shared memory by words: each row reads them where it is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")


@ct.kernel
def scaled(x: Any, w: Any, b: Any, y: Any, columns: ct.Constant[int]) -> None:
    """Rows times weights, and biases: two lines that begin elsewhere in a vector than rows do."""
    row = ct.load(x, (ct.bid(0), 0), (1, columns))
    weights = ct.reshape(ct.load(w, (0,), (columns,)), (1, columns))
    biases = ct.reshape(ct.load(b, (0,), (columns,)), (1, columns))
    ct.store(y, (ct.bid(0), 0), ct.astype(row * weights + biases, y.dtype))


TYPES = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i64": np.int64}


@pytest.mark.parametrize(
    ("width", "rows", "lines"),
    [
        (2047, "f16", "f16"),
        (1025, "f16", "f16"),
        (2046, "f16", "f16"),
        (2047, "i8", "i8"),
        (2045, "f32", "f32"),
    ],
)
def test_lines_are_kept_where_a_rotated_row_has_them(width: int, rows: str, lines: str) -> None:
    """Three CTAs take nine rows, of which each begins elsewhere in a vector than the one before."""
    array = f"{rows}[?, ?]"
    kernel = tileas.compile(
        scaled,
        target="sm_90a",
        signature=f"x: {array}, w: {lines}[?], b: {lines}[?], y: {array}, columns=2048",
    )
    assert kernel.abi.is_persistent
    assert not re.search(r"(?:ld|st)\.shared\.(?:b8|b16|v)", kernel.ptx)
    rng = np.random.default_rng(width)
    x = rng.integers(-5, 6, (9, width)).astype(TYPES[rows])
    w, b = (rng.integers(-5, 6, width).astype(TYPES[lines]) for _ in range(2))
    found = kernel.emulate(x, w, b, np.zeros_like(x), 2048, grid=(9, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[3], x * w + b)


@ct.kernel
def above_the_least(x: Any, y: Any, columns: ct.Constant[int]) -> None:
    """Rows less the least number of their second half, part by part; results begin elsewhere."""
    number = ct.bid(0)
    column = ct.reshape(ct.arange(columns, dtype=ct.int32), (1, columns))
    row = ct.load(x, (number, 0), (1, columns), padding_mode=ct.PaddingMode.ZERO)
    is_behind = column > number + ct.reshape(ct.arange(1, dtype=ct.int32), (1, 1)) + 7168
    least = ct.min(ct.where(is_behind, ct.astype(row, ct.float32), 0.0), axis=1, keepdims=True)
    ct.store(y, (number, 0), ct.where(column < x.shape[1], row - least, 0.0))


def test_parts_of_a_line_are_read_where_they_are_in_it() -> None:
    rows, width, columns = 3, 14336, 16384
    pitch = width + 8
    memory = np.zeros(rows * pitch + 8, np.float32)
    first = (2 - memory.ctypes.data // 4) % 4
    y = memory[first : first + rows * pitch].reshape(rows, pitch)[:, :width]
    x = -(np.arange(rows * width, dtype=np.float32).reshape(rows, width) % 16381)
    kernel = tileas.compile(above_the_least, x, y, columns, target="sm_90a")
    found = kernel.emulate(x, y, columns, grid=rows)
    assert not found.findings
    assert "kept_in_shared_memory = 0" in str(kernel.ir("tileas-rotate-rows"))
    least = np.array([[row[7169 + i :].min()] for i, row in enumerate(x)])
    assert np.array_equal(found.arrays[1], x - least)


@pytest.mark.parametrize(
    ("rows", "lines"), [("i8", "i8"), ("f16", "f32"), ("i8", "f32"), ("i64", "i8"), ("i64", "f16")]
)
@pytest.mark.parametrize("width", [512, 300])
def test_vectors_of_lines_may_be_narrower_than_rows_are_rotated_by(
    width: int, rows: str, lines: str
) -> None:
    """Rows of bytes are rotated by up to 15 columns, vectors of 4 or 8; bytes beside `i64` are two.

    Rows of 512 columns fill their tiles: what is rotated to its beginning is the end of the line.
    """
    rng = np.random.default_rng(width)
    x = rng.integers(-5, 6, (9, 513)).astype(TYPES[rows])[:, :width]
    w, b = (rng.integers(-5, 6, width).astype(TYPES[lines]) for _ in range(2))
    arguments = (x, w, b, np.zeros((9, 513), TYPES[rows])[:, :width], 512)
    kernel = tileas.compile(scaled, *arguments, target="sm_90a")
    assert kernel.abi.is_persistent
    assert "ld.shared" in kernel.ptx
    found = kernel.emulate(*arguments, grid=(9, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[3], kernel.evaluate(*arguments, grid=(9, 1, 1)).arrays[3])


@ct.kernel
def added(x: Any, y: Any, z: Any, columns: ct.Constant[int]) -> None:
    """Sums of two arrays, which are stored from the middle of a vector on."""
    ct.store(z, (0,), ct.load(x, (0,), (columns,)) + ct.load(y, (0,), (columns,)))


def test_arrays_are_rotated_as_the_only_one_that_begins_between_vectors() -> None:
    """512 bytes are 8 of each thread; the sums begin 1 to 15 bytes behind a multiple of 16."""
    rng = np.random.default_rng(0)
    x, y, z = (rng.integers(-50, 50, 1023 + begin).astype(np.int8)[begin:] for begin in (0, 0, 1))
    kernel = tileas.compile(added, x, y, z, 512, target="sm_90a")
    found = kernel.emulate(x, y, z, 512, grid=(1, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[2], [*(x + y)[:512], *z[512:]])
