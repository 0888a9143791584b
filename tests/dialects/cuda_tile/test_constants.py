"""Constants keep their elements through text."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.ir import parse

from tileas_xdsl.dialects.cuda_tile.tiles.constants import ConstantOp, constant_number
from tileas_xdsl.dialects.cuda_tile.types.dense import Dense, dense, tile_type_of
from tileas_xdsl.dialects.cuda_tile.types.scalars import ELEMENTS
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType

LITTLE_ENDIAN = {"f16": "<H", "f32": "<I", "f64": "<Q"}


def through_text(value: Dense) -> Dense:
    """What the constant is after it was printed and read."""
    (op,) = parse(str(ConstantOp.of(value))).body.block.ops
    assert isinstance(op, ConstantOp)
    return op.value


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_integers_round_trip(data: st.DataObject) -> None:
    width = data.draw(st.sampled_from([1, 8, 16, 32, 64]))
    low, high = (0, 1) if width == 1 else (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    numbers = data.draw(st.lists(st.integers(low, high), min_size=4, max_size=4))
    value = dense(TileType((2, 2), ELEMENTS[f"i{width}"]), numbers)
    assert through_text(value) == value
    assert tile_type_of(value) == TileType((2, 2), ELEMENTS[f"i{width}"])


@settings(deadline=None, max_examples=30)
@given(st.data())
def test_all_bits_of_floats_round_trip(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(LITTLE_ENDIAN)))
    size = struct.calcsize(LITTLE_ENDIAN[name])
    raw = data.draw(st.binary(min_size=2 * size, max_size=2 * size))
    text = f'cuda_tile.constant <{name}: "0x{raw.hex()}"> : tile<2x{name}>'
    (op,) = parse(text).body.block.ops
    assert isinstance(op, ConstantOp)
    assert op.value.data.data == raw
    assert through_text(op.value).data.data == raw


def test_one_number_stands_for_all() -> None:
    value = dense(TileType((2, 2), ELEMENTS["i32"]), [7, 7, 7, 7])
    op = ConstantOp.of(value)
    assert str(op).endswith("constant <i32: 7> : tile<2x2xi32>")
    assert through_text(value) == value
    assert constant_number(op.result) == 7


@pytest.mark.parametrize("text", ["<i32: [1, 2]> : tile<2xi32>", "<f32: 1.0> : tile<f32>"])
def test_other_constants_are_no_number(text: str) -> None:
    (op,) = parse(f"cuda_tile.constant {text}").body.block.ops
    assert constant_number(op.results[0]) is None


@pytest.mark.parametrize("raw", ["00", "0x00", "0xzz", "0x000000000000"])
def test_bytes_have_the_length_of_one_element_or_of_all(raw: str) -> None:
    with pytest.raises(Exception, match="expected 0x and the bytes of 2 elements of 4 each"):
        parse(f'cuda_tile.constant <f32: "{raw}"> : tile<2xf32>')


def test_elements_without_literals_are_refused() -> None:
    with pytest.raises(Exception, match="no literals of f8E5M3FNU"):
        parse("cuda_tile.constant <f8E5M3FNU: 1.0> : tile<f8E5M3FNU>")
