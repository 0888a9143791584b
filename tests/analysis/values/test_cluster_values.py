"""What all blocks of a cluster agree on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support.ir import parse
from xdsl.dialects import arith

from tileas_xdsl.analysis.values.cluster_values import is_same_in_cluster, runs_uniformly

TEXT = """
func.func @k(%a: memref<?x?xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %y = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %blocks = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %rows = memref.dim %a, %zero : memref<?x?xf32>
  %cluster = arith.divui %x, %two : index
  %third = arith.divui %x, %three : index
  %half = arith.divui %n, %two : index
  %by_n = arith.divui %x, %n : index
  %seat = arith.remui %x, %two : index
  %sum = arith.addi %cluster, %rows : index
  %mixed = arith.addi %sum, %seat : index
  %thread = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  scf.for %k = %cluster to %n step %blocks {
    %in_same = arith.addi %k, %two : index
    %odd = arith.cmpi eq, %seat, %zero : index
    scf.if %odd {
      %in_branch = arith.addi %n, %two : index
    }
    scf.for %j = %zero to %seat step %two {
      %in_other = arith.addi %j, %two : index
    }
  }
  func.return
}
"""

SAME: Mapping[str, bool] = {
    "zero": True,
    "x": False,
    "y": True,
    "blocks": True,
    "rows": True,
    "cluster": True,
    "third": False,
    "half": True,
    "by_n": False,
    "seat": False,
    "sum": True,
    "mixed": False,
    "thread": False,
    "in_same": True,
    "in_other": False,
}
RUNS: Mapping[str, bool] = {"sum": True, "in_same": True, "in_branch": False, "in_other": False}


@pytest.mark.parametrize("name", SAME)
def test_values_of_a_cluster_along_x(name: str) -> None:
    values = {v.name_hint: v for op in parse(TEXT).walk() for v in op.results}
    assert is_same_in_cluster(values[name], (2, 1, 1)) is SAME[name]


def test_an_id_along_an_axis_of_one_block_is_the_same() -> None:
    values = {v.name_hint: v for op in parse(TEXT).walk() for v in op.results}
    found = {name: is_same_in_cluster(values[name], (1, 2, 1)) for name in ("x", "y", "seat")}
    assert found == {"x": True, "y": False, "seat": True}


@pytest.mark.parametrize("name", RUNS)
def test_what_blocks_do_alike(name: str) -> None:
    """Loops of as many rounds; not what a branch decides."""
    ops = {op.result.name_hint: op for op in parse(TEXT).walk() if isinstance(op, arith.AddiOp)}
    assert runs_uniformly(ops[name], (2, 1, 1)) is RUNS[name]
