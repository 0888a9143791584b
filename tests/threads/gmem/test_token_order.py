"""Arrays that tokens order may be the same memory: a barrier stands between their accesses."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.compiler import compile


def _text(token: str) -> str:
    """Store a tile to one array and load it reversed from another."""
    return f"""cuda_tile.module @m {{
  entry @k(%a: tile<ptr<i32>>, %b: tile<ptr<i32>>, %c: tile<ptr<i32>>) {{
    %n = iota : tile<256xi32>
    %m = constant <i32: 255> : tile<256xi32>
    %r = xori %n, %m : tile<256xi32>
    %a1 = reshape %a : tile<ptr<i32>> -> tile<1xptr<i32>>
    %as = broadcast %a1 : tile<1xptr<i32>> -> tile<256xptr<i32>>
    %ap = offset %as, %n : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
    %b1 = reshape %b : tile<ptr<i32>> -> tile<1xptr<i32>>
    %bs = broadcast %b1 : tile<1xptr<i32>> -> tile<256xptr<i32>>
    %bp = offset %bs, %r : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
    %c1 = reshape %c : tile<ptr<i32>> -> tile<1xptr<i32>>
    %cs = broadcast %c1 : tile<1xptr<i32>> -> tile<256xptr<i32>>
    %cp = offset %cs, %n : tile<256xptr<i32>>, tile<256xi32> -> tile<256xptr<i32>>
    %t = store_ptr_tko weak %ap, %n : tile<256xptr<i32>>, tile<256xi32> -> token
    %g = gdc_wait_tko token = %t -> token
    %j = join_tokens %t, %g : token
    %x, %u = load_ptr_tko weak %bp{token} : tile<256xptr<i32>> -> tile<256xi32>, token
    %v = store_ptr_tko weak %cp, %x : tile<256xptr<i32>>, tile<256xi32> -> token
    return
  }}
}}
"""


@pytest.mark.parametrize("token", ["%t", "%j"])
def test_an_array_is_two_arguments(token: str) -> None:
    kernel = compile(_text(f" token = {token}"), "sm_90a")
    both, found = np.zeros(256, np.int32), np.zeros(256, np.int32)
    run = kernel.emulate(both, both, found, grid=1)
    assert not run.findings
    np.testing.assert_array_equal(run.arrays[2], np.arange(256)[::-1])


def test_arrays_that_no_token_orders_need_no_barrier() -> None:
    barriers = [
        compile(_text(token), "sm_90a").ptx.count("bar.sync") for token in ("", " token = %t")
    ]
    assert barriers == [0, 1]
