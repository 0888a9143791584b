# pyright: basic
"""Weights beside rotated rows, kept in shared memory by words: each row reads them where it is."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

import tileas_xdsl as tileas
from tests.support.orders import in_turns
from tileas_xdsl.interpreters.ptx.execution.state import Order


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
    """Three CTAs take nine rows, of which each begins elsewhere in a vector than the one before.

    Those that are eight apart begin alike: each thread keeps what it reads of lines then, but where
    vectors have more elements.
    """
    array = f"{rows}[?, ?]"
    kernel = tileas.compile(
        scaled,
        target="sm_90a",
        signature=f"x: {array}, w: {lines}[?], b: {lines}[?], y: {array}, columns=2048",
    )
    assert kernel.abi.is_persistent
    by_words = not re.search(r"(?:ld|st)\.shared\.(?:b8|b16|v)", kernel.ptx)
    assert by_words == (rows == "i8")
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


@ct.kernel
def normalized(
    x: Any, w: Any, b: Any, y: Any, rows: ct.Constant[int], columns: ct.Constant[int]
) -> None:
    """Rows less their means in f32, times weights and with biases, as a norm has them."""
    i, count = ct.bid(0), x.shape[1]
    row = ct.astype(ct.load(x, (i, 0), (rows, columns)), ct.float32)
    mean = ct.sum(row, axis=1, keepdims=True) / count
    weights = ct.astype(ct.load(w, (0,), (columns,)), ct.float32)
    biases = ct.astype(ct.load(b, (0,), (columns,)), ct.float32)
    ct.store(y, (i, 0), ct.astype((row - mean) * weights + biases, y.dtype))


@pytest.mark.parametrize(
    ("target", "rows", "width", "element", "order"),
    in_turns(
        (target, *case)
        for target in ("sm_90a", "sm_100a")
        for case in ((1, 1001, "f16"), (2, 1001, "f16"), (4, 1015, "f16"), (1, 517, "f32"))
    ),
)
def test_rows_that_meet_lines_are_loaded_a_round_ahead(
    target: str, rows: int, width: int, element: str, order: Order
) -> None:
    """CTAs take one tile after another; lines are loaded in front of that, and extended once."""
    array, columns = f"{element}[?, ?]", 1 << (width - 1).bit_length()
    kernel = tileas.compile(
        normalized,
        target=target,
        signature=f"x: {array}, w: {element}[?], b: {element}[?], y: {array}, "
        f"rows={rows}, columns={columns}",
    )
    assert kernel.abi.is_persistent
    text = str(kernel.ir("tileas-rotate-rows"))
    assert text.count("nv_tileas.kept_extended = f32") == (2 if element == "f16" else 0)
    _, before, inside = text.split("scf.for")
    assert before.count("nv_tileas.async.tiled_load") == 3
    assert before.count("nv_tileas.kept_as_read") == 2
    assert inside.count("nv_tileas.async.tiled_load") == 1
    assert "cp.async.cg.shared.global" in kernel.ptx
    rng = np.random.default_rng(width)
    x = rng.integers(-5, 6, (4 * rows + 1, width)).astype(TYPES[element])
    w, b = (rng.integers(-5, 6, width).astype(TYPES[element]) for _ in range(2))
    expected = (x - x.astype(np.float64).mean(axis=1, keepdims=True)) * w + b
    arguments = (x, w, b, np.full_like(x, np.nan), rows, columns)
    found = kernel.emulate(*arguments, grid=(6, 1, 1), order=order)
    assert not found.findings
    assert np.allclose(found.arrays[3], expected, rtol=1e-3, atol=1e-2)


def test_words_of_several_rows_meet_lines_of_the_cache() -> None:
    """They are as fast so, and nothing is cut out of them: each CTA has one tile."""
    rows = "f32[?, ?]"
    signature = f"x: {rows}, w: f32[?], b: f32[?], y: {rows}, rows=2, columns=1024"
    kernel = tileas.compile(normalized, target="sm_90a", signature=signature)
    assert not kernel.abi.is_persistent


def test_long_rows_that_meet_lines_come_from_a_counter() -> None:
    rows = "f32[?, ?]"
    signature = f"x: {rows}, w: f32[?], b: f32[?], y: {rows}, rows=1, columns=4096"
    kernel = tileas.compile(normalized, target="sm_90a", signature=signature)
    assert "nv_tileas.async.next_tile_block" in str(kernel.ir("tileas-make-persistent"))
    rng = np.random.default_rng(3)
    x, w, b = (rng.integers(-5, 6, shape).astype(np.float32) for shape in ((5, 2051), 2051, 2051))
    found = kernel.emulate(x, w, b, np.full_like(x, np.nan), 1, 4096, grid=(6, 1, 1))
    assert not found.findings
    expected = (x - x.astype(np.float64).mean(axis=1, keepdims=True)) * w + b
    assert np.allclose(found.arrays[3], expected, rtol=1e-3, atol=1e-3)
