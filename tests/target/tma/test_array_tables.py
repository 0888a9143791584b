"""Tables of the arrays of a list: rows, and tensor maps behind them."""

import numpy as np

from tileas_xdsl.target.kernel_abi import WRITTEN, TensorMapRecipe
from tileas_xdsl.target.tma.array_tables import table_bytes, table_size
from tileas_xdsl.target.tma.tensor_map_bytes import decode, encode

ROWS = np.array([[0x10000, 100, 64, 64, 1], [0x20000, 0, 32, 32, 1], [0x30000, 8, 72, 72, 1]])
RECIPES = [
    TensorMapRecipe(0, (64, 64), "f16", 16, "128B", nan_fill=False, is_of_list=True),
    TensorMapRecipe(0, (32, 8), "f16", 16, "64B", nan_fill=False, is_of_list=True, is_written=True),
]


def test_maps_follow_the_rows_by_recipe_at_multiples_of_their_size() -> None:
    found = table_bytes(ROWS, RECIPES, 0x7000, encode)
    assert found.size == table_size(ROWS, 2) == 128 + 6 * 128 + 128
    assert found[:120].tobytes() == ROWS.tobytes()
    maps = [decode(found[at : at + 128].tobytes()) for at in range(128, 7 * 128, 128)]
    assert [one.box for one in maps] == [(64, 64)] * 3 + [(32, 8)] * 3
    unused = 0x7000 + 7 * 128
    assert [one.address for one in maps[:3]] == [0x10000, unused, 0x30000]
    assert [one.address for one in maps[3:]] == [0x10000, unused + WRITTEN, 0x30000]
    assert [one.dims for one in maps[:3]] == [(64, 100), (8, 1), (72, 8)]
    assert not found[7 * 128 :].any()
    assert maps[2].strides == (144,)


def test_a_table_without_maps_is_its_rows() -> None:
    assert table_bytes(ROWS, [], 0, encode).tobytes() == ROWS.tobytes()
