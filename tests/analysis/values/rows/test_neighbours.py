"""`Neighbours`: which loads through pointers lie beside one another."""

from __future__ import annotations

import pytest
from support.ir import parse

from tileas_xdsl.analysis.values.rows.neighbours import Neighbours
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp

KERNEL = """
func.func @stencil(%0: !nv_tileaa.ptr<i8, 1>, %row: i32, %1: i32, %block: i32) {{
  %base = nv_tileaa.assume %0, #nv_tileaa.div_by<16> : !nv_tileaa.ptr<i8, 1>
  %stride = nv_tileaa.assume %1, #nv_tileaa.div_by<16> : i32
  %width = arith.constant 64 : i32
  %begin = arith.muli %block, %width : i32
  %bases = tensor.splat %base : tensor<64x!nv_tileaa.ptr<i8, 1>>
{loads}
  func.return
}}
"""

LOAD = """
  %c{n} = arith.constant {column} : i32
  %r{n} = arith.constant {row} : i32
  %y{n} = arith.addi %row, %r{n} : i32
  %o{n} = arith.muli %y{n}, {stride} : i32
  %i{n} = nv_tileas.generate : tensor<64xi32> {{
  ^bb0(%j: index):
    %k = arith.index_cast %j : index to i32
    %s = arith.addi %begin, %k : i32
    %t = arith.addi %s, %c{n} : i32
    %u = arith.addi %t, %o{n} : i32
    nv_tileas.yield %u : i32
  }}
  %p{n} = nv_tileaa.addptr %bases, %i{n} : tensor<64x!nv_tileaa.ptr<i8, 1>>, tensor<64xi32>
  %x{n} = nv_tileas.load %p{n} {{atom = #nv_tileas<atom ldg>}}
    : tensor<64x!nv_tileaa.ptr<i8, 1>> -> tensor<64xi8>
"""

CASES = {
    "three taps of a row": ([(0, -1), (0, 0), (0, 1)], "%stride", [16, 16, 16]),
    "rows have their own": ([(0, 0), (0, 1), (1, 1)], "%stride", [16, 16, None]),
    "both sides contain a vector": ([(0, -2), (0, 3)], "%stride", [16, 16]),
    "one side alone does not": ([(0, 1), (0, 2)], "%stride", [None, None]),
    "too far apart": ([(0, 0), (0, 40)], "%stride", [None, None]),
    "rows of any length": ([(0, 0), (0, 1)], "%1", [None, None]),
    "a load on its own": ([(0, 0)], "%stride", [None]),
}


@pytest.mark.parametrize("case", CASES)
def test_loads_have_neighbours(case: str) -> None:
    taps, stride, wanted = CASES[case]
    loads = "".join(
        LOAD.format(n=n, row=row, column=column, stride=stride)
        for n, (row, column) in enumerate(taps)
    )
    module = parse(KERNEL.format(loads=loads))
    found = Neighbours()
    assert [found.alignment(op) for op in module.walk() if isinstance(op, LoadOp)] == wanted
