"""Opaque fragments of a warp: products against numpy, with strides, through every memory."""

import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers
from support.matrix_kernels import DTYPES, group, matrix

from tileas_xdsl.target.isa.tables.matrix.tensor_cores import WMMA, WMMA_RESULTS

RNG = np.random.default_rng(5)
FORMS = [
    (of, shape, d, layouts)
    for i, (of, operands) in enumerate(WMMA.items())
    for j, shape in enumerate(operands.registers)
    for d in operands.results
    for layouts in [("row", "col", "row") if (i + j) % 2 else ("col", "row", "col")]
]
TYPES = {"f16": ".b32", "f32": ".f32", "s32": ".b32", "f64": ".f64"}


def stored(values: np.ndarray, layout: str, padding: int) -> np.ndarray:
    """A matrix as it is in memory, with some elements behind each row."""
    rows = values if layout == "row" else values.T
    return np.concatenate([rows, np.zeros((len(rows), padding), rows.dtype)], 1)


def product(of: str, shape: str, d: str, layouts: tuple[str, str, str]) -> str:
    """The body of a kernel of one product; A is read with a stride, C replaced by D."""
    a, b = WMMA[of].registers[shape]
    c, _ = WMMA_RESULTS[d]
    kind = ".f64" if of == "f64" else ".b32"
    types = f"{d}.{d}" if of == "f16" else f"{d}.{of}.{of}.{d}"
    rounding = ".rn" * (of == "f64")
    left, right, added = layouts
    vectors = group("a", a), group("b", b), group("c", c)
    return f"""
    .reg {kind} %a<{a}>, %b<{b}>; .reg {TYPES[d]} %c<{c}>; .reg .b64 %p<3>; .reg .b32 %s;
    ld.param.u64 %p0, [A]; ld.param.u64 %p1, [B]; ld.param.u64 %p2, [C]; ld.param.u32 %s, [S];
    wmma.load.a.sync.aligned.{left}.{shape}.global.{of} {vectors[0]}, [%p0], %s;
    wmma.load.b.sync.aligned.{right}.{shape}.{of} {vectors[1]}, [%p1];
    wmma.load.c.sync.aligned.{added}.{shape}.{d} {vectors[2]}, [%p2];
    wmma.mma.sync.aligned.{left}.{right}.{shape}{rounding}.{types}
        {vectors[2]}, {vectors[0]}, {vectors[1]}, {vectors[2]};
    wmma.store.d.sync.aligned.{added}.{shape}.{d} [%p2], {vectors[2]};
    ret;"""


@pytest.mark.parametrize(("of", "shape", "d", "layouts"), FORMS)
def test_products(of: str, shape: str, d: str, layouts: tuple[str, str, str]) -> None:
    m, n, k = (int(x) for x in shape[1:].replace("n", " ").replace("k", " ").split())
    left, right = matrix(of, (m, k), RNG), matrix(of, (k, n), RNG)
    added = matrix("s8" if d == "s32" else d, (m, n), RNG).astype(DTYPES[d])
    parts = zip((left, right, added), layouts, (32, 0, 0), strict=True)
    a, b, c = (np.ascontiguousarray(stored(*part)) for part in parts)
    body = product(of, shape, d, layouts)
    bits = {"bf16": np.uint16}.get(of, a.dtype)
    arguments = [a.view(bits), b.view(bits), c, a.shape[1]]
    report = execute(body, pointers("ABC") + ", .param .u32 S", arguments)
    exact = left.astype(np.float64) @ right.astype(np.float64) + added.astype(np.float64)
    np.testing.assert_array_equal(report.arrays[2], stored(exact.astype(DTYPES[d]), layouts[2], 0))


SHARED = f"""
    .shared .align 16 .b8 T[512]; .reg .b32 %a<8>, %t, %o; .reg .b16 %h; .reg .b64 %p;
    mov.u32 %t, %tid.x; mov.u32 %o, T; shl.b32 %t, %t, 4; xor.b32 %t, %t, 32; add.u32 %o, %o, %t;
    st.shared.v4.b32 [%o], {{%t, %t, %t, %t}};
    SYNC
    mov.u32 %o, T;
    wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {group("a", 8)}, [%o];
    ret;"""


@pytest.mark.parametrize(("sync", "kinds"), [("bar.warp.sync -1;", set()), ("", {"race-RAW"})])
def test_fragments_are_what_other_lanes_wrote(sync: str, kinds: set[str]) -> None:
    """Rows that other lanes wrote need a barrier of the warp before they are loaded."""
    body = SHARED.replace("SYNC", sync)
    report = execute(body, "", [], clean=False)
    assert {finding.kind for finding in report.findings} == kinds


def test_lanes_agree_on_the_address() -> None:
    body = SHARED.replace("SYNC", "bar.warp.sync -1;").replace("mov.u32 %o, T;\n    wmma", "wmma")
    (finding,) = execute(body, "", [], clean=False).findings
    assert "differ between lanes of a warp" in finding.message
