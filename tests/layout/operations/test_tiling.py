"""Divides and products: CuTe's documented examples, and what holds for every one of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.layouts import compact_layouts, offsets

from tileas_xdsl.layout import (
    Layout,
    LayoutError,
    Swizzle,
    blocked_product,
    composition,
    flat_divide,
    flat_product,
    hier_unzip,
    logical_divide,
    logical_product,
    make_layout,
    parse_cute_layout,
    raked_product,
    size,
    tile_to_shape,
    tiled_divide,
    tiled_product,
    zipped_divide,
    zipped_product,
)

L = parse_cute_layout
A = L("(9,(4,8)):(59,(13,1))")
TILER = (L("3:3"), L("(2,4):(1,8)"))


@pytest.mark.parametrize(
    ("divide", "expected"),
    [
        (logical_divide, "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"),
        (zipped_divide, "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"),
        (tiled_divide, "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))"),
        (flat_divide, "(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))"),
    ],
)
def test_documented_divides(divide, expected) -> None:
    assert str(divide(A, TILER)) == expected


def test_divides_of_one_mode() -> None:
    assert str(logical_divide(L("(4,2,3):(2,1,8)"), L("4:2"))) == "((2,2),(2,3)):((4,1),(2,8))"
    assert str(logical_divide(Layout(24), 4)) == "(4,6):(1,4)"
    assert str(zipped_divide(Layout((8, 8)), (None, 4))) == "((1,4),(8,2)):((0,8),(1,32))"
    assert logical_divide(A, None) == A
    assert str(logical_divide(A, (3,))[1]) == "(4,8):(13,1)"


@pytest.mark.parametrize(
    ("block", "tiler", "expected"),
    [
        ("(2,2):(4,1)", "6:1", "((2,2),(2,3)):((4,1),(2,8))"),
        ("(2,2):(4,1)", "(4,2):(2,1)", "((2,2),(4,2)):((4,1),(8,2))"),
        ("4:1", "6:1", "(4,6):(1,4)"),
    ],
)
def test_documented_logical_products(block, tiler, expected) -> None:
    assert str(logical_product(L(block), L(tiler))) == expected


def test_documented_ranked_products() -> None:
    block, tiler = L("(2,5):(5,1)"), L("(3,4):(1,3)")
    assert str(blocked_product(block, tiler)) == "((2,3),(5,4)):((5,10),(1,30))"
    assert str(raked_product(block, tiler)) == "((3,2),(4,5)):((10,5),(30,1))"
    assert str(zipped_product(block, tiler)) == "((2,5),(3,4)):((5,1),(10,30))"
    assert str(tiled_product(block, tiler)) == "((2,5),3,4):((5,1),10,30)"
    assert str(flat_product(block, tiler)) == "(2,5,3,4):(5,1,10,30)"
    assert logical_product(block, None) is block
    assert str(logical_product(block, 4)) == "((2,5),4):((5,1),10)"
    by_mode = logical_product(block, (4, 2))
    assert by_mode == make_layout(logical_product(block[0], 4), logical_product(block[1], 2))


def test_ranked_products_of_one_mode() -> None:
    assert str(blocked_product(Layout(4, 2), Layout(4, 1))) == "((4,(2,2))):((2,(1,8)))"
    assert str(raked_product(Layout(4, 2), Layout(4, 1))) == "((2,2,4)):((1,8,2))"
    assert str(blocked_product(4, 2)) == "((4,2)):((1,4))"
    assert str(raked_product(4, 2)) == "((2,4)):((4,1))"
    with pytest.raises(LayoutError, match=r"^blocked_product: "):
        blocked_product(Layout(4), composition(Swizzle(1, 0, 1), Layout(4)))
    with pytest.raises(LayoutError, match=r"^raked_product: "):
        raked_product(Layout(4), composition(Swizzle(1, 0, 1), Layout(4)))


@given(compact_layouts(gaps=True, depth=1, extents=st.sampled_from([1, 2, 4])), st.integers(1, 6))
def test_a_ranked_product_of_one_mode_repeats_the_block(block: Layout, repeats: int) -> None:
    line = Layout(size(block)) if block.rank != 1 else block
    try:
        starts = offsets(logical_product(line, repeats)[1])
    except LayoutError:
        return
    blocked = blocked_product(line, repeats)
    assert blocked.rank == 1
    assert offsets(blocked) == [start + o for start in starts for o in offsets(line)]
    raked = raked_product(line, repeats)
    assert offsets(raked) == [start + o for o in offsets(line) for start in starts]


@given(compact_layouts(depth=2, extents=st.sampled_from([2, 4])), st.sampled_from([1, 2]))
def test_hier_unzip_is_what_zipped_operations_do(layout: Layout, tile: int) -> None:
    for tiler in (None, tile, (tile,), (None,)):
        if isinstance(tiler, tuple) and not layout.rank:
            continue
        assert hier_unzip(logical_divide, layout, tiler) == zipped_divide(layout, tiler)
        assert hier_unzip(logical_product, layout, tiler) == zipped_product(layout, tiler)
    swizzled = composition(Swizzle(1, 0, 1), layout)
    assert hier_unzip(logical_divide, swizzled, tile) == zipped_divide(swizzled, tile)


def test_tile_to_shape_repeats_in_the_given_order() -> None:
    atom = L("(8,64):(64,1)")
    assert str(tile_to_shape(atom, (128, 128))) == "((8,16),(64,2)):((64,512),(1,8192))"
    assert str(tile_to_shape(atom, (128, 128), (1, 0))) == "((8,16),(64,2)):((64,1024),(1,512))"
    with pytest.raises(LayoutError, match=r"\(8,64\) does not divide \(12,64\)"):
        tile_to_shape(atom, (12, 64))
    with pytest.raises(LayoutError, match="more modes"):
        tile_to_shape(atom, (128,))


def test_a_tiler_with_too_many_modes_is_refused() -> None:
    with pytest.raises(LayoutError, match="more modes"):
        logical_divide(Layout((4, 4)), (2, 2, 2))
    with pytest.raises(LayoutError, match="more modes"):
        zipped_product(Layout((4, 4)), (2, 2, Layout(2)))


extents = st.sampled_from([1, 2, 3, 4])


@given(compact_layouts(extents=extents), compact_layouts(gaps=True, depth=2, extents=extents))
def test_a_divide_permutes_the_layout_where_the_tiler_divides_it(a: Layout, tiler: Layout) -> None:
    try:
        result = logical_divide(a, tiler)
    except LayoutError:
        return
    assert offsets(result[0]) == [a(tiler(i)) for i in range(size(tiler))]
    if size(result) == size(a):
        assert sorted(offsets(result)) == sorted(offsets(a))


@given(st.lists(st.tuples(extents, extents), min_size=1, max_size=3))
def test_divides_by_factors_always_succeed(factors: list[tuple[int, int]]) -> None:
    a = Layout(tuple(t * r for t, r in factors))
    tiler = tuple(t for t, _ in factors)
    zipped = zipped_divide(a, tiler)
    assert zipped[0] == composition(a, tiler)
    assert [size(m) for m in zipped[0]] == list(tiler)
    assert [size(m) for m in zipped[1]] == [r for _, r in factors]
    assert sorted(offsets(zipped)) == list(range(size(a)))
    assert offsets(flat_divide(a, tiler)) == offsets(zipped) == offsets(tiled_divide(a, tiler))


@given(
    compact_layouts(gaps=True, depth=2, extents=extents), compact_layouts(depth=2, extents=extents)
)
def test_a_product_repeats_the_block_at_disjoint_places(block: Layout, tiler: Layout) -> None:
    try:
        result = logical_product(block, tiler)
    except LayoutError:
        return
    assert result.rank == 2
    assert result[0] == block
    starts = offsets(result[1])
    places = [start + offset for start in starts for offset in offsets(block)]
    assert len(set(places)) == len(places)


@given(st.tuples(extents, extents), st.tuples(extents, extents), st.booleans())
def test_ranked_products_have_the_product_shape(block, tiler, row_major) -> None:
    a = Layout(block, (block[1], 1)) if row_major else Layout(block)
    for product_of in (blocked_product, raked_product):
        result = product_of(a, Layout(tiler))
        assert [size(m) for m in result] == [x * y for x, y in zip(block, tiler, strict=True)]
        assert sorted(offsets(result)) == list(range(size(result)))
    assert offsets(blocked_product(a, Layout(tiler)))[: block[0]] == offsets(a)[: block[0]]
