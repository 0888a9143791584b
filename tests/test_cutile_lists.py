"""Lists of arrays: products whose tensor maps are in the tables of the lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tileas_xdsl as tileas
from tileas_xdsl.compiler import passes_to_ptx
from tileas_xdsl.interpreters.ptx.execution.state import Order

pytest.importorskip("cuda.tile")

from tests.cutile_lists import first_products, listed_matmul

COPIES = r"cp\.async\.bulk\.tensor"
TILES = 64, 64
RAGGED = (136, 72, 96), (0, 64, 64), (64, 8, 200), (8, 136, 64)
"""Rows, columns and depth of products; one is empty."""

Arrays = Sequence[NDArray[Any]]


def case(sizes: Sequence[tuple[int, int, int]]) -> tuple[Arrays, Arrays, Arrays]:
    rng = np.random.default_rng(len(sizes))
    a = [rng.standard_normal((m, k)).astype(np.float16) for m, _, k in sizes]
    b = [rng.standard_normal((k, n)).astype(np.float16) for _, n, k in sizes]
    return a, b, [np.full((m, n), np.nan, np.float32) for m, n, _ in sizes]


def check(found: Sequence[Any], a: Arrays, b: Arrays) -> None:
    for c, left, right in zip(found[2], a, b, strict=True):
        wanted = left.astype(np.float64) @ right.astype(np.float64)
        np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("order", ["eager", "lazy", "drift"])
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_each_array_has_its_tensor_map(target: str, order: Order) -> None:
    a, b, c = case(RAGGED)
    kernel = tileas.compile(listed_matmul, a, b, c, *TILES, target=target)
    assert [recipe.is_of_list for recipe in kernel.abi.tensor_maps] == [True, True, True]
    assert not any(name.startswith("tensor map") for name in kernel.abi.parameters)
    assert len(re.findall(COPIES, kernel.ptx)) >= 3
    found = kernel.emulate(a, b, c, *TILES, grid=(3,), order=order)
    assert [str(finding) for finding in found.findings] == []
    check(found.arrays, a, b)


def test_tiles_say_the_same() -> None:
    a, b, c = case(RAGGED)
    kernel = tileas.compile(listed_matmul, a, b, c, *TILES, target="sm_90a")
    check(kernel.simulate(a, b, c, *TILES, grid=(3,)).arrays, a, b)


@pytest.mark.parametrize("sizes", [((100, 70, 90), (64, 66, 70)), ((64, 64, 64), (64, 70, 64))])
def test_rows_that_tensor_maps_have_not_are_loaded_by_threads(
    sizes: Sequence[tuple[int, int, int]],
) -> None:
    """No row of one, or some rows of the other, are multiples of 16 bytes apart."""
    a, b, c = case(sizes)
    kernel = tileas.compile(listed_matmul, a, b, c, *TILES, target="sm_90a")
    found = kernel.emulate(a, b, c, *TILES, grid=(2,))
    assert [str(finding) for finding in found.findings] == []
    check(found.arrays, a, b)
    loaded = {recipe.argument for recipe in kernel.abi.tensor_maps}
    assert 2 not in loaded


def test_who_writes_no_tensor_maps_needs_none() -> None:
    a, b, c = case(RAGGED[:2])
    passes = passes_to_ptx(host_code=True)
    kernel = tileas.compile(listed_matmul, a, b, c, *TILES, target="sm_90a", passes=passes)
    assert re.search(COPIES, kernel.ptx) is None
    check(kernel.emulate(a, b, c, *TILES, grid=(2,)).arrays, a, b)


def test_empty_arrays_of_lists_are_padding_and_store_nothing() -> None:
    """Their tensor maps describe zeros of the table: neither its rows nor its other maps."""
    ones, empty = np.ones((64, 64), np.float16), np.ones((0, 64), np.float16)
    a, b = [ones, empty, ones], [ones, ones, ones]
    c = [np.full_like(one, 7) for one in (ones, ones, empty)]
    kernel = tileas.compile(first_products, a, b, c, 64, target="sm_90a")
    assert re.search(COPIES, kernel.ptx)
    found = kernel.emulate(a, b, c, 64, grid=1)
    assert not found.findings
    assert [np.unique(one).tolist() for one in found.arrays[2]] == [[64], [0], []]
