"""Registers of live tiles: the most at once, each value counted once however long the kernel."""

from __future__ import annotations

import sys
from collections import Counter

from support.ir import parse
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.liveness.tiles import (
    peak_around_products,
    peak_registers,
    peak_values,
    tile_registers,
)

LENGTH = 50

CHAIN = "\n".join(
    f"  %{k} = arith.addf %{k - 1}, %y : tensor<64xf32>" for k in range(1, LENGTH + 1)
)

LOOP = f"""
func.func @f(%0 : tensor<64xf32>, %y : tensor<64xf32>, %z : tensor<32xf32>, %n : index) {{
{CHAIN}
  scf.for %i = %n to %n step %n {{
    %m = arith.mulf %{LENGTH}, %{LENGTH} : tensor<64xf32>
    "test.op"(%m, %z) : (tensor<64xf32>, tensor<32xf32>) -> ()
  }}
  func.return
}}
"""


def test_the_peak_is_in_the_loop_and_every_value_is_counted_once() -> None:
    """`%m` and what the loop uses from outside; `%y` is dead by then."""
    counted: Counter[SSAValue] = Counter()

    def words(value: SSAValue) -> int:
        counted[value] += 1
        return tile_registers(value)

    function = next(op for op in parse(LOOP).walk() if isinstance(op, FuncOp))
    live = peak_values(function.body, words)
    assert {value.name_hint for value in live} >= {"m", "z"}
    assert sum(map(tile_registers, live)) == 64 + 64 + 32
    assert set(counted.values()) == {1}


ADDRESSES = """
func.func @f(%base : !nv_tileaa.ptr<f32, 1>, %row : i32, %x : tensor<64xi32>) {
  %offset = tensor.splat %row : tensor<64xi32>
  %column = nv_tileas.generate : tensor<64xi32> {
  ^bb0(%i: index):
    %j = arith.index_cast %i : index to i32
    nv_tileas.yield %j : i32
  }
  %sum = arith.addi %offset, %column : tensor<64xi32>
  %wide = nv_tileas.generate : tensor<64xi64> {
  ^bb0(%i: index):
    %s = tensor.extract %sum[%i] : tensor<64xi32>
    %w = arith.extsi %s : i32 to i64
    nv_tileas.yield %w : i64
  }
  %loaded = arith.addi %x, %column : tensor<64xi32>
  %float = nv_tileas.generate : tensor<64xf32> {
  ^bb0(%i: index):
    %s = tensor.extract %sum[%i] : tensor<64xi32>
    %f = arith.sitofp %s : i32 to f32
    nv_tileas.yield %f : f32
  }
  func.return
}
"""


def test_address_arithmetic_takes_no_registers_but_what_is_loaded_does() -> None:
    taken = {
        result.name_hint: tile_registers(result)
        for op in parse(ADDRESSES).walk()
        for result in op.results
        if isinstance(result.type, TensorType)
    }
    free = dict.fromkeys(("offset", "column", "sum", "wide"), 0)
    assert taken == free | {"loaded": 64, "float": 64}


STREAMED = """
func.func @f(%s : tensor<64xf32>, %stage : tensor<64xf16, #nv_tileas<space smem>>, %b : tensor<64xf16>) {
  %read = nv_tileas.convert_layout %stage : tensor<64xf16, #nv_tileas<space smem>> -> tensor<64xf16>
  %wide = arith.extf %read : tensor<64xf16> to tensor<64xf32>
  %sum = arith.addf %s, %wide : tensor<64xf32>
  %other = arith.extf %b : tensor<64xf16> to tensor<64xf32>
  %total = arith.addf %sum, %other : tensor<64xf32>
  "test.op"(%total) : (tensor<64xf32>) -> ()
  func.return
}
"""  # noqa: E501


def test_what_one_operation_widens_for_another_is_streamed() -> None:
    """At most 64 sums and 32 registers of halves: neither of them is widened as a whole."""
    function = next(op for op in parse(STREAMED).walk() if isinstance(op, FuncOp))
    assert peak_registers(function.body, tile_registers) == 64 + 32
    used_twice = STREAMED.replace('op"(%total) : (', 'op"(%total, %other) : (tensor<64xf32>, ')
    function = next(op for op in parse(used_twice).walk() if isinstance(op, FuncOp))
    assert peak_registers(function.body, tile_registers) == 64 + 64


GATED = """
func.func @f(%a : tensor<64xf16>, %one : tensor<64xf32>) {
  %s = arith.extf %a : tensor<64xf16> to tensor<64xf32>
  %e = math.exp2 %s : tensor<64xf32>
  %f = arith.negf %e : tensor<64xf32>
  %r = arith.mulf %s, %f : tensor<64xf32>
  "test.op"(%r) : (tensor<64xf32>) -> ()
  func.return
}
"""


def test_what_is_computed_of_a_tile_beside_it_is_computed_element_by_element() -> None:
    """One tile of scores and what gates them; exact quotients are tested together, of two tiles."""

    def peak(text: str) -> int:
        function = next(op for op in parse(text).walk() if isinstance(op, FuncOp))
        return peak_around_products(function.body, tile_registers)

    assert peak(GATED) == 64
    assert peak(GATED.replace("arith.mulf", "arith.divf")) == 64 + 64
    apart = GATED.replace("  %r =", '  "test.op"(%one) : (tensor<64xf32>) -> ()\n  %r =')
    assert peak(apart) == 64 + 64 + 64


KEPT = """
func.func @f(%a : tensor<64xf32>, %b : tensor<64xf32>, %n : index) {
  %before = arith.addf %a, %b : tensor<64xf32>
  %wide = arith.mulf %a, %b : tensor<64xf32>
  "test.op"(%wide, %a, %b) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> ()
  %sum = scf.for %i = %n to %n step %n iter_args(%acc = %a) -> (tensor<64xf32>) {
    %next = "test.op"(%acc) : (tensor<64xf32>) -> tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  "test.op"(%before, %sum) : (tensor<64xf32>, tensor<64xf32>) -> ()
  func.return
}
"""


def test_what_is_live_inside_of_a_loop() -> None:
    """Four tiles in front of it; in it what it carries, and one that is read behind it."""
    function = next(op for op in parse(KEPT).walk() if isinstance(op, FuncOp))
    (loop,) = (op for op in function.walk() if op.name == "scf.for")
    assert peak_registers(function.body, tile_registers) == 4 * 64
    assert peak_registers(function.body, tile_registers, within=loop) == 2 * 64


def test_a_long_chain_is_followed_once_from_its_beginning() -> None:
    """Each operation followed all of the chain in front of it, which took all frames of Python."""
    steps = sys.getrecursionlimit() + 1
    chain = "\n".join(f"%v{n + 1} = arith.addf %v{n}, %x : tensor<8xf32>" for n in range(steps))
    module = parse(
        "func.func @f(%x: tensor<8xf32>) {\n"
        f"%v0 = arith.mulf %x, %x : tensor<8xf32>\n{chain}\n"
        f'"test.op"(%v{steps}) : (tensor<8xf32>) -> ()\nfunc.return\n}}'
    )
    (function,) = module.body.block.ops
    assert peak_registers(function.regions[0], tile_registers) == 2 * 8
