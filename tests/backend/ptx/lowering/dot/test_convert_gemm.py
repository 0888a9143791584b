"""A warp-specialised GEMM tile, written with operations of a thread block, through PTX."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.emulating import emulate
from support.tile_gemm import K_BLOCK, SHARED_BYTES, TILE, gemm
from xdsl.context import Context
from xdsl.dialects.builtin import bf16, f16
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.loop_invariant_code_motion import LoopInvariantCodeMotionPass

from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap

ELEMENTS = {"bf16": (bf16, ml_dtypes.bfloat16), "f16": (f16, np.float16)}
CLEAN = (CommonSubexpressionElimination(), LoopInvariantCodeMotionPass())


def gemm_text(element: str = "bf16", *, cleaned: bool = True) -> str:
    module = gemm(ELEMENTS[element][0])
    module.verify()
    for step in (*(CLEAN if cleaned else ()), ConvertCuteNvgpuToPtx()):
        step.apply(Context(), module)
        module.verify()
    return ptx_text(module, "sm_90a")


def map_of(array, element: str) -> TensorMapArg:
    rows, columns = array.shape
    tensor_map = TensorMap(
        address=0,
        element=element,
        dims=(columns, rows),
        strides=(columns * 2,),
        box=(K_BLOCK, TILE),
        swizzle="128B",
    )
    return TensorMapArg(tensor_map, array)


@pytest.mark.sample(8)
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("cleaned", [True, False])
@pytest.mark.parametrize(
    ("k", "order"), [(64, "eager"), (192, "lazy"), (320, "random"), (448, "random")]
)
def test_the_product_is_that_of_numpy(element: str, cleaned: bool, k: int, order: str) -> None:
    rng = np.random.default_rng(k)
    dtype = ELEMENTS[element][1]
    a, b = (rng.standard_normal((extent, k)).astype(dtype) for extent in (2 * TILE, TILE))
    c = np.full((2 * TILE, TILE), np.nan, np.float32)
    arguments = [map_of(a, element), map_of(b, element), c, TILE, k]
    text = gemm_text(element, cleaned=cleaned)
    result = emulate(text, arguments, (1, 2), dynamic_shared=SHARED_BYTES, order=order, seed=k)[2]
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def main_loop(text: str) -> list[str]:
    """The instructions of the block that multiplies."""
    lines = text.splitlines()
    products = [number for number, line in enumerate(lines) if "wgmma.mma_async" in line]
    start = max(n for n in range(products[0]) if lines[n].startswith("$L"))
    end = next(n for n in range(products[-1], len(lines)) if re.match(r"\s*bra", lines[n]))
    return [line.strip().rstrip(";") for line in lines[start + 1 : end + 1]]


def test_the_main_loop_moves_no_accumulator_and_divides_nothing() -> None:
    instructions = main_loop(gemm_text())
    mnemonics = [line.split()[0] for line in instructions]
    assert mnemonics.count("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16") == 8
    assert mnemonics.count("wgmma.fence.sync.aligned") == 1
    assert mnemonics.count("wgmma.wait_group.sync.aligned") == 1
    assert "mov.f32" not in mnemonics
    assert not any(name.startswith(("div", "rem", "mul.lo", "cvt")) for name in mnemonics)
    # A descriptor of each operand, 3 + 4 steps further on, the stage and its phase.
    assert sum(name.startswith(("add.s64", "mad.wide")) for name in mnemonics) <= 13


@needs_ptxas
def test_ptxas_takes_it_without_a_word(tmp_path) -> None:
    from tileas_xdsl.backend.ptxas import assemble

    assembled = assemble(gemm_text(), "sm_90a")
    assert assembled.messages == ()
    assert assembled.spills == 0
