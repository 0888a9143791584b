"""The parts of a tile block are added up once each, by CTAs that wait for lower numbers alone."""

from __future__ import annotations

from functools import cache

import pytest
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.interpreter import Interpreter
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint

from tileas_xdsl.interpreters.pure.registration import register_implementations
from tileas_xdsl.target.launches.divided_sums import group_of
from tileas_xdsl.transforms.divide_sums.parts import part_of_cta


@cache
def _interpreter() -> Interpreter:
    block = Block(arg_types=[i32] * 4)
    build = Builder(InsertPoint.at_end(block))
    cta, ctas, count, index = block.args
    part = part_of_cta(build, cta, ctas, count)
    found = [part.number, part.tile_block, part.others, part.added(build, index)]
    build.insert(func.ReturnOp(*found))
    made = func.FuncOp("main", ([i32] * 4, [i32] * len(found)), Region(block))
    interpreter = Interpreter(ModuleOp([made]))
    register_implementations(interpreter, Context())
    return interpreter


def _added(cta: int, parts: int, count: int) -> tuple[int, int, list[int]]:
    """The part and the tile block of a CTA, and the parts that it adds to its own."""

    def at(index: int) -> list[int]:
        return [int(n) for n in _interpreter().call_op("main", (cta, parts * count, count, index))]

    number, tile_block, others, _ = at(0)
    return number, tile_block, [at(index)[-1] for index in range(others)]


@pytest.mark.parametrize("parts", [1, 2, 3, 5, 8, 37])
def test_every_part_is_added_once_by_a_later_one(parts: int) -> None:
    count, tile_block, longest = 3, 2, 0
    sums: list[set[int]] = []
    for part in range(parts):
        number, block, others = _added(part * count + tile_block, parts, count)
        assert (number, block) == (part, tile_block)
        assert all(other < part for other in others)
        terms = [{part}, *(sums[other] for other in others)]
        assert len(set[int]().union(*terms)) == sum(map(len, terms))
        for other in others:
            sums[other] = set()
        sums.append(set[int]().union(*terms))
        longest = max(longest, len(others))
    assert sums[-1] == set(range(parts))
    assert not any(sums[:-1])
    group = group_of(parts)
    assert longest <= group - 1 + (parts - 1) // group
