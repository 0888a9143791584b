"""Code for the length of rows that a launch knows is right, and has nothing behind their ends."""

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile.layer_norm import layer_norm
from kernels.cutile.softmax import softmax
from tests.support.compiling import OfRows, specialized
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.launches.specializations import unspecialized
from tileas_xdsl.transforms.memory.tileas_bound_rows import TileasBoundRows


def arguments(
    kernel: Any, element: Any, columns: int, rows: int, width: int, count: int = 6
) -> tuple[Any, ...]:
    """Random rows off the origin; a result without numbers."""
    random = np.random.default_rng(columns)
    x = (random.standard_normal((count, columns)) + 0.5).astype(element)
    y = np.full_like(x, np.nan)
    if kernel is softmax:
        return x, y, rows, width
    w, b = (random.standard_normal(columns).astype(element) for _ in "wb")
    return x, w, b, y, np.zeros(count, np.float32), np.zeros(count, np.float32), rows, width


def expected(kernel: Any, x: Any, *others: Any) -> Any:
    x = x.astype(np.float64)
    if kernel is softmax:
        powers = np.exp(x - x.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)
    w, b, *_ = others
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * w + b


def made(
    kernel: Any, element: Any, columns: int, rows: int, width: int, target: str = "sm_90a"
) -> CompiledKernel:
    """The kernel for rows of this length."""
    args = arguments(kernel, element, columns, rows, width)
    return specialized(kernel, *args, choose=OfRows(columns), target=target)


CASES = [
    (softmax, np.float16, 700, 1, 1024, (513, 752)),
    (softmax, np.float16, 768, 1, 1024, (768, 768)),
    (softmax, np.float16, 701, 1, 1024, (513, 752)),  # rows begin between vectors
    (softmax, np.float32, 1281, 1, 2048, (1281, 1520)),
    (softmax, np.float16, 513, 2, 1024, (513, 752)),
    (softmax, np.float32, 1, 1, 1024, (1, 240)),
    (layer_norm, np.float16, 640, 1, 1024, (513, 752)),
    (
        layer_norm,
        np.float16,
        640,
        2,
        2048,
        (513, 752),
    ),  # whole chunks are behind the end
    (layer_norm, np.float32, 1280, 1, 2048, (1280, 1280)),
    (layer_norm, np.float16, 2100, 1, 4096, (2049, 2544)),
]


@pytest.mark.parametrize(("kernel", "element", "columns", "rows", "width", "lengths"), CASES)
def test_rows_of_a_known_length_are_right(
    kernel: Any, element: Any, columns: int, rows: int, width: int, lengths: tuple[int, int]
) -> None:
    found = made(kernel, element, columns, rows, width)
    assert found.abi.row_lengths == lengths
    args = arguments(kernel, element, columns, rows, width)
    ran = found.emulate(*args, grid=6 // rows)
    assert not ran.findings
    result = ran.arrays[1 if kernel is softmax else 3]
    tolerance = 2e-3 if element is np.float16 else 1e-5
    np.testing.assert_allclose(result, expected(kernel, *args), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("gaps", [(3, 2), (0, 4), (8, 1)])
@pytest.mark.parametrize("columns", [1024, 1481])
def test_rows_are_stored_whole_where_results_are_aligned_otherwise(
    columns: int, gaps: tuple[int, int]
) -> None:
    """Rows with gaps behind them: what is rotated as those of `x` is no vector of `y`."""
    x, y, *sizes = arguments(softmax, np.float16, columns, 1, 4096)
    given = [
        np.pad(one, ((0, 0), (0, gap)))[:, :columns] for one, gap in zip((x, y), gaps, strict=True)
    ]
    found = specialized(softmax, *given, *sizes, choose=OfRows(columns))
    assert found.abi.row_lengths is not None
    ran = found.emulate(*given, *sizes, grid=6)
    assert not ran.findings
    np.testing.assert_allclose(ran.arrays[1], expected(softmax, x), rtol=2e-3, atol=2e-3)


LONG = [
    (softmax, np.float16, 33001, 65536, 5),  # begin between vectors, kept in shared memory
    pytest.param(layer_norm, np.float16, 33001, 65536, 5, marks=pytest.mark.slow),
    (softmax, np.float16, 18000, 32768, 5),
    (layer_norm, np.float32, 12200, 16384, 6),
]
"""Rows in parts of eight, of which so many are reached."""


@pytest.mark.parametrize(("kernel", "element", "columns", "width", "reached"), LONG)
def test_long_rows_end_with_the_last_part_that_they_reach(
    kernel: Any, element: Any, columns: int, width: int, reached: int
) -> None:
    """The last tile block has no row, but shared memory for one."""
    found = made(kernel, element, columns, 1, width)
    memory = width // 8 * reached * np.dtype(element).itemsize
    assert memory <= found.abi.shared_bytes < memory + 1024
    args = arguments(kernel, element, columns, 1, width, count=2)
    ran = found.emulate(*args, grid=3, order="lazy")
    assert not ran.findings
    result = ran.arrays[1 if kernel is softmax else 3]
    tolerance = 2e-3 if element is np.float16 else 1e-5
    np.testing.assert_allclose(result, expected(kernel, *args), rtol=tolerance, atol=tolerance)


def test_nothing_behind_rows_is_loaded_or_stored() -> None:
    """Of 2,048 places 1,280 are loaded, and each load has the mask of its row alone."""
    exact, between = (made(softmax, np.float16, n, 1, 2048) for n in (1280, 1288))
    masks = [re.findall(r"@(%p\d+) ld\.global", one.ptx) for one in (exact, between)]
    assert [len(set(each)) for each in masks] == [1, 2]
    assert len(masks[0]) * exact.abi.threads * 8 == 1280


def test_a_form_says_which_rows_it_is_for() -> None:
    found = made(softmax, np.float16, 700, 1, 1024)
    usual = compile(softmax, *arguments(softmax, np.float16, 700, 1, 1024), target="sm_90a")
    assert found.abi.bounded_rows == usual.abi.bounded_rows
    assert found.abi.wanted(unspecialized) == usual.abi.specialization != found.abi.specialization
    stored = Executable("sm_90a", found.abi, found.ptx, b"").to_bytes()
    assert Executable.from_bytes(stored).abi == found.abi


@ct.kernel(num_worker_warps=4)
def doubled(x, y):
    ct.store(y, (ct.bid(0), 0), 2 * ct.load(x, (ct.bid(0), 0), (1, 2048)))


def test_warps_of_a_hint_are_kept() -> None:
    x = np.ones((4, 1280), np.float16)
    made = specialized(doubled, x, x.copy(), choose=OfRows(1280))
    assert (made.abi.row_lengths, made.abi.threads) == ((1280, 1280), 128)


@pytest.mark.parametrize(("least", "most"), [(5, 0), (0, 5), (6, 5), (-1, -1)])
def test_bounds_that_hold_no_length_are_refused(least: int, most: int) -> None:
    with pytest.raises(ValueError, match=f"least is 1 to most: not {least} and {most}"):
        TileasBoundRows(least, most)
