"""Launches that are asked how long rows are: each has at most one form, whatever its grid."""

import pytest

from tileas_xdsl.target.bounded_rows import BoundedRows, bounded_rows

WIDE = bounded_rows(8192, (2, 10))


def given(*lengths: object) -> list[object]:
    """The arguments of a launch whose rows have these lengths."""
    args: list[object] = [None] * 11
    args[2], args[10] = lengths
    return args


@pytest.mark.parametrize(
    ("length", "bounds"),
    [
        (1, (1, 1023)),
        (1024, (1024, 1024)),
        (5000, (4097, 5119)),
        (5120, (5120, 5120)),
        (8191, (7169, 8191)),
        (8192, (8192, 8192)),
    ],
)
def test_a_length_has_one_form(length: int, bounds: tuple[int, int]) -> None:
    (found,) = [one for one in WIDE if one.suits(given(length, length), (400, 1, 1), 132)]
    assert (found.least, found.most) == bounds
    assert found.is_exact == (length == found.least == found.most)


@pytest.mark.parametrize("lengths", [(0, 0), (8193, 8193), (5120, 5121), (5120, None), (None, 3)])
def test_rows_that_no_form_is_for(lengths: tuple[object, object]) -> None:
    assert not any(one.may_suit(given(*lengths)) for one in WIDE)


def test_no_grid_has_other_code() -> None:
    (found,) = [one for one in WIDE if one.may_suit(given(5000, 5000))]
    assert all(found.suits(given(5000, 5000), (n, 1, 1), 132) for n in (1, 132, 1 << 20))
    assert not found.unsuited(132)


def test_parts_of_narrow_tiles_are_vectors_of_a_warp() -> None:
    assert [one.most for one in bounded_rows(1024, (2,)) if one.is_exact] == [256, 512, 768, 1024]
    assert bounded_rows(512, (2,))[0] == BoundedRows(256, 256, (2,))
