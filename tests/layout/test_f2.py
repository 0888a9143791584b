"""Linear maps over bits against brute force, and against the tables of layouts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.composed import ComposedLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.f2 import F2Map, Span, swizzle_map
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES, Swizzle
from tileas_xdsl.layout.tables import table

relaxed = settings(deadline=None, max_examples=80)


@st.composite
def maps(draw: st.DrawFn, in_bits: int | None = None, out_bits: int | None = None) -> F2Map:
    n = draw(st.integers(0, 7)) if in_bits is None else in_bits
    m = draw(st.integers(0, 7)) if out_bits is None else out_bits
    columns = draw(st.lists(st.integers(0, (1 << m) - 1), min_size=n, max_size=n))
    return F2Map(tuple(columns), m)


def brute(f: F2Map, x: int) -> int:
    result = 0
    for k in range(f.in_bits):
        if x >> k & 1:
            result ^= f.columns[k]
    return result


def parity(x: int) -> int:
    return bin(x).count("1") % 2


@relaxed
@given(maps())
def test_apply_to_integers_and_arrays(f: F2Map) -> None:
    expected = [brute(f, x) for x in range(1 << f.in_bits)]
    assert [f(x) for x in range(1 << f.in_bits)] == expected
    assert f.table().tolist() == expected
    inputs = np.arange(1 << f.in_bits).reshape(1, -1)
    assert f.apply(inputs).tolist() == [expected]


@relaxed
@given(st.data())
def test_composition_is_application_in_turn(data: st.DataObject) -> None:
    f = data.draw(maps())
    g = data.draw(maps(out_bits=f.in_bits))
    assert (f @ g).table().tolist() == [f(g(x)) for x in range(1 << g.in_bits)]


@relaxed
@given(maps())
def test_pseudo_inverse_laws(f: F2Map) -> None:
    g = f.pseudo_inverse()
    assert f @ g @ f == f
    assert g @ f @ g == g


@relaxed
@given(st.integers(0, 6).flatmap(lambda n: maps(n, n)))
def test_inverse_or_reason(f: F2Map) -> None:
    images = {f(x) for x in range(1 << f.in_bits)}
    if len(images) == 1 << f.in_bits:
        assert f.invert() @ f == F2Map.identity(f.in_bits) == f @ f.invert()
    else:
        with pytest.raises(LayoutError, match="both map to 0"):
            f.invert()


@relaxed
@given(maps())
def test_rank_and_kernel(f: F2Map) -> None:
    zeros = {x for x in range(1 << f.in_bits) if brute(f, x) == 0}
    kernel = f.kernel()
    assert f.rank + len(kernel) == f.in_bits
    assert set(F2Map(kernel, f.in_bits).table().tolist()) == zeros
    assert len(zeros) == 1 << len(kernel)


@relaxed
@given(maps())
def test_guard_holds_exactly_on_the_image(f: F2Map) -> None:
    image = {f(x) for x in range(1 << f.in_bits)}
    masks = f.image_guard()
    span = Span(f.columns)
    assert len(masks) == f.out_bits - f.rank
    assert len(span) == f.rank
    for y in range(1 << f.out_bits):
        assert (y in image) == all(parity(y & m) == 0 for m in masks)
        assert (y in span) == (y in image)


@st.composite
def bit_layouts(draw: st.DrawFn) -> Layout:
    """Power-of-two extents over disjoint bits of the offset, with some broadcast modes."""
    widths = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4))
    places = [sum(widths[:k]) for k in range(len(widths))]
    order = draw(st.permutations(range(len(widths))))
    broadcast = draw(st.lists(st.booleans(), min_size=len(widths), max_size=len(widths)))
    shape = tuple(1 << widths[k] for k in order)
    stride = tuple(0 if broadcast[k] else 1 << places[k] for k in order)
    return Layout(shape, stride)


@relaxed
@given(bit_layouts(), st.sampled_from(sorted(BYTE_SWIZZLES)))
def test_layouts_agree_with_their_tables(layout: Layout, name: str) -> None:
    f = F2Map.from_layout(layout)
    assert np.array_equal(f.table(), table(layout))
    back = f.to_layout()
    assert back is not None
    assert np.array_equal(table(back), table(layout))
    swizzled = ComposedLayout(BYTE_SWIZZLES[name], 0, layout)
    assert np.array_equal(F2Map.from_layout(swizzled).table(), table(swizzled))
    assert F2Map.from_table(table(swizzled)) is not None


@relaxed
@given(maps(), st.data())
def test_tables_are_certified(f: F2Map, data: st.DataObject) -> None:
    values = f.table()
    assert F2Map.from_table(values, f.out_bits) == f
    if f.in_bits < 2 or f.out_bits == 0:
        return
    place = data.draw(st.integers(0, len(values) - 1).filter(lambda i: i & (i - 1)) | st.just(0))
    broken = values.copy()
    broken[place] ^= 1
    assert F2Map.from_table(broken) is None


def test_named_axes_are_packed_and_unpacked() -> None:
    fragment = Layout(
        ((8, 2), (2, 4)), ((E("thread", 4), E("value", 2)), (E("value"), E("thread")))
    )
    widths = {"value": 2, "thread": 5}
    f = F2Map.from_layout(fragment, widths)
    packed = table(fragment, "value") + 4 * table(fragment, "thread")
    assert np.array_equal(f.table(), packed)
    back = f.to_layout(widths)
    assert back is not None
    assert np.array_equal(table(back, "thread"), table(fragment, "thread"))
    assert np.array_equal(f.invert()(packed), np.arange(128))


def test_what_is_not_linear_says_why() -> None:
    with pytest.raises(LayoutError, match=r"extent 6 .* no power of two"):
        F2Map.from_layout(Layout((4, 6), (1, 4)))
    with pytest.raises(LayoutError, match="carry"):
        F2Map.from_layout(Layout((4, 4), (1, 2)))
    with pytest.raises(LayoutError, match="adds 3"):
        F2Map.from_layout(ComposedLayout(Swizzle(3, 4, 3), 3, Layout(8)))
    with pytest.raises(LayoutError, match="does not fit 1 bits"):
        F2Map.from_layout(Layout(4, E("thread")), {"thread": 1})
    with pytest.raises(LayoutError, match="'value', which gets no bits"):
        F2Map.from_layout(Layout(4, E("value")), {"thread": 1})
    with pytest.raises(LayoutError, match="no inverse"):
        F2Map((1,), 2).invert()
    with pytest.raises(LayoutError, match="cannot compose"):
        F2Map((1,), 2) @ F2Map((1,), 2)
    with pytest.raises(LayoutError, match="no input of 1 bits"):
        F2Map((1,), 2)(2)
    with pytest.raises(LayoutError, match="does not fit 2 bits"):
        F2Map((4,), 2)
    assert F2Map.from_table(np.array([0, 1, 2])) is None


def test_a_multi_bit_column_is_a_layout_only_without_shared_bits() -> None:
    assert F2Map((3, 4), 3).to_layout() == Layout((2, 2), (3, 4))
    assert F2Map((3, 2), 2).to_layout() is None


@relaxed
@given(st.sampled_from(sorted(BYTE_SWIZZLES)), st.integers(10, 14))
def test_swizzles_are_involutions(name: str, bits: int) -> None:
    swizzle = BYTE_SWIZZLES[name]
    f = swizzle_map(swizzle, bits)
    assert np.array_equal(f.table(), swizzle(np.arange(1 << bits)))
    assert f.invert() == f


def test_composed_with_a_layout_outside() -> None:
    twice = ComposedLayout(Layout((4, 4), (4, 1)), 0, Layout((2, 8), (8, 1)))
    assert np.array_equal(F2Map.from_layout(twice).table(), table(twice))
    with pytest.raises(LayoutError, match="not linear"):
        F2Map.from_layout(ComposedLayout(Layout((4, 4), (4, 1)), 1, Layout(8)))
