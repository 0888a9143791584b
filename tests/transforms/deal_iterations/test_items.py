"""The items of all CTAs are every iteration of every tile block once, and none is far too long."""

from __future__ import annotations

from dataclasses import fields
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from tileas_xdsl.interpreters.pure.registration import register_implementations
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.transforms.deal_iterations.items import Items, items_of_cta

Part = tuple[int, int, int]
"""A tile block, the first iteration, and the one behind the last."""


@cache
def _interpreter(cost: int) -> Interpreter:
    block = Block(arg_types=[i32] * 4)
    build = Builder(InsertPoint.at_end(block))
    cta, ctas, count, depth = block.args
    items = items_of_cta(build, cta, ctas, count, depth, cost)
    build.insert(func.ReturnOp(*items.numbers))
    made = func.FuncOp("main", ([i32] * 4, [i32] * len(items.numbers)), Region(block))
    found = Interpreter(ModuleOp([made]))
    register_implementations(found, Context())
    return found


def _parts(cta: int, ctas: int, count: int, depth: int, cost: int) -> list[Part]:
    """What a CTA computes, in order."""
    found = _interpreter(cost).call_op("main", (cta, ctas, count, depth))
    n = dict(zip([one.name for one in fields(Items)], map(int, found), strict=True))
    parts: list[Part] = []
    for item in range(n["count"]):
        if item == n["head_item"]:
            parts.append((n["head_block"], 0, n["head"]))
        elif item >= n["first_tail"]:
            parts.append((n["tail_block"], n["done"], depth))
        elif item < n["in_waves"]:
            parts.append((cta + item * ctas, 0, depth))
        else:
            parts.append((item + n["distance"], 0, depth))
    return parts


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 60), st.integers(0, 9), st.integers(0, 3))
def test_every_iteration_is_computed_once(ctas: int, count: int, depth: int, cost: int) -> None:
    parts = [_parts(cta, ctas, count, depth, cost) for cta in range(ctas)]
    pieces = sorted(piece for of_cta in parts for piece in of_cta)
    blocks = {block: [(a, b) for other, a, b in pieces if other == block] for block in range(count)}
    assert len(pieces) == sum(map(len, blocks.values()))
    for found in blocks.values():
        assert found[0][0] == 0
        assert found[-1][1] == depth
        assert [b for _, b in found[:-1]] == [a for a, _ in found[1:]]
        assert len(found) <= 2


@settings(max_examples=40)
@given(st.integers(1, 12), st.integers(1, 60), st.integers(0, 9), st.integers(0, 3))
def test_heads_are_first_of_a_share_and_tails_follow_in_the_next_cta(
    ctas: int, count: int, depth: int, cost: int
) -> None:
    parts = [_parts(cta, ctas, count, depth, cost) for cta in range(ctas)]
    for cta, of_cta in enumerate(parts):
        for position, (block, begin, end) in enumerate(of_cta):
            if end < depth:
                assert all(n < block for n, _, _ in of_cta[:position])
                assert parts[cta + 1][-1] == (block, end, depth)
            if begin:
                assert position == len(of_cta) - 1
                assert (block, 0, begin) in parts[cta - 1]


@pytest.mark.parametrize(
    ("count", "depth", "cost", "most"),
    [
        (288, 47, 7, 103),  # 2.18 waves
        (512, 64, 7, 249),  # 3.88 waves
        (2048, 128, 7, 1986),  # 15.5 waves
        (512, 64, 8, 4 * 64),  # 16 CTAs would idle for 64 iterations: it costs as much
        (264, 47, 7, 2 * 47),  # no wave is left
        (100, 47, 7, 47),  # no wave is whole
    ],
)
def test_the_longest_cta_has_its_share(count: int, depth: int, cost: int, most: int) -> None:
    ctas = 132
    lengths = [
        sum(end - begin for _, begin, end in _parts(cta, ctas, count, depth, cost))
        for cta in range(ctas)
    ]
    assert max(lengths) == most
    assert most in (ceil_div(count * depth, ctas), ceil_div(count, ctas) * depth)
