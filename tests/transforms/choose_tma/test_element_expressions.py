"""Elements of matrices as expressions of their row and column."""

from __future__ import annotations

import pytest
from support.ir import parse

from tileas_xdsl.transforms.choose_tma.element_expressions import matrix_element

LINE = """%line = nv_tileas.generate : tensor<512xi32> {
  ^bb0(%i: index):
    %j = arith.index_cast %i : index to i32
    nv_tileas.yield %j : i32
  }"""
MATRIX = """%matrix = nv_tileas.generate : tensor<64x8xi32> {
  ^bb0(%r: index, %c: index):
    %j = arith.index_cast %c : index to i32
    nv_tileas.yield %j : i32
  }"""


@pytest.mark.parametrize(
    ("code", "is_known"),
    [
        (f"{MATRIX}\n%found = arith.addi %matrix, %matrix : tensor<64x8xi32>", True),
        (f"{LINE}\n%found = nv_tileas.view %line : tensor<512xi32> -> tensor<64x8xi32>", False),
    ],
    ids=["a sum", "a view of a line"],
)
def test_element_of_a_matrix(code: str, is_known: bool) -> None:
    module = parse(f"func.func @f() {{\n{code}\nfunc.return\n}}")
    (found,) = (r for op in module.walk() for r in op.results if r.name_hint == "found")
    assert (matrix_element(found) is not None) is is_known
