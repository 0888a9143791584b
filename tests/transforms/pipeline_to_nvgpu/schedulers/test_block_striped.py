"""Block-striped accesses on the emulator: ownership of elements, reductions over blocks."""

from __future__ import annotations

from string import Template
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

KERNEL = Template("""
!array = !cute.ptr<$TYPE, gmem, align<16>>
!held = !cute.memref<$TYPE, rmem, "$LAYOUT">
func.func @stripes(%from: !array, %to: !array) attributes {cute.kernel,
    nvvm.reqntid = array<i32: 48, 1, 1>, tileas.smem_bytes = 0 : i32,
    tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = ""} {
  %thread = cute_nvgpu.arch.thread_idx "x"
  %held = cute.memref.alloca() : () -> !held
  cutlass.block_striped.load %held, %from thread %thread of 48 width $WIDTH : !held, !array
  cutlass.block_striped.$DOES $PLACES
  $THEN
  func.return
}
""")

PLACES = "%held, %to thread %thread of 48 width {to} : !held, !array"

TYPES = {"f32": np.float32, "i32": np.int32, "f16": np.float16, "i64": np.int64}


def striped(array: NDArray[Any], width: int) -> NDArray[Any]:
    """By thread, its elements."""
    return array.reshape(-1, THREADS, width).transpose(1, 0, 2).reshape(THREADS, -1)


THREADS, COUNT = 48, 8


def run(
    does: str, type_: str, width: int, to: int, grid: int = 1, layout: str = "8:1"
) -> list[NDArray[Any]]:
    """By thread, what is read, what was there before, what is there now."""
    then = ""
    if does == "load_add":
        then = f"cutlass.block_striped.store {PLACES.format(to=to)}"
    text = KERNEL.substitute(
        TYPE=type_, LAYOUT=layout, DOES=does, WIDTH=width, PLACES=PLACES.format(to=to), THEN=then
    )
    kernel = compile(text, passes=PIPELINES["cute-to-ptx"].passes)
    rng = np.random.default_rng(width)
    a, b = (rng.integers(-99, 99, THREADS * COUNT).astype(TYPES[type_]) for _ in "ab")
    found = kernel.emulate(a, b, grid=grid)
    assert [str(finding) for finding in found.findings] == []
    return [striped(a, width), striped(b, to), striped(found.arrays[1], to)]


@pytest.mark.parametrize(
    ("type_", "width", "to"), [("f32", 4, 4), ("f32", 1, 4), ("f16", 8, 2), ("i64", 2, 1)]
)
def test_each_thread_has_every_so_many_pieces(type_: str, width: int, to: int) -> None:
    """An array that is read in pieces of one width and written in pieces of another."""
    source, _, found = run("store", type_, width, to)
    np.testing.assert_array_equal(found, source)


@pytest.mark.parametrize("type_", ["f32", "i32"])
def test_elements_are_added_to_registers(type_: str) -> None:
    source, before, found = run("load_add", type_, 2, 4)
    np.testing.assert_array_equal(found, source + before)


def test_registers_may_have_any_layout() -> None:
    """Elements are taken in the order of coordinates, as CuTe counts them."""
    source, _, found = run("store", "f32", 4, 2, layout="(4,2):(2,1)")
    np.testing.assert_array_equal(found, source)


@pytest.mark.parametrize(("type_", "grid"), [("f32", 3), ("i64", 2), ("f16", 2)])
def test_blocks_add_atomically(type_: str, grid: int) -> None:
    """Integers below 2^11, so that sums of halves are exact in any order."""
    source, before, found = run('reduce "add"', type_, 1, 2, grid)
    np.testing.assert_array_equal(found, before + grid * source)


def test_blocks_take_the_greatest() -> None:
    source, before, found = run('reduce "max"', "i32", 4, 4, 2)
    np.testing.assert_array_equal(found, np.maximum(before, source))
