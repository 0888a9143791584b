"""Products by warps whose operand is a constant: threads have it in vectors of any number."""

from __future__ import annotations

import pytest

from tests.support.random_tile_ir import judge
from tests.support.random_tile_ir.judge import TARGETS, Kind
from tests.support.random_tile_ir.program import Access, Node, Output, Program, Tile


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("depth", [8, 16, 64])
def test_every_level_multiplies_a_constant(depth: int, target: str) -> None:
    a, b, c = Tile((128, depth), "f16"), Tile((depth, 8), "f16"), Tile((128, 8), "f32")
    leaf = Access("pointers")
    nodes = (
        Node(1, "@r = constant <f16: 1.5> : @t", a),
        Node(2, "", b, access=leaf),
        Node(3, "", c, access=leaf),
        Node(4, "@r = mmaf @0, @1, @2 : @t0, @t1, @t2", c, (1, 2, 3), is_exact=False),
    )
    verdict = judge(Program(depth, nodes, (Output(4),)), (target,))
    assert verdict.kind is Kind.RIGHT, verdict
