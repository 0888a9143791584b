"""Pointers in the threads of a block: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.plain_checks import check
from tests.support.plain_kernels import NUMPY, kernel
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import DiagnosticError


def _copied(element: str, tile: str, index: str) -> str:
    """A line of any length, a tile of pointers for each block; the first element of each."""
    pointer = f"!nv_tileaa.ptr<{element}, 1>"
    pointers, size = f"tensor<{tile}x{pointer}>", int(tile.split("x")[-1])
    rank = tile.count("x") + 1
    arguments = ", ".join(f"%i{k}: index" for k in range(rank))
    row = "%i0" if rank > 1 else "%zero"
    cast = f"arith.index_cast %n : index to {index}"
    return kernel(
        f"%a: {pointer}, %b: {pointer}, %len: index, %c: {pointer}",
        f"""%size = arith.constant {size} : index
  %tile = arith.constant {np.prod([int(n) for n in tile.split("x")])} : index
  %start = arith.muli %x, %tile : index
  %places = nv_tileas.generate : tensor<{tile}x{index}> {{
  ^bb0({arguments}):
    %r = arith.muli {row}, %size : index
    %l = arith.addi %r, %i{rank - 1} : index
    %n = arith.addi %l, %start : index
    %w = {cast}
    nv_tileas.yield %w : {index}
  }}
  %mask = nv_tileas.generate : tensor<{tile}xi1> {{
  ^bb0({arguments}):
    %r = arith.muli {row}, %size : index
    %l = arith.addi %r, %i{rank - 1} : index
    %n = arith.addi %l, %start : index
    %p = arith.cmpi slt, %n, %len : index
    nv_tileas.yield %p : i1
  }}
  %as = tensor.splat %a : {pointers}
  %bs = tensor.splat %b : {pointers}
  %from = nv_tileaa.addptr %as, %places : {pointers}, tensor<{tile}x{index}>
  %to = nv_tileaa.addptr %bs, %places : {pointers}, tensor<{tile}x{index}>
  %t = nv_tileas.load %from mask %mask : tensor<{tile}xi1> {{atom = #ldg}} : {pointers} -> tensor<{tile}x{element}>
  nv_tileas.store %t, %to mask %mask : tensor<{tile}xi1> {{atom = #stg}} : tensor<{tile}x{element}>, {pointers}
  %first = nv_tileaa.addptr %a, %start : {pointer}, index
  %one_of = nv_tileas.load %first {{atom = #ldg}} : {pointer} -> {element}
  %there = nv_tileaa.addptr %c, %x : {pointer}, index
  nv_tileas.store %one_of, %there {{atom = #stg}} : {element}, {pointer}""",  # noqa: E501
    )


@pytest.mark.parametrize(
    ("element", "tile", "index"),
    [("f32", "256", "i32"), ("f16", "8x64", "i64"), ("i8", "16x16", "i32"), ("i64", "16", "i64")],
)
def test_tiles_of_pointers(element: str, tile: str, index: str) -> None:
    rng = np.random.default_rng(3)
    size = int(np.prod([int(n) for n in tile.split("x")]))
    numbers = (100 * rng.standard_normal(3 * size - 5)).astype(NUMPY[element])
    text = _copied(element, tile, index)
    outputs = np.zeros_like(numbers)
    arguments = (numbers, outputs, len(numbers), np.zeros(3, numbers.dtype))
    check(text, arguments, numbers[::size], (3, 1, 1))
    run = compile(text).emulate(*arguments, grid=(3, 1, 1))
    np.testing.assert_array_equal(run.arrays[1], numbers)


def test_what_is_read_after_a_store_is_what_was_stored() -> None:
    """Other threads than those that stored read it, and a loop reads what its last round wrote."""
    pointer = "!nv_tileaa.ptr<i32, 1>"
    text = kernel(
        f"%a: {pointer}",
        f"""%many = arith.constant 5 : index
  %places = nv_tileas.generate : tensor<128xi32> {{
  ^bb0(%i: index):
    %w = arith.index_cast %i : index to i32
    nv_tileas.yield %w : i32
  }}
  %mirrored = nv_tileas.generate : tensor<128xi32> {{
  ^bb0(%i: index):
    %last = arith.constant 127 : index
    %n = arith.subi %last, %i : index
    %w = arith.index_cast %n : index to i32
    nv_tileas.yield %w : i32
  }}
  %as = tensor.splat %a : tensor<128x{pointer}>
  %from = nv_tileaa.addptr %as, %places : tensor<128x{pointer}>, tensor<128xi32>
  %to = nv_tileaa.addptr %as, %mirrored : tensor<128x{pointer}>, tensor<128xi32>
  scf.for %k = %zero to %many step %one {{
    %t = nv_tileas.load %from {{atom = #ldg}} : tensor<128x{pointer}> -> tensor<128xi32>
    %u = arith.addi %t, %places : tensor<128xi32>
    nv_tileas.store %u, %to {{atom = #stg}} : tensor<128xi32>, tensor<128x{pointer}>
  }}""",
    )
    numbers = np.random.default_rng(4).integers(-99, 99, 128).astype(np.int32)
    expected = numbers
    for _ in range(5):
        expected = (expected + np.arange(128))[::-1]
    check(text, (numbers,), expected)


def test_pointers_that_nobody_can_follow_are_refused() -> None:
    for pointer, reason in (("i1, 1", "elements of global memory"), ("f32, 3", "global memory")):
        with pytest.raises(DiagnosticError, match=reason):
            compile(kernel(f"%a: !nv_tileaa.ptr<{pointer}>", ""))
