"""What it costs to compute an element of a tile again where it is read."""

from __future__ import annotations

from xdsl.dialects import arith, tensor, test
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, i32
from xdsl.ir import Block, Region, SSAValue

from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.transforms.fuse_elementwise.profitability import (
    CHEAP,
    SHORT,
    is_positional,
    is_unpacked,
)


def _doubled(times: int) -> SSAValue:
    """A splat that is added to itself, and the sum to itself: 2**times paths lead to it."""
    number = test.TestOp(result_types=[i32]).results[0]
    value: SSAValue = tensor.SplatOp(number, [], TensorType(i32, [8])).result
    for _ in range(times):
        value = arith.AddiOp(value, value).result
    return value


def test_every_path_to_a_shared_operand_counts() -> None:
    """1, 3 and 7 operations are within the budget, 15 are not."""
    assert [is_positional(_doubled(times)) for times in range(5)] == [True] * 4 + [False]
    assert CHEAP == 8


def test_the_walk_ends_with_the_budget() -> None:
    """A sorting network has more paths than anyone can walk."""
    assert not is_positional(_doubled(200))


def _halves(words: int, elements: int) -> SSAValue:
    """The low bits of words, each of them for some elements."""
    source = test.TestOp(result_types=[TensorType(i32, [words])]).results[0]
    body = Block(arg_types=[IndexType()])
    count = arith.ConstantOp(IntegerAttr(elements // words, IndexType()))
    word = arith.DivUIOp(body.args[0], count)
    taken = tensor.ExtractOp(source, [word.result], i32)
    body.add_ops([count, word, taken, YieldOp(taken.result)])
    each = GenerateOp(TensorType(i32, [elements]), Region(body)).result
    return arith.AndIOp(each, each).result


def test_parts_of_words_are_taken_where_they_are_read() -> None:
    """A tile of as many words as elements is exchanged itself, and so is one of positions."""
    assert is_unpacked(_halves(4, 8))
    assert not is_unpacked(_halves(8, 8))
    assert not is_unpacked(_doubled(4))


def _shifts(repeats: int, count: int) -> SSAValue:
    """Numbers of more operations than are repeated for a tile of any length, in each row."""
    body = Block(arg_types=[IndexType(), IndexType()])
    number: SSAValue = body.args[1]
    for _ in range(CHEAP + 1):
        twice = arith.AddiOp(number, body.args[1])
        body.add_op(twice)
        number = twice.result
    body.add_op(YieldOp(number))
    return GenerateOp(TensorType(IndexType(), [repeats, count]), Region(body)).result


def test_few_numbers_of_coordinates_alone_are_positions_however_often_they_are_repeated() -> None:
    assert is_positional(_shifts(1, SHORT))
    assert is_positional(_shifts(128, SHORT))
    assert not is_positional(_shifts(1, 2 * SHORT))
