"""Which bits of which word an element is, and how many of them say all of it."""

from __future__ import annotations

import pytest
from support.ir import parse
from xdsl.ir import SSAValue

from tileas_xdsl.analysis.values.bit_fields import Element, Span, field_of, span_of

U4, S4 = Span(4, signed=False), Span(4, signed=True)

CASES: dict[str, tuple[str, int, Span, tuple[str, int, int]]] = {
    "masked": ("%found = arith.andi %words, %fifteen : vector<2xi32>", 1, U4, ("words", 1, 0)),
    "shifted and masked": (
        """%s = arith.shrsi %words, %counts : vector<2xi32>
        %found = arith.andi %s, %fifteen : vector<2xi32>""",
        1,
        U4,
        ("words", 1, 28),
    ),
    "the highest bits": (
        "%found = arith.shrui %words, %c28 : vector<2xi32>",
        0,
        U4,
        ("words", 0, 28),
    ),
    "with a sign": ("%found = arith.shrsi %words, %c28 : vector<2xi32>", 0, S4, ("words", 0, 28)),
    "sign of the lower half of a byte": (
        """%s = arith.shli %bytes, %b4 : vector<4xi8>
        %found = arith.shrsi %s, %b4 : vector<4xi8>""",
        3,
        S4,
        ("bytes", 3, 0),
    ),
    "extended": (
        """%x = vector.extract %bytes[2] : i8 from vector<4xi8>
        %w = arith.extui %x : i8 to i32
        %four = arith.constant 4 : i32
        %found = arith.shrui %w, %four : i32""",
        0,
        U4,
        ("bytes", 2, 4),
    ),
    "put together and cut": (
        """%s = arith.shrui %words, %c28 : vector<2xi32>
        %m = cute.fragment.make %words, %s : vector<2xi32>, vector<2xi32> -> vector<4xi32>
        %found = cute.fragment.slice %m[2] : vector<4xi32> -> vector<2xi32>""",
        1,
        U4,
        ("words", 1, 28),
    ),
    "bytes of a word": (
        """%h = arith.shrsi %bytes, %b4 : vector<4xi8>
        %x = vector.extract %h[1] : i8 from vector<4xi8>
        %y = vector.extract %h[3] : i8 from vector<4xi8>
        %low = arith.extui %x : i8 to i32
        %high = arith.extui %y : i8 to i32
        %c24 = arith.constant 24 : i32
        %up = arith.shli %high, %c24 : i32
        %both = arith.ori %low, %up : i32
        %w = cute.fragment.make %both : i32 -> vector<1xi32>
        %found = vector.bitcast %w : vector<1xi32> to vector<4xi8>""",
        3,
        S4,
        ("bytes", 3, 4),
    ),
    "a mask with a hole": (
        "%found = arith.andi %words, %nine : vector<2xi32>",
        0,
        U4,
        ("found", 0, 0),
    ),
    "a shift by an unknown number": (
        """%s = arith.shrui %words, %others : vector<2xi32>
        %found = arith.andi %s, %fifteen : vector<2xi32>""",
        0,
        U4,
        ("s", 0, 0),
    ),
    "bits of both operands": (
        """%s = arith.ori %words, %others : vector<2xi32>
        %found = arith.andi %s, %fifteen : vector<2xi32>""",
        0,
        U4,
        ("s", 0, 0),
    ),
}


@pytest.mark.parametrize(("code", "position", "span", "place"), CASES.values(), ids=CASES)
def test_fields(code: str, position: int, span: Span, place: tuple[str, int, int]) -> None:
    module = parse(f"""
func.func @f(%words : vector<2xi32>, %others : vector<2xi32>, %bytes : vector<4xi8>) {{
  %fifteen = arith.constant dense<15> : vector<2xi32>
  %nine = arith.constant dense<9> : vector<2xi32>
  %c28 = arith.constant dense<28> : vector<2xi32>
  %counts = arith.constant dense<[0, 28]> : vector<2xi32>
  %b4 = arith.constant dense<4> : vector<4xi8>
  {code}
  func.return
}}""")
    values = [value for op in module.walk() for value in op.results]
    values += [
        value for op in module.walk() for r in op.regions for b in r.blocks for value in b.args
    ]
    by_name: dict[str | None, SSAValue] = {value.name_hint: value for value in values}
    element = Element(by_name["found"], position)
    found = field_of(element, span.bits)
    assert span_of(element) == span
    name, where, offset = place
    assert (found.element, found.offset) == (Element(by_name[name], where), offset)


def test_numbers_without_a_sign_have_fewer_bits_than_their_type() -> None:
    """A mask of all bits leaves a sign, and so does an extension that adds none."""
    module = parse("""
func.func @f(%byte : i8) {
  %ones = arith.constant -1 : i8
  %found = arith.andi %byte, %ones : i8
  func.return
}""")
    (found,) = (r for op in module.walk() for r in op.results if r.name_hint == "found")
    assert span_of(Element(found)) == Span(8, signed=True)
