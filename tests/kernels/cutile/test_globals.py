"""Globals of a module: kernels of Tile IR read their first values, and what they store there."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.diagnostics.errors import DiagnosticError

TEXT = """
cuda_tile.module @m {{
  cuda_tile.global @table alignment = 64 <{element}: {values}> : tile<4x{element}>
  entry @k(%out: tile<ptr<{element}>>) {{
    %g = get_global @table : tile<ptr<{element}>>
    %i = iota : tile<4xi32>
    %n = constant <i32: 3> : tile<4xi32>
    %r = subi %n, %i : tile<4xi32>
    %0 = reshape %g : tile<ptr<{element}>> -> tile<1xptr<{element}>>
    %1 = broadcast %0 : tile<1xptr<{element}>> -> tile<4xptr<{element}>>
    %2 = offset %1, %r : tile<4xptr<{element}>>, tile<4xi32> -> tile<4xptr<{element}>>
    %v, %t = load_ptr_tko weak %2 : tile<4xptr<{element}>> -> tile<4x{element}>, token
    %3 = reshape %out : tile<ptr<{element}>> -> tile<1xptr<{element}>>
    %4 = broadcast %3 : tile<1xptr<{element}>> -> tile<4xptr<{element}>>
    %5 = offset %4, %i : tile<4xptr<{element}>>, tile<4xi32> -> tile<4xptr<{element}>>
    %t2 = store_ptr_tko weak %5, %v token=%t : tile<4xptr<{element}>>, tile<4x{element}> -> token
    return
  }}
}}
"""

REALS, WHOLE = "[1.0, -2.0, 0.5, 96.0]", "[1, -2, 100, 0]"


@pytest.mark.parametrize(
    ("element", "values", "dtype"),
    [
        ("f16", REALS, np.float16),
        ("bf16", REALS, ml_dtypes.bfloat16),
        ("f32", REALS, np.float32),
        ("f64", REALS, np.float64),
        ("f8E4M3FN", REALS, ml_dtypes.float8_e4m3fn),
        ("f8E5M2", REALS, ml_dtypes.float8_e5m2),
        ("i8", WHOLE, np.int8),
        ("i16", WHOLE, np.int16),
        ("i32", WHOLE, np.int32),
        ("i64", WHOLE, np.int64),
    ],
)
def test_elements_are_read_from_globals(element: str, values: str, dtype: type) -> None:
    kernel = tileas.compile(TEXT.format(element=element, values=values))
    assert re.search(r"\.visible \.global \.align 64 \.b8 table\[\d+\] = ", kernel.ptx)
    out = np.zeros(4, dtype)
    [simulated] = kernel.simulate(out).arrays
    found = kernel.emulate(out)
    assert [str(finding) for finding in found.findings] == []
    assert found.arrays[0].tobytes() == simulated.tobytes()
    numbers = [float(word) for word in values.strip("[]").split(",")]
    assert simulated.astype(np.float64).tolist() == numbers[::-1]


def test_a_global_that_is_not_there_is_refused() -> None:
    text = """
func.func @k() {
  %p = nv_tileaa.get_global "nothing" : !nv_tileaa.ptr<i32, 1>
  func.return
}
"""
    with pytest.raises(DiagnosticError, match="the address of @nothing, and the module has no"):
        tileas.compile(text)
