"""Tensor-map bytes of our encoder, compared with the driver and with `tensormap.replace`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from hardware.cases.boxes import ELEMENT_NAMES, MAP, SWIZZLE_NAMES, random_map, tensor_bytes
from hardware.cases.case import Case, kernel_text, pointers
from hardware.cases.inputs import rng_of
from support.pixel_copies import COPIES

from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import L2_PROMOTIONS, TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import encode

COPY = """
.reg .b64 %m, %b, %o, %v; .reg .b32 %t; mov.u32 %t, %tid.x;
mov.b64 %m, T; cvta.param.u64 %m, %m; ld.param.u64 %b, [B];
mul.wide.u32 %o, %t, 8; add.u64 %m, %m, %o; add.u64 %b, %b, %o; ld.u64 %v, [%m+8];
st.global.u64 [%b], %v; ret;
"""
"""Kernel body that copies a map except for its address field, which varies between runs."""

FIELDS = (
    ("global_address.global.b1024.b64 [%b], 0x123456789ab0;", "address"),
    ("rank.global.b1024.b32 [%b], 1;", "rank"),
    ("box_dim.global.b1024.b32 [%b], 0, 16;", "first extent of the box"),
    ("box_dim.global.b1024.b32 [%b], 1, 33;", "second extent of the box"),
    ("global_dim.global.b1024.b32 [%b], 0, 77;", "first extent"),
    ("global_dim.global.b1024.b32 [%b], 2, 0x12345;", "third extent"),
    ("global_stride.global.b1024.b64 [%b], 0, 4096;", "first stride"),
    ("global_stride.global.b1024.b64 [%b], 1, 0x1234567890;", "second stride"),
    ("element_stride.global.b1024.b32 [%b], 1, 3;", "an element stride"),
    ("elemtype.global.b1024.b32 [%b], 7;", "the element"),
    ("swizzle_mode.global.b1024.b32 [%b], 3;", "the swizzle"),
    ("interleave_layout.global.b1024.b32 [%b], 0;", "the interleave"),
    ("fill_mode.global.b1024.b32 [%b], 1;", "what fills"),
)
"""Fields of `tensormap.replace.tile`."""


def map_cases() -> Iterator[Case]:
    """Yield random tiled and im2col maps with every L2 promotion, and one per replaced field."""
    promotions = [*L2_PROMOTIONS]
    number = 0
    for swizzle in SWIZZLE_NAMES:
        for element in ELEMENT_NAMES:
            number += 1
            m = random_map(rng_of(f"map {number}"), swizzle, element)
            promoted = replace(m, l2_promotion=promotions[number % len(promotions)])
            yield _copied(f"{number}: {swizzle} {element}", promoted)
    for copy in COPIES:
        yield _copied(f"pixels {copy}", copy.tensor_map())
    for text, name in FIELDS:
        body = f".reg .b64 %b; ld.param.u64 %b, [B]; tensormap.replace.tile.{text} ret;"
        m = TensorMap("f16", 1 << 20, (64, 40, 5), (128, 8192), (8, 4, 2))
        held = np.frombuffer(encode(m), np.uint8).copy()
        arguments = (held,)
        kernel = kernel_text(body, pointers("B"))
        yield Case("tensormap.replace", name, kernel, arguments, block=1)


def _copied(name: str, m: TensorMap) -> Case:
    data = np.zeros(-(-tensor_bytes(m) // 16) * 16, np.uint8)
    text = kernel_text(COPY, f"{MAP}, {pointers('B')}")
    arguments = (TensorMapArg(m, data), np.zeros(15, np.uint64))
    return Case("tensor-map bytes", name, text, arguments, block=15)
