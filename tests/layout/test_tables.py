"""Tables against plain evaluation, recovery with certification, sections and their guards."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.layouts import (
    axis_strides,
    compact_layouts,
    digit_fragments,
    layouts,
    offsets,
    shapes,
    signed_strides,
)

from tileas_xdsl.layout import (
    ComposedLayout,
    E,
    Layout,
    LayoutError,
    RegisterLayout,
    Swizzle,
    coalesce,
    collision,
    composition,
    holds,
    image,
    invert,
    is_injective,
    parse_layout,
    recover,
    right_inverse,
    scatter_inverse,
    size,
    table,
)
from tileas_xdsl.layout.axes import coefficient_of
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.tables import MAX_POINTS, evaluate


@given(st.one_of(layouts(), layouts(signed_strides), layouts(axis_strides)))
def test_a_table_is_the_layout_evaluated(layout: Layout) -> None:
    for axis in ("", "thread", "value"):
        expected = [coefficient_of(x, axis) for x in offsets(layout)]
        assert table(layout, axis).tolist() == expected
    assert table(layout) is table(layout)
    with pytest.raises(ValueError, match="read-only"):
        table(layout)[:] = 0


@given(layouts(signed_strides), st.lists(st.integers(-500, 500), max_size=20))
def test_evaluation_reaches_past_the_domain(layout: Layout, indices: list[int]) -> None:
    expected = [layout(i) for i in indices]
    assert evaluate(layout, np.array(indices, dtype=np.int64)).tolist() == expected


@given(layouts(), st.integers(0, 64))
def test_composed_tables(layout: Layout, offset: int) -> None:
    swizzle = Swizzle(2, 1, 3)
    composed = ComposedLayout(swizzle, offset, layout)
    assert table(composed).tolist() == [composed(i) for i in range(size(layout))]
    assert composed.cosize() > table(composed).max()


@given(st.one_of(layouts(), compact_layouts(gaps=True), layouts(axis_strides)))
def test_injectivity_and_collisions(layout: Layout) -> None:
    values = [str(x) for x in offsets(layout)]
    assert is_injective(layout) == (len(set(values)) == len(values))
    pair = collision(layout)
    assert (pair is None) == is_injective(layout)
    if pair:
        assert pair[0] < pair[1]
        assert values[pair[0]] == values[pair[1]]


@given(compact_layouts(gaps=True))
def test_scatter_inverse_undoes_the_table(layout: Layout) -> None:
    inverse = scatter_inverse(layout)
    assert inverse[table(layout)].tolist() == list(range(size(layout)))
    assert (inverse >= 0).sum() == size(layout)
    assert image(layout).tolist() == sorted(offsets(layout))


def test_tables_refuse_what_has_no_inverse() -> None:
    with pytest.raises(LayoutError, match="indices 0 and 1 both map to 0"):
        scatter_inverse(Layout((2, 2), (0, 1)))
    with pytest.raises(LayoutError, match="negative offsets"):
        scatter_inverse(Layout(4, -1))
    with pytest.raises(LayoutError, match="a table holds"):
        table(Layout((1 << 20, 1 << 10)))


def test_holds_lists_what_each_register_holds() -> None:
    fragment = parse_layout("(2,3):(2@thread,1@value)")
    assert holds(fragment, "thread", "value", 4, 3).tolist() == [
        [0, 2, 4],
        [-1, -1, -1],
        [1, 3, 5],
        [-1, -1, -1],
    ]
    with pytest.raises(LayoutError, match="does not fit 2 threads"):
        holds(fragment, "thread", "value", 2, 3)
    with pytest.raises(LayoutError, match="puts indices 0 and 1 in one register"):
        holds(parse_layout("(2,3):(0,1@value)"), "thread", "value", 4, 3)


def test_equal_layouts_share_a_table_that_nobody_can_write() -> None:
    first, second = (
        holds(Layout((4, 2), (E("thread"), E("value"))), "thread", "value", 4, 2) for _ in range(2)
    )
    assert first is second
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1


def test_places_of_registers_are_counted_before_they_are_laid_out() -> None:
    for text in (
        "(4,8):(1@thread,999999999999@value)",
        "(4,8):(999999999999@thread,1@value)",
        "(4,2):(999999999999999999@thread,999999999999999999@value)",
    ):
        layout = parse_layout(text)
        spans = layout.extents()
        with pytest.raises(LayoutError, match=rf"places: a table holds {MAX_POINTS}"):
            holds(layout, "thread", "value", spans["thread"], spans["value"])
        fragment = RegisterLayout(layout, product_each(layout.shape), spans["thread"])
        with pytest.raises(LayoutError, match="places: a table holds"):
            _ = fragment.held
        with pytest.raises(LayoutError, match="leaves registers empty"):
            fragment.tv()


def test_inverses_are_as_large_as_a_table_at_most() -> None:
    with pytest.raises(LayoutError, match=r"has 1000000000001 entries"):
        scatter_inverse(Layout(2, 10**12))


# Offsets of 64 bits


LARGE = [1, 2**20, 10**15, 2**61, 2**62 - 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**30]


@given(layouts(st.sampled_from([*LARGE, *(-x for x in LARGE)]), extents=st.integers(1, 4)))
def test_a_table_is_exact_or_refused(layout: Layout) -> None:
    expected = offsets(layout)
    try:
        values = table(layout)
    except LayoutError as error:
        assert "a table holds offsets up to 9223372036854775807" in str(error)
        assert layout.cosize() > 2**63
        return
    assert values.tolist() == expected


@given(
    layouts(st.sampled_from(LARGE), extents=st.sampled_from([1, 2, 3, 2**40, 2**63, 2**70])),
    st.lists(st.sampled_from([0, 1, 2, 7, 2**20, 2**61, 2**62, -5, -(2**61)]), min_size=1),
)
def test_evaluation_is_exact_or_refused(layout: Layout, indices: list[int]) -> None:
    try:
        values = evaluate(layout, np.array(indices, dtype=np.int64))
    except LayoutError as error:
        assert "a table holds" in str(error)
        return
    assert values.tolist() == [layout(i) for i in indices]


def test_small_layouts_of_large_extents_are_evaluated() -> None:
    layout = Layout((2, 2**70, 3), (5, 7, 2**62))
    assert evaluate(layout, np.arange(6)).tolist() == [layout(i) for i in range(6)]
    assert table(Layout((1, 4), (2**64, 2))).tolist() == [0, 2, 4, 6]


@given(st.integers(-(2**64), 2**64), layouts(st.sampled_from([1, 7, 2**61])))
def test_composed_tables_are_exact_or_refused(offset: int, inner: Layout) -> None:
    composed = ComposedLayout(Swizzle(2, 1, 3), offset, inner)
    try:
        values = table(composed)
    except LayoutError as error:
        assert "a table holds" in str(error)
        return
    assert values.tolist() == [composed(i) for i in range(inner.size())]


def test_axes_too_wide_for_one_integer_are_still_told_apart() -> None:
    wide = Layout((4, 8, 2), (E("t", 10**17), E("v", 10**17), E("w", 10**17)))
    assert is_injective(wide)
    assert collision(wide) is None
    folded = Layout((4, 8, 2), (E("t", 10**17), E("v", 10**17), E("v", 10**17)))
    assert collision(folded) == (4, 32)
    wrapping = Layout((2, 2), (E("t", 2**32), E("v", 2**32 - 1)))
    assert collision(wrapping) is None


# Recovery


@given(st.one_of(layouts(), layouts(signed_strides)), st.integers(-50, 50))
def test_recovery_of_one_mode_finds_the_coalesced_form(layout: Layout, origin: int) -> None:
    assert recover(table(layout) + origin) == (coalesce(layout), origin)


@given(layouts(axis_strides))
def test_recovery_keeps_the_shape_and_the_axes(layout: Layout) -> None:
    tables = {axis: table(layout, axis) for axis in ("", "thread", "value")}
    found = recover(tables, layout.shape)
    assert found is not None
    result, origin = found
    assert origin == 0
    assert offsets(result) == offsets(layout)
    assert [size(m) for m in result] == [size(m) for m in layout]


@given(st.lists(st.integers(0, 9), min_size=1, max_size=24))
def test_recovery_certifies_or_gives_none(values: list[int]) -> None:
    found = recover(np.array(values))
    if found is not None:
        assert [found[0](i) + found[1] for i in range(len(values))] == values


def test_what_is_no_layout_is_not_recovered() -> None:
    assert recover(np.array([0, 1, 2, 4])) is None
    assert recover(np.array([0, 1, 3, 2])) is None
    assert recover(np.array([0, 1, 1, 0]), (2, 2)) is None
    with pytest.raises(LayoutError, match="does not have shape"):
        recover(np.arange(6), (4, 2))
    with pytest.raises(LayoutError, match="lengths"):
        recover({"a": np.arange(6), "b": np.arange(5)})


# Sections


def _points(section_axes: dict[str, int]):
    grids = np.meshgrid(*(np.arange(n) for n in section_axes.values()), indexing="ij")
    return {axis: grid.ravel() for axis, grid in zip(section_axes, grids, strict=True)}


@given(digit_fragments(), st.integers(0, 3), st.integers(0, 3))
def test_a_section_inverts_and_its_guard_is_the_image(fragment, more_threads, more_values) -> None:
    spans = fragment.extents()
    sizes = {
        "thread": spans.get("thread", 1) + more_threads,
        "value": spans.get("value", 1) + more_values,
    }
    assume(sizes["thread"] * sizes["value"] < 20000)
    section = invert(fragment, sizes)
    points = _points(sizes)
    owner = {
        (coefficient_of(x, "thread"), coefficient_of(x, "value")): i
        for i, x in enumerate(offsets(fragment))
    }
    expected = [owner.get(pair, -1) for pair in zip(points["thread"], points["value"], strict=True)]
    guard = section.guard(points)
    assert guard.tolist() == [i >= 0 for i in expected]
    assert section.index(points)[guard].tolist() == [i for i in expected if i >= 0]
    text = "\n".join(f"({c})" for c in section.conditions) or "(True)"
    for k in range(0, len(expected), 7):
        scope = {"thread": int(points["thread"][k]), "value": int(points["value"][k])}
        assert all(eval(line, scope) for line in text.split("\n")) == (expected[k] >= 0)


def test_the_sparse_map_inverts_with_the_low_digit_as_guard() -> None:
    sparse = Layout((2, 2), (E("thread", 16), E("thread", 32)))
    assert str(invert(sparse, {"thread": 64})) == (
        "i0 = thread // 16 % 2\ni1 = thread // 32\nif thread % 16 == 0"
    )
    wider = invert(sparse, {"thread": 128})
    assert wider.conditions == ("thread % 16 == 0", "thread < 64")


@given(compact_layouts())
def test_the_section_of_a_bijection_needs_no_guard(layout: Layout) -> None:
    section = invert(layout)
    assert section.conditions == ()
    values = section.index({"": np.arange(size(layout))})
    assert values.tolist() == [right_inverse(layout)(i) for i in range(size(layout))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(2,2):(1,0)", "feeds no axis"),
        ("(2,2):(1,1@t+1@v)", "feeds several axes"),
        ("(2,2):(1,-2)", "stride -2 is negative"),
        ("(4,2):(1,3)", "stride 3 is no multiple of 4"),
        ("(4,2):(1@t,6@t)", "on axis 't' stride 6 is no multiple of 4"),
    ],
)
def test_layouts_without_a_section_are_refused(text: str, message: str) -> None:
    with pytest.raises(LayoutError, match=message):
        invert(parse_layout(text))


@given(shapes(2, st.sampled_from([2, 4, 8])))
def test_composition_with_a_table_agrees(shape) -> None:
    a = Layout(shape)
    reversed_order = Layout(size(a), 1)
    assert table(composition(a, reversed_order)).tolist() == table(a).tolist()
