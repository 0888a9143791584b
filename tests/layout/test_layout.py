"""The layout class as a value, its construction, modes and recasts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.layouts import compact_layouts, layouts, offsets

from tileas_xdsl.layout import (
    AxisSum,
    E,
    Layout,
    LayoutError,
    append,
    compatible,
    congruent,
    coprofile,
    coshape,
    cosize,
    depth,
    domain_offset,
    downcast,
    flatten,
    group,
    insert,
    is_layout,
    make_fragment_like,
    make_identity_layout,
    make_layout,
    make_layout_like,
    parse_cute_layout,
    prepend,
    product,
    rank,
    recast_layout,
    remove,
    repeat_like,
    replace,
    select,
    size,
    slice_and_offset,
    take,
    transform_layout,
    unflatten,
    upcast,
    weakly_congruent,
    with_shape,
    zip2_by,
    zip_modes,
)

L = parse_cute_layout


def test_a_layout_is_a_value() -> None:
    a = Layout((4, (2, 3)), (1, (16, 4)))
    assert a == eval(repr(a), {"Layout": Layout})
    assert hash(a) == hash(Layout((4, (2, 3)), (1, (16, 4))))
    assert a != Layout((4, (2, 3)))
    assert a != "(4,(2,3)):(1,(16,4))"
    assert is_layout(a)
    assert not is_layout(4)
    assert (a.rank, a.depth, len(a), a.size(), a.cosize()) == (2, 2, 2, 24, 28)
    assert Layout(np.int64(4), np.int32(2)) == Layout(4, 2)


def test_calls_give_offsets_and_slices() -> None:
    a = Layout((4, (2, 3)), (1, (16, 4)))
    assert a(1, (1, 2)) == 25
    assert a((1, 5)) == 25
    assert a(21) == 25
    assert str(a(None, (1, None))) == "(4,3):(1,4)"
    assert a(None) is a
    assert slice_and_offset((2, (None, 1)), a) == (Layout((2,), (16,)), 6)
    assert domain_offset((1, 0), a)[1] == 1
    with pytest.raises(LayoutError, match=r"coordinate \(1,2,3\) does not fit"):
        a(1, 2, 3)
    with pytest.raises(LayoutError, match=r"1\.5 is not a coordinate"):
        a(1.5)  # pyright: ignore[reportArgumentType]
    assert a(1, np.int64(5)) == 25


@pytest.mark.parametrize(
    ("shape", "stride", "message"),
    [
        ((4, 2), (1,), r"stride \(1\) is not congruent to shape \(4,2\)"),
        ((4, (2, 3)), (1, 2), "is not congruent"),
        (0, 1, "extent 0 of a layout is not positive"),
        ((4, -1), (1, 1), "extent -1 of a layout is not positive"),
        (2.5, 1, "2.5 is not an extent"),
        (True, 1, "True is a boolean"),
        (4, "x", "'x' is not a stride"),
    ],
)
def test_what_is_no_layout_is_refused(shape, stride, message) -> None:
    with pytest.raises(LayoutError, match=message):
        Layout(shape, stride)


def test_axes_add_and_scale() -> None:
    a = E("thread", 16) + E("value")
    assert isinstance(a, AxisSum)
    assert str(a) == "16@thread+1@value"
    assert str(a * -2 + 3) == "3-32@thread-2@value"
    assert a - a == 0
    assert 3 - E("t") == -E("t") + 3
    assert a * 0 == 0
    assert eval(repr(a), {"E": E}) == a
    layout = Layout((2, 3), (a, 4))
    assert layout.axes() == ("thread", "value", "")
    assert layout.extents() == {"thread": 17, "value": 2, "": 9}
    assert str(layout.along("thread")) == "(2,3):(16,0)"
    with pytest.raises(LayoutError, match="named axes"):
        layout.cosize()


@pytest.mark.parametrize("axis", ["", "a b", "é", "a@", "@a", "-1", -1, (1, 1), True, 1.0])
def test_axes_have_names_that_are_read_again(axis) -> None:
    with pytest.raises(LayoutError, match="is no axis"):
        E(axis)


def test_multiples_of_axes_are_integers() -> None:
    with pytest.raises(LayoutError, match=r"1\.5 is not a multiple of an axis"):
        E("thread", 1.5)  # pyright: ignore[reportArgumentType]
    assert E("1@0", 2) + E(1) == E("1", np.int64(1)) + E("1@0", 2)
    assert parse_cute_layout(str(Layout(4, E("1@0", 2)))).stride == E("1@0", 2)


def test_profiles_of_layouts_are_those_of_their_shapes() -> None:
    a = L("(2,(3,4)):(1,(2,6))")
    assert (rank(a), depth(a)) == (2, 2)
    assert (rank(Layout(6)), depth(Layout(6))) == (1, 0)
    assert (rank(a.shape), depth(5)) == (2, 0)
    assert congruent(a, (1, (1, 1)))
    assert not congruent(a, Layout((2, 3)))
    assert weakly_congruent((1, 1), a)
    assert not weakly_congruent(a, (1, 1))
    assert compatible(Layout((2, 12)), a)
    assert not compatible(a, Layout((2, 12)))
    with pytest.raises(LayoutError, match="a product is that of a shape"):
        product(a)


def test_identity_layouts_map_coordinates_to_themselves() -> None:
    identity = make_identity_layout((2, (3, 4)))
    assert str(identity) == "(2,(3,4)):(1@0,(1@0@1,1@1@1))"
    assert coshape(make_identity_layout((5, 7))) == (5, 7)
    assert coshape(Layout((4, 2))) == 8
    assert coprofile(make_identity_layout((5, 7))) == (0, 0)
    assert coprofile(Layout((4, 2))) == 0
    assert identity(1, (2, 3)) == E("0") + E("0@1", 2) + E("1@1", 3)


@given(layouts())
def test_a_layout_like_another_is_compact_in_the_same_order(layout: Layout) -> None:
    like = make_layout_like(layout)
    assert like.shape == layout.shape
    kept = [
        (d, k) for (s, d), (_, k) in zip(layout.leaves(), like.leaves(), strict=True) if s > 1 and d
    ]
    assert [k for _, k in sorted(kept, key=lambda pair: pair[0])] == sorted(k for _, k in kept)
    distinct = set(offsets(like))
    assert distinct == set(range(len(distinct)))


@given(layouts(st.integers(-9, 9)))
def test_a_layout_like_another_orders_by_distance(layout: Layout) -> None:
    apart = Layout(layout.shape, make_layout_like(layout).stride)
    kept = [(abs(d), k) for (s, d), (_, k) in zip(layout.leaves(), apart.leaves(), strict=True)
            if s > 1 and d]  # fmt: skip
    assert [k for _, k in sorted(kept, key=lambda pair: pair[0])] == sorted(k for _, k in kept)
    assert str(make_layout_like(L("(2,3):(1,-4)"))) == "(2,3):(1,2)"


def test_a_fragment_like_a_layout_keeps_mode_zero_contiguous() -> None:
    assert str(make_fragment_like(L("((2,2),4,2):((8,64),1,512)"))) == "((2,2),4,2):((1,2),4,16)"
    assert str(make_fragment_like(L("((2,2),2,4):((8,0),512,1)"))) == "((2,2),2,4):((1,0),8,2)"
    assert str(make_fragment_like(L("4:2"))) == "4:1"


def test_modes_are_rearranged_on_shape_and_stride_alike() -> None:
    a = L("(2,(3,4),5):(1,(2,6),24)")
    assert str(flatten(a)) == "(2,3,4,5):(1,2,6,24)"
    assert unflatten(flatten(a), a.shape) == a
    assert str(append(a, Layout(7, 9))) == "(2,(3,4),5,7):(1,(2,6),24,9)"
    assert str(prepend(a, Layout(7, 9))) == "(7,2,(3,4),5):(9,1,(2,6),24)"
    assert str(insert(a, 1, Layout(7, 9))) == "(2,7,(3,4),5):(1,9,(2,6),24)"
    assert str(remove(a, 1)) == "(2,5):(1,24)"
    assert str(replace(a, 1, Layout(7, 9))) == "(2,7,5):(1,9,24)"
    assert str(take(a, 1, 3)) == "((3,4),5):((2,6),24)"
    assert str(select(a, 2, 0)) == "(5,2):(24,1)"
    assert str(group(a, 0, 2)) == "((2,(3,4)),5):((1,(2,6)),24)"
    assert repeat_like((1, (2, 3)), 0) == (0, (0, 0))
    assert str(zip_modes(L("(2,3):(1,2)"), L("(4,5):(6,7)"))) == "((2,4),(3,5)):((1,6),(2,7))"
    assert zip2_by(((1, 2), (3, 4), 5), (None, None)) == ((1, 3), (2, 4, 5))
    assert str(with_shape(Layout(24, 2), (4, 6))) == "(4,6):(2,8)"
    assert transform_layout(L("(4,2,3):(1,4,8)"), L("(2):(1)"), lambda x, y: y) == L(
        "(2,2,3):(1,4,8)"
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda a: remove(a, 3),
        lambda a: replace(a, -1, Layout(2)),
        lambda a: take(a, 1, 5),
        lambda a: select(a, 9),
        lambda a: group(a, 2, 1),
        lambda a: unflatten(a, (1, 2)),
        lambda a: zip2_by((1, 2, 3), None),
        lambda a: zip_modes(a, Layout((2, 2))),
    ],
)
def test_modes_that_do_not_exist_are_refused(call) -> None:
    with pytest.raises(LayoutError):
        call(L("(2,(3,4),5):(1,(2,6),24)"))


@given(compact_layouts(extents=st.sampled_from([2, 4, 8])), st.sampled_from([2, 4]))
def test_downcast_then_upcast_is_the_same_layout(layout: Layout, n: int) -> None:
    if not any(d == 1 for _, d in layout.leaves()):
        return
    narrow = downcast(layout, n)
    assert upcast(narrow, n) == layout
    assert {x // n for x in offsets(narrow)} == set(offsets(layout))
    assert size(narrow) == n * size(layout)


def test_recasts_follow_cute() -> None:
    a = L("(8,64):(64,1)")
    assert str(recast_layout(a, 16, 128)) == "(8,8):(8,1)"
    assert str(recast_layout(a, 16, 8)) == "(8,128):(128,1)"
    assert str(upcast(L("(4,8):(0,2)"), 4)) == "(4,4):(0,1)"
    assert recast_layout(a, 16, 16) is a
    composed = parse_cute_layout("S<3,4,3> o 0 o (8,128):(128,1)")
    assert str(recast_layout(composed, 8, 16)) == "S<3,3,3> o 0 o (8,64):(64,1)"
    with pytest.raises(LayoutError, match="stride 3 and 2"):
        upcast(Layout((2, 2), (1, 3)), 2)
    with pytest.raises(LayoutError, match="extent 3 and 2"):
        upcast(Layout(3), 2)
    assert str(downcast(Layout(4, 2), 2)) == "4:4"


def test_recasts_between_widths_that_do_not_divide_each_other_join_and_divide() -> None:
    rows = L("(4,6):(6,1)")
    assert str(recast_layout(rows, 16, 24)) == "(4,4):(4,1)"
    assert str(recast_layout(L("(4,4):(4,1)"), 24, 16)) == "(4,6):(6,1)"
    assert bits_of(recast_layout(rows, 16, 24), 24) == bits_of(rows, 16)
    assert str(recast_layout(L("(8,64):(192,3)"), 1, 3)) == "(8,64):(64,1)"
    with pytest.raises(LayoutError, match=r"upcast of .*stride 64 and 3"):
        recast_layout(L("(8,64):(64,1)"), 16, 6)
    assert str(recast_layout(L("4:6"), 16, 24)) == "4:4"


def bits_of(layout: Layout, width: int) -> set[int]:
    return {x * width + bit for x in offsets(layout) for bit in range(width)}


@given(layouts())
def test_cosize_is_one_past_the_largest_offset(layout: Layout) -> None:
    assert cosize(layout) == max(offsets(layout)) + 1


@given(layouts(st.integers(-9, 9)))
def test_cosize_with_negative_strides_is_the_span(layout: Layout) -> None:
    assert cosize(layout) == max(offsets(layout)) - min(offsets(layout)) + 1


def test_making_layouts() -> None:
    modes = (Layout(4, 2), Layout((2, 3)))
    assert make_layout(*modes) == make_layout(modes) == make_layout(iter(modes))
    assert make_layout() == Layout((), ())
    assert Layout(())(0) == 0
