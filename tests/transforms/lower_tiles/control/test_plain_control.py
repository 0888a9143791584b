"""Loops and branches around tiles in threads: emulator, tile interpreter and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.plain_checks import Array, check
from tests.support.plain_kernels import kernel, load, store

TILE = "8x64xf32"

_WHILE = f"""%two = arith.constant 2 : index
  %last = arith.constant 63 : index
  %none = arith.constant dense<0.0> : tensor<{TILE}>
  %r0, %o = scf.while (%i = %zero, %s = %none) : (index, tensor<{TILE}>) -> (index, tensor<{TILE}>) {{
    %u = arith.addf %s, %t : tensor<{TILE}>
    %p = arith.cmpi slt, %i, %n : index
    scf.condition(%p) %i, %u : index, tensor<{TILE}>
  }} do {{
  ^bb0(%j: index, %v: tensor<{TILE}>):
    %k = arith.addi %j, %one : index
    %w = scf.for %q = %zero to %j step %one iter_args(%c = %v) -> (tensor<{TILE}>) {{
      %e = tensor.extract %c[%zero, %q] : tensor<{TILE}>
      %es = tensor.splat %e : tensor<{TILE}>
      %g = nv_tileas.generate : tensor<{TILE}> {{
      ^bb0(%row: index, %column: index):
        %m = arith.subi %last, %column : index
        %d = tensor.extract %c[%row, %m] : tensor<{TILE}>
        nv_tileas.yield %d : f32
      }}
      %f = arith.addf %g, %es : tensor<{TILE}>
      scf.yield %f : tensor<{TILE}>
    }}
    %parity = arith.remui %j, %two : index
    %odd = arith.cmpi eq, %parity, %one : index
    %x1 = scf.if %odd -> (tensor<{TILE}>) {{
      %h = nv_tileas.scan %w {{axis = 0 : i32}} : tensor<{TILE}> -> tensor<{TILE}> {{
      ^bb0(%l: f32, %r: f32):
        %mx = arith.maximumf %l, %r : f32
        nv_tileas.yield %mx : f32
      }}
      scf.yield %h : tensor<{TILE}>
    }} else {{
      scf.yield %w : tensor<{TILE}>
    }}
    scf.yield %k, %x1 : index, tensor<{TILE}>
  }}
  """  # noqa: E501


def _expected(numbers: Array, rounds: int) -> Array:
    found, k = np.zeros_like(numbers), 0
    while True:
        found = found + numbers
        if k >= rounds:
            return found
        for q in range(k):
            found = found[:, ::-1] + found[0, q]
        if k % 2:
            found = np.maximum.accumulate(found, 0)
        k += 1


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_loops_that_the_program_ends(rounds: int) -> None:
    """Nested loops and branches inside carry tiles that lie in unlike registers."""
    text = kernel(
        f"%a: memref<{TILE}>, %n: index, %b: memref<{TILE}>",
        load("t", "a", f"memref<{TILE}>", TILE, "%zero, %zero")
        + _WHILE
        + store("o", "b", f"memref<{TILE}>", TILE, "%zero, %zero"),
    )
    numbers = np.random.default_rng(0).integers(-3, 3, (8, 64)).astype(np.float32)
    arguments = (numbers, rounds, np.zeros_like(numbers))
    check(text, arguments, _expected(numbers, rounds), targets=("sm_90a",))


def test_a_loop_that_ends_early() -> None:
    """A search: a flag ends the loop, as a break does."""
    line = "128xi32"
    text = kernel(
        f"%a: memref<?xi32>, %n: i32, %b: memref<{line}>",
        """%yes = arith.constant true
  %tiles = arith.constant 6 : index
  %end, %found = scf.while (%k = %zero, %go = %yes) : (index, i1) -> (index, i1) {
    %left = arith.cmpi slt, %k, %tiles : index
    %p = arith.andi %left, %go : i1
    scf.condition(%p) %k, %go : index, i1
  } do {
  ^bb0(%k: index, %go: i1):
    """
        + load("t", "a", "memref<?xi32>", line, "%k")
        + f"""%m = nv_tileas.reduce %t {{axis = 0 : i32}} : tensor<{line}> -> tensor<i32> {{
    ^bb0(%l: i32, %r: i32):
      %x0 = arith.maxsi %l, %r : i32
      nv_tileas.yield %x0 : i32
    }}
    %e = tensor.extract %m[] : tensor<i32>
    %again = arith.cmpi slt, %e, %n : i32
    %next = arith.addi %k, %one : index
    scf.yield %next, %again : index, i1
  }}
  %w = arith.index_cast %end : index to i32
  %o = tensor.splat %w : tensor<{line}>
  """
        + store("o", "b", f"memref<{line}>", line, "%zero"),
    )
    numbers = np.zeros(768, np.int32)
    numbers[400] = 9
    check(text, (numbers, 7, np.zeros(128, np.int32)), np.full(128, 4))


def test_grids_of_three_dimensions() -> None:
    tile, array = "2x4x32xf32", "memref<?x?x?xf32>"
    text = kernel(
        f"%a: {array}, %b: {array}",
        """%z = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
  %many = "gpu.grid_dim"() <{dimension = #gpu<dim z>}> : () -> index
  %w = arith.index_cast %many : index to i32
  %f = arith.sitofp %w : i32 to f32
  """
        + load("t", "a", array, tile, "%z, %y, %x")
        + f"""%s = tensor.splat %f : tensor<{tile}>
  %o = arith.mulf %t, %s : tensor<{tile}>
  """
        + store("o", "b", array, tile, "%z, %y, %x"),
    )
    numbers = np.random.default_rng(1).standard_normal((5, 7, 60)).astype(np.float32)
    check(text, (numbers, np.zeros_like(numbers)), numbers * np.float32(3), (2, 2, 3))


def _turned(name: str, array: str, out: str) -> str:
    """A tile is transposed, scanned, reduced and counted by atomic updates."""
    tile, turned, many = "16x32xi32", "32x16xi32", "tensor<16x!nv_tileaa.ptr<i32, 1>>"
    return (
        load(f"t{name}", array, f"memref<{tile}>", tile, "%zero, %zero")
        + f"""%g{name} = nv_tileas.generate : tensor<{turned}> {{
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %t{name}[%j, %i] : tensor<{tile}>
    nv_tileas.yield %e : i32
  }}
  %s{name} = nv_tileas.scan %g{name} {{axis = 0 : i32, reverse}} : tensor<{turned}> -> tensor<{turned}> {{
  ^bb0(%l: i32, %r: i32):
    %m = arith.addi %l, %r : i32
    nv_tileas.yield %m : i32
  }}
  %r{name} = nv_tileas.reduce %s{name} {{axis = 0 : i32}} : tensor<{turned}> -> tensor<16xi32> {{
  ^bb0(%l: i32, %r: i32):
    %x0 = arith.muli %l, %r : i32
    %x1 = arith.addi %x0, %l : i32
    %m = arith.addi %x1, %r : i32
    nv_tileas.yield %m : i32
  }}
  %p{name} = tensor.splat %{out} : {many}
  %n{name} = nv_tileas.generate : tensor<16xi32> {{
  ^bb0(%i: index):
    %k = arith.index_cast %i : index to i32
    nv_tileas.yield %k : i32
  }}
  %q{name} = nv_tileaa.addptr %p{name}, %n{name} : {many}, tensor<16xi32>
  %o{name} = nv_tileas.atomic_rmw add %r{name}, %q{name} : tensor<16xi32>, {many} -> tensor<16xi32>
  """  # noqa: E501
    )


def test_agents_exchange_their_own_tiles() -> None:
    """Two agents at once, each with rooms and barriers of its own; both add to one line."""
    array, pointer = "memref<16x32xi32>", "!nv_tileaa.ptr<i32, 1>"
    text = kernel(
        f"%a: {array}, %c: {array}, %h: {pointer}",
        """nv_tileas.async.pipeline.agent_switch {num_agents_per_group = 1 : i32, max_regs = array<i32: 0, 0>, isolated = false} agent 0 {
  """  # noqa: E501
        + _turned("x", "a", "h")
        + "}, agent 1 {\n  "
        + _turned("y", "c", "h")
        + "}",
        warps=8,
    )
    rng = np.random.default_rng(5)
    first, second = (rng.integers(-3, 3, (16, 32)).astype(np.int32) for _ in range(2))
    expected = np.zeros(16, np.int32)
    for numbers in (first, second):
        sums = np.cumsum(numbers.T[::-1], 0, dtype=np.int32)[::-1]
        total = sums[0]
        for row in sums[1:]:
            total = total * row + total + row
        expected += total
    check(text, (first, second, np.zeros(16, np.int32)), expected)
