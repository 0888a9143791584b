"""Atomic updates of Tile IR, down to `nv_tileas` and run there, against numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.support.tile_ir import TYPES, Array, entry, run


def unsigned(of: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    """On the same bits, read as unsigned."""
    return lambda a, b: of(a.view(np.uint32), b.view(np.uint32)).view(np.int32)


MODES: Mapping[str, tuple[Any, Callable[[Array, Array], Array]]] = {
    "add": (np.int32, np.add),
    "and": (np.int32, np.bitwise_and),
    "or": (np.int32, np.bitwise_or),
    "xor": (np.int32, np.bitwise_xor),
    "max": (np.int32, np.maximum),
    "min": (np.int64, np.minimum),
    "umax": (
        np.int32,
        unsigned(np.maximum),
    ),
    "umin": (
        np.int32,
        unsigned(np.minimum),
    ),
    "xchg": (np.int32, lambda a, b: b),
    "addf": (np.float32, np.add),
}


def lines(name: str, element: str) -> str:
    """Pointers to 16 elements."""
    one, many = f"tile<1xptr<{element}>>", f"tile<16xptr<{element}>>"
    return f"""%{name}_1 = reshape %{name} : tile<ptr<{element}>> -> {one}
    %{name}_n = broadcast %{name}_1 : {one} -> {many}
    %{name}s = offset %{name}_n, %io : {many}, tile<16xi32> -> {many}"""


def numbers(dtype: Any, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "f":
        return rng.standard_normal(16).astype(dtype)
    return rng.integers(-100, 100, 16).astype(dtype)


@pytest.mark.parametrize("mode", MODES)
def test_updates(mode: str) -> None:
    dtype, of = MODES[mode]
    e = TYPES[np.dtype(dtype).name]
    many, tile = f"tile<16xptr<{e}>>", f"tile<16x{e}>"
    text = entry(
        f"%p: tile<ptr<{e}>>, %q: tile<ptr<{e}>>, %o: tile<ptr<{e}>>, %n: tile<i32>",
        f"""%io = iota : tile<16xi32>
    {lines("p", e)}
    {lines("q", e)}
    {lines("o", e)}
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n1 : tile<1xi32> -> tile<16xi32>
    %mask = cmpi less_than %io, %ns, signed : tile<16xi32> -> tile<16xi1>
    %v, %t0 = load_ptr_tko weak %qs : {many} -> {tile}, token
    %old, %t1 = atomic_rmw_tko relaxed device %ps, {mode}, %v, %mask token = %t0 : {many}, {tile}, tile<16xi1> -> {tile}, token
    %t2 = store_ptr_tko weak %os, %old, %mask token = %t1 : {many}, {tile}, tile<16xi1> -> token""",  # noqa: E501
    )
    a, b = numbers(dtype, 1), numbers(dtype, 2)
    found = run(text, a, b, np.zeros(16, dtype), 11)
    np.testing.assert_array_equal(found[0], np.concatenate([of(a, b)[:11], a[11:]]))
    np.testing.assert_array_equal(found[2], np.concatenate([a[:11], np.zeros(5, dtype)]))


def test_a_histogram_of_many_blocks() -> None:
    text = entry(
        "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>",
        f"""%io = iota : tile<16xi32>
    %c = constant <i32: 16> : tile<i32>
    %first = muli %x, %c : tile<i32>
    %r = offset %p, %first : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    {lines("r", "i32")}
    %v, %t0 = load_ptr_tko weak %rs : tile<16xptr<i32>> -> tile<16xi32>, token
    %q_1 = reshape %q : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q_n = broadcast %q_1 : tile<1xptr<i32>> -> tile<16xptr<i32>>
    %to = offset %q_n, %v : tile<16xptr<i32>>, tile<16xi32> -> tile<16xptr<i32>>
    %one = constant <i32: 1> : tile<16xi32>
    %old, %t1 = atomic_rmw_tko relaxed device %to, add, %one : tile<16xptr<i32>>, tile<16xi32> -> tile<16xi32>, token""",  # noqa: E501
    )
    values = np.random.default_rng(3).integers(0, 8, 64).astype(np.int32)
    found = run(text, values, np.zeros(8, np.int32), grid=4)[1]
    np.testing.assert_array_equal(found, np.bincount(values, minlength=8))


def test_exchanges_of_what_is_expected() -> None:
    tile, many = "tile<16xi32>", "tile<16xptr<i32>>"
    text = entry(
        "%p: tile<ptr<i32>>, %q: tile<ptr<i32>>, %o: tile<ptr<i32>>",
        f"""%io = iota : {tile}
    {lines("p", "i32")}
    {lines("q", "i32")}
    {lines("o", "i32")}
    %v, %t0 = load_ptr_tko weak %qs : {many} -> {tile}, token
    %new = constant <i32: 99> : {tile}
    %old, %t1 = atomic_cas_tko acq_rel sys %ps, %v, %new : {many}, {tile} -> {tile}, token
    %t2 = store_ptr_tko weak %os, %old token = %t1 : {many}, {tile} -> token""",
    )
    a = numbers(np.int32, 1)
    b = a.copy()
    b[::3] += 1
    found = run(text, a, b, np.zeros(16, np.int32))
    np.testing.assert_array_equal(found[0], np.where(a == b, 99, a))
    np.testing.assert_array_equal(found[2], a)


@pytest.mark.parametrize(("mode", "dtype"), [("add", np.int32), ("addf", np.float32)])
def test_sums_through_a_view(mode: str, dtype: Any) -> None:
    e = TYPES[np.dtype(dtype).name]
    tensor = f"tensor_view<?x?x{e}, strides=[?,1]>"
    view = f"partition_view<tile=(4x8), {tensor}>"
    text = entry(
        f"%p: tile<ptr<{e}>>, %q: tile<ptr<{e}>>, %m: tile<i32>, %n: tile<i32>",
        f"""%v = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {tensor}
    %w = make_tensor_view %q, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {tensor}
    %a = make_partition_view %v : {view}
    %b = make_partition_view %w : {view}
    %t, %k = load_view_tko weak %a[%x, %y] : {view}, tile<i32> -> tile<4x8x{e}>, token
    %l = atomic_red_view_tko relaxed device %b[%x, %y], {mode}, %t token = %k : tile<4x8x{e}>, {view}, tile<i32> -> token""",  # noqa: E501
    )
    a = (np.random.default_rng(4).standard_normal((6, 11)) * 50).astype(dtype)
    b = (np.random.default_rng(5).standard_normal((6, 11)) * 50).astype(dtype)
    np.testing.assert_array_equal(run(text, a, b, 6, 11, grid=(2, 2))[1], a + b)
