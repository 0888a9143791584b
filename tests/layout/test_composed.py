"""Composed layouts: what goes under the outside, what is refused, and pycute's names for both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.layouts import compact_layouts, layouts, signed_strides

from tileas_xdsl.layout import (
    ComposedLayout,
    E,
    Layout,
    LayoutError,
    MemoryLayout,
    Swizzle,
    append,
    coalesce,
    collision,
    complement,
    composition,
    coprofile,
    coshape,
    depth,
    dice,
    domain_offset,
    downcast,
    filter,
    flatten,
    group,
    insert,
    invert,
    is_injective,
    logical_divide,
    make_fragment_like,
    make_layout,
    make_layout_like,
    make_swizzle_strides,
    max_alignment,
    max_common_layout,
    max_common_vector,
    nullspace,
    parse_cute_layout,
    prepend,
    rank,
    recast_layout,
    remove,
    replace,
    select,
    slice_and_offset,
    table,
    take,
    tile_to_shape,
    tile_unzip,
    transform_layout,
    unflatten,
    upcast,
    with_shape,
    zip_modes,
)

L = parse_cute_layout
SWIZZLES = st.sampled_from(
    [Swizzle(2, 0, 3), Swizzle(1, 1, 2), Swizzle(3, 4, 3), Swizzle(2, 1, -2)]
)
TILE = composition(Swizzle(2, 0, 3), Layout((8, 8), (8, 1)))


@st.composite
def composed_layouts(draw, depth=4):
    """A swizzle over one layout, or over a layout that is composed in turn."""
    inner = draw(layouts(depth=depth))
    if draw(st.booleans()):
        inner = ComposedLayout(draw(layouts()), draw(st.integers(0, 9)), inner)
    return ComposedLayout(draw(SWIZZLES), draw(st.integers(0, 40)), inner)


def coordinates(shape):
    """Every coordinate of the top-level modes."""
    sizes = [Layout(s).size() for s in shape]
    return list(np.ndindex(*sizes))


# Origins move inside


@given(composed_layouts(), st.data())
def test_a_slice_and_its_offset_are_the_layout_there(layout, data) -> None:
    if not isinstance(layout.shape, tuple) or not layout.rank:
        return
    point = data.draw(st.sampled_from(coordinates(layout.shape)))
    mode = data.draw(st.integers(0, layout.rank - 1))
    crd = tuple(None if i == mode else int(c) for i, c in enumerate(point))
    sub, offset = slice_and_offset(crd, layout)
    for i in range(sub.size()):
        whole = tuple(i if c is None else c for c in crd)
        assert offset + sub(i) == layout(whole)


@given(composed_layouts(depth=1), st.data())
def test_an_origin_moves_inside(layout, data) -> None:
    if not isinstance(layout.shape, tuple) or not layout.rank:
        return
    origin = data.draw(st.sampled_from(coordinates(layout.shape)))
    moved, offset = domain_offset(origin, layout)
    for step in coordinates([s - o for s, o in zip(layout.shape, origin, strict=True)]):
        assert offset + moved(step) == layout(tuple(np.add(origin, step).tolist()))


def cute_strides(swizzle: Swizzle, offset: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """`make_swizzle_strides` of CUTLASS, for the target bits and for the source bits."""
    z, y = (mask & -mask for mask in (swizzle.target_mask, swizzle.source_mask))
    target = [-z << i if offset & y << i else z << i for i in range(swizzle.bits)]
    source = [(y - z) << i if offset & z << i else (y + z) << i for i in range(swizzle.bits)]
    found = (tuple(target), tuple(source))
    return found if z < y else found[::-1]


@pytest.mark.parametrize("swizzle", [Swizzle(3, 4, 3), Swizzle(2, 1, 3), Swizzle(2, 0, -2)])
def test_what_bits_of_a_swizzle_are_worth(swizzle: Swizzle) -> None:
    for offset in range(swizzle.size()):
        assert make_swizzle_strides(swizzle, offset) == cute_strides(swizzle, offset)


def test_slices_that_are_plain() -> None:
    tile = ComposedLayout(Swizzle(3, 4, 3), 1024, Layout((8, 128), (128, 1)))
    for row in range(8):
        sub, offset = slice_and_offset((row, None), tile)
        assert isinstance(sub, Layout)
        assert [offset + sub(i) for i in range(128)] == [tile(row, i) for i in range(128)]
    column, offset = slice_and_offset((None, 48), tile)
    assert str(column) == "((4,2)):((112,576))"
    assert [offset + column(i) for i in range(8)] == [tile(i, 48) for i in range(8)]
    for crd, layout in (
        ((None, None), tile),
        ((None, 1), ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 128), (144, 1)))),
        ((None, 1), ComposedLayout(Swizzle(3, 4, 3), 128, Layout((8, 128), (128, 1)))),
    ):
        kept, offset = slice_and_offset(crd, layout)
        assert isinstance(kept, ComposedLayout)
        assert offset == 0


def test_the_origin_of_a_swizzled_tile() -> None:
    sub, offset = slice_and_offset((None, 3), TILE)
    assert [offset + sub(i) for i in range(3)] == [TILE(i, 3) for i in range(3)] == [3, 10, 17]
    moved, offset = domain_offset((2, 3), TILE)
    assert offset + moved(1, 1) == TILE(3, 4) == 31


# Operations on the domain


@pytest.mark.parametrize(
    "operation",
    [
        flatten,
        lambda x: unflatten(flatten(x), ((1, 1), 1)),
        lambda x: append(x, Layout(3, 64)),
        lambda x: prepend(x, Layout(3, 64)),
        lambda x: insert(x, 1, Layout(3, 64)),
        lambda x: replace(x, 1, Layout(3, 64)),
        lambda x: remove(x, 0),
        lambda x: take(x, 0, 1),
        lambda x: select(x, 1, 0),
        lambda x: group(x, 0, 2),
        lambda x: dice((None, 2), x),
        lambda x: with_shape(x, (4, 24)),
        lambda x: coalesce(x, profile=(1, 1)),
        lambda x: filter(x, profile=(1, 1)),
        lambda x: tile_unzip(logical_divide(x, (2, 3)), (2, 3)),
        lambda x: tile_to_shape(x, (16, 24), order=(1, 0)),
    ],
)
def test_operations_on_modes_go_under_the_outside(operation) -> None:
    inner = L("(8,(3,4)):(8,(64,1))")
    once = ComposedLayout(Swizzle(2, 0, 3), 5, inner)
    assert operation(once) == ComposedLayout(once.outer, 5, operation(inner))
    twice = ComposedLayout(Layout((4, 999), (999, 1)), 7, once)
    assert operation(twice) == ComposedLayout(twice.outer, 7, operation(once))


def test_queries_of_a_composed_layout_are_those_of_its_domain() -> None:
    layout = ComposedLayout(Swizzle(2, 0, 3), 5, L("(8,(3,4)):(8,(64,1))"))
    assert (rank(layout), depth(layout), layout.depth) == (2, 2, 2)
    assert max_alignment(layout) == 1
    assert complement(layout, 400) == complement(layout.inner, 400)
    assert make_fragment_like(layout) == make_fragment_like(layout.inner)
    assert complement(Layout(4), TILE) == complement(Layout(4), (8, 8))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("append", lambda: append(TILE, TILE)),
        ("append", lambda: append(Layout(3), TILE)),
        ("append", lambda: append(Layout(3), 3)),
        ("prepend", lambda: prepend(TILE, TILE)),
        ("insert", lambda: insert(TILE, 0, TILE)),
        ("replace", lambda: replace(TILE, 0, TILE)),
        ("zip_modes", lambda: zip_modes(TILE, Layout((2, 2)))),
        ("zip_modes", lambda: zip_modes(Layout((2, 2)), TILE)),
        ("nullspace", lambda: nullspace(TILE)),
        ("max_common_vector", lambda: max_common_vector(TILE, Layout(4))),
        ("max_common_layout", lambda: max_common_layout(Layout(4), TILE)),
        ("coshape", lambda: coshape(TILE)),
        ("coshape", lambda: coprofile(TILE)),
        ("make_layout_like", lambda: make_layout_like(TILE)),
        ("make_layout", lambda: make_layout(TILE)),
        ("make_layout", lambda: make_layout(TILE, Layout(2))),
        ("transform_layout", lambda: transform_layout(TILE, TILE, lambda a, b: a)),
        ("invert", lambda: invert(TILE)),
        ("a tile in memory", lambda: MemoryLayout(TILE)),
    ],
)
def test_what_has_no_meaning_under_an_outside_is_refused_by_name(name: str, call) -> None:
    with pytest.raises(LayoutError, match=f"^{name}: .* it needs a plain layout"):
        call()


def test_a_composed_layout_is_no_tiler() -> None:
    with pytest.raises(LayoutError, match="is composed where a plain layout is needed"):
        logical_divide(Layout((8, 8)), TILE)


# Recasts


@given(compact_layouts(extents=st.sampled_from([2, 4, 8])), st.integers(0, 9), st.integers(0, 2))
def test_recasts_move_the_swizzle_and_the_offset_along(layout, offset, places) -> None:
    n = 1 << places
    if n > 1 and not any(d == 1 for _, d in layout.leaves()):
        return
    elements = ComposedLayout(Swizzle(2, 1, 3), offset, layout)
    parts = downcast(elements, n)
    assert {x // n for x in table(parts).tolist()} == set(table(elements).tolist())
    assert upcast(parts, n) == elements
    assert recast_layout(elements, 8 * n, 8) == parts
    assert recast_layout(parts, 8, 8 * n) == elements


def test_recasts_count_the_offset_in_new_elements() -> None:
    bytes_ = L("S<3,4,3> o 256 o (8,128):(128,1)")
    words = recast_layout(bytes_, 8, 16)
    assert str(words) == "S<3,3,3> o 128 o (8,64):(64,1)"
    assert all(2 * words(r, c) == bytes_(r, 2 * c) for r in range(8) for c in range(64))
    assert upcast(bytes_, 2) == words
    with pytest.raises(LayoutError, match="24 bits, is no multiple of 16 bits"):
        recast_layout(L("S<3,4,3> o 3 o (8,128):(128,1)"), 8, 16)
    with pytest.raises(LayoutError, match="no vector"):
        upcast(TILE, 0)
    with pytest.raises(LayoutError, match="0 parts"):
        downcast(TILE, 0)


# Axes and bounds


@pytest.mark.parametrize("outer", [Swizzle(3, 4, 3), Layout((4, 8), (8, 1))])
def test_nothing_is_composed_over_named_axes(outer) -> None:
    with pytest.raises(LayoutError, match=r"has named axes \(thread\)"):
        ComposedLayout(outer, 0, Layout((4, 8), (E("thread"), 4)))
    with pytest.raises(LayoutError, match=r"has named axes \(thread\)"):
        ComposedLayout(outer, 0, ComposedLayout(Layout(4, E("thread")), 0, Layout(4)))
    with pytest.raises(LayoutError, match="has named axes"):
        composition(outer, ComposedLayout(Layout(4, E("thread")), 0, Layout(4)))


def test_a_layout_onto_named_axes_may_stand_outside() -> None:
    lanes = ComposedLayout(L("(4,8):(1@lane,1@word)"), 4, Layout(8, 3))
    assert lanes(1) == E("lane", 3) + E("word")
    assert lanes.axes() == ("lane", "word")
    assert table(lanes, "lane").tolist() == [(4 + 3 * i) % 4 for i in range(8)]
    assert table(lanes, "word").tolist() == [(4 + 3 * i) // 4 for i in range(8)]
    assert is_injective(lanes)
    assert collision(ComposedLayout(lanes.outer, 0, Layout((2, 2), (5, 5)))) == (1, 2)


@given(SWIZZLES, st.integers(-40, 40), layouts(signed_strides))
def test_cosize_spans_the_offsets_and_0(swizzle, offset, inner) -> None:
    layout = ComposedLayout(swizzle, offset, inner)
    values = [layout(i) for i in range(layout.size())]
    assert layout.cosize() >= max(values) + 1 - min(0, *values)
    below = ComposedLayout(Swizzle(0, 4, 3), offset, inner)
    plain = [offset + inner(i) for i in range(inner.size())]
    assert below.cosize() == max(plain) + 1 - min(0, *plain)
    again = ComposedLayout(swizzle, 0, layout)
    assert again.cosize() >= max(plain) + 1 - min(0, *plain)


def test_cosize_of_negative_offsets() -> None:
    assert ComposedLayout(Swizzle(3, 4, 3), -5, Layout(4)).cosize() == 1024


# pycute's names


def test_pycute_names_of_the_parts() -> None:
    assert TILE.layoutA is TILE.inner
    assert TILE.layoutB is TILE.outer
    assert coalesce.__name__ == "coalesce"
    assert (coalesce.__doc__ or "").startswith("The flat layout")
