"""Hexadecimal float literals are bit patterns, as in MLIR, and text parses back to the same bits.

xDSL keeps floats as Python's, where the payload of a NaN of 8 and 16 bits gets lost; text that we
print has all of them.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from support.ir import parse
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.float_bits import bits_of_float, element_bits
from tileas_xdsl.printing import module_text

BITS: dict[str, tuple[int, list[int]]] = {
    "f64": (16, [0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000001]),
    "f32": (8, [0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00123, 0x7F7FFFFF, 0x00000001]),
    "f16": (4, [0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7BFF, 0x0001]),
    "bf16": (4, [0x7F80, 0xFF80, 0x7FC0, 0xFFC0, 0x7F7F, 0x0001]),
    "tf32": (5, [0x3FC00, 0x7FC00, 0x3FE00, 0x3FBFF, 0x00001]),
    "f8E4M3FN": (2, [0x7F, 0x7E, 0xFE, 0x01]),
    "f8E5M2": (2, [0x7C, 0xFC, 0x7E, 0x7B, 0x01]),
    "f8E8M0FNU": (2, [0x00, 0x7F, 0xFE, 0xFF]),
    "f4E2M1FN": (1, [0x0, 0x7, 0x8, 0xF]),
}
"""By type the digits of a literal, and infinities, NaN, the largest and the smallest numbers."""

CASES = [(name, digits, bits) for name, (digits, every) in BITS.items() for bits in every]


def packed(attribute: Any) -> bytes:
    """The bytes of the first element."""
    if isinstance(attribute, FloatAttr):
        return bytes(attribute.type.pack((attribute.value.data,)))
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    size = attribute.get_element_type().compile_time_size
    return attribute.data.data[:size]


@pytest.mark.parametrize(("name", "digits", "bits"), CASES)
@pytest.mark.parametrize(
    "form", ["{0} : {1}", "dense<{0}> : tensor<4x{1}>", "dense<[{0}, 1.0]> : tensor<2x{1}>"]
)
def test_bits_stay(form: str, name: str, digits: int, bits: int) -> None:
    text = form.format(f"0x{bits:0{digits}X}", name)
    module = parse(f'"test.op"() {{a = {text}}} : () -> ()')
    first = module.body.block.first_op
    assert first is not None
    found = packed(first.attributes["a"])
    assert int.from_bytes(found, "little") == bits
    again = parse(str(module)).body.block.first_op
    assert again is not None
    assert packed(again.attributes["a"]) == found


@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("f16", 16),
        ("bf16", 16),
        ("f32", 32),
        ("f64", 64),
        ("f8E5M2", 8),
        ("f8E4M3FN", 8),
        ("f8E8M0FNU", 8),
    ],
)
def test_text_has_every_bit_pattern(name: str, width: int) -> None:
    """Signalling and quiet NaN of both signs, all of 8 bits: as attributes, splats and elements."""
    generator = random.Random(0)
    count = 256 if width == 8 else 80
    some = range(256) if width == 8 else [generator.getrandbits(width) for _ in range(40)]
    exponents = [~(generator.getrandbits(width) >> 12) & (1 << width) - 1 for _ in range(40)]
    bits = [*some, *(exponents if width > 8 else [])]
    assert len(bits) == count
    literals = [f"0x{one:0{width // 4}X}" for one in bits]
    scalars = ", ".join(f"s{k} = {one} : {name}" for k, one in enumerate(literals))
    splats = ", ".join(f"d{k} = dense<{one}> : tensor<3x{name}>" for k, one in enumerate(literals))
    rows = [
        f"r{k} = dense<[{', '.join(literals[k : k + 4])}]> : tensor<4x{name}>"
        for k in range(0, count, 4)
    ]
    text = f'"test.op"() {{{scalars}, {splats}, {", ".join(rows)}}} : () -> ()'
    printed = module_text(parse(text), {})
    again = parse(printed)
    assert module_text(again, {}) == printed
    op = again.body.block.first_op
    assert op is not None
    for k, pattern in enumerate(bits):
        scalar, splat = op.attributes[f"s{k}"], op.attributes[f"d{k}"]
        assert isinstance(scalar, FloatAttr)
        assert bits_of_float(scalar.value.data, scalar.type) == pattern
        assert isinstance(splat, DenseIntOrFPElementsAttr)
        assert {*element_bits(splat)} == {pattern}
    for k in range(0, count, 4):
        row = op.attributes[f"r{k}"]
        assert isinstance(row, DenseIntOrFPElementsAttr)
        assert element_bits(row) == bits[k : k + 4]


@pytest.mark.parametrize("bits", BITS["f32"][1])
@pytest.mark.parametrize("name", ["f32", "f64", "f16"])
def test_constants_of_tile_ir(name: str, bits: int) -> None:
    digits, every = BITS[name]
    bits = every[BITS["f32"][1].index(bits) % len(every)]
    literal = f"0x{bits:0{digits}X}"
    text = f"""cuda_tile.module @m {{ entry @k() {{
      %0 = constant <{name}: {literal}> : tile<4x{name}>
      %1 = constant <{name}: [{literal}, 1.0]> : tile<2x{name}>
      return
    }} }}"""
    module = parse(text)
    ops = [op for op in module.walk() if op.name == "cuda_tile.constant"]
    for op in [*ops, *(o for o in parse(str(module)).walk() if o.name == "cuda_tile.constant")]:
        value = op.properties["value"]
        assert int.from_bytes(packed(value), "little") == bits


@pytest.mark.parametrize("literal", ["0x1FF800000", "-0xFF800000"])
@pytest.mark.parametrize("form", ["{} : f32", "dense<{}> : tensor<4xf32>"])
def test_a_literal_has_the_bits_of_its_type(form: str, literal: str) -> None:
    with pytest.raises(DiagnosticError):
        parse(f'"test.op"() {{a = {form.format(literal)}}} : () -> ()')


def test_integers_may_be_negative() -> None:
    op = parse('"test.op"() {a = -0x10 : i32, b = dense<-0x10> : tensor<2xi32>} : () -> ()')
    assert "a = -16 : i32, b = dense<-16>" in str(op)
