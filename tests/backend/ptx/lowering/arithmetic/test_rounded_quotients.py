"""Quotients of f32 by f64 have the bits of a division, of numbers of any size."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from xdsl.context import Context

from tests.support.emulating import emulate
from tests.support.thread_kernels import THREADS, elementwise, parse
from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text

Floats = NDArray[np.float32]

COUNT = 8
SIZE = THREADS * COUNT

_ELEMENT = """
    %a{0} = vector.extract %x0[{0}] : f32 from vector<8xf32>
    %b{0} = vector.extract %x1[{0}] : f32 from vector<8xf32>
    %q{0} = arith.divf %a{0}, %b{0} {{nv_tileas.by_f64}} : f32"""
_JOINED = f"""
    %r = cute.fragment.make {", ".join(f"%q{k}" for k in range(COUNT))} :
        {", ".join(["f32"] * COUNT)} -> vector<8xf32>"""
BODY = "".join(map(_ELEMENT.format, range(COUNT))) + _JOINED


def _bits(rng: np.random.Generator, *ends: int) -> Floats:
    return rng.integers(*ends, SIZE, np.uint64).astype(np.uint32).view(np.float32)


def _families(rng: np.random.Generator) -> Mapping[str, tuple[Floats, Floats]]:
    """Dividends and divisors."""
    special = np.array([0, np.inf, np.nan, 1, 3, 1e-45, 1.17549435e-38, 3.4e38], np.float32)
    special = np.concatenate([special, -special, np.array([0x7F800001], np.uint32).view("f4")])
    small = _bits(rng, 1, 1 << 24)
    return {
        "any": (_bits(rng, 0, 1 << 32), _bits(rng, 0, 1 << 32)),
        "special": (rng.choice(special, SIZE), rng.choice(special, SIZE)),
        "middles of subnormals": (small, np.ldexp(rng.choice([1, 1.5, 3], SIZE), 1).astype("f4")),
        "significands": (rng.random(SIZE, np.float32) + 1, rng.random(SIZE, np.float32) + 1),
    }


def test_bits_are_those_of_a_division() -> None:
    module = parse(elementwise(["f32", "f32"], "f32", BODY, COUNT))
    ConvertCuteNvgpuToPtx(arch="sm_90a").apply(Context(), module)
    text = ptx_text(module, "sm_90a")
    assert "div.rn" not in text
    for a, b in _families(np.random.default_rng(7)).values():
        found = emulate(text, [a, b, np.zeros(SIZE, np.float32)])[-1]
        with np.errstate(all="ignore"):
            expected = a / b
        number = ~np.isnan(expected)
        assert np.array_equal(np.isnan(found), ~number)
        assert np.array_equal(found[number].view(np.uint32), expected[number].view(np.uint32))
