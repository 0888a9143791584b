"""Code of `cute` compiled for this machine gives the answers of the layout package."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.layouts import layouts, leaves_of, signed_strides

from tests.transforms.cute_host import (
    compiled,
    function,
    layout_lines,
    parameters,
    with_unknowns,
)
from tileas_xdsl import layout as algebra
from tileas_xdsl.diagnostics.parsing.parse_errors import LocatedParseError
from tileas_xdsl.layout import ComposedLayout, Layout, Swizzle
from tileas_xdsl.layout.int_tuple import idx2crd, show

I32 = ctypes.c_int32
POINTER = ctypes.c_void_p


def flags(layout: Layout) -> Any:
    """Which leaves are unknown."""
    count = 2 * len(leaves_of(layout.shape))
    return st.lists(st.booleans(), min_size=count, max_size=count)


def head(name: str, shape: list[int], stride: list[int], more: str) -> tuple[str, str, str]:
    """The signature of a function of unknown leaves, and their names."""
    shapes, shape_names = parameters(len(shape), "s")
    strides, stride_names = parameters(len(stride), "d")
    every = ", ".join(part for part in (more, shapes, strides) if part)
    return f"func.func @{name}({every}) -> i32 {{", shape_names, stride_names


def scalar(value: str) -> str:
    """Code that returns a tuple of one number."""
    return f"""
      %result = cute.get_scalars({value}) : i32
      func.return %result : i32
    }}"""


@settings(max_examples=40)
@given(st.data(), layouts(strides=signed_strides, depth=3))
def test_an_index_of_a_layout_is_its_offset(data: st.DataObject, layout: Layout) -> None:
    mixed, shape, stride = with_unknowns(layout, data.draw(flags(layout)))
    start, *names = head("f", shape, stride, "%i: i32")
    code = compiled(
        f"""{start}
      {layout_lines(mixed, *names)}
      %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %x = cute.crd2idx(%c, %L) : !cute.int_tuple
      {scalar("%x")}"""
    )
    run = function(code, "f", *[I32] * (1 + len(shape) + len(stride)))
    for index in range(layout.size()):
        assert run(index, *shape, *stride) == layout(index)


@settings(max_examples=15)
@given(st.data(), layouts(strides=signed_strides, depth=3))
def test_a_coordinate_of_a_layout_is_its_offset(data: st.DataObject, layout: Layout) -> None:
    mixed, shape, stride = with_unknowns(layout, data.draw(flags(layout)))
    place = idx2crd(data.draw(st.integers(0, layout.size() - 1)), layout.shape)
    numbers = leaves_of(place)
    more, coords = parameters(len(numbers), "c")
    start, *names = head("f", shape, stride, more)
    profile = show(algebra.repeat_like(place, "?"))
    code = compiled(
        f"""{start}
      {layout_lines(mixed, *names)}
      %c = cute.make_coord({coords}) : ({", ".join(["i32"] * len(numbers))})
         -> !cute.coord<"{profile}">
      %x = cute.crd2idx(%c, %L) : !cute.int_tuple
      {scalar("%x")}"""
    )
    run = function(code, "f", *[I32] * (len(numbers) + len(shape) + len(stride)))
    assert run(*numbers, *shape, *stride) == layout(place)


OPERATIONS = {
    "coalesce": ("cute.coalesce(%L)", algebra.coalesce),
    "filter_zeros": ("cute.filter_zeros(%L)", algebra.filter_zeros),
    "right_inverse": ("cute.right_inverse(%L)", algebra.right_inverse),
    "left_inverse": ("cute.left_inverse(%L)", algebra.left_inverse),
    "complement": ("cute.complement(%L)", algebra.complement),
    "group": (
        "cute.group_modes(%L) <{begin = 0 : i32, end = 1 : i32}>",
        lambda layout: algebra.group(layout, 0, 1),
    ),
    "select": (
        "cute.select(%L) <{mode = [1 : i32, 0 : i32, 0 : i32]}>",
        lambda layout: algebra.select(layout, 1, 0, 0),
    ),
    "logical_divide": ("cute.logical_divide(%L, %T)", None),
    "zipped_divide": ("cute.zipped_divide(%L, %T)", None),
    "tiled_divide": ("cute.tiled_divide(%L, %T)", None),
    "flat_divide": ("cute.flat_divide(%L, %T)", None),
    "blocked_product": (
        "cute.blocked_product(%L, %P)",
        lambda layout: algebra.blocked_product(layout, Layout((2, 3))),
    ),
    "raked_product": (
        "cute.raked_product(%L, %P)",
        lambda layout: algebra.raked_product(layout, Layout((2, 3))),
    ),
}
ALWAYS_DYNAMIC = {"group", "select", "coalesce", "filter_zeros"}


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=8)
@given(data=st.data(), extents=st.tuples(*[st.integers(1, 7)] * 2), mixed=st.booleans())
def test_an_operation_on_layouts_is_that_of_the_package(
    name: str, data: st.DataObject, extents: tuple[int, int], mixed: bool
) -> None:
    text, operation = OPERATIONS[name]
    steps = data.draw(st.sampled_from([(1, extents[0]), (extents[1], 1), (2, 16), (8, 1)]))
    layout = Layout(extents, steps)
    tiles = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    if operation is None:
        operation = lambda layout: getattr(algebra, name)(layout, tiles)  # noqa: E731
    try:
        expected = operation(layout)
    except algebra.LayoutError:
        return
    unknown, shape, stride = with_unknowns(layout, data.draw(flags(layout)) if mixed else [0] * 4)
    start, *names = head("f", shape, stride, "%i: i32")
    try:
        code = compiled(
            f"""{start}
      {layout_lines(unknown, *names)}
      %T = cute.static : !cute.tile<"[{tiles[0]}:1;{tiles[1]}:1]">
      %P = cute.static : !cute.layout<"(2,3):(1,2)">
      %R = {text} : !cute.layout
      %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %x = cute.crd2idx(%c, %R) : !cute.int_tuple
      {scalar("%x")}"""
        )
    except LocatedParseError:
        assert shape or stride, "static layouts are never refused"
        assert name not in ALWAYS_DYNAMIC
        return
    run = function(code, "f", *[I32] * (1 + len(shape) + len(stride)))
    for index in range(expected.size()):
        assert run(index, *shape, *stride) == expected(index)


DIVIDES = [name for name in OPERATIONS if name.endswith("divide")]


@pytest.mark.parametrize("name", DIVIDES)
def test_layouts_with_nothing_known_are_divided(name: str) -> None:
    code = compiled(
        f"""
    func.func @f(%M: i32, %N: i32, %a: i32, %b: i32, %i: i32) -> i32 {{
      %L = cute.make_layout(shape = (%M, %N), stride = (%a, %b)) : !cute.layout
      %T = cute.static : !cute.tile<"[4:1;_]">
      %R = cute.{name}(%L, %T) : !cute.layout
      %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %x = cute.crd2idx(%c, %R) : !cute.int_tuple
      {scalar("%x")}"""
    )
    run = function(code, "f", *[I32] * 5)
    for layout in (Layout((8, 3), (1, 9)), Layout((10, 2), (2, 1)), Layout((3, 5), (7, 0))):
        expected = getattr(algebra, name)(layout, (4, None))
        numbers = (*leaves_of(layout.shape), *leaves_of(layout.stride))
        for index in range(expected.size()):
            assert run(*numbers, index) == expected(index)


def test_tuple_arithmetic_is_that_of_numbers_that_round_towards_zero() -> None:
    names = ("add", "sub", "mul", "div", "mod")
    code = compiled(
        "".join(
            f"""
    func.func @{name}(%a: i32, %b: i32) -> i32 {{
      %x = cute.make_int_tuple(%a) : (i32) -> !cute.int_tuple<"(7,?)">
      %y = cute.make_int_tuple(%b) : (i32) -> !cute.int_tuple<"(3,?)">
      %z = cute.tuple_{name}(%x, %y) : !cute.int_tuple
      %r = cute.get(%z) <{{mode = [1 : i32]}}> : !cute.int_tuple
      {scalar("%r")}"""
            for name in names
        )
    )
    truncated = {"div": lambda a, b: int(a / b), "mod": lambda a, b: a - int(a / b) * b}
    plain = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}
    for name, expected in {**plain, **truncated}.items():
        run = function(code, name, I32, I32)
        for a, b in ((17, 5), (-17, 5), (17, -5), (0, 3), (-4, -4)):
            assert run(a, b) == expected(a, b), (name, a, b)


def test_coordinates_count_like_those_of_the_package() -> None:
    code = compiled(
        """
    func.func @crd(%i: i32, %M: i32, %m: i32) -> i32 {
      %s = cute.make_shape(%M) : (i32) -> !cute.shape<"(3,(?,2))">
      %x = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
      %c = cute.idx2crd(%x, %s) : !cute.coord
      %n = cute.increment_coord(%c, %s) : !cute.coord
      %r, %r1, %r2 = cute.get_scalars(%n) : (!cute.coord<"(?,(?,?))">) -> (i32, i32, i32)
      %k = arith.constant 100 : i32
      %a = arith.muli %r, %k : i32
      %b = arith.addi %a, %r1 : i32
      %d = arith.muli %b, %k : i32
      %e = arith.addi %d, %r2 : i32
      func.return %e : i32
    }
    func.func @inside(%i: i32, %j: i32, %M: i32) -> i32 {
      %s = cute.make_shape(%M) : (i32) -> !cute.shape<"(3,?)">
      %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %l = cute.elem_less(%c, %s) : i1
      %r = arith.extui %l : i1 to i32
      func.return %r : i32
    }
    func.func @sizes(%M: i32, %d: i32) -> i32 {
      %L = cute.make_layout(shape = (%M, 4), stride = (%d, 1)) : !cute.layout
      %s = cute.size(%L) : !cute.int_tuple
      %c = cute.cosize(%L) : !cute.int_tuple
      %x = cute.tuple_mul(%s, %c) : !cute.int_tuple"""
        + scalar("%x")
    )
    run = function(code, "crd", I32, I32, I32)
    for index in range(30):
        a, (b, c) = algebra.increment(idx2crd(index, (3, (5, 2))), (3, (5, 2)))
        assert run(index, 5, 0) == (a * 100 + b) * 100 + c
    inside = function(code, "inside", I32, I32, I32)
    assert [inside(*x) for x in ((2, 6, 7), (3, 0, 7), (0, 7, 7))] == [1, 0, 0]
    layout = Layout((6, 4), (5, 1))
    assert function(code, "sizes", I32, I32)(6, 5) == layout.size() * layout.cosize()


def test_layouts_are_equal_if_shapes_and_strides_are() -> None:
    code = compiled(
        """
    func.func @same(%M: i32, %N: i32, %d: i32) -> i32 {
      %a = cute.make_layout(shape = (%M, 4), stride = (1, %d)) : !cute.layout
      %b = cute.make_layout(shape = (%N, 4), stride = (1, 8)) : !cute.layout
      %e = cute.equal(%a, %b) : i1
      %r = arith.extui %e : i1 to i32
      func.return %r : i32
    }"""
    )
    run = function(code, "same", I32, I32, I32)
    assert [run(*x) for x in ((8, 8, 8), (8, 7, 8), (8, 8, 9))] == [1, 0, 0]


def test_values_are_put_together_and_taken_apart() -> None:
    code = compiled(
        """
    func.func @f(%a: i32, %b: i32, %i: i32) -> i32 {
      %x = cute.make_int_tuple(%a) : (i32) -> !cute.int_tuple<"(2,?)">
      %y = cute.make_int_tuple(%b) : (i32) -> !cute.int_tuple<"?">
      %t = cute.make_tuple(%y, %x) : !cute.int_tuple
      %p, %q = cute.unpack_tuple(%t)
        : (!cute.int_tuple<"(?,(2,?))">) -> (!cute.int_tuple<"?">, !cute.int_tuple<"(2,?)">)
      %e0, %e1 = cute.get_leaves(%q)
        : (!cute.int_tuple<"(2,?)">) -> (!cute.int_tuple<"2">, !cute.int_tuple<"?">)
      %k = cute.tuple_mul(%e0, %e1) : !cute.int_tuple
      %s = cute.tuple_sub(%k, %p) : !cute.int_tuple
      %tile = cute.make_tile(%a, %b) : (i32, i32) -> !cute.tile<"[4:1;(2,?):(?,1)]">
      %m0, %m1 = cute.get_layouts_from_tile(%tile)
        : (!cute.tile<"[4:1;(2,?):(?,1)]">) -> (!cute.layout<"4:1">, !cute.layout<"(2,?):(?,1)">)
      %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %o = cute.crd2idx(%c, %m1) : !cute.int_tuple
      %h = cute.derefine(%e0) : (!cute.int_tuple<"2">) -> !cute.int_tuple<"?">
      %r = cute.tuple_add(%s, %o) : !cute.int_tuple
      %z = cute.tuple_mul(%r, %h) : !cute.int_tuple"""
        + scalar("%z")
    )
    run = function(code, "f", I32, I32, I32)
    layout = Layout((2, 5), (9, 1))
    assert [run(5, 9, i) for i in range(10)] == [2 * (2 * 5 - 9 + layout(i)) for i in range(10)]


# Memory


def address(array: np.ndarray[Any, Any]) -> int:
    return array.ctypes.data


def aligned(count: int, dtype: Any, multiple: int = 2048) -> np.ndarray[Any, Any]:
    """An array that begins at a multiple of some bytes."""
    raw = np.zeros(count * np.dtype(dtype).itemsize + multiple, np.uint8)
    start = -raw.ctypes.data % multiple
    size = count * np.dtype(dtype).itemsize
    return raw[start : start + size].view(dtype)


def test_elements_of_a_view_are_where_its_layout_says() -> None:
    rng = np.random.default_rng(7)
    data = rng.standard_normal(64).astype(np.float32)
    code = compiled(
        """
    func.func @get(%p: !cute.ptr<f32, gmem>, %M: i32, %d: i32, %i: i32, %j: i32) -> f32 {
      %L = cute.make_layout(shape = (%M, 4), stride = (%d, 2)) : !cute.layout
      %v = cute.make_view(%p, %L) : !cute.view
      %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %e = cute.memref.load(%v, %c) : f32
      func.return %e : f32
    }
    func.func @tile(%p: !cute.ptr<f32, gmem>, %b: i32, %i: i32) -> f32 {
      %L = cute.static : !cute.layout<"(8,8):(8,1)">
      %v = cute.make_view(%p, %L) : !cute.view
      %T = cute.static : !cute.tile<"[4:1;2:1]">
      %c = cute.make_coord(%b) : (i32) -> !cute.coord<"(1,?)">
      %t = cute.local_tile(%v, %T, %c) : !cute.view
      %k = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %e = cute.memref.load(%t, %k) : f32
      func.return %e : f32
    }
    func.func @thread(%p: !cute.ptr<f32, gmem>, %t: i32, %i: i32) -> f32 {
      %L = cute.static : !cute.layout<"(8,8):(8,1)">
      %v = cute.make_view(%p, %L) : !cute.view
      %T = cute.static : !cute.layout<"(2,4):(4,1)">
      %t2 = cute.local_partition(%v, %T, %t) : !cute.view
      %k = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %e = cute.memref.load(%t2, %k) : f32
      func.return %e : f32
    }"""
    )
    get = function(code, "get", POINTER, I32, I32, I32, I32, result=ctypes.c_float)
    assert get(address(data), 5, 9, 3, 2) == data[3 * 9 + 2 * 2]
    matrix = data.reshape(8, 8)
    tile = function(code, "tile", POINTER, I32, I32, result=ctypes.c_float)
    for block in range(4):
        part = matrix[4:8, 2 * block : 2 * block + 2]
        found = [tile(address(data), block, i) for i in range(8)]
        assert found == list(part.flatten(order="F"))
    thread = function(code, "thread", POINTER, I32, I32, result=ctypes.c_float)
    for number in range(8):
        row, column = divmod(number, 4)
        part = matrix[row::2, column::4]
        found = [thread(address(data), number, i) for i in range(8)]
        assert found == list(part.flatten(order="F"))


@settings(max_examples=8)
@given(st.sampled_from([(3, 4, 3), (2, 4, 3), (1, 4, 3), (2, 5, 2)]), st.booleans())
def test_a_swizzled_pointer_leads_where_the_swizzle_says(
    triple: tuple[int, int, int], composed: bool
) -> None:
    """Swizzles of pointers act on bytes, those of composed layouts on what the layout counts."""
    swizzle = Swizzle(*triple)
    data = aligned(1024, np.int32)
    data[:] = np.random.default_rng(1).permutation(1024)
    layout = Layout((8, 64), (64, 1))
    pointer = "align<2048>" if composed else f"align<2048>, {swizzle}"
    made = f"{swizzle} o 0 o {layout}" if composed else f"{layout}"
    kind = "composed_layout" if composed else "layout"
    code = compiled(
        f"""
    func.func @get(%p: !cute.ptr<i32, smem, {pointer}>, %i: i32, %j: i32) -> i32 {{
      %L = cute.static : !cute.{kind}<"{made}">
      %v = cute.make_view(%p, %L) : !cute.view
      %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %e = cute.memref.load(%v, %c) : i32
      func.return %e : i32
    }}"""
    )
    run = function(code, "get", POINTER, I32, I32)
    for i, j in ((0, 0), (3, 17), (7, 63), (5, 32)):
        offset = layout(i, j)
        place = swizzle(offset) if composed else swizzle(offset * 4) // 4
        assert run(address(data), i, j) == data[place]


def test_composed_layouts_of_layouts_and_offsets() -> None:
    inner, outer = Layout((4, 8), (8, 1)), Layout((4, 2), (1, 4))
    code = compiled(
        """
    func.func @f(%i: i32, %o: i32) -> i32 {
      %in = cute.static : !cute.layout<"(4,8):(8,1)">
      %out = cute.static : !cute.layout<"(4,2):(1,4)">
      %off = cute.make_int_tuple(%o) : (i32) -> !cute.int_tuple<"?">
      %C = cute.make_composed_layout(%in, %off, %out) : !cute.composed_layout
      %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %x = cute.crd2idx(%c, %C) : !cute.int_tuple"""
        + scalar("%x")
    )
    run = function(code, "f", I32, I32)
    for offset in (0, 5, 24):
        expected = ComposedLayout(inner, offset, outer)
        assert [run(i, offset) for i in range(8)] == [expected(i) for i in range(8)]


def test_stores_vectors_and_registers() -> None:
    source = np.random.default_rng(3).standard_normal(32).astype(np.float32)
    target = np.zeros(32, np.float32)
    code = compiled(
        """
    func.func @copy(%p: !cute.ptr<f32, gmem>, %q: !cute.ptr<f32, gmem>) {
      %A = cute.static : !cute.layout<"(4,8):(8,1)">
      %B = cute.static : !cute.layout<"(4,8):(1,4)">
      %s = cute.make_view(%p, %A) : !cute.view
      %d = cute.make_view(%q, %B) : !cute.view
      %r = cute.make_fragment_like(%s) : !cute.view
      %v = cute.memref.load_vec(%s) : vector<32xf32>
      cute.memref.store_vec(%v, %r) : (vector<32xf32>, !cute.memref<f32, rmem, "(4,8):(1,4)">) -> ()
      %w = cute.memref.load_vec(%r) : vector<32xf32>
      cute.memref.store_vec(%w, %d) : (vector<32xf32>, !cute.memref<f32, gmem, "(4,8):(1,4)">) -> ()
      %c = cute.static : !cute.coord<"(1,2)">
      %e = cute.memref.load(%s, %c) : f32
      %x = arith.addf %e, %e : f32
      cute.memref.store(%d, %c, %x)
        : (!cute.memref<f32, gmem, "(4,8):(1,4)">, !cute.coord<"(1,2)">, f32) -> ()
      func.return
    }"""
    )
    function(code, "copy", POINTER, POINTER, result=None)(address(source), address(target))
    expected = source.reshape(4, 8).flatten(order="F")
    expected[1 + 2 * 4] *= 2
    assert np.array_equal(target, expected)


def test_descriptors_are_one_struct_that_is_moved_and_followed() -> None:
    data = np.arange(100, dtype=np.int32) * 3
    code = compiled(
        """
    func.func @f(%p: !cute.ptr<i32, gmem>, %M: i32, %d: i32, %o: i32, %i: i32, %j: i32) -> i32 {
      %L = cute.make_layout(shape = (%M, 4), stride = (%d, 1)) : !cute.layout
      %v = cute.make_view(%p, %L) : !cute.view
      %desc = cute.make_desc_iter(%v) : !cute.iter
      %off = cute.make_int_tuple(%o) : (i32) -> !cute.int_tuple<"?">
      %moved = cute.advance(%desc, %off) : !cute.iter
      %w = cute.deref_desc_iter(%moved) : !cute.view
      %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %e = cute.memref.load(%w, %c) : i32
      func.return %e : i32
    }"""
    )
    run = function(code, "f", POINTER, *[I32] * 5)
    assert run(address(data), 6, 9, 11, 4, 3) == data[11 + 4 * 9 + 3]


def test_values_go_through_loops_and_branches() -> None:
    code = compiled(
        """
    func.func @sum(%p: !cute.ptr<i32, gmem>, %M: i32, %d: i32) -> i32 {
      %L = cute.make_layout(shape = (%M, 3), stride = (1, %d)) : !cute.layout
      %v = cute.make_view(%p, %L) : !cute.view
      %s = cute.size(%v) : !cute.int_tuple
      %n = cute.get_scalars(%s) : i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %i0 = cute.make_int_tuple(%zero) : (i32) -> !cute.int_tuple<"?">
      cf.br ^loop(%i0, %zero : !cute.int_tuple<"?">, i32)
    ^loop(%i: !cute.int_tuple<"?">, %t: i32):
      %c = cute.make_coord(%i) : (!cute.int_tuple<"?">) -> !cute.coord<"?">
      %e = cute.memref.load(%v, %c)
        : (!cute.memref<i32, gmem, "(?,3):(1,?)">, !cute.coord<"?">) -> i32
      %t2 = arith.addi %t, %e : i32
      %k = cute.get_scalars(%i) : i32
      %k2 = arith.addi %k, %one : i32
      %i2 = cute.make_int_tuple(%k2) : (i32) -> !cute.int_tuple<"?">
      %more = arith.cmpi slt, %k2, %n : i32
      cf.cond_br %more, ^loop(%i2, %t2 : !cute.int_tuple<"?">, i32), ^end
    ^end:
      func.return %t2 : i32
    }"""
    )
    data = np.random.default_rng(5).integers(0, 1000, 64, dtype=np.int32)
    layout = Layout((5, 3), (1, 20))
    run = function(code, "sum", POINTER, I32, I32)
    assert run(address(data), 5, 20) == sum(int(data[layout(i)]) for i in range(15))
