"""Fast mathematics as flags of operations on floats."""

from tests.support.ir import parse
from tileas_xdsl.frontend.tilelang.operations.fast_math import FAST, allow_fast_math


def test_operations_on_floats_are_flagged() -> None:
    module = parse(
        """
        func.func @f(%x: f32, %n: i32) {
          %a = arith.mulf %x, %x : f32
          %b = math.exp2 %a : f32
          %c = arith.addi %n, %n : i32
          func.return
        }
        """
    )
    allow_fast_math(module)
    flagged = [op.name for op in module.walk() if op.properties.get("fastmath") == FAST]
    assert flagged == ["arith.mulf", "math.exp2"]
