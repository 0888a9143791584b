"""Pointers in the threads of a block: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.plain_checks import check
from tests.support.plain_kernels import NUMPY, kernel
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import DiagnosticError


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


@pytest.mark.sample(2)
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
    with pytest.raises(DiagnosticError, match="global memory"):
        compile(kernel("%a: !nv_tileaa.ptr<f32, 3>", ""))


def test_blocks_hand_on_what_they_have_written() -> None:
    """Each block waits for the flag of the one before, adds to a line, and raises its own flag."""
    pointer, line = "!nv_tileaa.ptr<i32, 1>", "tensor<64xi32>"
    many = f"tensor<64x{pointer}>"
    text = kernel(
        f"%flags: {pointer}, %a: {pointer}",
        f"""%c = arith.constant 1 : i32
  %none = arith.constant 0 : i32
  %mine = nv_tileaa.addptr %flags, %x : {pointer}, index
  %seen = scf.while (%s = %none) : (i32) -> (i32) {{
    %f = nv_tileas.load %mine acquire gpu {{atom = #ldg}} : {pointer} -> i32
    %p = arith.cmpi eq, %f, %none : i32
    scf.condition(%p) %f : i32
  }} do {{
  ^bb0(%s: i32):
    scf.yield %s : i32
  }}
  %places = nv_tileas.generate : {line} {{
  ^bb0(%i: index):
    %w = arith.index_cast %i : index to i32
    nv_tileas.yield %w : i32
  }}
  %as = tensor.splat %a : {many}
  %q = nv_tileaa.addptr %as, %places : {many}, {line}
  %t = nv_tileas.load %q relaxed gpu {{atom = #ldg}} : {many} -> {line}
  %seens = tensor.splat %seen : {line}
  %u = arith.addi %t, %seens : {line}
  nv_tileas.store %u, %q relaxed gpu {{atom = #stg}} : {line}, {many}
  %k = arith.addi %seen, %c : i32
  %next = nv_tileaa.addptr %mine, %one : {pointer}, index
  nv_tileas.store %k, %next release gpu {{atom = #stg}} : i32, {pointer}""",
    )
    flags = np.array([1, 0, 0, 0], np.int32)
    check(text, (flags, np.zeros(64, np.int32)), np.full(64, 6), (3, 1, 1))
    ptx = compile(text).ptx
    assert "ld.acquire.gpu.global.b32" in ptx
    assert "st.release.gpu.global.b32" in ptx
