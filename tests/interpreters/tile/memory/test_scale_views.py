"""Views of scales in atoms: what they show, when they read, and what they refuse."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from kernels.scaled_gemm import in_atoms
from kernels.simulating import parse
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import simulate

TEXT = """
!t = tensor<2x1x2x256xf8E4M3FN>
!ts = tensor<2x1x2x256xf8E4M3FN, #nv_tileas<space smem>>
!sf = tensor<256x4xf8E4M3FN, #nv_tileas.shared<((32,4,2),4),((16,4,512),1)>>
!r = tensor<256x4xf8E4M3FN>
!half = tensor<128x4xf8E4M3FN>
!w = !nv_tileas.tiled_view<2x1x2x256xf8E4M3FN, gmem>
!wr = !nv_tileas.tiled_view<256x4xf8E4M3FN, gmem>
func.func @k(%a: memref<2x1x2x256xf8E4M3FN>, %b: memref<256x4xf8E4M3FN>)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %va = nv_tileas.view %a : memref<2x1x2x256xf8E4M3FN> -> !w
  %vb = nv_tileas.view %b : memref<256x4xf8E4M3FN> -> !wr
  %x = nv_tileas.tiled_load %va[%zero, %zero, %zero, %zero] {atom = #nv_tileas<atom ldg>} : !w -> !t
BODY
  func.return
}
"""
READ = """  %r = nv_tileas.convert_layout %sf : !sf -> !r
  nv_tileas.tiled_store %r, %vb[%zero, %zero] {atom = #nv_tileas<atom stg>} : !r, !wr"""
COPY = "  nv_tileas.copy %x, %p {atom = #nv_tileas<atom unknown_copy>} : !t, !ts"
BEFORE = f"""  %p = nv_tileas.alloc_tensor : !ts
  %sf = nv_tileas.view %p : !ts -> !sf
{COPY}
{READ}"""
BODIES = {
    "of a value": "  %sf = nv_tileas.view %x : !t -> !sf\n" + READ,
    "of memory": f"  %p = nv_tileas.alloc_tensor : !ts\n{COPY}\n"
    "  %sf = nv_tileas.view %p : !ts -> !sf\n" + READ,
    "of memory that is written later": BEFORE,
}


def _run(body: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    scales = rng.standard_normal((256, 4)).astype(ml_dtypes.float8_e4m3fn)
    given = [in_atoms(scales), np.full((256, 4), np.nan).astype(scales.dtype)]
    found = simulate(parse(TEXT.replace("BODY", body)), given, grid=1, target="sm_100a").arrays[1]
    np.testing.assert_array_equal(found.view(np.uint8), scales.view(np.uint8))
    return found


@pytest.mark.parametrize("name", BODIES)
def test_rows_have_their_scales(name: str) -> None:
    assert len(np.unique(_run(BODIES[name]).astype(np.float32))) > 50


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (BEFORE.replace(COPY, ""), "is read, and nobody wrote it"),
        (
            BEFORE.replace(
                READ,
                "  %h = nv_tileas.extract_slice %sf[0, 0][128, 4][1, 1] : !sf -> !half",
            ),
            "scales in atoms have no parts",
        ),
        (
            BEFORE.replace(READ, "  %v = nv_tileas.view %sf : !sf -> !r"),
            "scales in atoms have no other view",
        ),
    ],
)  # fmt: skip
def test_what_is_refused(body: str, message: str) -> None:
    with pytest.raises(SimulationError, match=message):
        _run(body)
