"""Types of tiles that are read as their transposes."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from tileas_xdsl.dialects.nv_tileas import NvTileas
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed


@pytest.mark.parametrize(
    ("type_", "expected"),
    [
        ("tensor<32x64xf16, #nv_tileas.shared<(32,64),(1,32)>>", True),
        ("tensor<32x64xf16, #nv_tileas.shared<(32,64),(64,1)>>", False),
        ("tensor<32x64xf16, #nv_tileas.shared<(32,64),(1,40)>>", False),
        ("tensor<32x64xf16, #nv_tileas.shared<(32,64),(1,32),swizzle<2,4,3>>>", True),
        ("tensor<64x32xf16, #nv_tileas.shared<((32,2),32),((1,1024),32),swizzle<2,4,3>>>", True),
        ("tensor<64x32xf16, #nv_tileas.shared<((32,2),32),((1,2048),32),swizzle<2,4,3>>>", True),
        ("tensor<64x32xf16, #nv_tileas.shared<(64,(16,2)),(16,(1,1024))>>", False),
        ("tensor<16x64xf16, #nv_tileas.shared<(32,64),(1,32)>>", False),
        ("tensor<32xf16, #nv_tileas.shared<32,1>>", False),
        ("tensor<32x64xf16, #nv_tileas<space smem>>", False),
        ("tensor<32x64xf16>", False),
        ("memref<32x64xf16, strided<[1, 32]>>", False),
    ],
)
def test_types(type_: str, expected: bool) -> None:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(NvTileas)
    assert is_transposed(Parser(ctx, type_).parse_type()) is expected
