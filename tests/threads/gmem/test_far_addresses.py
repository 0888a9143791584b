"""Elements more than 2^31 elements or bytes behind the begin of an array.

The emulator has memory for a part of the array alone: a kernel that computes the address of an
element in too few bits accesses what is in no array.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx import LateArg
from tileas_xdsl.runtime.emulation import emulate

ct: Any = pytest.importorskip("cuda.tile")

TARGETS = ("sm_90a", "sm_100a")


@dataclass(frozen=True)
class Far(LateArg):
    """A pointer to an array, of which there is memory for a part."""

    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    dtype: Any = None


def far(part: Any, shape: Sequence[int], strides: Sequence[int], first: Sequence[int]) -> Far:
    """An array whose element `first` is the first one of `part`; strides count elements."""
    size = part.dtype.itemsize
    before = sum(n * stride for n, stride in zip(first, strides, strict=True)) * size
    in_bytes = tuple(stride * size for stride in strides)

    def address(bases: Sequence[int]) -> bytes:
        return struct.pack("<Q", (bases[0] - before) % (1 << 64))

    return Far([part], address, tuple(shape), in_bytes, part.dtype)


def numbers(*shape: int) -> Any:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def emulated(kernel: Any, args: Sequence[Any]) -> Any:
    """The last array after a run."""
    found = emulate(kernel.ptx, kernel.abi, args, 1)
    assert not found.findings
    return [value for value in found.arrays if isinstance(value, np.ndarray)][-1]


@ct.kernel
def tile(x: Any, y: Any, i: Any, j: Any) -> None:
    """Loads a tile and stores it to the begin of another array."""
    loaded = ct.load(x, (i, j), (8, 16), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, (0, 0), loaded)


@ct.kernel
def rows(x: Any, y: Any, i: Any) -> None:
    """Loads rows by their indices."""
    indices = i + ct.arange(8, dtype=ct.int32)
    ct.store(y, (0, 0), ct.load_advanced_indexing(x, (indices, ct.Slice(16, 16))))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("layout", "shape", "strides", "place"),
    [
        ("?;?,1", (1 << 26, 40), (64, 1), ((1 << 23) - 1, 1)),
        ("?;1,?", (40, 1 << 26), (1, 64), (1, (1 << 22) - 1)),
        ("?;?,?", (40, 1 << 26), (3, 64), (1, (1 << 22) - 1)),
    ],
)
def test_tiles_at_the_end_of_large_matrices(
    target: str, layout: str, shape: tuple[int, int], strides: tuple[int, int], place: Any
) -> None:
    text = f"x: f32[?,{layout}], y: f32[?,?], i: i32, j: i32"
    kernel = tileas.compile(tile, signature=text, target=target)
    part = numbers(8 * strides[0] + 16 * strides[1])
    array = far(part, shape, strides, (8 * place[0], 16 * place[1]))
    y = np.zeros((8, 16), np.float32)
    found = emulated(kernel, [array, *shape, *strides, y, 8, 16, 16, 1, *place])
    for i, j in np.ndindex(8, 16):
        is_inside = 8 * place[0] + i < shape[0] and 16 * place[1] + j < shape[1]
        assert found[i, j] == (part[i * strides[0] + j * strides[1]] if is_inside else 0)


@pytest.mark.parametrize("target", TARGETS)
def test_rows_at_the_end_of_large_matrices(target: str) -> None:
    kernel = tileas.compile(rows, signature="x: f32[?,?;?,1], y: f32[?,?], i: i32", target=target)
    part, y = numbers(8, 64), np.zeros((8, 16), np.float32)
    first = (1 << 26) - 8
    array = far(part.reshape(-1), (1 << 26, 64), (64, 1), (first, 0))
    found = emulated(kernel, [array, 1 << 26, 64, 64, 1, y, 8, 16, 16, 1, first])
    np.testing.assert_array_equal(found, part[:, 16:32])


COPY = """
!matrix = memref<{shape}xf32>

func.func @copy(%A: !matrix, %B: memref<16x32xf32>) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant {last} : index
  %first = arith.constant {first} : index
  tl.kernel (%bx, %by) in (%one, %one) threads(64) {{
    %s = tl.alloc_shared : memref<16x32xf32, #tl<space shared>>
    %y = arith.addi %by, %first : index
    tl.copy %A[{index}] to %s : !matrix to memref<16x32xf32, #tl<space shared>>
    tl.copy %s to %B[%zero, %zero] : memref<16x32xf32, #tl<space shared>> to memref<16x32xf32>
  }}
  func.return
}}
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("text", "shape", "index"),
    [
        ("?x?", (1 << 26, 64), "%y, %zero"),
        (f"{1 << 26}x64", (1 << 26, 64), "%y, %zero"),
        ("?x?x?", (1 << 13, 1 << 13, 64), "%last, %y, %zero"),
    ],
)
def test_tl_programs_at_the_end_of_large_arrays(
    target: str, text: str, shape: tuple[int, ...], index: str
) -> None:
    first, last = shape[-2] - 16, shape[0] - 1
    source = COPY.format(shape=text, first=first, last=last, index=index)
    kernel = tileas.compile(source, target=target)
    part = numbers(16, 64)
    strides = [int(np.prod(shape[axis + 1 :], dtype=np.int64)) for axis in range(len(shape))]
    place = [*(n - 1 for n in shape[:-2]), first, 0]
    array = far(part.reshape(-1), shape, strides, place)
    found = emulated(kernel, [array, np.zeros((16, 32), np.float32)])
    np.testing.assert_array_equal(found, part[:, :32])


# Arrays with indices of 64 bits.


@ct.kernel
def wide_tile(
    x: ct.IndexedWithInt64, y: ct.IndexedWithInt64, count: ct.IndexedWithInt64, i: ct.ScalarInt64
) -> None:
    """Loads a tile of an array of more than 2^32 elements, and stores how many there are."""
    ct.store(y, (0,), ct.load(x, (i,), (128,), padding_mode=ct.PaddingMode.ZERO))
    ct.store(count, (0,), ct.full((1,), x.shape[0], ct.int64))


@ct.kernel
def wide_matmul(
    a: ct.IndexedWithInt64, b: ct.IndexedWithInt64, c: ct.IndexedWithInt64, n: ct.IndexedWithInt64
) -> None:
    """Multiplies matrices, and counts blocks."""
    sums = ct.zeros((64, 64), ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(64, 32))):
        x = ct.load(a, (ct.bid(0), k), (64, 32), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, ct.bid(1)), (32, 64), padding_mode=ct.PaddingMode.ZERO)
        sums = ct.mma(x, y, sums)
    ct.store(c, (ct.bid(0), ct.bid(1)), sums)
    ct.atomic_add(n, (ct.bid(0),), 1)


@pytest.mark.parametrize("target", TARGETS)
def test_more_than_2_to_the_32_elements(target: str) -> None:
    text = "x: i8[?] by i64, y: i8[?] by i64, count: i64[?] by i64, i: i64"
    kernel = tileas.compile(wide_tile, signature=text, target=target)
    extent, place = (1 << 32) + 77, (1 << 32) // 128
    part = np.random.default_rng(0).integers(1, 100, 177).astype(np.int8)
    array = far(part, (extent,), (1,), (place * 128,))
    y, count = np.ones(128, np.int8), np.zeros(1, np.int64)
    found = emulate(kernel.ptx, kernel.abi, [array, extent, 1, y, 128, 1, count, 1, 1, place], 1)
    assert not found.findings
    y, count = (value for value in found.arrays if isinstance(value, np.ndarray))
    np.testing.assert_array_equal(y, np.where(np.arange(128) < 77, part[:128], 0))
    assert count[0] == extent


@pytest.mark.parametrize("target", TARGETS)
def test_kernels_of_wide_arrays_compute_what_others_do(target: str) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((100, 80), (80, 72)))
    c, n = np.zeros((100, 72), np.float32), np.zeros(2, np.int32)
    kernel = tileas.compile(wide_matmul, a, b, c, n, target=target)
    assert kernel.assemble().cubin
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    emulated_ = kernel.emulate(a, b, c, n, grid=(2, 2))
    assert not emulated_.findings
    for found in (kernel.simulate(a, b, c, n, grid=(2, 2)).arrays, emulated_.arrays):
        np.testing.assert_array_equal(found[2], wanted)
        assert found[3].tolist() == [2, 2]
