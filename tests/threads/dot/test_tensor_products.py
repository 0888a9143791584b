"""Products into tensor memory wherever a program may have them: in loops, in branches, alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.compiling import compile

from kernels.compiled import ORDERS, TWO_ORDERS
from tileas_xdsl.diagnostics.errors import DiagnosticError

HEAD = """!ma = memref<128x64xf16>
!mb = memref<64x64xf16>
!mc = memref<128x64xf32>
!a = tensor<128x64xf16>
!b = tensor<64x64xf16>
!as = tensor<128x64xf16, #nv_tileas<space smem>>
!bs = tensor<64x64xf16, #nv_tileas<space smem>>
!c = tensor<128x64xf32>
!rows = tensor<128x64xf32, #nv_tileas.blocked<"ROWS">>
!tm = tensor<128x64xf32, #nv_tileas.linear<"(128,64):(1@lane,1@column)">>
!sum = !nv_tileas.token<!c>
!wa = !nv_tileas.tiled_view<128x64xf16, gmem>
!wb = !nv_tileas.tiled_view<64x64xf16, gmem>
!wc = !nv_tileas.tiled_view<128x64xf32, gmem>
#mma = #nv_tileas<atom tcgen05_f16_f16_f32>
func.func @k(%a: !ma, %b: !mb, %c: !mc, %n: i32)
    attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = WARPS>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.index_cast %n : i32 to index
  %nothing = arith.constant dense<0.0> : !c
  %va = nv_tileas.view %a : !ma -> !wa
  %vb = nv_tileas.view %b : !mb -> !wb
  %vc = nv_tileas.view %c : !mc -> !wc
  %ra = nv_tileas.tiled_load %va[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !wa -> !a
  %rb = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #nv_tileas<atom ldg>} : !wb -> !b
  %x = nv_tileas.alloc_tensor : !as
  %y = nv_tileas.alloc_tensor : !bs
  nv_tileas.copy %ra, %x {atom = #nv_tileas<atom unknown_copy>} : !a, !as
  nv_tileas.copy %rb, %y {atom = #nv_tileas<atom unknown_copy>} : !b, !bs
BODY
  nv_tileas.tiled_store %d, %vc[%zero, %zero] {atom = #nv_tileas<atom stg>} : !c, !wc
  func.return
}
"""

BODIES: Mapping[str, str] = {
    "once": """  %d = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c""",
    "loop": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %e : !c
  }""",
    "chain": """  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
  %t = nv_tileas.async.dot %x, %y, %e {atom = #mma} : !as, !bs, !c -> !sum
  %d = nv_tileas.async.wait %t : !sum -> !c""",
    "sums of registers": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
    %f = arith.addf %e, %s : !c
    scf.yield %f : !c
  }""",
    "nested": """  %d = scf.for %j = %zero to %count step %one
      iter_args(%u = %nothing) -> (!c) {
    %g = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
      %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
      scf.yield %e : !c
    }
    %h = arith.addf %g, %u : !c
    scf.yield %h : !c
  }""",
    "two": """  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
  %f = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g : !c
  }
  %d = arith.subf %f, %e : !c""",
    "in a branch": """  %three = arith.constant 3 : index
  %many = arith.cmpi slt, %count, %three : index
  %d = scf.for %k = %zero to %three step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = scf.if %many -> (!c) {
      %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
      %f = arith.addf %e, %s : !c
      scf.yield %f : !c
    } else {
      scf.yield %s : !c
    }
    scf.yield %g : !c
  }""",
    "written again": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    nv_tileas.copy %ra, %x {atom = #nv_tileas<atom unknown_copy>} : !a, !as
    %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %e : !c
  }""",
    "written behind": """  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
  nv_tileas.copy %rb, %y {atom = #nv_tileas<atom unknown_copy>} : !b, !bs
  %d = nv_tileas.dot %x, %y, %e {atom = #mma} : !as, !bs, !c -> !c""",
    "made again": """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %again = nv_tileas.convert_layout %ra : !a -> !as
    %g = scf.for %j = %zero to %count step %one
      iter_args(%u = %s) -> (!c) {
      %e = nv_tileas.dot %again, %y, %u {atom = #mma} : !as, !bs, !c -> !c
      scf.yield %e : !c
    }
    scf.yield %g : !c
  }""",
    "read twice": """  %f = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g : !c
  }
  %e = nv_tileas.convert_layout %f : !c -> !rows
  %h = nv_tileas.convert_layout %f : !c -> !rows
  %i = arith.addf %e, %h : !rows
  %d = nv_tileas.convert_layout %i : !rows -> !c""",
    "loop after loop": """  %fewer = arith.shrui %count, %one : index
  %f = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g : !c
  }
  %d = scf.for %k = %zero to %fewer step %one
      iter_args(%s = %f) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g : !c
  }""",
    "C of registers": """LOAD_C
  %d = nv_tileas.dot %x, %y, %given {atom = #mma} : !as, !bs, !c -> !c""",
    "a loop from C of registers": """LOAD_C
  %d = scf.for %j = %zero to %count step %one
      iter_args(%u = %given) -> (!c) {
    %g = scf.for %k = %zero to %count step %one
        iter_args(%s = %u) -> (!c) {
      %t = nv_tileas.async.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !sum
      %e = nv_tileas.async.wait %t : !sum -> !c
      scf.yield %e : !c
    }
    scf.yield %g : !c
  }""",
    "scaled each round": """  %two = arith.constant dense<2.0> : !c
  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %e = arith.mulf %s, %two : !c
    %t = nv_tileas.async.dot %x, %y, %e {atom = #mma} : !as, !bs, !c -> !sum
    %g = nv_tileas.async.wait %t : !sum -> !c
    scf.yield %g : !c
  }""",
    "read on the way": """  %e = nv_tileas.dot %x, %y, %nothing {atom = #mma} : !as, !bs, !c -> !c
  %f = arith.addf %e, %e : !c
  %g = nv_tileas.dot %x, %y, %e {atom = #mma} : !as, !bs, !c -> !c
  %d = arith.addf %f, %g : !c""",
    "changed in a branch": """  %minus = arith.constant dense<-1.0> : !c
  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %first = arith.cmpi eq, %k, %zero : index
    %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    %g = scf.if %first -> (!c) {
      %f = arith.mulf %e, %minus : !c
      %h = nv_tileas.dot %x, %y, %f {atom = #mma} : !as, !bs, !c -> !c
      %i = nv_tileas.dot %x, %y, %h {atom = #mma} : !as, !bs, !c -> !c
      scf.yield %i : !c
    } else {
      scf.yield %e : !c
    }
    scf.yield %g : !c
  }""",
    "while": """  %k, %d = scf.while (%i = %zero, %s = %nothing) : (index, !c) -> (index, !c) {
    %goes = arith.cmpi slt, %i, %count : index
    scf.condition(%goes) %i, %s : index, !c
  } do {
  ^bb0(%i: index, %s: !c):
    %e = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    %j = arith.addi %i, %one : index
    scf.yield %j, %e : index, !c
  }""",
}

LOAD_C = """  %given = nv_tileas.tiled_load %vc[%zero, %zero]
      {atom = #nv_tileas<atom ldg>} : !wc -> !c"""

PRODUCTS: Mapping[str, Callable[[int], int]] = {
    "once": lambda n: 1,
    "loop": lambda n: n,
    "chain": lambda n: 2,
    "sums of registers": lambda n: n,
    "nested": lambda n: n * n,
    "two": lambda n: n - 1,
    "in a branch": lambda n: 3 * (n < 3),
    "written again": lambda n: n,
    "written behind": lambda n: 2,
    "made again": lambda n: n * n,
    "read twice": lambda n: 2 * n,
    "loop after loop": lambda n: n + n // 2,
    "C of registers": lambda n: 1,
    "a loop from C of registers": lambda n: n * n,
    "scaled each round": lambda n: 2**n - 1,
    "read on the way": lambda n: 4,
    "changed in a branch": lambda n: n,
    "while": lambda n: n,
}
"""How often the result has A * B in it."""

BEGIN_WITH_C = ("C of registers", "a loop from C of registers")


def _text(name: str, warps: int) -> str:
    rows = f"(({warps},{128 // warps}),(2,32)):((32@thread,2@value),(1@value,1@thread))"
    text = HEAD.replace("BODY", BODIES[name].replace("LOAD_C", LOAD_C)).replace("WARPS", str(warps))
    return text.replace("ROWS", rows)


IN_REGISTERS = ("read on the way", "changed in a branch", "while")
"""Sums that do not stay in tensor memory from one product to the next."""

ONE_GROUP = ("loop after loop", *BEGIN_WITH_C, "scaled each round", *IN_REGISTERS)
CASES = [
    (name, warps) for name in BODIES for warps in (4, 8) if warps == 4 or name not in ONE_GROUP
]


@pytest.mark.sample(6)
@pytest.mark.parametrize(("name", "warps"), CASES)
def test_every_level_adds_up_the_same(name: str, warps: int) -> None:
    """Small integers are exact; a loop that never runs leaves zeros."""
    _check(name, warps, (0, 2) if name == "loop" else (2,), TWO_ORDERS)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "warps"), CASES)
def test_every_level_adds_up_the_same_in_every_order(name: str, warps: int) -> None:
    _check(name, warps, (0, 1, 2 if name in ONE_GROUP else 3), ORDERS)


def test_no_thread_misses_a_phase_of_products_in_an_inner_loop() -> None:
    """The one that commits waits for nothing else before it commits again."""
    _check("made again", 4, (3,), [("drift", 0)])


def _check(name: str, warps: int, counts: Sequence[int], orders: Sequence[tuple[str, int]]) -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(-3, 4, (128, 64)).astype(np.float16)
    b = rng.integers(-3, 4, (64, 64)).astype(np.float16)
    c = rng.integers(-3, 4, (128, 64)).astype(np.float32)
    kernel = compile(_text(name, warps), "sm_100a")
    for rounds in counts:
        wanted = PRODUCTS[name](rounds) * (a.astype(np.float32) @ b.astype(np.float32))
        wanted += c * (name in BEGIN_WITH_C)
        np.testing.assert_array_equal(kernel.simulate(a, b, c, rounds, grid=1).arrays[2], wanted)
        for order, seed in orders:
            run = kernel.emulate(a, b, c, rounds, grid=1, order=order, seed=seed)
            assert [str(finding) for finding in run.findings] == [], (rounds, order)
            np.testing.assert_array_equal(run.arrays[2], wanted)


SLICES = """  %d = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing) -> (!c) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g : !c
  }
  %two = arith.constant 2 : index
  %half = arith.constant 32 : index
  scf.for %q = %zero to %two step %one {
    %column = arith.muli %q, %half : index
    %part = nv_tileas.extract_slice %d[0, %column][128, 32][1, 1] : !c -> tensor<128x32xf32>
    %vp = nv_tileas.view %c[%zero, %column] : !mc -> !wp
    nv_tileas.tiled_store %part, %vp[%zero, %zero]
        {atom = #nv_tileas<atom stg>} : tensor<128x32xf32>, !wp
  }"""


def test_sums_are_read_in_slices() -> None:
    """Eight warps share the columns of a slice otherwise than those that one of them clears."""
    text = _text("once", 8).replace(BODIES["once"], SLICES)
    text = text.replace("!wc =", "!wp = !nv_tileas.tiled_view<128x32xf32, gmem>\n!wc =")
    lines = [line for line in text.splitlines() if "tiled_store %d" not in line]
    kernel = compile("\n".join(lines), "sm_100a")
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((128, 64), (64, 64)))
    c = np.full((128, 64), np.nan, np.float32)
    for rounds in (0, 1):
        wanted = rounds * (a.astype(np.float32) @ b.astype(np.float32))
        for order, seed in TWO_ORDERS:
            run = kernel.emulate(a, b, c, rounds, grid=1, order=order, seed=seed)
            assert [str(finding) for finding in run.findings] == []
            np.testing.assert_array_equal(run.arrays[2], wanted)


COUNTING = """  %d, %last = scf.for %k = %zero to %count step %one
      iter_args(%s = %nothing, %row = %one) -> (!c, index) {
    %g = nv_tileas.dot %x, %y, %s {atom = #mma} : !as, !bs, !c -> !c
    scf.yield %g, %zero : !c, index
  }"""


def test_loops_that_give_numbers_are_run_by_all_warps() -> None:
    """All know the row in which sums are stored, not only the warp that issues products."""
    text = _text("once", 4).replace(BODIES["once"], COUNTING)
    text = text.replace("tiled_store %d, %vc[%zero,", "tiled_store %d, %vc[%last,")
    kernel = compile(text, "sm_100a")
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((128, 64), (64, 64)))
    run = kernel.emulate(a, b, np.full((128, 64), np.nan, np.float32), 1, grid=1)
    assert [str(finding) for finding in run.findings] == []
    np.testing.assert_array_equal(run.arrays[2], a.astype(np.float32) @ b.astype(np.float32))


ATTENTION = """  %half = arith.constant dense<0.5> : !c
  %ps = nv_tileas.alloc_tensor : !as
  %d = scf.for %k = %zero to %count step %one
      iter_args(%o = %nothing) -> (!c) {
    %s = nv_tileas.dot %x, %y, %nothing : !as, !bs, !c -> !c
    %p = arith.truncf %s : !c to !a
    nv_tileas.copy %p, %ps {atom = #nv_tileas<atom unknown_copy>} : !a, !as
    %scaled = arith.mulf %o, %half : !c
    %t = nv_tileas.async.dot %ps, %y, %scaled : !as, !bs, !c -> !sum
    %e = nv_tileas.async.wait %t : !sum -> !c
    scf.yield %e : !c
  }"""


def test_rounds_of_attention() -> None:
    """Scores, their product with a second operand, and the sum so far, scaled, in each round."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-1, 2, shape).astype(np.float16) for shape in ((128, 64), (64, 64)))
    text = HEAD.replace("BODY", ATTENTION).replace("WARPS", "4")
    kernel = compile(text.replace("ROWS", "(128,64):(1@thread,1@value)"), "sm_100a")
    once = (a.astype(np.float32) @ b.astype(np.float32)) @ b.astype(np.float32)
    for rounds in (0, 2):
        wanted = sum((0.5**n * once for n in range(rounds)), np.zeros_like(once))
        c = np.full((128, 64), np.nan, np.float32)
        np.testing.assert_array_equal(kernel.simulate(a, b, c, rounds, grid=1).arrays[2], wanted)
        for order, seed in TWO_ORDERS:
            run = kernel.emulate(a, b, c, rounds, grid=1, order=order, seed=seed)
            assert [str(finding) for finding in run.findings] == []
            np.testing.assert_array_equal(run.arrays[2], wanted)


@pytest.mark.sample(6)
@needs_ptxas
@pytest.mark.parametrize("name", BODIES)
def test_ptxas_is_content(name: str) -> None:
    made = compile(_text(name, 4), "sm_100a").assemble()
    assert (made.messages, made.spills) == ((), 0)


WRITTEN_TOO_SOON = {"written again", "written behind", "made again"}


@pytest.mark.sample(9)
@pytest.mark.parametrize("name", BODIES)
def test_products_are_waited_for_where_their_operands_are_written(name: str) -> None:
    """They have a barrier of their own then; who reads the sums has waited for all others."""
    places = compile(_text(name, 4), "sm_100a").abi.shared_map
    assert ("product 0" in places) == (name in WRITTEN_TOO_SOON)


ONCE = BODIES["once"]
REFUSED = {
    "sums that begin with numbers": (
        "  %some = arith.constant dense<1.0> : !tm\n"
        "  %e = nv_tileas.dot %x, %y, %some {atom = #mma} : !as, !bs, !tm -> !tm\n"
        "  %d = nv_tileas.convert_layout %e : !tm -> !c",
        "begins sums in tensor memory with something else than zeros",
    ),
    "sums that begin with the other zero": (
        "  %some = arith.constant dense<-0.0> : !tm\n"
        "  %e = nv_tileas.dot %x, %y, %some {atom = #mma} : !as, !bs, !tm -> !tm\n"
        "  %d = nv_tileas.convert_layout %e : !tm -> !c",
        "begins sums in tensor memory with something else than zeros",
    ),
    "sums that begin elsewhere": (
        "  %v = nv_tileas.alloc_tensor : !tm\n"
        "  %e = nv_tileas.dot %x, %y, %v {atom = #mma} : !as, !bs, !tm -> !tm\n"
        "  %d = nv_tileas.convert_layout %e : !tm -> !c",
        "begins sums in tensor memory with a tile from elsewhere",
    ),
    "sums of 16 bits": (
        "  %z = arith.constant dense<0.0> : !a\n"
        "  %e = nv_tileas.dot %x, %y, %z {atom = #nv_tileas<atom tcgen05_f16_f16_f16>}"
        " : !as, !bs, !a -> !a\n"
        "  %d = arith.extf %e : !a to !c",
        "failed to query target spec for convert_layout",
    ),
    "sums that nobody reads": (
        ONCE.replace("%d =", "%e =") + "\n  %d = arith.addf %nothing, %nothing : !c",
        "multiplies into tensor memory, and nobody reads what it gives",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    body, message = REFUSED[name]
    text = HEAD.replace("BODY", body)
    text = text.replace("WARPS", "4").replace("ROWS", "(128,64):(1@thread,1@value)")
    with pytest.raises(DiagnosticError, match=message):
        compile(text, "sm_100a")


@pytest.mark.parametrize(
    ("name", "rows", "columns", "times"), [("once", 256, 64, 1), ("chain", 32, 64, 2)]
)
def test_other_extents_are_products_of_warps(
    name: str, rows: int, columns: int, times: int
) -> None:
    """They get the atom of all targets."""
    text = _text(name, 4).replace(" {atom = #mma}", "")
    types = (("128x64xf16", f"{rows}x128xf16"), ("64x64xf16", f"128x{columns}xf16"))
    for old, new in (*types, ("128x64xf32", f"{rows}x{columns}xf32")):
        text = text.replace(old, new)
    text = "\n".join(line for line in text.splitlines() if not line.startswith(("!tm", "!rows")))
    kernel = compile(text, "sm_100a")
    assert "mma.sync.aligned.m16n8k16" in kernel.ptx
    rng = np.random.default_rng(1)
    a = rng.integers(-3, 4, (rows, 128)).astype(np.float16)
    b = rng.integers(-3, 4, (128, columns)).astype(np.float16)
    c = np.full((rows, columns), np.nan, np.float32)
    run = kernel.emulate(a, b, c, 1, grid=1)
    assert run.findings == []
    expected = times * (a.astype(np.float32) @ b.astype(np.float32))
    np.testing.assert_array_equal(run.arrays[2], expected)


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", ["once", "chain", "loop after loop", "scaled each round"])
def test_atoms_are_found(name: str) -> None:
    """A product without an atom is one of tcgen05, wherever it is."""
    text = _text(name, 4)
    bare = text.replace(" {atom = #mma}", "")
    assert bare != text
    assert compile(bare, "sm_100a").ptx == compile(text, "sm_100a").ptx


def test_two_warps_do_not_reach_all_lanes() -> None:
    with pytest.raises(DiagnosticError, match="failed to query target spec for convert_layout"):
        compile(_text("once", 2), "sm_100a")


def test_another_target_has_no_tensor_memory() -> None:
    with pytest.raises(DiagnosticError, match="needs sm_100a; sm_90a multiplies by wgmma"):
        compile(_text("once", 4), "sm_90a")
