"""`sink-negf-through-shapes`: kernels mean what they meant."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tests.support.tile_ir import text_of_tiles
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.arithmetic.sink_negf_through_shapes import SinkNegfThroughShapes
from tileas_xdsl.transforms.conversion.convert_cudatile_to_tileaa import ConvertCudatileToTileaa
from tileas_xdsl.transforms.conversion.convert_tileaa_to_tileas import ConvertTileaaToTileas

BODY = """
    %c = reshape %a0 : tile<16xf32> -> tile<16x1xf32>
    %b = broadcast %c : tile<16x1xf32> -> tile<16x32xf32>
    %n = negf %b : tile<16x32xf32>
    %e = exp %n : tile<16x32xf32>
    %h = ftof %e : tile<16x32xf32> -> tile<16x32xf16>
    %w = ftof %h : tile<16x32xf16> -> tile<16x32xf32>
    %r0 = addf %w, %b : tile<16x32xf32>
"""


def _tiles(text: str, *, sinks: bool) -> ModuleOp:
    ctx = registered_context()
    module = parse_module(ctx, text)
    sink = [SinkNegfThroughShapes()] if sinks else []
    for each in (ConvertCudatileToTileaa("sm_90a"), *sink, ConvertTileaaToTileas()):
        each.apply(ctx, module)
        verify_module(module)
    return module


def _arrays() -> list[Any]:
    x = np.random.default_rng(2).standard_normal(16).astype(np.float32)
    x[:5] = np.inf, -np.inf, np.nan, -0.0, 1e-42
    return [x, np.zeros((16, 32), np.float32)]


def test_the_same_bits_before_and_after() -> None:
    arrays = _arrays()
    text = text_of_tiles(BODY, arrays[:1], arrays[1:])
    before, after = (
        simulate(_tiles(text, sinks=sinks), _arrays(), grid=1).arrays[1] for sinks in (False, True)
    )
    np.testing.assert_array_equal(after.view(np.uint32), before.view(np.uint32))
