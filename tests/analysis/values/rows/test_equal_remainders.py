"""`of_first_round`: what an index of a loop is equal to in all rounds, modulo a power of two."""

from __future__ import annotations

import pytest
from support.ir import parse
from xdsl.dialects import func, scf

from tileas_xdsl.analysis.values.rows.equal_remainders import of_first_round
from tileas_xdsl.diagnostics.walking import operations_in

LOOP = """
func.func @k(%first: i32, %end: i32, %ctas: i32) {{
  %eight = arith.constant 8 : i32
  %mask = arith.constant -8 : i32
  %down = arith.andi %ctas, %mask : i32
  %rounded = arith.maxui %down, %eight : i32
  scf.for %i = %first to %end step {step} : i32 {{
    %index = arith.index_cast %i : i32 to index
    %back = arith.index_cast %index : index to i32
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("step", "modulus", "is_equal"),
    [
        ("%eight", 8, True),
        ("%rounded", 8, True),
        ("%rounded", 4, True),
        ("%rounded", 16, False),
        ("%ctas", 8, False),
        ("%ctas", 1, True),
    ],
)
def test_a_step_that_is_a_multiple_changes_no_remainder(
    step: str, modulus: int, is_equal: bool
) -> None:
    module = parse(LOOP.format(step=step))
    kernel = next(op for op in operations_in(module) if isinstance(op, func.FuncOp))
    loop = next(op for op in operations_in(module) if isinstance(op, scf.ForOp))
    casts = [op for op in loop.body.block.ops if op.results]
    for value in (loop.body.block.args[0], *(op.results[0] for op in casts)):
        found = of_first_round(value, modulus)
        assert found is (kernel.args[0] if is_equal else value)


def test_what_a_loop_carries_is_another_number_in_each_round() -> None:
    module = parse("""
func.func @k(%first: i32, %end: i32) {
  %eight = arith.constant 8 : i32
  %last = scf.for %i = %first to %end step %eight iter_args(%x = %first) -> (i32) : i32 {
    scf.yield %i : i32
  }
  func.return
}
""")
    loop = next(op for op in operations_in(module) if isinstance(op, scf.ForOp))
    assert of_first_round(loop.body.block.args[1], 8) is loop.body.block.args[1]
