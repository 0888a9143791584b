"""What a masked load leaves where nothing is loaded, for elements of every width."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.compiler import compile

TEXT = """cuda_tile.module @m {{
  entry @k(%a: tile<ptr<{element}>>, %o: tile<ptr<f32>>) {{
    %i = iota : tile<64xi32>
    %s = constant <i32: 40> : tile<64xi32>
    %m = cmpi less_than %i, %s, signed : tile<64xi32> -> tile<64xi1>
    %ar = reshape %a : tile<ptr<{element}>> -> tile<1xptr<{element}>>
    %ab = broadcast %ar : tile<1xptr<{element}>> -> tile<64xptr<{element}>>
    %ap = offset %ab, %i : tile<64xptr<{element}>>, tile<64xi32> -> tile<64xptr<{element}>>
    %f = constant <{element}: -1.5> : tile<64x{element}>
    %x, %t = load_ptr_tko weak %ap, %m, %f
        : tile<64xptr<{element}>>, tile<64xi1>, tile<64x{element}> -> tile<64x{element}>, token
    %w = ftof %x : tile<64x{element}> -> tile<64xf32>
    %or = reshape %o : tile<ptr<f32>> -> tile<1xptr<f32>>
    %ob = broadcast %or : tile<1xptr<f32>> -> tile<64xptr<f32>>
    %op = offset %ob, %i : tile<64xptr<f32>>, tile<64xi32> -> tile<64xptr<f32>>
    %u = store_ptr_tko weak %op, %w : tile<64xptr<f32>>, tile<64xf32> -> token
    return
  }}
}}
"""


@pytest.mark.parametrize(
    ("element", "dtype"),
    [("f16", np.float16), ("tf32", np.float32), ("f64", np.float64)],
    ids=["f16", "tf32", "f64"],
)
def test_elements_that_are_not_loaded_are_the_fill(element: str, dtype: type) -> None:
    array = np.random.default_rng(3).integers(-9, 9, 64).astype(dtype)
    kernel = compile(TEXT.format(element=element), "sm_90a")
    found = kernel.emulate(array, np.zeros(64, np.float32), grid=1).arrays[1]
    expected = np.where(np.arange(64) < 40, array.astype(np.float32), np.float32(-1.5))
    np.testing.assert_array_equal(found, expected)
