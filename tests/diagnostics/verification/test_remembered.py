"""What is looked up stays right: an operation with other types is checked anew."""

from __future__ import annotations

import pytest
from xdsl.rewriter import Rewriter

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cuda_tile.tiles.integers import AddIOp
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType
from tileas_xdsl.frontend.inputs import load_tile_ir
from tileas_xdsl.installed import registered_context

TEXT = """cuda_tile.module @m {
  entry @k(%a: tile<i32>, %b: tile<i32>) {
    %c = addi %a, %b : tile<i32>
    return
  }
}
"""


def test_rules_in_front_of_the_constraints_are_checked_for_other_types() -> None:
    """`AllTypesMatch` is a rule of the dialect, remembered with the constraints of xDSL."""
    ctx = registered_context()
    load_tile_ir(ctx)
    for shape in ([2], [], [2]):
        verify_module(parse_module(ctx, TEXT))
        module = parse_module(ctx, TEXT)
        (add,) = (op for op in module.walk() if isinstance(op, AddIOp))
        Rewriter.replace_value_with_new_type(add.result, TileType(shape, ELEMENTS["i32"]))
        if not shape:
            verify_module(module)
            continue
        with pytest.raises(DiagnosticError, match="have same type"):
            verify_module(module)
