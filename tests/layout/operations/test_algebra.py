"""Post-conditions of the algebra on random layouts, and CuTe's documented examples."""

from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.layouts import (
    axis_strides,
    compact_layouts,
    layouts,
    leaves_of,
    offsets,
    shapes,
    signed_strides,
)

from tileas_xdsl.layout import (
    ComposedLayout,
    CompositionError,
    E,
    Layout,
    LayoutError,
    Swizzle,
    coalesce,
    complement,
    composition,
    domain_distribute,
    filter,
    filter_zeros,
    left_inverse,
    logical_divide,
    make_layout,
    max_alignment,
    max_common_layout,
    max_common_vector,
    nullspace,
    parse_cute_layout,
    right_inverse,
    size,
    upcast,
)
from tileas_xdsl.layout.axes import coefficient_of
from tileas_xdsl.layout.operations.simplify import same_function

L = parse_cute_layout

any_layouts = st.one_of(layouts(), layouts(signed_strides), layouts(axis_strides))
powers = st.sampled_from([1, 2, 2, 4, 8])


@given(any_layouts)
def test_a_layout_counts_its_leaves_from_the_left(layout: Layout) -> None:
    assert [layout(i) for i in range(size(layout))] == offsets(layout)


@given(any_layouts)
def test_coalesce_is_the_same_function_with_fewest_modes(layout: Layout) -> None:
    result = coalesce(layout)
    assert offsets(result) == offsets(layout)
    leaves = result.leaves()
    assert result.depth <= 1
    if len(leaves) > 1:
        assert all(s > 1 for s, _ in leaves)
        assert all(s * d != e for (s, d), (_, e) in pairwise(leaves))


@given(any_layouts)
def test_coalesce_by_profile_keeps_the_modes(layout: Layout) -> None:
    assume(isinstance(layout.shape, tuple))
    result = coalesce(layout, (1,) * layout.rank)
    assert result.rank == layout.rank
    for mode, original in zip(result, layout, strict=True):
        assert offsets(mode) == offsets(original)
        assert mode == coalesce(original)


@given(layouts(), layouts())
def test_same_function_is_equality_of_all_offsets(a: Layout, b: Layout) -> None:
    assert same_function(a, b) == (offsets(a) == offsets(b))
    assert same_function(a, coalesce(a))


@given(any_layouts)
def test_filter_keeps_the_image(layout: Layout) -> None:
    result = filter(layout)
    assert {str(x) for x in offsets(result)} == {str(x) for x in offsets(layout)}
    assert all(d != 0 and s > 1 for s, d in result.leaves()) or result == Layout(1, 0)
    zeros = filter_zeros(layout)
    assert zeros.stride == layout.stride
    assert zeros.size() * nullspace(layout).size() == layout.size()


@given(any_layouts)
def test_nullspace_is_where_strides_are_zero(layout: Layout) -> None:
    kernel = nullspace(layout)
    assert all(layout(kernel(i)) == 0 for i in range(size(kernel)))
    assert len(set(offsets(kernel))) == size(kernel)


@given(
    st.one_of(layouts(extents=powers), layouts(signed_strides), layouts(axis_strides)),
    st.one_of(layouts(extents=powers, strides=st.sampled_from([0, 1, 2, 4, 8, 16])), layouts()),
)
def test_composition_is_composition(a: Layout, b: Layout) -> None:
    try:
        result = composition(a, b)
    except LayoutError:
        return
    assert [result(i) for i in range(size(b))] == [a(b(i)) for i in range(size(b))]
    for r, s in zip(_parts(result.shape, b.shape), leaves_of(b.shape), strict=True):
        assert size(r) == s


def _parts(refined, shape):
    if not isinstance(shape, tuple):
        return [refined]
    return [part for r, s in zip(refined, shape, strict=True) for part in _parts(r, s)]


@given(layouts(signed_strides), st.integers(1, 40), st.integers(-9, 9))
def test_composition_with_negative_strides(a: Layout, extent: int, stride: int) -> None:
    b = Layout(extent, stride)
    try:
        result = composition(a, b)
    except CompositionError:
        return
    assert [result(i) for i in range(extent)] == [a(b(i)) for i in range(extent)]


@given(shapes(2, st.sampled_from([2, 3, 4])), st.data())
def test_composition_succeeds_wherever_coordinates_divide(shape, data) -> None:
    """A tile of the shape, walked in any order of its leaves, can always be composed with."""
    a = Layout(shape, data.draw(layouts(depth=0)).stride if not isinstance(shape, tuple) else None)
    leaves = leaves_of(shape)
    weights = [1]
    for s in leaves:
        weights.append(weights[-1] * s)
    order = data.draw(st.permutations(range(len(leaves))))
    b = Layout(tuple(leaves[k] for k in order), tuple(weights[k] for k in order))
    assert [composition(a, b)(i) for i in range(size(b))] == [a(b(i)) for i in range(size(b))]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"),
        ("(4,2,8):(3,12,97)", "3:3", "3:9"),
        ("(5,3):(7,1)", "2:3", "2:21"),
        ("(5,5):(22,5)", "3:2", "3:44"),
        ("(5,5,5):(1,22,5)", "3:10", "3:44"),
        ("(4,6,8,10):(2,3,5,7)", "6:12", "(2,3):(9,5)"),
        ("(4,4):(4,1)", "(4,4):(1@1,1@0)", "(4,4):(1,4)"),
        ("(4,(2,3)):(6,(3,1))", "(2,4):(1@1@1,1@0)", "(2,4):(1,6)"),
        ("(4,8):(3,42)", "4:1@0+2@1", "4:87"),
        ("12:1@0", "(4,3):(3,1)", "(4,3):(3@0,1@0)"),
    ],
)
def test_documented_compositions(a: str, b: str, expected: str) -> None:
    assert str(composition(L(a), L(b))) == expected


@pytest.mark.parametrize(
    ("a", "b", "mode", "numbers", "what"),
    [
        ("(4,6,8):(2,3,5)", "6:3", 0, (4, 3), "stride"),
        ("(4,6,8):(2,3,5)", "6:1", 0, (6, 4), "shape"),
        ("(4,2,8):(3,12,97)", "4:3", 0, (8, 3), "stride"),
        ("(4,2,8):(3,15,97)", "3:3", 0, (4, 3), "stride"),
        ("(5,3):(7,1)", "7:1", 0, (7, 5), "shape"),
        ("(2,5,3):(9,7,1)", "4:4", 1, (5, 2), "stride"),
        ("(2,5,3):(9,7,1)", "14:1", 1, (7, 5), "shape"),
        ("(2,4):(1,10)", "(2,2):(1,1)", 0, (2, 2), "carry"),
    ],
)
def test_a_rejected_composition_names_the_mode_and_the_numbers(a, b, mode, numbers, what) -> None:
    with pytest.raises(CompositionError) as caught:
        composition(L(a), L(b))
    assert caught.value.mode == mode
    assert caught.value.numbers == numbers
    message = str(caught.value)
    assert caught.value.condition == what
    assert f"at mode {mode} of" in message
    assert str(numbers[0]) in message
    assert str(numbers[1]) in message


def test_a_composition_that_steps_both_ways_through_modes_is_refused() -> None:
    with pytest.raises(LayoutError, match="step both ways through more than one mode"):
        composition(Layout((4, 8), (1, 10)), Layout((2, 2), (4, -1)))
    assert str(composition(Layout((4, 8), (1, 10)), Layout((2, 2), (-4, -1)))) == "(2,2):(-10,-1)"


def test_composition_by_mode_drops_modes_that_the_tiler_does_not_name() -> None:
    a = L("(12,(4,8)):(59,(13,1))")
    assert str(composition(a, (L("3:4"), L("8:2")))) == "(3,(2,4)):(236,(26,1))"
    assert str(composition(a, (L("3:4"),))) == "(3):(236)"
    assert composition(a, (None, 4)) == make_layout(a[0], Layout(4, 13))
    assert composition(a, None) == a
    with pytest.raises(LayoutError, match="more modes"):
        composition(Layout(4), (2, 2))


def test_composition_with_an_unknown_mode_is_refused() -> None:
    with pytest.raises(LayoutError, match="axis 'thread' is not a mode"):
        composition(Layout((4, 4)), Layout(4, E("thread")))
    with pytest.raises(LayoutError, match="has no mode 2"):
        composition(Layout((4, 4)), Layout(4, E(2)))
    with pytest.raises(LayoutError, match="unlike shapes"):
        composition(L("((2,2),4):((1,7),2)"), Layout(4, E(0) + E(1)))


@given(layouts(), st.integers(1, 300))
def test_complement_is_ordered_and_disjoint(layout: Layout, cotarget: int) -> None:
    try:
        result = complement(layout, cotarget)
    except LayoutError:
        strides = sorted((d, s) for s, d in layout.leaves() if s > 1 and d)
        assert any(d < e * t for (e, t), (d, _) in pairwise(strides))
        return
    values = offsets(result)
    assert values == sorted(set(values))
    assert not set(values[1:]) & set(offsets(layout))
    digits = sorted((d, s) for s, d in layout.leaves() if s > 1 and d)
    if all(d % (e * s) == 0 for (e, s), (d, _) in pairwise(digits)):
        assert size(result) * size(filter(layout)) >= cotarget


@given(compact_layouts(gaps=True, depth=1), shapes(2))
def test_complement_covers_a_shape_or_is_refused(layout: Layout, target) -> None:
    try:
        result = complement(layout, target)
    except LayoutError as error:
        covered = int(str(error).split(" of ")[-2].split()[-1])
        assert covered < size(target)
        return
    assert size(result) * size(layout) >= size(target)


def test_a_complement_that_would_cover_less_is_refused() -> None:
    with pytest.raises(LayoutError, match=r"up to \(4,6\): .* 15 of 24 offsets"):
        complement(Layout(5), (4, 6))
    with pytest.raises(LayoutError, match="15 of 24"):
        logical_divide(Layout((4, 6), (6, 1)), 5)
    assert complement(Layout(5), 24) == Layout(5, 5)
    assert complement(Layout(4), max_idx=8) == Layout(2, 4)


@given(compact_layouts(gaps=True))
def test_complement_fills_a_digit_layout_to_a_bijection(layout: Layout) -> None:
    whole = make_layout(layout, complement(layout))
    assert sorted(offsets(whole)) == list(range(size(whole)))
    assert size(whole) >= layout.cosize()


@given(compact_layouts(gaps=True))
def test_complement_twice_is_complement_four_times(layout: Layout) -> None:
    target = layout.cosize()
    once = complement(layout, target)
    twice = complement(once, target)
    assert complement(complement(twice, target), target) == twice


@pytest.mark.parametrize(
    ("layout", "target", "expected"),
    [
        ("4:1", 24, "6:4"),
        ("6:4", 24, "4:1"),
        ("(4,6):(1,4)", 24, "1:0"),
        ("4:2", 24, "(2,3):(1,8)"),
        ("(2,4):(1,6)", 24, "3:2"),
        ("(2,2):(1,6)", 24, "(3,2):(2,12)"),
        ("(4,0)", 24, None),
    ],
)
def test_documented_complements(layout: str, target: int, expected: str | None) -> None:
    if expected is None:
        assert str(complement(Layout(4, 0), target)) == f"{target}:1"
        return
    assert str(complement(L(layout), target)) == expected


def test_complement_of_what_has_none_is_refused() -> None:
    with pytest.raises(LayoutError, match="digits overlap, stride 1 lies below 2"):
        complement(Layout((2, 2), (1, 1)))
    with pytest.raises(LayoutError, match="digits overlap, stride 5 lies below 24"):
        complement(Layout((2, 8), (5, 3)), 24)
    with pytest.raises(LayoutError, match="stride -1 is negative"):
        complement(Layout(4, -1), 8)
    with pytest.raises(LayoutError, match="named axes"):
        complement(Layout(4, E("thread")), 8)


@given(st.one_of(compact_layouts(), compact_layouts(gaps=True), layouts(), layouts(signed_strides)))
def test_right_inverse(layout: Layout) -> None:
    result = right_inverse(layout)
    assert [layout(result(i)) for i in range(size(result))] == list(range(size(result)))


@given(layouts(st.integers(-2, 4), extents=st.sampled_from([1, 2, 2, 3])))
def test_right_inverse_of_small_strides(layout: Layout) -> None:
    result = right_inverse(layout)
    assert [layout(result(i)) for i in range(size(result))] == list(range(size(result)))


small_axis_strides = st.builds(
    lambda a, b: E("thread", a) + E("value", b), st.integers(-1, 3), st.integers(0, 3)
)


@given(layouts(small_axis_strides, extents=st.sampled_from([1, 2, 2, 3])))
@example(Layout((2, 2), (E("thread", -1), E("value"))))
def test_right_inverse_is_the_coordinate_on_every_axis(layout: Layout) -> None:
    result = right_inverse(layout, ("thread", "value"))
    for t in range(size(result[0])):
        for v in range(size(result[1])):
            point = layout(result(t, v))
            assert (coefficient_of(point, "thread"), coefficient_of(point, "value")) == (t, v)


def test_right_inverse_stops_where_it_must() -> None:
    assert right_inverse(Layout((2, 2), (1, 1))) == Layout(2, 1)
    shared = right_inverse(Layout((2, 2), (E("a") + E("b"), E("b", 2))), ("a", "b"))
    assert str(shared) == "(1,1):(0,0)"


@given(compact_layouts())
def test_right_inverse_of_a_bijection_is_whole(layout: Layout) -> None:
    result = right_inverse(layout)
    assert size(result) == size(layout)
    assert same_function(left_inverse(layout), result)


@given(st.one_of(compact_layouts(), compact_layouts(gaps=True)))
def test_left_inverse(layout: Layout) -> None:
    result = left_inverse(layout)
    assert [result(layout(i)) for i in range(size(layout))] == list(range(size(layout)))
    assert all(layout(result(layout(i))) == layout(i) for i in range(size(layout)))


@given(layouts(signed_strides))
def test_left_inverse_is_right_or_refused(layout: Layout) -> None:
    try:
        result = left_inverse(layout)
    except LayoutError:
        return
    assert [result(layout(i)) for i in range(size(layout))] == list(range(size(layout)))


def test_left_inverse_counts_on_through_gaps_as_cute_does() -> None:
    assert str(left_inverse(L("(2,3):(1,8)"))) == "(8,3):(1,2)"
    assert str(left_inverse(L("4:2"))) == "(2,4):(0,1)"
    with pytest.raises(LayoutError, match="feeds no axis"):
        left_inverse(Layout((2, 2), (1, 0)))
    with pytest.raises(LayoutError, match="stride 2 does not divide 5"):
        left_inverse(Layout((2, 2), (2, 5)))
    with pytest.raises(LayoutError, match="strides 2 and 3 overlap"):
        left_inverse(Layout((2, 2), (2, 3)))
    with pytest.raises(LayoutError, match="change sign"):
        left_inverse(Layout((2, 2), (2, -8)))


def test_inverses_over_named_axes_have_a_mode_for_each_axis() -> None:
    fragment = L("((8,2,4),(2,4,8)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))")
    inverse = right_inverse(fragment, ("thread", "value"))
    assert str(inverse) == "((4,8,4),(2,2,8)):((128,1,16),(64,8,512))"
    assert left_inverse(fragment, ("thread", "value")) == inverse
    for i in range(fragment.size()):
        point = fragment(i)
        assert inverse(coefficient_of(point, "thread"), coefficient_of(point, "value")) == i
    with pytest.raises(LayoutError, match="needs its axes value"):
        right_inverse(fragment, ("thread",))


@given(compact_layouts(), compact_layouts())
def test_max_common_layout(a: Layout, b: Layout) -> None:
    try:
        common = max_common_layout(a, b)
    except CompositionError:
        return
    n = max_common_vector(a, b)
    assert size(common) == n
    assert [a(common(i)) for i in range(n)] == list(range(n))
    assert [b(common(i)) for i in range(n)] == list(range(n))


@pytest.mark.parametrize(
    ("a", "b"),
    [("8:2", "8:1"), ("8:1", "8:2"), ("4:0", "4:1"), ("4:-1", "4:1"), ("(4,2):(2,1)", "8:1")],
)
def test_where_nothing_is_common_one_element_is(a: str, b: str) -> None:
    assert max_common_vector(L(a), L(b)) == 1
    assert str(max_common_layout(L(a), L(b))) == "1:0"


@given(shapes(2), st.integers(1, 64))
def test_domain_distribute_divides_the_shape(shape, count: int) -> None:
    result = domain_distribute(shape, count)
    values = offsets(result)
    assert values == sorted(set(values))
    assert count % size(result) == 0
    assert values[-1] < size(Layout(shape))


@given(compact_layouts(gaps=True))
def test_max_alignment_is_the_largest_upcast(layout: Layout) -> None:
    n = max_alignment(layout)
    flat_layout = coalesce(layout)
    vectors = upcast(flat_layout, n)
    assert vectors.size() * n == layout.size() or n == 1
    assert {x // n for x in offsets(layout)} == set(offsets(vectors))
    for more in (2, 3, 5):
        assert not _counts_in_vectors(layout, n * more)


def _counts_in_vectors(layout: Layout, n: int) -> bool:
    values = set(offsets(layout))
    return all({x - x % n + k for k in range(n)} <= values for x in values)


def test_integers_stand_for_their_layouts() -> None:
    assert coalesce(5) == Layout(5)
    assert nullspace(4) == nullspace(Layout(4))
    assert max_common_vector(4, Layout(4)) == 4


# Composed layouts


@given(
    compact_layouts(extents=powers), st.sampled_from([(1, 2, 3), (2, 1, 2), (3, 0, 3), (2, 1, -2)])
)
def test_inverses_under_a_swizzle(layout: Layout, swizzle: tuple[int, int, int]) -> None:
    composed = composition(Swizzle(*swizzle), layout)
    assert isinstance(composed, ComposedLayout)
    left = left_inverse(composed)
    assert [left(composed(i)) for i in range(size(layout))] == list(range(size(layout)))
    right = right_inverse(composed)
    assert [composed(right(i)) for i in range(right.size())] == list(range(right.size()))


@given(compact_layouts(extents=powers))
def test_operations_on_the_domain_go_under_the_swizzle(layout: Layout) -> None:
    swizzle = Swizzle(2, 1, 3)
    composed = ComposedLayout(swizzle, 16, layout)
    assert [coalesce(composed)(i) for i in range(size(layout))] == [
        swizzle(16 + layout(i)) for i in range(size(layout))
    ]
    half = composition(composed, max(1, size(layout) // 2))
    assert [half(i) for i in range(half.size())] == [composed(i) for i in range(half.size())]
