"""Predicates on the length of rows: each launch has one specialization at most, in any grid."""

from itertools import pairwise

import pytest

from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.specializations import chosen_lengths

WIDE = BoundedRows.of(8192, (2, 10))


def ranges(asked: BoundedRows) -> list[BoundedRows]:
    """All that halves end with."""
    halves = asked.halves()
    return [asked] if halves is None else [one for half in halves for one in ranges(half)]


def chosen(*lengths: object) -> tuple[int, int] | None:
    """The lengths that are specialized for in a launch whose rows have these lengths."""
    return chosen_lengths(WIDE, lambda one: one.may_suit(given(*lengths)))


def given(*lengths: object) -> list[object]:
    """The arguments of a launch whose rows have these lengths."""
    args: list[object] = [None] * 11
    args[2], args[10] = lengths
    return args


@pytest.mark.parametrize(
    ("length", "bounds"),
    [
        (1, (1, 1008)),
        (1024, (1024, 1024)),
        (5000, (4097, 5104)),
        (5104, (4097, 5104)),
        (5105, (5105, 5119)),
        (5120, (5120, 5120)),
        (7167, (7153, 7167)),
        (7168, (7168, 7168)),
        (8192, (8192, 8192)),
    ],
)
def test_a_length_has_one_form(length: int, bounds: tuple[int, int]) -> None:
    assert chosen(length, length) == bounds
    (found,) = [one for one in ranges(WIDE) if one.may_suit(given(length, length))]
    assert (found.least, found.most) == bounds


def test_rows_that_nearly_fill_a_tile_have_the_code_of_all() -> None:
    """They wrap around where they begin between vectors, and have no code of their own."""
    assert chosen(7169, 7169) == chosen(8176, 8176) == (7169, 8176)
    assert chosen(8177, 8177) is None
    assert chosen(8191, 8191) is None


@pytest.mark.parametrize("lengths", [(0, 0), (8193, 8193), (5120, 5121), (5120, None), (None, 3)])
def test_rows_that_no_form_is_for(lengths: tuple[object, object]) -> None:
    assert chosen(*lengths) is None


def test_no_grid_has_other_code() -> None:
    assert all(WIDE.suits(given(5000, 5000), (n, 1, 1), 132) for n in (1, 132, 1 << 20))
    assert not WIDE.unsuited(132)


def test_forms_are_next_to_one_another() -> None:
    found = ranges(WIDE)
    assert (found[0].least, found[-1].most) == (1, 8192)
    assert all(one.most + 1 == other.least for one, other in pairwise(found))


def test_parts_of_narrow_tiles_are_vectors_of_a_warp() -> None:
    exact = [one.most for one in ranges(BoundedRows.of(1024, (2,))) if one.least == one.most]
    assert exact == [256, 512, 768, 1024]


@pytest.mark.parametrize(
    ("length", "bounds"),
    [(1, (1, 15)), (72, (65, 79)), (80, (80, 80)), (112, (112, 112)), (113, None), (128, None)],
)
def test_rows_that_are_multiplied_end_with_an_instruction(
    length: int, bounds: tuple[int, int] | None
) -> None:
    asked = BoundedRows.of(128, (0,), 16)
    assert chosen_lengths(asked, lambda one: one.may_suit([length])) == bounds
