"""Register layouts of tiles that differ in dimensions of extent 1."""

from __future__ import annotations

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.output.text import parse_cute_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.unit_dimensions import as_matrix, with_units

ROWS = "(16,(2,32)):(1@value,(16@value,1@thread))"


def test_dimensions_are_added_and_removed() -> None:
    plain = Layout((4, 8), (1, 4))
    seen = with_units(plain, (4, 8), (1, 4, 1, 8))
    assert str(seen) == "(1,4,1,8):(0,1,0,4)"
    assert seen is not None
    assert with_units(seen, (1, 4, 1, 8), (4, 8)) == plain


def test_a_mode_of_replicas_stays_last() -> None:
    replicated = Layout((4, 8, 2), (1, 4, 0))
    assert str(with_units(replicated, (4, 8), (4, 1, 8))) == "(4,1,8,2):(1,0,4,0)"


def test_other_extents_are_another_tile() -> None:
    assert with_units(Layout((4, 8), (1, 4)), (4, 8), (8, 4)) is None
    assert with_units(Layout((4, 8), (1, 4)), (4, 8), (32,)) is None


def test_a_matrix_has_no_leading_dimensions_of_one() -> None:
    layout = parse_cute_layout(ROWS)
    seen = with_units(layout, (16, 64), (1, 1, 16, 64))
    assert seen is not None
    matrix = as_matrix(RegisterLayout(seen, (1, 1, 16, 64), 32))
    assert (matrix.shape, str(matrix.layout)) == ((16, 64), str(layout))
    assert as_matrix(matrix) is matrix
