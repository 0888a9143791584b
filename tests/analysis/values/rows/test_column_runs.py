"""Runs of columns, against the elements that a tile has."""

from __future__ import annotations

import pytest
from support.ir import parse
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.rows.column_runs import ColumnRuns, Run

TILE = """
func.func @f(%p: !nv_tileaa.ptr<f16, 1>, %n: i32, %k: i32, %rows: tensor<4xi32>) {{
  %base = nv_tileaa.assume %p, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<f16, 1>
  %bound = nv_tileaa.assume %n, #nv_tileaa.div_by<8> : i32
  %c64 = arith.constant 64 : i32
  %first = arith.muli %k, %c64 : i32
  %x = nv_tileas.generate : tensor<4x64x{element}> {{
  ^bb0(%i: index, %j: index):
    %row = tensor.extract %rows[%i] : tensor<4xi32>
    %c = arith.index_cast %j : index to i32
    %col = arith.addi %first, %c : i32
    {body}
    nv_tileas.yield %r : {element}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("body", "element", "expected"),
    [
        ("%r = arith.addi %col, %c64 : i32", "i32", Run(1, 8)),
        ("%r = arith.extsi %col : i32 to i64", "i64", Run(1, 8)),
        ("%r = arith.muli %row, %n : i32", "i32", Run(0, 1)),
        ("%r = arith.muli %row, %bound : i32", "i32", Run(0, 8)),
        ("%r = arith.muli %col, %c64 : i32", "i32", Run(64, 512)),
        ("%r = arith.cmpi slt, %col, %bound : i32", "i1", Run(0)),
        ("%r = arith.cmpi ugt, %bound, %col : i32", "i1", Run(0)),
        ("%r = arith.cmpi slt, %col, %n : i32", "i1", None),
        ("%r = arith.cmpi sle, %col, %bound : i32", "i1", None),
        ("%r = arith.divui %col, %c64 : i32", "i32", Run(0)),
        ("%r = arith.remui %col, %c64 : i32", "i32", Run(1, 8)),
        ("%r = arith.remsi %col, %c64 : i32", "i32", None),
        ("%r = arith.remsi %first, %bound : i32", "i32", Run(0, 8)),
        ("%s = arith.addi %col, %n : i32\n%r = arith.extsi %s : i32 to i64", "i64", None),
        ("%s = arith.addi %col, %n : i32\n%r = arith.addi %s, %row : i32", "i32", Run(1, 1)),
    ],
)
def test_runs_of_eight(body: str, element: str, expected: Run | None) -> None:
    module = parse(TILE.format(body=body, element=element))
    assert ColumnRuns(8).of(_tile(module)) == expected


@pytest.mark.parametrize(
    ("made", "divisor"),
    [
        ("%t = tensor.splat %first : tensor<4x1xi32>", 64),
        ("%s = tensor.splat %bound : tensor<4x1xi32>\n%t = arith.muli %known, %s : {type}", 8),
        ("%t = arith.addi %known, %known : {type}", 1),
        ("%s = arith.constant dense<6> : {type}\n%t = arith.muli %column, %s : {type}", 2),
    ],
)
def test_an_element_has_what_divides_all_elements_of_its_tile(made: str, divisor: int) -> None:
    text = f"""
    func.func @f(%n: i32, %k: i32, %known: tensor<4x1xi32>) {{
      %bound = nv_tileaa.assume %n, #nv_tileaa.div_by<8> : i32
      %c64 = arith.constant 64 : i32
      %zero = arith.constant 0 : index
      %first = arith.muli %k, %c64 : i32
      %column = nv_tileas.generate : tensor<4x1xi32> {{
      ^bb0(%i: index, %j: index):
        %c = arith.index_cast %j : index to i32
        nv_tileas.yield %c : i32
      }}
      {made.format(type="tensor<4x1xi32>")}
      %x = nv_tileas.generate : tensor<4x64xi32> {{
      ^bb0(%i: index, %j: index):
        %r = tensor.extract %t[%i, %zero] : tensor<4x1xi32>
        nv_tileas.yield %r : i32
      }}
      func.return
    }}"""
    assert ColumnRuns(8).of(_tile(parse(text))) == Run(0, divisor)


def test_pointers_are_as_aligned_as_their_rows() -> None:
    body = """%pitch = arith.muli %row, %bound : i32
    %sum = arith.addi %pitch, %col : i32
    %r = nv_tileaa.addptr %base, %sum : !nv_tileaa.ptr<f16, 1>, i32"""
    module = parse(TILE.format(body=body, element="!nv_tileaa.ptr<f16, 1>"))
    assert ColumnRuns(8).counts_up(_tile(module), 16)
    other = parse(TILE.format(body=body.replace("%bound", "%n"), element="!nv_tileaa.ptr<f16, 1>"))
    assert not ColumnRuns(8).counts_up(_tile(other), 16)


def _tile(module: ModuleOp) -> SSAValue:
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    tiles = [op for op in function.body.block.ops if op.name == "nv_tileas.generate"]
    return tiles[-1].results[0]
