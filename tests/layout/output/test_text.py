"""Both layout notations: round trips, every rejection with its location, and fuzzed text."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.layouts import axis_strides, layouts, signed_strides

from tileas_xdsl.layout import (
    BYTE_SWIZZLES,
    ELEMENT_TYPES,
    ComposedLayout,
    Layout,
    LayoutError,
    LayoutSyntaxError,
    MemoryLayout,
    Swizzle,
    parse_cute_layout,
    parse_layout,
    parse_memory_layout,
)

any_layouts = st.one_of(layouts(), layouts(signed_strides), layouts(axis_strides))
swizzles = st.builds(
    lambda b, m, extra, sign: Swizzle(b, m, sign * (b + extra)),
    st.integers(0, 5),
    st.integers(0, 8),
    st.integers(0, 3),
    st.sampled_from([1, -1]),
)


@given(any_layouts)
def test_plain_layouts_round_trip(layout: Layout) -> None:
    assert parse_layout(str(layout)) == layout
    assert str(parse_layout(str(layout))) == str(layout)


@given(swizzles, st.integers(-100, 100), layouts(), st.one_of(st.none(), layouts()))
def test_composed_layouts_round_trip(swizzle, offset, inner, outer) -> None:
    layout = ComposedLayout(swizzle, offset, inner)
    if outer is not None:
        layout = ComposedLayout(outer, -offset, layout)
    assert parse_cute_layout(str(layout)) == layout


@given(
    layouts(),
    st.sampled_from([None, *BYTE_SWIZZLES.values()]),
    st.sampled_from([None, *ELEMENT_TYPES]),
)
def test_memory_layouts_round_trip(layout, swizzle, elem) -> None:
    memory = MemoryLayout(layout, swizzle, elem)
    assert parse_memory_layout(str(memory)) == memory
    assert parse_layout(str(memory)) == memory


@pytest.mark.parametrize(
    "text",
    [
        "<(1,1),(0,0)>",
        "<(16,16),(1,16)>",
        "<(16,16),(1,16),swizzle<2,5,2>>",
        "<(16,(8,2)),(1,(16,8))>",
        "<(128,64),(64,1),swizzle<3,4,3>,elem=nvfp4>",
        "<((4,32),64),((1,512),16),elem=mxf4>",
        "<16,1>",
    ],
)
def test_the_documented_literals_are_read_and_printed_as_written(text: str) -> None:
    assert str(parse_memory_layout(text)) == text


def test_blanks_underscores_and_aliases_are_read() -> None:
    spaced = parse_layout(" < ( 128 , 64 ),\n (64, 1) , swizzle < 3 , 4 , 3 > , elem = E4M3 > ")
    assert str(spaced) == "<(128,64),(64,1),swizzle<3,4,3>,elem=f8e4m3>"
    assert str(parse_layout("Sw<3,4,3> o 0 o (_8,_64):(_64,_1)")) == "S<3,4,3> o 0 o (8,64):(64,1)"
    assert str(parse_layout("(4):(1)")) == "(4):(1)"
    assert parse_layout("():()") == Layout((), ())
    assert parse_layout("4:999999999999999999+5-999999999999999999") == Layout(4, 5)
    assert str(parse_layout("4:16@thread-3@value+2")) == "4:2+16@thread-3@value"


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("", 1, "expected an extent, found the end"),
        ("(4,2)", 6, "expected ':' between shape and stride, found the end"),
        ("(4,2):(1)", 1, r"stride \(1\) is not congruent to shape \(4,2\)"),
        ("(4,x):(1,2)", 4, "expected an extent, found 'x'"),
        ("(4 2):(1,2)", 4, r"expected '\)' or ',' in a shape, found '2'"),
        ("(0,2):(1,1)", 1, "extent 0 of a layout is not positive"),
        ("(4,2):(1,2@)", 12, "expected the name of an axis after '@'"),
        ("4:1 5", 5, "unexpected '5' after the layout"),
        ("9999999999999999999:1", 1, "an integer of 19 digits is too large"),
        ("4:" + "+".join(["999999999999999999"] * 11), 3, "a sum of 20 digits is too large"),
        ("(2,4):(1, 5+9@a+999999999999999999@a)", 11, "a sum of 19 digits is too large"),
        ("(" * 40, 34, "tuples nest deeper than 32"),
        ("S<3,4,3>", 9, "expected 'o' and an offset after the outer layout"),
        ("S<3,4,1> o 0 o 4:1", 1, "the shift must be at least the number of bits"),
        ("S<3,4> o 0 o 4:1", 6, "expected ',' in a swizzle, found '>'"),
        ("S<3,4,3> o x", 12, "expected an offset, found 'x'"),
        ("<(4,2),(1,2)", 13, "expected '>' after a layout literal, found the end"),
        ("<(4,2),(-1,2)>", 9, "expected a stride, found '-'"),
        ("<(4,2),(1,2),swizzle<2,3,2>>", 14, "is no swizzle of shared memory: the modes are none"),
        ("<(4,2),(1,2),swizle<3,4,3>>", 14, "unexpected clause 'swizle'"),
        ("<(4,2),(1,2),elem=f16,swizzle<3,4,3>>", 23, "unexpected clause 'swizzle'"),
        ("<(4,2),(1,2),elem=f16,elem=f16>", 23, "unexpected clause 'elem'"),
        ("<(4,2),(1,2),elem=bf17>", 19, "unknown element type 'bf17'; did you mean bf16"),
        ("<(4,2),(1,2),>", 14, "expected a clause"),
        ("<(4,2),(1)>", 2, "is not congruent"),
        ("4:1" + " o 0 o 4:1" * 40, None, "more than 32 layouts are composed"),
    ],
)
def test_bad_text_is_rejected_at_its_place(text: str, column: int | None, reason: str) -> None:
    with pytest.raises(LayoutSyntaxError, match=reason) as caught:
        parse_layout(text)
    if column is not None:
        assert caught.value.position + 1 == column
    assert f"at column {caught.value.position + 1} of" in str(caught.value)


def test_an_unknown_element_name_is_rejected_before_anything_else() -> None:
    with pytest.raises(LayoutSyntaxError, match="unknown element type 'zf3'"):
        parse_layout("<(4,0),(1),swizzle<9,9,9>,elem=zf3>")


tokens = st.lists(
    st.sampled_from(
        ["(", ")", ",", ":", "<", ">", "@", "+", "-", "o", " ", "S<", "Sw<", "swizzle", "elem", "=",
         "0", "1", "4", "64", "_8", "thread", "f16", "?", "\n", "é", "\0", "٣"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


@given(st.one_of(tokens, st.text(max_size=60)))
@example("(" * 5000)
@example("4:1 o 0 o " * 5000)
@example("4:" + "1@a+" * 5000 + "1")
@example("9" * 10000)
def test_no_text_makes_a_parser_fail_otherwise(text: str) -> None:
    for parse in (parse_layout, parse_cute_layout, parse_memory_layout):
        try:
            layout = parse(text)
        except LayoutSyntaxError as error:
            assert 0 <= error.position <= len(text)
            continue
        assert parse(str(layout)) == layout


@given(st.binary(max_size=60))
def test_no_bytes_make_a_parser_fail_otherwise(data: bytes) -> None:
    text = data.decode("utf-8", errors="replace")
    try:
        parse_layout(text)
    except LayoutError:
        return
