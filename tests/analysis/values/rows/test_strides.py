"""What is known of neighbours in a row."""

from __future__ import annotations

import pytest
from support.ir import parse
from xdsl.dialects import func

from tileas_xdsl.analysis.values.rows.strides import row_step

PROGRAM = """
func.func @k(%s: i32, %p: !nv_tileaa.ptr<f32, 1>, %t: tensor<8xi32>, %m: tensor<4x8xi32>) {{
  %c2 = arith.constant dense<2> : tensor<8xi32>
  %mixed = arith.constant dense<[1, 2, 3, 4, 5, 6, 7, 8]> : tensor<8xi32>
  %same = tensor.splat %s : tensor<8xi32>
  %up = nv_tileas.generate : tensor<8xi32> {{
  ^bb0(%i: index):
    %0 = arith.index_cast %i : index to i32
    nv_tileas.yield %0 : i32
  }}
  %column = nv_tileas.expand_dims %up {{axis = 1 : i32}} : tensor<8xi32> -> tensor<8x1xi32>
  %row = nv_tileas.expand_dims %up {{axis = 0 : i32}} : tensor<8xi32> -> tensor<1x8xi32>
  {0}
  func.return
}}
"""


def last_value(lines: str):
    [kernel] = [op for op in parse(PROGRAM.format(lines)).walk() if isinstance(op, func.FuncOp)]
    *_, op, _ = kernel.body.block.ops
    return op.results[0]


@pytest.mark.parametrize(
    ("lines", "step"),
    [
        ("%r = arith.addi %same, %up : tensor<8xi32>", 1),
        ("%r = arith.subi %same, %up : tensor<8xi32>", -1),
        ("%r = arith.muli %up, %c2 : tensor<8xi32>", 2),
        ("%r = arith.muli %c2, %up : tensor<8xi32>", 2),
        ("%r = arith.muli %up, %same : tensor<8xi32>", None),
        ("%r = arith.muli %same, %same : tensor<8xi32>", 0),
        ("%r = arith.addi %up, %t : tensor<8xi32>", None),
        ("%r = arith.addi %up, %mixed : tensor<8xi32>", None),
        ("%r = arith.xori %up, %up : tensor<8xi32>", None),
        ("%r = nv_tileas.view %up : tensor<8xi32> -> tensor<1x8xi32>", 1),
        ("%r = nv_tileas.view %up : tensor<8xi32> -> tensor<2x4xi32>", None),
        ("%r = nv_tileas.view %up : tensor<8xi32> -> tensor<8x1xi32>", 0),
        ("%r = arith.addi %column, %column : tensor<8x1xi32>", 0),
        (
            "%b = tensor.splat %p : tensor<8x!nv_tileaa.ptr<f32, 1>>\n"
            "%r = nv_tileaa.addptr %b, %up : tensor<8x!nv_tileaa.ptr<f32, 1>>, tensor<8xi32>",
            1,
        ),
    ],
)
def test_steps_of_tiles(lines: str, step: int | None) -> None:
    assert row_step(last_value(lines)) == step


@pytest.mark.parametrize(
    ("body", "step"),
    [
        ("%v = tensor.extract %row[%z, %j] : tensor<1x8xi32>", 1),
        ("%v = tensor.extract %row[%z, %i] : tensor<1x8xi32>", 0),
        ("%v = tensor.extract %m[%i, %z] : tensor<4x8xi32>", 0),
        ("%v = tensor.extract %m[%i, %j] : tensor<4x8xi32>", None),
        ("%v = tensor.extract %column[%j, %z] : tensor<8x1xi32>", None),
        ("%k = arith.addi %j, %j : index\n%v = tensor.extract %up[%k] : tensor<8xi32>", 2),
        ("%w = arith.index_cast %j : index to i32\n%v = arith.addi %w, %s : i32", 1),
    ],
)
def test_steps_of_generated_tiles(body: str, step: int | None) -> None:
    text = f"""%r = nv_tileas.generate : tensor<4x8xi32> {{
    ^bb0(%i: index, %j: index):
      %z = arith.constant 0 : index
      {body}
      nv_tileas.yield %v : i32
    }}"""
    assert row_step(last_value(text)) == step


def test_arguments_are_unknown() -> None:
    [kernel] = [op for op in parse(PROGRAM.format("")).walk() if isinstance(op, func.FuncOp)]
    scalar, _, tile, _ = kernel.body.block.args
    assert row_step(scalar) == 0
    assert row_step(tile) is None
