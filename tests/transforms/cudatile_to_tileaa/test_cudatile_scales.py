"""Tiles of scales (`f8E8M0FNU`), which have no zero: their zero padding is byte 0, 2**-127."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.support.tile_ir import entry
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.cuda_tile.launch import evaluate

VECTOR = "tensor_view<?xf8E8M0FNU, strides=[1]>"
OUT = f"partition_view<tile=(16), {VECTOR}>"


def _copied(padding: str) -> str:
    view = f"partition_view<tile=(16), padding_value = {padding}, {VECTOR}>"
    return entry(
        "%p: tile<ptr<f8E8M0FNU>>, %n: tile<i32>, %q: tile<ptr<f8E8M0FNU>>, %m: tile<i32>",
        f"""%v = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {VECTOR}
    %w = make_tensor_view %q, shape = [%m], strides = [1] : tile<i32> -> {VECTOR}
    %a = make_partition_view %v : {view}
    %b = make_partition_view %w : {OUT}
    %t, %k = load_view_tko weak %a[%x] : {view}, tile<i32> -> tile<16xf8E8M0FNU>, token
    %l = store_view_tko weak %t, %b[%x] : tile<16xf8E8M0FNU>, {OUT}, tile<i32> -> token""",
    )


@pytest.mark.parametrize(("padding", "byte"), [("zero", 0), ("nan", 255)])
def test_padding_is_the_same_on_every_level(padding: str, byte: int) -> None:
    text = _copied(padding)
    codes = np.arange(120, 133, dtype=np.uint8)
    scales, out = codes.view(ml_dtypes.float8_e8m0fnu), np.ones(16, ml_dtypes.float8_e8m0fnu)
    arguments = (scales, 13, out, 16)
    kernel = compile(text, "sm_90a")
    runs = (
        evaluate(parse_module(registered_context(), text), arguments, grid=1),
        kernel.simulate(*arguments, grid=1),
        kernel.emulate(*arguments, grid=1),
    )
    for run in runs:
        found = np.asarray(run.arrays[2]).view(np.uint8)
        np.testing.assert_array_equal(found, [*codes, *[byte] * 3])
