"""Rows that begin and end anywhere: what is loaded, padded and stored, on the emulator."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.orders import in_turns
from tileas_xdsl.interpreters.ptx.execution.state import Order

ct: Any = pytest.importorskip("cuda.tile")

COLUMNS = 2048


@ct.kernel
def negated(x: Any, y: Any, sums: Any, columns: ct.Constant[int]) -> None:
    """The opposite of a row, and its sum with ones behind its end."""
    i = ct.bid(0)
    row = ct.load(x, (i, 0), (1, columns), padding_mode=ct.PaddingMode.NEG_ZERO)
    ct.store(y, (i, 0), ct.astype(-row, y.dtype))
    ones = ct.where(row == 0, 1.0, ct.astype(row, ct.float32))
    ct.store(sums, (i,), ct.sum(ones, axis=1))


@ct.kernel
def scaled(x: Any, w: Any, y: Any, columns: ct.Constant[int]) -> None:
    """A row but for its first two elements, times weights, whose vectors are elsewhere."""
    i, j = ct.bid(0), ct.arange(columns, dtype=ct.int32)
    row = ct.load(x, (i, 0), (1, columns)) * ct.reshape(ct.load(w, (0,), (columns,)), (1, columns))
    ct.store(y, (i, 0), ct.where(j < 2, ct.zeros((1, columns), x.dtype), row))


@ct.kernel
def differences(x: Any, y: Any, out: Any, columns: ct.Constant[int]) -> None:
    """Rows of two arrays, which begin where each has them."""
    i = ct.bid(0)
    ct.store(out, (i, 0), ct.load(x, (i, 0), (1, columns)) - ct.load(y, (i, 0), (1, columns)))


@ct.kernel
def flipped(x: Any, y: Any, columns: ct.Constant[int]) -> None:
    """The bits of the bytes of a row, inverted."""
    i = ct.bid(0)
    ct.store(y, (i, 0), ~ct.load(x, (i, 0), (1, columns)))


@cache
def compiled(kernel: Any, signature: str) -> Any:
    return tileas.compile(kernel, target="sm_90a", signature=f"{signature}, columns={COLUMNS}")


def of_halves(stride: str = "?") -> Any:
    rows = f"f16[?, {stride}]"
    return compiled(negated, f"x: {rows}, y: {rows}, sums: f32[?]")


def halves(rng: np.random.Generator, *shape: int) -> Any:
    """Multiples of 1/8 up to 2, which sums of f32 hold exactly, and none is 0."""
    return (rng.integers(1, 17, shape) * rng.choice([-1, 1], shape) / 8).astype(np.float16)


@pytest.mark.parametrize("width", [2047, 1025, 1999, 7, 2041, 2048])
def test_rows_of_16_bits_are_accessed_by_vectors_and_elements(width: int) -> None:
    """Of three rows, which begin apart, and a block behind them."""
    kernel = of_halves()
    assert all(f"ld.global.{form}" in kernel.ptx for form in ("b16", "v4.b32"))
    x = halves(np.random.default_rng(width), 3, width)
    y, sums = np.full_like(x, np.nan), np.zeros(3, np.float32)
    found = kernel.emulate(x, y, sums, COLUMNS, grid=(4, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[1], -x)
    expected = x.astype(np.float32).sum(1) + COLUMNS - width
    assert np.array_equal(found.arrays[2], expected)


@pytest.mark.parametrize("width", [2046, 1538])
def test_rows_of_even_length_begin_at_words(width: int) -> None:
    kernel = of_halves("?%2")
    x = halves(np.random.default_rng(width), 2, width)
    y, sums = np.full_like(x, np.nan), np.zeros(2, np.float32)
    found = kernel.emulate(x, y, sums, COLUMNS, grid=(2, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[1], -x)


@pytest.mark.parametrize("width", [2047, 20])
def test_rows_of_bytes_begin_anywhere(width: int) -> None:
    kernel = compiled(flipped, "x: i8[?, ?], y: i8[?, ?]")
    x = np.random.default_rng(width).integers(-128, 128, (3, width), np.int8)
    found = kernel.emulate(x, np.zeros_like(x), COLUMNS, grid=(3, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[1], ~x)


@pytest.mark.parametrize(("divisor", "loads"), [(8, "ld.global.v2.b32"), (4, "ld.global.b8")])
def test_rows_of_whole_words_are_loaded_by_them(divisor: int, loads: str) -> None:
    """The rows of one array are rotated, and those of the other one begin at some word."""
    rows = f"i8[?, ?; ?%{divisor}, 1]"
    kernel = compiled(differences, f"x: {rows}, y: {rows}, out: i8[?, ?; ?%{divisor}, 1]")
    rng = np.random.default_rng(divisor)
    x, y = (rng.integers(-64, 64, (3, 125 * divisor), np.int8) for _ in range(2))
    found = kernel.emulate(x, y, np.zeros_like(x), COLUMNS, grid=(3, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[2], x - y)
    assert loads in kernel.ptx


def test_rows_are_stored_where_they_were() -> None:
    """No access reaches what other blocks store."""
    kernel = compiled(in_place, "x: f16[?, ?]")
    x = halves(np.random.default_rng(0), 3, 2047)
    found = kernel.emulate(x.copy(), COLUMNS, grid=(3, 1, 1))
    assert not found.findings
    assert np.array_equal(found.arrays[0], -x)


@ct.kernel
def in_place(x: Any, columns: ct.Constant[int]) -> None:
    """The opposite of a row, in its place."""
    i = ct.bid(0)
    ct.store(x, (i, 0), -ct.load(x, (i, 0), (1, columns)))


@pytest.mark.parametrize(
    ("width", "element"),
    [(2047, np.float16), (1534, np.float16), (1999, np.int8)],
)
def test_weights_of_rows_are_put_together_of_two_vectors(width: int, element: Any) -> None:
    """Each row is as far from its vectors as another one is not."""
    name = {np.float16: "f16", np.int8: "i8"}[element]
    kernel = compiled(scaled, f"x: {name}[?, ?], w: {name}[?], y: {name}[?, ?]")
    rng = np.random.default_rng(width)
    x, w = rng.integers(-9, 10, (9, width)), rng.integers(-9, 10, width)
    x, w = x.astype(element), w.astype(element)
    found = kernel.emulate(x, w, np.zeros_like(x), COLUMNS, grid=(9, 1, 1))
    assert not found.findings
    expected = x * w
    expected[:, :2] = 0
    assert np.array_equal(found.arrays[2], expected)


@ct.kernel
def scaled_rows(x: Any, w: Any, y: Any, rows: ct.Constant[int], columns: ct.Constant[int]) -> None:
    """Several rows but for their first two elements, times weights."""
    j = ct.arange(columns, dtype=ct.int32)
    tile = ct.load(x, (ct.bid(0), 0), (rows, columns))
    weights = ct.reshape(ct.load(w, (0,), (columns,)), (1, columns)) + ct.ones((1, 1), w.dtype)
    zeros = ct.zeros((rows, columns), x.dtype)
    ct.store(y, (ct.bid(0), 0), ct.where(j < 2, zeros, tile * weights))


@ct.kernel
def scaled_in_turn(x: Any, w: Any, y: Any, count: ct.Constant[int]) -> None:
    """Two rows at a time, in a loop of the program."""
    for i in range(count):
        tile = ct.load(x, (i, 0), (2, COLUMNS))
        weights = ct.reshape(ct.load(w, (0,), (COLUMNS,)), (1, COLUMNS))
        ct.store(y, (i, 0), tile * weights)


@ct.kernel(num_worker_warps=4)
def negated_planes(x: Any, y: Any, columns: ct.Constant[int]) -> None:
    """The opposites of rows of three planes, and their sums with what pads them."""
    i, j = ct.bid(0), ct.bid(1)
    tile = ct.load(x, (i, j, 0), (2, 2, columns), padding_mode=ct.PaddingMode.ZERO)
    total = ct.sum(ct.astype(tile, ct.float32), axis=2, keepdims=True)
    ct.store(y, (i, j, 0), ct.astype(ct.astype(-tile, ct.float32) + total, y.dtype))


SEVERAL = (
    *(("f16", rows, 1001, 1024) for rows in (2, 4, 8)),
    ("f16", 16, 1001, 1024),  # more rows than warps are loaded by elements
    ("f16", 4, 1024, 1024),
    ("f16", 4, 510, 512),
    ("f16", 4, 7, 512),
    ("f32", 4, 517, 1024),
    ("i8", 2, 2047, 2048),
)


@pytest.mark.parametrize(
    ("target", "element", "rows", "width", "columns", "order"),
    in_turns((target, *case) for target in ("sm_90a", "sm_100a") for case in SEVERAL),
)
def test_each_of_several_rows_begins_elsewhere(
    target: str, element: str, rows: int, width: int, columns: int, order: Order
) -> None:
    """Some rows of the last tile do not exist; the weights of all rows are in shared memory."""
    kind = {"f16": np.float16, "f32": np.float32, "i8": np.int8}[element]
    array = f"{element}[?, ?]"
    signature = f"x: {array}, w: {element}[?], y: {array}, rows={rows}, columns={columns}"
    kernel = tileas.compile(scaled_rows, target=target, signature=signature)
    rng = np.random.default_rng(width)
    x, w = rng.integers(-9, 10, (9, width)).astype(kind), rng.integers(-6, 7, width).astype(kind)
    expected = x * (w + kind(1))
    expected[:, :2] = 0
    simulated = kernel.simulate(x, w, np.zeros_like(x), rows, columns, grid=-(-9 // rows) + 1)
    assert np.array_equal(simulated.arrays[2], expected)
    args = (x, w, np.zeros_like(x), rows, columns)
    found = kernel.emulate(*args, grid=(-(-9 // rows) + 1, 1, 1), order=order)
    assert not found.findings
    assert np.array_equal(found.arrays[2], expected)
    if element == "f16" and rows <= 4 and columns == 1024:
        assert "ld.global.v4.b32" in kernel.ptx
        assert "ld.shared" in kernel.ptx


def test_lines_of_several_rows_are_kept_in_each_round() -> None:
    kernel = compiled_of(scaled_in_turn, "x: f16[?, ?], w: f16[?], y: f16[?, ?], count=3")
    x, w = halves(np.random.default_rng(5), 6, 2043), halves(np.random.default_rng(6), 2043)
    found = kernel.emulate(x, w, np.zeros_like(x), 3, grid=1)
    assert not found.findings
    assert np.array_equal(found.arrays[2], x * w)


@pytest.mark.parametrize("shape", [(3, 7, 509), (2, 4, 512), (1, 1, 300)])
def test_rows_of_planes_begin_by_two_strides(shape: tuple[int, ...]) -> None:
    kernel = compiled_of(negated_planes, "x: f16[?, ?, ?], y: f16[?, ?, ?], columns=512")
    assert "ld.global.v4.b32" in kernel.ptx
    x = halves(np.random.default_rng(shape[-1]), *shape)
    found = kernel.emulate(x, np.zeros_like(x), 512, grid=(2, 4, 1))
    assert not found.findings
    total = x.astype(np.float32).sum(axis=2, keepdims=True)
    assert np.array_equal(found.arrays[1], (total - x).astype(np.float16))


def compiled_of(kernel: Any, signature: str) -> Any:
    return tileas.compile(kernel, target="sm_90a", signature=signature)
