"""The signature of a cuTile kernel as text."""

import math

import pytest

from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    ListParameter,
    ScalarParameter,
    SignatureError,
    TupleParameter,
    leaves,
    packed_strides,
    parse_signature,
)

ANY = Extent()


def test_arrays_scalars_and_constants() -> None:
    assert parse_signature("A: f16[?, ?], n: i32, tile=64") == (
        ArrayParameter("A", "float16", (ANY, ANY), (ANY, Extent(1))),
        ScalarParameter("n", "int32"),
        ConstantParameter("tile", 64),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("7", 7), ("-7", -7), ("0.5", 0.5), ("1e-3", 1e-3)),
        *(("True", True), ("False", False), ("None", None), ('"a b"', "a b")),
    ],
)
def test_constants_keep_their_python_type(text: str, value: object) -> None:
    [parameter] = parse_signature(f"c={text}")
    assert isinstance(parameter, ConstantParameter)
    assert parameter.value == value
    assert type(parameter.value) is type(value)


def test_strides_follow_from_the_shape_of_a_packed_array() -> None:
    shape = (Extent(), Extent(None, 4), Extent(8))
    assert packed_strides(shape) == (Extent(None, 32), Extent(8), Extent(1))
    assert packed_strides(()) == ()


def test_strides_and_alignment_may_be_given() -> None:
    [parameter] = parse_signature("A: bf16[?%4, 128; ?%8, 1]@32")
    assert parameter == ArrayParameter(
        "A", "bfloat16", (Extent(None, 4), Extent(128)), (Extent(None, 8), Extent(1)), 32
    )


def test_an_array_may_have_no_dimension() -> None:
    assert parse_signature("x: f32[]") == (ArrayParameter("x", "float32", (), ()),)


def test_indices_may_have_64_bits() -> None:
    [parameter] = parse_signature("A: f32[?, ?]@4 by i64")
    assert isinstance(parameter, ArrayParameter)
    assert (parameter.index_bits, parameter.alignment) == (64, 4)


def test_tuples_have_items_and_lists_arrays() -> None:
    pair, arrays = parse_signature("pair: (f32[?], (i32, =True)), arrays: list f16[?, 8]")
    assert isinstance(pair, TupleParameter)
    array, inner = pair.items
    assert array == ArrayParameter("pair[0]", "float32", (ANY,), (Extent(1),))
    assert inner == TupleParameter(
        "pair[1]", (ScalarParameter("pair[1][0]", "int32"), ConstantParameter("pair[1][1]", True))
    )
    assert isinstance(arrays, ListParameter)
    assert arrays.item.shape == (ANY, Extent(8))
    assert list(leaves([pair, arrays])) == [array, *inner.items, arrays]


def test_constants_of_different_types_are_different() -> None:
    values: list[object] = [1, 1.0, True, "1", None]
    found = {ConstantParameter("c", value) for value in values}
    assert len(found) == len(values)
    assert ConstantParameter("c", math.nan) == ConstantParameter("c", math.nan)
    assert ConstantParameter("c", 0.0) != ConstantParameter("c", -0.0)


def test_nothing_is_a_signature_too() -> None:
    assert parse_signature("  ") == ()


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("A", 2, "expected ':' and a type, or '=' and a value, after 'A'"),
        ("A: f17[?]", 4, "there is no type 'f17'; did you mean f16"),
        ("A: float16[?]", 4, "there is no type 'float16'; did you mean f16?"),
        ("A: uint8[?]", 4, "there is no type 'uint8'; did you mean u8?"),
        ("A: flaot8_e4m3fn", 4, "there is no type 'flaot8_e4m3fn'; known: i1, i8,"),
        ("A: f16[?", 9, "expected ']'"),
        ("A: f16[x]", 8, "expected '?', '?%N' or a number"),
        ("A: f16[-1]", 8, "expected a dimension, a whole number that is not negative"),
        ("A: f16[?%0]", 10, "a divisor is positive"),
        ("A: f16[?; 1, 1]", 11, "2 strides for 1 dimensions"),
        ("A: f16[?]@0", 11, "an alignment is positive"),
        ("A=x", 3, "expected a number, True, False, None or a text"),
        ("A=1, A=2", 6, "a second parameter 'A'"),
        ("A=1 B=2", 5, "expected ','"),
        ("A: f16[?] !", 11, "'!' is not expected"),
        (", A=1", 1, "expected the name of a parameter"),
        ("A: list i32", 9, "a list has arrays"),
        ("A: f16[?] by i8", 14, "indices are 'i32' or 'i64'"),
        ("A: (i32 i32)", 9, "expected ','"),
        ("A: f16[1.5]", 8, "expected a dimension"),
    ],
)
def test_what_is_wrong_is_said_with_its_column(text: str, column: int, reason: str) -> None:
    with pytest.raises(SignatureError) as caught:
        parse_signature(text)
    assert caught.value.reason.startswith(reason)
    assert caught.value.column == column
    assert f"column {column} of the signature '{text}'" in str(caught.value)
