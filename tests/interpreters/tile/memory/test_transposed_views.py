"""Views that read a matrix as its transpose, of memory and of values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.simulating import kernel, numbers, refuses, run

TYPES = {
    "m": "memref<?x?xf32>",
    "tile": "tensor<8x16xf32>",
    "shared": "tensor<8x16xf32, #nv_tileas<space smem>>",
    "other": "tensor<16x8xf32, #nv_tileas.shared<(16,8),(1,16)>>",
    "result": "tensor<16x8xf32>",
    "part": "tensor<4x8xf32, #nv_tileas.shared<(4,8),(1,4)>>",
}

LOADED = """
  %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : !m -> !tile
  %s = nv_tileas.alloc_tensor : !shared
  nv_tileas.copy %x, %s {atom = #any} : !tile, !shared
"""


@pytest.mark.parametrize("source", ["%s : !shared", "%x : !tile"])
def test_rows_become_columns(source: str) -> None:
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (16, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        f"""{LOADED}
  %t = nv_tileas.view {source} -> !other
  %y = nv_tileas.convert_layout %t : !other -> !result
  nv_tileas.store %y, %b[%zero, %zero] {{atom = #stg}} : !result, !m
""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a.T)


def test_a_view_of_a_transposed_tile_that_says_the_same_is_the_same() -> None:
    rng = np.random.default_rng(2)
    a, b = numbers(rng, (8, 16), np.float32), numbers(rng, (16, 8), np.float32)
    text = kernel(
        "%a: !m, %b: !m",
        f"""{LOADED}
  %t = nv_tileas.view %s : !shared -> !other
  %u = nv_tileas.view %t : !other -> !other
  %y = nv_tileas.convert_layout %u : !other -> !result
  nv_tileas.store %y, %b[%zero, %zero] {{atom = #stg}} : !result, !m
""",
        types=TYPES,
    )
    np.testing.assert_array_equal(run(text, a, b)[1], a.T)


@pytest.mark.parametrize("view", ["%s : !shared -> !part", "%s[%one, %zero] : !shared -> !part"])
def test_a_part_is_not_transposed(view: str) -> None:
    a = np.zeros((8, 16), np.float32)
    text = kernel("%a: !m", f"{LOADED}\n  %t = nv_tileas.view {view}\n", types=TYPES)
    refuses(text, "a transposed view shows all of its source", a)
