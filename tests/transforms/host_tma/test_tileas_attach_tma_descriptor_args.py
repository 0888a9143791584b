"""Attached descriptors: kernels compute what they did, whichever table a descriptor is in."""

from __future__ import annotations

import numpy as np
import pytest
from support.ir import parse
from support.windows import BY_BLOCK, window_kernel
from xdsl.context import Context
from xdsl.utils.arg_spec import ArgSpec

from kernels import Combine, Copy, Gemm, Kernel, Permute, Unroll, Windows
from tileas_xdsl.compiler import CompiledKernel, compile, passes_to_ptx
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.transforms.memory.tileas_attach_tma_descriptor_args import (
    TileasAttachTmaDescriptorArgs,
)

KERNELS = [
    Copy("f16"),
    Copy("e4m3"),
    Windows(),
    Gemm(bm=128, bn=128, bk=64, element="bf16", output="f16", epilogue="tma"),
    Gemm(bm=128, bn=128, bk=64, cluster=2),
    Unroll(),
    Combine("i32", "umin"),
    Permute(),
]


def _attached(text: str, target: str = "sm_90a") -> CompiledKernel:
    """Compiled without host code: a launch makes the maps of whole arrays by their recipes."""
    passes = [*passes_to_ptx()]
    place = [spec.name for spec in passes].index("convert-tileas-to-cute-nvgpu")
    passes.insert(place, ArgSpec("tileas-attach-tma-descriptor-args", {}))
    return compile(text, target, passes=passes)


@pytest.mark.sample(4)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernels_compute_what_they_did(kernel: Kernel) -> None:
    made = _attached(kernel.text(), kernel.target)
    inputs = kernel.make_inputs(np.random.default_rng(0), kernel.sizes)
    found = made.emulate(*inputs, grid=kernel.grid(kernel.sizes), order="random")
    assert [str(finding) for finding in found.findings] == []
    assert kernel.check(inputs, found.arrays).is_right


@pytest.mark.parametrize("host_code", [False, True])
@pytest.mark.parametrize(("of_a", "of_b"), [("%wa", "%b"), ("%a", "%wb")])
def test_tables_are_not_mixed_up(of_a: str, of_b: str, host_code: bool) -> None:
    """The window begins in row `block`, and the tile of its number is read or written there."""
    if host_code:
        pytest.importorskip("llvmlite")
    body = BY_BLOCK + (
        "%far = arith.muli %block, %rows : index\n"
        "%wa = nv_tileas.view %a[%far, %c32] : !matrix -> !window\n"
        "%wb = nv_tileas.view %b[%far, %c32] : !matrix -> !window\n"
    )
    text = window_kernel(body, of_a, of_b)
    made = compile(text, host_code=True) if host_code else _attached(text)
    rng = np.random.default_rng(2)
    a, b = (rng.random((32, 64)).astype(np.float16) for _ in range(2))
    found = made.emulate(a, b, grid=2)
    assert [str(finding) for finding in found.findings] == []
    expected, simulated = b.copy(), made.simulate(a, b, grid=2).arrays[1]
    for block in range(2):
        source, target = a[8 * block :], expected[8 * block :]
        if of_a == "%wa":
            target[:8, :32] = source[8 * block :, 32:][:8]
        else:
            target[8 * block :, 32:][:8] = source[:8, :32]
    np.testing.assert_array_equal(found.arrays[1], expected)
    np.testing.assert_array_equal(simulated, expected)


def test_a_failing_function_leaves_all_functions_as_they_were() -> None:
    broken = """
    func.func @broken(%v: !nv_tileas.tiled_view<64x64xf16, gmem>) {
      %c8 = arith.constant 8 : index
      %d = nv_tileas.make_tiled_tma_desc %v box[%c8, %c8] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x64xf16, gmem> -> !desc
      func.return
    }
    """  # noqa: E501
    module = parse(Copy("f16").text() + broken)
    before = str(module)
    with pytest.raises(DiagnosticError, match="not an array argument from a beginning of its own"):
        TileasAttachTmaDescriptorArgs().apply(Context(), module)
    assert str(module) == before


def test_a_descriptor_argument_without_a_recipe_is_not_lowered() -> None:
    text = window_kernel(BY_BLOCK, "%a").replace("%b: !matrix", "%b: !matrix, %x: !desc")
    with pytest.raises(DiagnosticError, match="takes a descriptor as argument 2, and does not say"):
        compile(text)


COUNTS = ', "nv_tileas.num-device-tmas" = 0 : i32, "nv_tileas.num-host-tmas" = 2 : i32'
OTHER = ', "nv_tileas.num-device-tmas" = 1 : i32, "nv_tileas.num-host-tmas" = 1 : i32'

INDICES = {
    "not find tmaIdx.": [(", tmaIdx = 1 : i32", "")],
    "tmaIdx exceed tmaHostNum.": [("tmaIdx = 1 : i32", "tmaIdx = 2 : i32")],
    "tmaIdx exceed tmaDeviceNum.": [(COUNTS, OTHER), ("tmaIdx = 0 : i32", "tmaIdx = 1 : i32")],
    "funcOp lack tmaDeviceNum and tmaHostNum attr": [(COUNTS, "")],
}
"""By what an index breaks, how it comes so: loads have the first descriptor, stores the second."""


@pytest.mark.parametrize("text", INDICES)
def test_indices_are_checked_against_the_counts(text: str) -> None:
    """The verifier says so already; the pass does not trust a module that nobody verified."""
    module = parse(Copy("f16").text())
    TileasAttachTmaDescriptorArgs().apply(Context(), module)
    changed = str(module)
    for old, new in INDICES[text]:
        assert old in changed
        changed = changed.replace(old, new)
    module = parse(changed, verify=False)
    before = str(module)
    for run in (
        verify_module,
        lambda found: TileasAttachTmaDescriptorArgs().apply(Context(), found),
    ):
        with pytest.raises(DiagnosticError) as caught:
            run(module)
        first = str(caught.value).splitlines()[0]
        assert "nv_tileas.async.tiled_tma_" in first
        assert first.endswith(f"' op {text}")
    assert str(module) == before
