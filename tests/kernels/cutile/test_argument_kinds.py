"""Arguments of all kinds, in the tile interpreter and in PTX on the emulator."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tileas_xdsl as tileas

ct: Any = pytest.importorskip("cuda.tile")

TARGETS = ("sm_90a", "sm_100a")


class Mode(enum.Enum):
    """A constant that is no number."""

    KEEP = 1
    NEGATE = 2


@ct.kernel
def add_all(arrays: Any, out: Any) -> None:
    """Sums the arrays of a list."""
    total = ct.zeros((16, 16), dtype=out.dtype)
    for i in range(len(arrays)):
        total += ct.load(arrays[i], (0, 0), (16, 16))
    ct.store(out, (0, 0), total)


@ct.kernel
def split(x: Any, arrays: Any) -> None:
    """Writes the arrays of a list."""
    for i in range(len(arrays)):
        ct.store(arrays[i], (0,), ct.load(x, (i,), (16,)))


@ct.kernel
def scaled(pair: Any, out: Any, shape: ct.Constant[tuple]) -> None:
    """Takes an array and two numbers in a tuple of tuples."""
    array, (scale, offset) = pair
    ct.store(out, (0,), ct.load(array, (0,), shape) * scale + offset)


@ct.kernel
def chosen(
    x: Any, out: Any, mode: ct.Constant, name: ct.Constant, no: ct.Constant, to: ct.Constant
) -> None:
    """Computes what its constants say."""
    tile = ct.load(x, (0,), (16,))
    if mode == Mode.NEGATE:
        tile = -tile
    if name == "increment":
        tile = tile + 1
    if no is None:
        tile = tile * 2
    ct.store(out, (0,), ct.astype(ct.astype(tile, to), ct.float32))


@ct.kernel
def twice(x: Any, y: Any) -> None:
    """Stores to one array what it reads of another, twice."""
    ct.store(y, (0,), ct.load(x, (0,), (16,)) + 1)
    ct.store(y, (0,), ct.load(x, (0,), (16,)) + 1)


@ct.kernel
def copied(x: Any, y: Any) -> None:
    """Copies a tile."""
    ct.store(y, (0,), ct.load(x, (0,), (16,)))


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def runs(kernel: Any, *args: Any) -> Iterator[Sequence[Any]]:
    """The arguments after a run at each level, for each target."""
    for target in TARGETS:
        compiled = tileas.compile(kernel, *args, target=target)
        yield compiled.evaluate(*args).arrays
        yield compiled.simulate(*args).arrays
        emulated = compiled.emulate(*args)
        assert not emulated.findings
        yield emulated.arrays


def test_lists_of_arrays_are_read_and_written() -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 99, (16, 16)).astype(np.int32) for _ in range(3)]
    for after in runs(add_all, arrays, np.zeros((16, 16), np.int32)):
        np.testing.assert_array_equal(after[1], sum(arrays))
    x = numbers(64)
    for after in runs(split, x, [np.zeros(16, np.float32) for _ in range(4)]):
        np.testing.assert_array_equal(np.concatenate(after[1]), x)


def test_tuples_of_arrays_numbers_and_constants() -> None:
    x, out = numbers(16), np.zeros(16, np.float32)
    for after in runs(scaled, (x, (2.0, 3)), out, (16,)):
        np.testing.assert_array_equal(after[1], x * 2 + 3)
        np.testing.assert_array_equal(after[0][0], x)


def test_constants_that_are_no_numbers() -> None:
    x, out = numbers(16), np.zeros(16, np.float32)
    for after in runs(chosen, x, out, Mode.NEGATE, "increment", None, np.float16):
        expected = ((1 - x) * 2).astype(np.float16).astype(np.float32)
        np.testing.assert_array_equal(after[1], expected)


def test_an_array_that_is_passed_twice_is_one_array() -> None:
    x = numbers(16)
    for after in runs(twice, x, x):
        np.testing.assert_array_equal(after[0], x + 2)
        np.testing.assert_array_equal(after[1], x + 2)


def test_slices_that_overlap_share_their_elements() -> None:
    """The second one begins where the first has its fourth element, which is not aligned."""
    whole = numbers(32)
    for after in runs(twice, whole[:16], whole[3:19]):
        expected = whole.copy()
        expected[3:19] = expected[:16] + 1
        expected[3:19] = expected[:16] + 1
        np.testing.assert_array_equal(after[0], expected[:16])
        np.testing.assert_array_equal(after[1], expected[3:19])


@pytest.mark.parametrize(
    "dtype", ["uint8", "uint16", "uint32", "uint64", "bool", "float8_e4m3fn", "float8_e5m2"]
)
def test_arrays_of_all_element_types(dtype: str) -> None:
    wanted = np.dtype(getattr(ml_dtypes, dtype, dtype))
    bits = np.random.default_rng(1).integers(0, 256, 16 * wanted.itemsize, np.uint8)
    x = (bits & 1).astype(bool) if dtype == "bool" else bits.view(wanted)
    for after in runs(copied, x, np.zeros(16, wanted)):
        np.testing.assert_array_equal(after[1].view(np.uint8), x.view(np.uint8))


def test_arrays_of_no_dimension() -> None:
    @ct.kernel
    def increment(x: Any, y: Any) -> None:
        ct.scatter(y, (), ct.gather(x, ()) + 1)

    for after in runs(increment, np.array(2.5, np.float32), np.array(0.0, np.float32)):
        assert after[1] == 3.5
        assert after[1].shape == ()
