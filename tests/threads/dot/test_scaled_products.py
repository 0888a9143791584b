"""Block-scaled products wherever a program may have them, and what they may not be given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ml_dtypes
import numpy as np
import pytest
from support.assembling import needs_ptxas

from kernels.compiled import ORDERS
from kernels.ptx_mutations import dropping
from kernels.scaled_gemm import in_atoms
from tests.support.orders import some
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.runtime.emulation import emulate

HEAD = """!ma = memref<128x128xf8E4M3FN>
!ms = memref<1x1x2x256xf8E8M0FNU>
!mc = memref<128x128xf32>
!a = tensor<128x128xf8E4M3FN>
!as = tensor<128x128xf8E4M3FN, #nv_tileas<space smem>>
!bt = tensor<128x128xf8E4M3FN, #nv_tileas.shared<(128,128),(1,128)>>
!t = tensor<1x1x2x256xf8E8M0FNU>
!ts = tensor<1x1x2x256xf8E8M0FNU, #nv_tileas<space smem>>
!sfa = tensor<128x4xf8E8M0FNU, #nv_tileas.shared<((32,4),4),((16,4),1)>>
!sfb = tensor<4x128xf8E8M0FNU, #nv_tileas.shared<(4,(32,4)),(1,(16,4))>>
!c = tensor<128x128xf32>
!desc = !nv_tileas.tma_desc
!token = !nv_tileas.token
!barrier = !nv_tileas.mem_token
!wc = !nv_tileas.tiled_view<128x128xf32, gmem>
#load = #nv_tileas<atom tma_load_2d<box = [128, 128]>>
#scales = #nv_tileas<atom tma_load_4d<box = [256, 2, 1, 1]>>
#mma = #nv_tileas<atom tcgen05_e4m3_e4m3_f32>
func.func @k(%a: !ma, %b: !ma, %sa: !ms, %sb: !ms, %c: !mc, %n: i32)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 8>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %box = arith.constant 128 : index
  %wide = arith.constant 256 : index
  %count = arith.index_cast %n : i32 to index
  %nothing = arith.constant dense<0.0> : !c
  %vc = nv_tileas.view %c : !mc -> !wc
  %da = nv_tileas.make_tiled_tma_desc %a box[%box, %box] {atom = #load} : !ma -> !desc
  %db = nv_tileas.make_tiled_tma_desc %b box[%box, %box] {atom = #load} : !ma -> !desc
  %dsa = nv_tileas.make_tiled_tma_desc %sa box[%wide, %two, %one, %one] {atom = #scales} : !ms -> !desc
  %dsb = nv_tileas.make_tiled_tma_desc %sb box[%wide, %two, %one, %one] {atom = #scales} : !ms -> !desc
  %barrier = nv_tileas.create_none : !barrier
  %x = nv_tileas.alloc_tensor : !as
  %y = nv_tileas.alloc_tensor : !as
  %p = nv_tileas.alloc_tensor : !ts
  %q = nv_tileas.alloc_tensor : !ts
  %lx = nv_tileas.async.tiled_tma_load %da, %x[%zero, %zero] barrier %barrier {atom = #load} : !desc, !as, index, index, !barrier -> !token
  %ly = nv_tileas.async.tiled_tma_load %db, %y[%zero, %zero] barrier %barrier {atom = #load} : !desc, !as, index, index, !barrier -> !token
  %lp = nv_tileas.async.tiled_tma_load %dsa, %p[%zero, %zero, %zero, %zero] barrier %barrier {atom = #scales} : !desc, !ts, index, index, index, index, !barrier -> !token
  %lq = nv_tileas.async.tiled_tma_load %dsb, %q[%zero, %zero, %zero, %zero] barrier %barrier {atom = #scales} : !desc, !ts, index, index, index, index, !barrier -> !token
  nv_tileas.async.wait %lx : !token
  nv_tileas.async.wait %ly : !token
  nv_tileas.async.wait %lp : !token
  nv_tileas.async.wait %lq : !token
  %z = nv_tileas.view %y : !as -> !bt
  %sfa = nv_tileas.view %p : !ts -> !sfa
  %sfb = nv_tileas.view %q : !ts -> !sfb
BODY
  nv_tileas.tiled_store %d, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>} : !c, !wc
  func.return
}
"""  # noqa: E501

MMA = (
    "nv_tileas.block_scaled_mma %x, %z, {c} scales(%sfa : !sfa, %sfb : !sfb) {{atom = #mma}} "
    ": !as, !bt, !c -> !c"
)
AGAIN = [
    line
    for line in HEAD.splitlines(keepends=True)
    if line.split()[0] in ("%lx", "%lp") or line.split()[1:2] in (["%lx"], ["%lp"])
]
"""How a tile of A and its scales are loaded."""
ONCE = f"  %d = {MMA.format(c='%nothing')}"

BODIES: Mapping[str, str] = {
    "once": ONCE,
    "loop": f"""  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {{
    %e = {MMA.format(c="%s")}
    scf.yield %e : !c
  }}""",
    "two sums": f"""  %e = {MMA.format(c="%nothing")}
  %f = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {{
    %g = {MMA.format(c="%s")}
    scf.yield %g : !c
  }}
  %d = arith.subf %f, %e : !c""",
    "loaded again": f"""  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {{
{"".join(AGAIN)}
    %e = {MMA.format(c="%s")}
    scf.yield %e : !c
  }}""",
    "with an unscaled one": f"""  %e = {MMA.format(c="%nothing")}
  %f = nv_tileas.dot %x, %z, %e {{atom = #mma}} : !as, !bt, !c -> !c
  %d = {MMA.format(c="%f")}""",
}


def _text(name: str) -> str:
    head = HEAD
    if name == "loaded again":
        for line in AGAIN:
            head = head.replace(line, "")
    return head.replace("BODY", BODIES[name])


def _arguments() -> Sequence[np.ndarray]:
    """Small integers and powers of two: sums are exact."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (128, 128)).astype(ml_dtypes.float8_e4m3fn) for _ in range(2))
    scales = [np.exp2(rng.integers(-3, 4, (128, 4))) for _ in range(2)]
    atoms = [in_atoms(one.astype(ml_dtypes.float8_e8m0fnu)) for one in scales]
    return (a, b, *atoms, rng.standard_normal((128, 128)).astype(np.float32), *scales)


def _expected(name: str, rounds: int) -> np.ndarray:
    a, b, _, _, _, *scales = _arguments()
    plain = [matrix.astype(np.float64) for matrix in (a, b)]
    left, right = (
        m * np.repeat(s.astype(np.float64), 32, axis=1) for m, s in zip(plain, scales, strict=True)
    )
    scaled = left @ right.T
    if name == "with an unscaled one":
        return 2 * scaled + plain[0] @ plain[1].T
    return {"once": 1, "loop": rounds, "loaded again": rounds, "two sums": rounds - 1}[
        name
    ] * scaled


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", BODIES)
def test_every_level_adds_up_the_same(name: str) -> None:
    kernel = compile(_text(name), "sm_100a")
    given = _arguments()[:5]
    for rounds in (0, 3):
        wanted = _expected(name, rounds)
        tiles = kernel.simulate(*given, rounds, grid=1).arrays[4]
        np.testing.assert_array_equal(tiles, wanted)
        for order, seed in some(ORDERS[1:3], (name, rounds)):
            run = kernel.emulate(*given, rounds, grid=1, order=order, seed=seed)
            assert [str(finding) for finding in run.findings] == [], (rounds, order)
            np.testing.assert_array_equal(run.arrays[4], wanted)


@pytest.mark.sample(3)
@needs_ptxas
@pytest.mark.parametrize("name", BODIES)
def test_ptxas_is_content(name: str) -> None:
    made = compile(_text(name), "sm_100a").assemble()
    assert (made.messages, made.spills) == ((), 0)


BYTES = "memref<128x4xf8E8M0FNU>"
WINDOW = "!nv_tileas.tiled_view<128x4xf8E8M0FNU, gmem>"
STORED = f"""  %w = nv_tileas.convert_layout %sfa : !sfa -> tensor<128x4xf8E8M0FNU>
  %vw = nv_tileas.view %o : {BYTES} -> {WINDOW}
  nv_tileas.tiled_store %w, %vw[%zero, %zero] {{atom = #nv_tileas<atom stg>}} : tensor<128x4xf8E8M0FNU>, {WINDOW}
{ONCE}"""  # noqa: E501
SWIZZLED = "#nv_tileas.shared<(1,1,2,(128,2)),(256,256,128,(1,256)),swizzle<3,4,3>>"
PAIR = "{atom = #mma, cta_group = 2 : i32}"
NARROW = (
    ("!a = ", "!mb = memref<128x128xf4E2M1FN>\n!bs = tensor<128x128xf4E2M1FN, #smem>\n!a = "),
    ("!ma = ", "#smem = #nv_tileas<space smem>\n!ma = "),
    ("%b: !ma", "%b: !mb"),
    ("%db = nv_tileas.make_tiled_tma_desc %b box[%box, %box] {atom = #load} : !ma",
     "%db = nv_tileas.make_tiled_tma_desc %b box[%box, %box] {atom = #load} : !mb"),
    ("%y = nv_tileas.alloc_tensor : !as", "%y = nv_tileas.alloc_tensor : !bs"),
    ("%y[%zero, %zero] barrier %barrier {atom = #load} : !desc, !as",
     "%y[%zero, %zero] barrier %barrier {atom = #load} : !desc, !bs"),
    ("%y : !as", "%y : !bs"),
    ("!bt = tensor<128x128xf8E4M3FN", "!bt = tensor<128x128xf4E2M1FN"),
    ("e4m3_e4m3", "e4m3_e2m1"),
)  # fmt: skip

REFUSED: Mapping[str, tuple[str, Sequence[tuple[str, str]], str]] = {
    "two blocks": (
        ONCE,
        [("{atom = #mma}", PAIR), ("num_warps = 8", "num_warps = 8, cluster_dim = [2, 1, 1]")],
        "block_scaled_mma' op scales products of one block; those of two are not lowered yet",
    ),
    "B with adjacent columns": (
        ONCE.replace("%z", "%y").replace("!bt", "!as"),
        [],
        "block_scaled_mma' op expects both a/b major mode to be k-major.",
    ),
    "scales of A row after row": (
        ONCE,
        [("((32,4),4),((16,4),1)", "(128,4),(4,1)")],
        "block_scaled_mma' op copies the scales of A in atoms of 128 rows by 4 scales",
    ),
    "scales of B row after row": (
        ONCE,
        [("(4,(32,4)),(1,(16,4))", "(4,128),(1,4)")],
        "block_scaled_mma' op copies the scales of B in atoms of 128 rows by 4 scales",
    ),
    "atoms that are swizzled": (
        ONCE,
        [("!ts = tensor<1x1x2x256xf8E8M0FNU, #nv_tileas<space smem>>",
          f"!ts = tensor<1x1x2x256xf8E8M0FNU, {SWIZZLED}>")],
        "view' op says that a tile lies as <(1,1,2,256),(512,512,256,1)>, but it lies as",
    ),
    "a part of the atoms": (
        ONCE,
        [("nv_tileas.view %p : ", "nv_tileas.view %p[%zero, %zero, %zero, %zero] : ")],
        "view' op shows 512 bytes as a whole, not a part of them",
    ),
    "scales that are stored": (
        STORED,
        [("%n: i32", f"%n: i32, %o: {BYTES}")],
        "view' op scales in atoms are those of a product; other uses are not lowered yet",
    ),
    "elements that lie padded": (
        ONCE,
        NARROW,
        "kind mxf8f6f4 multiplies elements of 8 bits; narrower ones lie padded in shared memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    body, edits, message = REFUSED[name]
    text = HEAD.replace("BODY", body)
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new)
    with pytest.raises(DiagnosticError) as refusal:
        compile(text, "sm_100a")
    assert message in str(refusal.value)


NVF4 = (
    ("f8E4M3FN", "f4E2M1FN"), ("f8E8M0FNU", "f8E4M3FN"), ("e4m3_e4m3", "e2m1_e2m1"),
    ("1x1x2x256", "1x2x2x256"), ("[256, 2, 1, 1]", "[256, 2, 2, 1]"),
    ("%two, %one, %one]", "%two, %two, %one]"),
    ("128x4x", "128x8x"), ("((32,4),4),((16,4),1)", "((32,4),(4,2)),((16,4),(1,512))"),
    ("<4x128x", "<8x128x"), ("(4,(32,4)),(1,(16,4))", "((4,2),(32,4)),((1,512),(16,4))"),
)  # fmt: skip
"""From 8-bit elements to 4-bit ones, whose scales threads can have in registers."""
TYPES = """#ldg = #nv_tileas<atom ldg>
!window = !nv_tileas.tiled_view<1x2x2x256xf8E4M3FN, gmem>
"""
THREADS = """  %vs = nv_tileas.view %sa : !ms -> !window
  %rs = nv_tileas.tiled_load %vs[%zero, %zero, %zero, %zero] {atom = #ldg} : !window -> !t
  nv_tileas.copy %rs, %p {atom = #nv_tileas<atom unknown_copy>} : !t, !ts
"""


def test_scales_that_threads_write_are_fenced() -> None:
    """Copies to tensor memory are of the async proxy; without the fence they may see old bytes."""
    text = _text("once").replace(AGAIN[1], "").replace(AGAIN[3], "")
    for old, new in NVF4:
        assert old in text, old
        text = text.replace(old, new)
    kernel = compile(TYPES + text.replace(ONCE, THREADS + ONCE), "sm_100a")
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (128, 128)).astype(ml_dtypes.float4_e2m1fn) for _ in range(2))
    sfa, sfb = (rng.integers(1, 8, (128, 8)).astype(ml_dtypes.float8_e4m3fn) for _ in range(2))
    c = np.full((128, 128), np.nan, np.float32)
    given = [a, b, in_atoms(sfa), in_atoms(sfb), c, 0]
    left, right = (
        m.astype(np.float64) * np.repeat(s.astype(np.float64), 16, axis=1)
        for m, s in ((a, sfa), (b, sfb))
    )
    run = emulate(kernel.ptx, kernel.abi, given, order="lazy")
    assert [str(finding) for finding in run.findings] == []
    np.testing.assert_array_equal(run.arrays[4], left @ right.T)
    wrong = dropping(r"fence\.proxy\.async")(kernel.ptx)
    kinds = {found.kind for found in emulate(wrong, kernel.abi, given, order="lazy").findings}
    assert "missing-proxy-fence" in kinds


def test_row_major_scales_are_put_in_atoms() -> None:
    """As cuTile loads them: tcgen05 multiplies, its scales rearranged on their way."""
    kernels = pytest.importorskip("support.cutile_kernels")
    rng = np.random.default_rng(5)
    a, b = (rng.standard_normal((128, 128)).astype(ml_dtypes.float8_e4m3fn) for _ in "ab")
    sa, sb = (
        np.exp2(rng.integers(-3, 4, shape)).astype(ml_dtypes.float8_e8m0fnu)
        for shape in ((128, 4), (4, 128))
    )
    c = rng.standard_normal((128, 128)).astype(np.float32)
    kernel = compile(kernels.scaled, a, sa, b, sb, c, target="sm_100a")
    assert "block_scale" in kernel.ptx
    found = kernel.emulate(a, sa, b, sb, c, grid=(1,))
    assert [str(finding) for finding in found.findings] == []
    left = a.astype(np.float32) * np.repeat(sa.astype(np.float32), 32, axis=1)
    right = b.astype(np.float32) * np.repeat(sb.astype(np.float32), 32, axis=0)
    np.testing.assert_allclose(found.arrays[4], c + left @ right, rtol=1e-5, atol=1e-3)
