"""Types of tiles that show scales in atoms."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute
from xdsl.parser import Parser

from tileas_xdsl.dialects.nv_tileas import NvTileas
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import (
    ScaleTile,
    is_rearranged,
    scale_numbers,
    scale_tile,
)
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed

ATOM = "((32,4),4),((16,4),1)"


def _type(text: str) -> Attribute:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(NvTileas)
    return Parser(ctx, text).parse_type()


def _scales(shape: str, layout: str, element: str = "f8E8M0FNU") -> Attribute:
    return _type(f"tensor<{shape}x{element}, #nv_tileas.shared<{layout}>>")


@pytest.mark.parametrize(
    ("shape", "layout", "expected"),
    [
        ("128x4", ATOM, ScaleTile(128, 4, is_of_b=False)),
        ("128x8", "((32,4),(4,2)),((16,4),(1,512))", ScaleTile(128, 8, is_of_b=False)),
        ("256x4", "((32,4,2),4),((16,4,512),1)", ScaleTile(256, 4, is_of_b=False)),
        ("256x8", "((32,8),8),((16,128),1)", None),
        ("256x8", "((32,4,2),(4,2)),((16,4,1024),(1,512))", ScaleTile(256, 8, is_of_b=False)),
        ("256x8", "((32,4,2),(4,2)),((16,4,512),(1,1024))", None),
        ("4x128", "(4,(32,4)),(1,(16,4))", ScaleTile(128, 4, is_of_b=True)),
        ("8x256", "((4,2),(32,4,2)),((1,512),(16,4,1024))", ScaleTile(256, 8, is_of_b=True)),
        ("4x128", "(4,128),(1,4)", None),
        ("128x4", "(128,4),(4,1)", None),
        ("64x4", "((32,2),4),((16,4),1)", None),
        ("128x2", "((32,4),2),((16,4),1)", None),
        ("128x4", f"{ATOM},swizzle<1,4,3>", None),
        ("1x128x4", "(1,(32,4),4),(512,(16,4),1)", None),
    ],
)
def test_types(shape: str, layout: str, expected: ScaleTile | None) -> None:
    type_ = _scales(shape, layout)
    assert scale_tile(type_) == expected
    assert is_rearranged(type_) == (expected is not None or is_transposed(type_))


@pytest.mark.parametrize("element", ["f8E4M3FN", "i8"])
def test_scales_have_a_byte(element: str) -> None:
    assert scale_tile(_scales("128x4", ATOM, element)) is not None
    assert scale_tile(_scales("128x4", ATOM, "f16")) is None


@pytest.mark.parametrize("type_", ["tensor<128x4xf8E8M0FNU>", "memref<128x4xf8E8M0FNU>", "index"])
def test_other_types(type_: str) -> None:
    assert scale_tile(_type(type_)) is None
    assert scale_numbers(_type(type_)) is None


def test_atoms() -> None:
    """Two atoms along K follow one another; further rows come behind them."""
    tile = scale_tile(_scales("256x8", "((32,4,2),(4,2)),((16,4,1024),(1,512))"))
    assert tile is not None
    assert (tile.row_atoms, tile.k_atoms) == (2, 2)


def test_numbers_of_elements() -> None:
    """Of each row and scale the byte, by the rule that NVIDIA's libraries give for atoms."""
    of_a = scale_numbers(_scales("256x8", "((32,4,2),(4,2)),((16,4,1024),(1,512))"))
    of_b = scale_numbers(_scales("8x256", "((4,2),(32,4,2)),((1,512),(16,4,1024))"))
    assert of_a is not None
    assert of_b is not None
    row, scale = np.indices((256, 8))
    inside = row % 32 * 16 + row % 128 // 32 * 4 + scale % 4
    np.testing.assert_array_equal(of_a, (row // 128 * 2 + scale // 4) * 512 + inside)
    np.testing.assert_array_equal(of_b, of_a.T)
