"""Products that two CTAs multiply together are those that the PTX ISA's table of shapes has."""

from __future__ import annotations

import pytest

from tileas_xdsl.target.mma.matrix_units import TCGEN05
from tileas_xdsl.target.mma.mma_kinds import KINDS


@pytest.mark.parametrize(
    ("element", "kind"),
    [("f16", "f16"), ("bf16", "f16"), ("tf32", "tf32"), ("f8e4m3", "f8f6f4"), ("i8", "i8")],
)
def test_two_ctas_take_the_shapes_of_the_table(element: str, kind: str) -> None:
    known, words = KINDS[kind].shapes["2"], (element, element, "i32" if element == "i8" else "f32")
    for m in (64, *known.m, 512):
        for n in range(8, 265, 8):
            is_known = m in known.m and n in known.n
            assert TCGEN05.takes_of_pair(words, m, n, 32) == is_known, (m, n)
