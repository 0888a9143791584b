"""Linear maps over bits against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.f2 import F2Map, Span
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES

relaxed = settings(deadline=None, max_examples=80)


@st.composite
def maps(draw: st.DrawFn, in_bits: int | None = None, out_bits: int | None = None) -> F2Map:
    n = draw(st.integers(0, 7)) if in_bits is None else in_bits
    m = draw(st.integers(0, 7)) if out_bits is None else out_bits
    columns = draw(st.lists(st.integers(0, (1 << m) - 1), min_size=n, max_size=n))
    return F2Map(tuple(columns), m)


def images(f: F2Map) -> list[int]:
    """What each input maps to, column by column."""
    found = [0]
    for column in f.columns:
        found += [image ^ column for image in found]
    return found


@relaxed
@given(maps())
def test_the_table_is_the_map_evaluated(f: F2Map) -> None:
    assert f.table().tolist() == images(f)


@relaxed
@given(st.integers(0, 6).flatmap(lambda n: maps(n, n)))
def test_inverse_or_reason(f: F2Map) -> None:
    if len(set(images(f))) == 1 << f.in_bits:
        table = f.table()
        assert f.invert().table()[table].tolist() == list(range(1 << f.in_bits))
        assert f.invert().invert() == f
    else:
        with pytest.raises(LayoutError, match="both map to 0"):
            f.invert()


@relaxed
@given(maps())
def test_the_span_of_the_columns_is_the_image(f: F2Map) -> None:
    span, image = Span(f.columns), set(images(f))
    assert 1 << len(span) == len(image)
    assert all((y in span) == (y in image) for y in range(1 << f.out_bits))


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


def test_what_is_not_linear_says_why() -> None:
    with pytest.raises(LayoutError, match="no inverse"):
        F2Map((1,), 2).invert()
    with pytest.raises(LayoutError, match="does not fit 2 bits"):
        F2Map((4,), 2)
    assert F2Map.from_table(np.array([0, 1, 2])) is None


@pytest.mark.parametrize("name", BYTE_SWIZZLES)
def test_swizzles_are_involutions(name: str) -> None:
    f = F2Map.from_table(BYTE_SWIZZLES[name](np.arange(1 << 12)))
    assert f is not None
    assert f.invert() == f
