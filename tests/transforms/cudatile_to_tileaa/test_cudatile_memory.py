"""Memory of Tile IR through views and pointers, down to `nv_tileas` and run there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.support.tile_ir import Array, entry, lowered, run
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.interpreters.tile.faults import SimulationError

MATRIX = "tensor_view<?x?xf32, strides=[?,1]>"
OPEN = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>"
ARRAYS = f"""%v = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
    %w = make_tensor_view %q, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
    """


def random(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def copy(view: str, store_view: str, tile: str, index: str, types: str) -> str:
    """A tile of one array to another, through two views of them."""
    return f"""%a = {view}
    %b = {store_view}
    %t, %k = load_view_tko weak %a{index} : {types} -> {tile}, token
    %s = addf %t, %t : {tile}
    %l = store_view_tko weak %s, %b{index} token = %k : {tile}, {types} -> token"""


@pytest.mark.parametrize("shape", [(16, 32), (13, 27), (1, 5)])
def test_ragged_tiles(shape: tuple[int, int]) -> None:
    view = f"partition_view<tile=(8x16), padding_value = zero, {MATRIX}>"
    text = entry(
        OPEN,
        ARRAYS
        + copy(
            f"make_partition_view %v : {view}",
            f"make_partition_view %w : {view}",
            "tile<8x16xf32>",
            "[%x, %y]",
            f"{view}, tile<i32>",
        ),
    )
    a = random(*shape)
    guard = np.full(shape, 7, np.float32)
    found = run(text, a, guard, *shape, grid=(3, 3))[1]
    np.testing.assert_array_equal(found, 2 * a)


@pytest.mark.parametrize(
    ("padding", "value"),
    [("zero", 0.0), ("neg_zero", -0.0), ("nan", np.nan), ("pos_inf", np.inf), ("neg_inf", -np.inf)],
)
def test_padding(padding: str, value: float) -> None:
    view = f"partition_view<tile=(4x8), padding_value = {padding}, {MATRIX}>"
    text = entry(
        OPEN,
        f"""{ARRAYS}
    %a = make_partition_view %v : {view}
    %t, %k = load_view_tko weak %a[%x, %y] : {view}, tile<i32> -> tile<4x8xf32>, token
    %io = iota : tile<32xi32>
    %i = reshape %io : tile<32xi32> -> tile<4x8xi32>
    %q1 = reshape %q : tile<ptr<f32>> -> tile<1x1xptr<f32>>
    %qs = broadcast %q1 : tile<1x1xptr<f32>> -> tile<4x8xptr<f32>>
    %to = offset %qs, %i : tile<4x8xptr<f32>>, tile<4x8xi32> -> tile<4x8xptr<f32>>
    %l = store_ptr_tko weak %to, %t : tile<4x8xptr<f32>>, tile<4x8xf32> -> token""",
    )
    a, b = random(3, 5), random(4, 8, seed=2)
    found = run(text, a, b, 3, 5)[1]
    wanted = np.full((4, 8), value, np.float32)
    wanted[:3, :5] = a
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_dimensions_in_another_order() -> None:
    view = f"partition_view<tile=(8x4), padding_value = zero, {MATRIX}, dim_map=[1, 0]>"
    plain = f"partition_view<tile=(8x4), {MATRIX}>"
    text = entry(
        OPEN,
        f"""%v = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
    %w = make_tensor_view %q, shape = [%n, %m], strides = [%m, 1] : tile<i32> -> {MATRIX}
    %a = make_partition_view %v : {view}
    %b = make_partition_view %w : {plain}
    %t, %k = load_view_tko weak %a[%x, %y] : {view}, tile<i32> -> tile<8x4xf32>, token
    %l = store_view_tko weak %t, %b[%x, %y] : tile<8x4xf32>, {plain}, tile<i32> -> token""",
    )
    a = random(10, 19)
    found = run(text, a, np.zeros((19, 10), np.float32), 10, 19, grid=(3, 3))[1]
    np.testing.assert_array_equal(found, a.T)


@pytest.mark.parametrize("steps", [(3, 4), (1, 2), (8, 16)])
def test_tiles_any_distance_apart(steps: tuple[int, int]) -> None:
    numbers = f"{steps[0]},{steps[1]}"
    view = (
        f"strided_view<tile=(2x4), traversal_strides=[{numbers}], padding_value = zero, {MATRIX}>"
    )
    whole = "tensor_view<?x?x2x4xf32, strides=[?,8,4,1]>"
    tiles = f"partition_view<tile=(1x1x2x4), {whole}>"
    text = entry(
        OPEN + ", %h: tile<i32>, %g: tile<i32>",
        f"""%v = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
    %a = make_strided_view %v : {view}
    %e = constant <i32: 8> : tile<i32>
    %step = muli %g, %e : tile<i32>
    %w = make_tensor_view %q, shape = [%h, %g, 2, 4], strides = [%step, 8, 4, 1] : tile<i32> -> {whole}
    %b = make_partition_view %w : {tiles}
    %z0 = constant <i32: 0> : tile<i32>
    %i, %j = get_index_space_shape %a : {view} -> tile<i32>
    %one = cmpi equal %i, %h, signed : tile<i32> -> tile<i1>
    assert %one, "rows" : tile<i1>
    %other = cmpi equal %j, %g, signed : tile<i32> -> tile<i1>
    assert %other, "columns" : tile<i1>
    %t, %k = load_view_tko weak %a[%x, %y] : {view}, tile<i32> -> tile<2x4xf32>, token
    %u = reshape %t : tile<2x4xf32> -> tile<1x1x2x4xf32>
    %l = store_view_tko weak %u, %b[%x, %y, %z0, %z0] : tile<1x1x2x4xf32>, {tiles}, tile<i32> -> token""",  # noqa: E501
    )
    a = random(9, 21)
    rows, columns = -(-9 // steps[0]), -(-21 // steps[1])
    padded = np.zeros((9 + 8, 21 + 16), np.float32)
    padded[:9, :21] = a
    wanted = np.zeros((rows, columns, 2, 4), np.float32)
    for i in range(rows):
        for j in range(columns):
            top, left = i * steps[0], j * steps[1]
            wanted[i, j] = padded[top : top + 2, left : left + 4]
    grid = (rows, columns)
    found = run(text, a, np.zeros_like(wanted), 9, 21, rows, columns, grid=grid)[1]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("bits", [32, 64])
def test_rows_anywhere(bits: int) -> None:
    cast = "%wide = exti %rows signed : tile<4xi32> -> tile<4xi64>" if bits == 64 else ""
    named = "%wide" if bits == 64 else "%rows"
    first = "%far" if bits == 64 else "%first"
    column = "%far = exti %first signed : tile<i32> -> tile<i64>" if bits == 64 else ""
    view = f"gather_scatter_view<tile=(4x8), padding_value = zero, {MATRIX}, sparse_dim=0>"
    text = entry(
        OPEN + ", %o: tile<ptr<i32>>",
        f"""{ARRAYS}
    %a = make_gather_scatter_view %v : {view}
    %b = make_gather_scatter_view %w : {view}
    %io = iota : tile<4xi32>
    %o1 = reshape %o : tile<ptr<i32>> -> tile<1xptr<i32>>
    %os = broadcast %o1 : tile<1xptr<i32>> -> tile<4xptr<i32>>
    %op = offset %os, %io : tile<4xptr<i32>>, tile<4xi32> -> tile<4xptr<i32>>
    %rows, %t0 = load_ptr_tko weak %op : tile<4xptr<i32>> -> tile<4xi32>, token
    %e = constant <i32: 8> : tile<i32>
    %first = muli %x, %e : tile<i32>
    {cast}
    {column}
    %t, %k = load_view_tko weak %a[{named}, {first}] : {view}, tile<4xi{bits}>, tile<i{bits}> -> tile<4x8xf32>, token
    %l = store_view_tko weak %t, %b[%io, %first] : tile<4x8xf32>, {view}, tile<4xi32>, tile<i32> -> token""",  # noqa: E501
    )
    a, rows = random(9, 13), np.array([7, 0, 12, 3], np.int32)
    b = np.full((9, 13), 5, np.float32)
    found = run(text, a, b, 9, 13, rows, grid=2)[1]
    wanted = b.copy()
    for place, row in enumerate(rows):
        wanted[place] = a[row] if row < 9 else 0
    np.testing.assert_array_equal(found, wanted)


def test_what_is_in_bounds_is_not_padded() -> None:
    view = f"partition_view<tile=(8x16), padding_value = zero, {MATRIX}>"
    body = f"""{ARRAYS}
    %a = make_partition_view %v : {view}
    %b = make_partition_view %w : {view}
    %t, %k = load_view_tko weak %a[%x, %y] inbounds = [true, true] : {view}, tile<i32> -> tile<8x16xf32>, token
    %l = store_view_tko weak %t, %b[%x, %y] inbounds = [true, true] : tile<8x16xf32>, {view}, tile<i32> -> token"""  # noqa: E501
    text = entry(OPEN, body)
    load, store = (
        next(op for op in lowered(text).walk() if isinstance(op, kind))
        for kind in (TiledLoadOp, TiledStoreOp)
    )
    assert load.padding_value is None
    assert load.in_bounds is not None
    assert load.in_bounds.get_values() == (-1, -1)
    assert store.in_bounds is not None
    a = random(16, 32)
    np.testing.assert_array_equal(run(text, a, a * 0, 16, 32, grid=(2, 2))[1], a)
    with pytest.raises(SimulationError, match="in bounds"):
        run(text, random(15, 32), random(15, 32), 15, 32, grid=(2, 2))


def test_shapes_are_known() -> None:
    view = f"partition_view<tile=(4x8), {MATRIX}, dim_map=[1, 0]>"
    store = "store_ptr_tko weak"
    pointer, number = "tile<ptr<i32>>", "tile<i32>"
    lines = [
        f"%c{k} = constant <i32: {k}> : tile<i32>\n"
        f"%p{k} = offset %o, %c{k} : {pointer}, {number} -> {pointer}\n"
        f"%t{k} = {store} %p{k}, %s{k} : {pointer}, {number} -> token"
        for k in range(4)
    ]
    text = entry(
        f"%p: tile<ptr<f32>>, %m: {number}, %n: {number}, %o: {pointer}",
        f"""%v = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {MATRIX}
    %a = make_partition_view %v : {view}
    %s0, %s1 = get_tensor_shape %v : {MATRIX} -> {number}
    %s2, %s3 = get_index_space_shape %a : {view} -> {number}
    """
        + "\n".join(lines),
    )
    found = run(text, random(5, 11), 5, 11, np.zeros(4, np.int32))[3]
    np.testing.assert_array_equal(found, [5, 11, 3, 1])


def pointers(names: Sequence[str], count: int, element: str = "f32") -> str:
    """For each pointer a tile of pointers to its first elements, and `%io` to count them."""
    lines = [f"%io = iota : tile<{count}xi32>"]
    for name in names:
        one, many = f"tile<1xptr<{element}>>", f"tile<{count}xptr<{element}>>"
        lines += [
            f"%{name}_1 = reshape %{name} : tile<ptr<{element}>> -> {one}",
            f"%{name}_n = broadcast %{name}_1 : {one} -> {many}",
            f"%{name}s = offset %{name}_n, %io : {many}, tile<{count}xi32> -> {many}",
        ]
    return "\n    ".join(lines)


MANY = "tile<16xptr<f32>>"


@pytest.mark.parametrize("padding", ["constant", "values"])
def test_masks(padding: str) -> None:
    value = (
        "constant <f32: 9.0> : tile<16xf32>"
        if padding == "constant"
        else "itof %io signed : tile<16xi32> -> tile<16xf32>"
    )
    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>",
        f"""{pointers("pq", 16)}
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n1 : tile<1xi32> -> tile<16xi32>
    %mask = cmpi less_than %io, %ns, signed : tile<16xi32> -> tile<16xi1>
    %rest = {value}
    %t, %k = load_ptr_tko weak %ps, %mask, %rest : {MANY}, tile<16xi1>, tile<16xf32> -> tile<16xf32>, token
    %l = store_ptr_tko weak %qs, %t : {MANY}, tile<16xf32> -> token""",  # noqa: E501
    )
    a = random(11)
    rest = np.full(16, 9, np.float32) if padding == "constant" else np.arange(16, dtype=np.float32)
    found = run(text, a, random(16), 11)[1]
    np.testing.assert_array_equal(found, np.concatenate([a, rest[11:]]))


def test_tokens_order_a_store_and_a_load() -> None:
    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>",
        f"""{pointers("pq", 16)}
    %t0 = make_token : token
    %a, %t1 = load_ptr_tko weak %ps token = %t0 : {MANY} -> tile<16xf32>, token
    %t2 = join_tokens %t0, %t1 : token
    %t3 = store_ptr_tko relaxed device %qs, %a token = %t2 : {MANY}, tile<16xf32> -> token
    %b, %t4 = load_ptr_tko acquire device %qs token = %t3 : {MANY} -> tile<16xf32>, token
    %c = addf %b, %b : tile<16xf32>
    %t5 = store_ptr_tko release sys %qs, %c token = %t4 : {MANY}, tile<16xf32> -> token""",
    )
    a = random(16)
    np.testing.assert_array_equal(run(text, a, a * 0)[1], 2 * a)


def test_addresses_are_numbers() -> None:
    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<i32>>",
        """%a = ptr_to_int %p : tile<ptr<f32>> -> tile<i64>
    %eight = constant <i64: 8> : tile<i64>
    %b = addi %a, %eight : tile<i64>
    %c = int_to_ptr %b : tile<i64> -> tile<ptr<f32>>
    %d = ptr_to_ptr %c : tile<ptr<f32>> -> tile<ptr<i32>>
    %v, %t = load_ptr_tko weak %d : tile<ptr<i32>> -> tile<i32>, token
    %l = store_ptr_tko weak %q, %v : tile<ptr<i32>>, tile<i32> -> token""",
    )
    a = random(5)
    assert run(text, a, np.zeros(1, np.int32))[1][0] == a.view(np.int32)[2]


def test_arrays_are_as_large_as_the_program_says() -> None:
    view = f"partition_view<tile=(8x16), padding_value = zero, {MATRIX}>"
    text = entry(
        OPEN,
        f"""{ARRAYS}
    %a = make_partition_view %v : {view}
    %t, %k = load_view_tko weak %a[%x, %y] : {view}, tile<i32> -> tile<8x16xf32>, token""",
    )
    with pytest.raises(SimulationError, match=r"make_memref.*shows 5x8 elements.*out of bounds"):
        run(text, random(4, 8), random(5, 8), 5, 8)


def test_an_access_outside_is_located_at_it() -> None:
    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>",
        f"""{pointers("pq", 16)}
    %t, %k = load_ptr_tko weak %ps : {MANY} -> tile<16xf32>, token
    %l = store_ptr_tko weak %qs, %t : {MANY}, tile<16xf32> -> token""",
    )
    with pytest.raises(SimulationError, match=r"'nv_tileas.load'.*out of bounds") as caught:
        run(text, random(15), random(16))
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert text.splitlines()[location.line - 1].strip().startswith("%t, %k = load_ptr_tko")


@pytest.mark.parametrize(
    ("fact", "type_", "good", "bad"),
    [
        ("div_by<8>", "i32", 24, 20),
        ("bounded<1, 10>", "i32", 10, 11),
        ("bounded<?, -3>", "i32", -3, 0),
        ("bounded<0, ?>", "i64", 0, -1),
    ],
)
def test_assumptions_are_checked(fact: str, type_: str, good: int, bad: int) -> None:
    text = entry(
        f"%n: tile<{type_}>, %p: tile<ptr<{type_}>>",
        f"""%m = assume {fact}, %n : tile<{type_}>
    %t = store_ptr_tko weak %p, %m : tile<ptr<{type_}>>, tile<{type_}> -> token""",
    )
    array = np.zeros(1, np.dtype(f"int{type_[1:]}"))
    assert run(text, good, array)[1][0] == good
    with pytest.raises(SimulationError, match=f"assumes.*the value is {bad}"):
        run(text, bad, array)


@pytest.mark.parametrize(
    ("fact", "holds"),
    [
        ("div_by<16>", True),
        ("div_by<4, every 4 along 0>", True),
        ("div_by<8, every 4 along 0>", False),
        ("same_elements<[2]>", False),
        ("same_elements<[1]>", True),
    ],
)
def test_assumptions_of_tiles(fact: str, *, holds: bool) -> None:
    value = "%sixteen" if fact == "div_by<16>" else "%io"
    text = entry(
        "%p: tile<ptr<i32>>",
        f"""{pointers("p", 16, "i32")}
    %c = constant <i32: 16> : tile<16xi32>
    %sixteen = muli %io, %c : tile<16xi32>
    %m = assume {fact}, {value} : tile<16xi32>
    %t = store_ptr_tko weak %ps, %m : tile<16xptr<i32>>, tile<16xi32> -> token""",
    )
    numbers = np.arange(16) * (16 if value == "%sixteen" else 1)
    if holds:
        np.testing.assert_array_equal(run(text, np.zeros(16, np.int32))[0], numbers)
    else:
        with pytest.raises(SimulationError, match="assumes"):
            run(text, np.zeros(16, np.int32))


def test_assertions_stop() -> None:
    text = entry(
        "%p: tile<ptr<i32>>",
        f"""{pointers("p", 16, "i32")}
    %v, %t = load_ptr_tko weak %ps : tile<16xptr<i32>> -> tile<16xi32>, token
    %zero = constant <i32: 0> : tile<16xi32>
    %ok = cmpi greater_than %v, %zero, signed : tile<16xi32> -> tile<16xi1>
    assert %ok, "all are positive" : tile<16xi1>""",
    )
    numbers = np.arange(1, 17, dtype=np.int32)
    run(text, numbers)
    numbers[5] = -1
    with pytest.raises(SimulationError, match="all are positive"):
        run(text, numbers)


def test_globals_are_the_same_for_all_blocks() -> None:
    text = entry(
        "%q: tile<ptr<i32>>",
        """%p = get_global @table : tile<ptr<i32>>
    %a = offset %p, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %v, %t = load_ptr_tko weak %a : tile<ptr<i32>> -> tile<i32>, token
    %b = offset %q, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %l = store_ptr_tko weak %b, %v : tile<ptr<i32>>, tile<i32> -> token""",
    ).replace("entry @k", "global @table <i32: [5, -7, 11, 13]> : tile<4xi32>\n  entry @k")
    np.testing.assert_array_equal(run(text, np.zeros(4, np.int32), grid=4)[0], [5, -7, 11, 13])
    with pytest.raises(SimulationError, match="@table, out of bounds"):
        run(text, np.zeros(5, np.int32), grid=5)
