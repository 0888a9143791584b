"""Elements anywhere in an array: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.plain_checks import check
from tests.support.plain_kernels import NUMPY, kernel, load, store

TILE = "16x32"


def _by_rows(index: str, body: str, element: str = "f32") -> str:
    """`%rows` and `%cols` are the places of whole rows whose numbers `%r` has."""
    array = f"memref<?x?x{element}>"
    return kernel(
        f"%a: {array}, %i: memref<16x{index}>, %b: {array}",
        load("r", "i", f"memref<16x{index}>", f"16x{index}", "%zero")
        + f"""%rows = nv_tileas.generate : tensor<{TILE}x{index}> {{
  ^bb0(%k: index, %l: index):
    %e = tensor.extract %r[%k] : tensor<16x{index}>
    nv_tileas.yield %e : {index}
  }}
  %cols = nv_tileas.generate : tensor<{TILE}xindex> {{
  ^bb0(%k: index, %l: index):
    nv_tileas.yield %l : index
  }}
  """
        + body,
    )


def _numbers(element: str) -> np.ndarray:
    return (99 * np.random.default_rng(1).standard_normal((20, 30))).astype(NUMPY[element])


def _rows(index: str) -> np.ndarray:
    rows = np.random.default_rng(2).permutation(22)[:16].astype(NUMPY[index])
    rows[3] = -1
    return rows


@pytest.mark.parametrize(("index", "element"), [("i32", "f32"), ("i64", "f16"), ("i32", "i8")])
def test_rows_are_gathered_and_padded(index: str, element: str) -> None:
    tile, array = f"{TILE}x{element}", f"memref<?x?x{element}>"
    seven = "7.0" if element[0] == "f" else "7"
    text = _by_rows(
        index,
        f"""%g = nv_tileas.gather_load %a[%rows : tensor<{TILE}x{index}>, %cols : tensor<{TILE}xindex>] {{atom = #ldg, padding_value = {seven} : {element}, in_bounds = array<i1: false, false>}} : {array} -> tensor<{tile}>
  """  # noqa: E501
        + store("g", "b", array, tile, "%zero, %zero"),
        element,
    )
    numbers, rows = _numbers(element), _rows(index)
    exists = (rows >= 0) & (rows < 20)
    expected = np.full((16, 32), 7, numbers.dtype)
    expected[exists, :30] = numbers[rows[exists]]
    check(text, (numbers, rows, np.zeros_like(expected)), expected)


def test_rows_are_scattered_where_they_exist() -> None:
    array = "memref<?x?xf32>"
    text = _by_rows(
        "i32",
        f"""%t = nv_tileas.load %a[%zero, %zero] {{atom = #ldg}} : {array} -> tensor<{TILE}xf32>
  %m = nv_tileas.generate : tensor<{TILE}xi1> {{
  ^bb0(%k: index, %l: index):
    %p = arith.cmpi sle, %k, %l : index
    nv_tileas.yield %p : i1
  }}
  nv_tileas.scatter_store %t, %b[%rows : tensor<{TILE}xi32>, %cols : tensor<{TILE}xindex>] mask %m : tensor<{TILE}xi1> {{atom = #stg}} : tensor<{TILE}xf32>, {array}
  %three = arith.constant 3 : index
  %g = nv_tileas.gather_load %a[%x, %cols : tensor<{TILE}xindex>] {{atom = #ldg, padding_value = 0.0 : f32, in_bounds = array<i1: true, false>}} : {array} -> tensor<{TILE}xf32>
  %first = tensor.extract %g[%three, %three] : tensor<{TILE}xf32>
  %last = arith.constant 19 : index
  nv_tileas.store %first, %b[%last, %last] {{atom = #stg}} : f32, {array}""",  # noqa: E501
    )
    numbers = np.random.default_rng(3).standard_normal((20, 40)).astype(np.float32)
    rows = _rows("i32")
    exists = (rows >= 0) & (rows < 19)
    rows = np.where(exists, rows, -1).astype(np.int32)
    expected = np.zeros((20, 30), np.float32)
    k, l = np.indices((16, 30))
    chosen = (k <= l) & exists[:, None]
    expected[rows[k[chosen]], l[chosen]] = numbers[:16, :30][chosen]
    expected[19, 19] = numbers[0, 3]
    check(text, (numbers, rows, np.zeros_like(expected)), expected)


def test_tiles_that_begin_at_any_element() -> None:
    array = "memref<?x?xf32>"
    text = kernel(
        f"%a: {array}, %b: {array}",
        f"""%five = arith.constant 5 : index
  %t = nv_tileas.load %a[%one, %five] {{atom = #ldg}} : {array} -> tensor<4x16xf32>
  %m = nv_tileas.generate : tensor<4x16xi1> {{
  ^bb0(%i: index, %j: index):
    %p = arith.cmpi slt, %i, %j : index
    nv_tileas.yield %p : i1
  }}
  nv_tileas.store %t, %b[%five, %one] mask %m : tensor<4x16xi1> {{atom = #stg}} : tensor<4x16xf32>, {array}
  %e = nv_tileas.load %a[%one, %five] {{atom = #ldg}} : {array} -> f32
  nv_tileas.store %e, %b[%zero, %x] {{atom = #stg}} : f32, {array}""",  # noqa: E501
    )
    numbers = _numbers("f32")
    expected = np.zeros_like(numbers)
    row, column = np.indices((4, 16))
    expected[5:9, 1:17] = np.where(row < column, numbers[1:5, 5:21], 0)
    expected[0, 0] = numbers[1, 5]
    check(text, (numbers, np.zeros_like(numbers)), expected)
