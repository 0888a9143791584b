"""Registers of live tiles: the most at once, each value counted once however long the kernel."""

from __future__ import annotations

from collections import Counter

from support.ir import parse
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.live_tiles import peak_values, tile_registers

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
