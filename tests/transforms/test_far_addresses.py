"""Elements more than 2^31 elements or bytes behind the begin of an array.

The emulator has memory for a part of the array alone: a kernel that computes the address of an
element in too few bits accesses what is in no array.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
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
