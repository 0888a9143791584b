"""Integers and tuples: what CuTe documents, and round trips of coordinates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.layouts import shapes, size_of

from tileas_xdsl.layout import (
    Integer,
    Layout,
    LayoutError,
    ceil_div,
    colex_less,
    compact_col_major,
    compact_order,
    compact_row_major,
    compatible,
    congruent,
    crd2crd,
    crd2idx,
    depth,
    dice,
    elem_less,
    elem_scale,
    evenly_divides,
    has_none,
    idx2crd,
    increment,
    inner_product,
    lex_less,
    make_ordered_layout,
    prefix_product,
    product,
    product_each,
    product_like,
    rank,
    round_up,
    shape_div,
    size,
    slice_,
    unwrap,
    weakly_congruent,
)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [(int, 1, True), (float, 1.0, False), (str, "hi", False), (bool, False, False)],
)
def test_what_counts_as_an_integer(kind: type, value: object, expected: bool) -> None:
    assert issubclass(kind, Integer) is expected
    assert isinstance(value, Integer) is expected


def test_products_and_sums() -> None:
    assert product(2) == 2
    assert product(((2, 3), 4)) == 24
    assert product(()) == 1
    assert product_each(((2, 3), 4)) == (6, 4)
    assert product_like(((2, 3), 4), (1, 1)) == (6, 4)
    assert inner_product(((2, 3), 4), ((2, 1), 2)) == 15
    assert elem_scale((2, 3), (4, (5, 6))) == (8, 90)
    assert prefix_product((3, (4, 5))) == (1, (3, 12))
    assert prefix_product((3, 2), (4, 5)) == (4, 5)


def test_divisions() -> None:
    assert shape_div((3, 4), 6) == (1, 2)
    assert shape_div((3, 4), 36) == (1, 1)
    assert shape_div(((3, 4), 6), 36) == ((1, 1), 2)
    assert shape_div((6, (3, 4)), 36) == (1, (1, 2))
    with pytest.raises(LayoutError, match="neither of 4 and 3 divides"):
        shape_div(4, 3)
    assert ceil_div((3, 5), 2) == (2, 5)
    assert ceil_div((7, 5), (2, 3)) == (4, 2)
    assert round_up((7, 5), (2, 3)) == (8, 6)


def test_profiles() -> None:
    assert rank(((2, 3), 4)) == 2
    assert depth(((2, 3), 4)) == 2
    assert congruent((1, (2, 3)), (4, (5, 6)))
    assert not congruent((1, (2, 3)), (4, 5))
    assert weakly_congruent((1, 2), (4, (5, 6)))
    assert not weakly_congruent((1, (2, 3)), (4, 5))
    assert compatible(24, (4, 6))
    assert compatible((24,), ((4, 6),))
    assert not compatible((4, 6), 24)
    assert evenly_divides((8, 6), (4, 3))
    assert not evenly_divides((8, 6), (4, 4))
    assert unwrap(((5,),)) == 5


def test_orders() -> None:
    assert lex_less((1, 5), (2, 0))
    assert not colex_less((1, 5), (2, 0))
    assert elem_less((1, (2, 3)), (2, (3, 4)))
    assert not elem_less((1, (2, 3)), (2, (3, 3)))


def test_slices_keep_what_stands_under_none() -> None:
    assert slice_((None, 1), (4, (2, 3))) == (4,)
    assert slice_((1, (None, 0)), (4, (2, 3))) == (2,)
    assert dice((None, 1), (4, (2, 3))) == ((2, 3),)
    assert has_none((1, (None, 2)))
    assert not has_none((1, (2, 2)))


@given(shapes())
def test_coordinates_and_indices_are_inverse(shape) -> None:
    for i in range(size_of(shape)):
        crd = idx2crd(i, shape)
        assert congruent(crd, shape)
        assert crd2idx(crd, shape) == i
        assert increment(crd, shape) == idx2crd((i + 1) % size_of(shape), shape)
        assert crd2crd(crd, size_of(shape), shape) == i


@given(shapes(2), st.integers(1, 300))
def test_negative_indices_mirror(shape, i: int) -> None:
    layout = Layout(shape)
    assert layout(-i) == -layout(i)


@given(shapes(3))
def test_compact_strides_count_every_index_once(shape) -> None:
    for strides in (compact_col_major(shape), compact_row_major(shape)):
        layout = Layout(shape, strides)
        assert sorted(layout(i) for i in range(size(layout))) == list(range(size(layout)))


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4).flatmap(
        lambda s: st.tuples(st.just(tuple(s)), st.permutations(range(len(s))))
    )
)
def test_compact_order_counts_modes_by_order(drawn) -> None:
    shape, order = drawn
    strides = compact_order(shape, tuple(order))
    current = 1
    for k in sorted(range(len(shape)), key=order.__getitem__):
        assert strides[k] == current
        current *= shape[k]
    assert make_ordered_layout(shape, tuple(order)).stride == strides


def test_compact_order_over_nested_modes() -> None:
    assert compact_order(((2, 3), 4), (1, 0)) == ((4, 8), 1)
    assert compact_order(((2, 3), 4), ((0, 2), 1)) == ((1, 8), 2)
    with pytest.raises(LayoutError):
        compact_order((2, 3), (0, (1, 2)))


@pytest.mark.parametrize(
    "call",
    [
        lambda: crd2idx((1, 2, 3), (4, 4)),
        lambda: idx2crd((1, 2), 4),
        lambda: inner_product((1, 2), (1,)),
        lambda: prefix_product(4, (1, 2)),
        lambda: crd2crd((1, 2), 4),
        lambda: crd2crd(7, 6),
        lambda: crd2crd(6, (2, 3)),
        lambda: crd2crd((1, 7), (2, 3)),
        lambda: crd2crd((1, 2), 5, (2, 3)),
        lambda: crd2crd(-1, 6),
        lambda: crd2idx((1, 2.5), (4, 4)),
        lambda: crd2idx("1", (4, 4)),
        lambda: product(2.5),
        lambda: ceil_div((4,), (2, 2)),
        lambda: round_up(4, (2, 2)),
    ],
)
def test_profiles_that_do_not_fit_are_refused(call) -> None:
    with pytest.raises(LayoutError):
        call()
