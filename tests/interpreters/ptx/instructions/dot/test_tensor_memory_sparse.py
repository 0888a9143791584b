"""Sparse and weight-stationary products of tensor memory against numpy, with exact sums.

Metadata are put into the lanes by hand, as the PTX ISA's figures 262 to 267 and CUTLASS's
`tmem_e_frg` have them; A, B and the scales as the tests of dense products have them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from interpreters.ptx.harness import module, pointers
from support.assembling import needs_ptxas
from support.matrix_kernels import (
    START as REGISTERS,
)
from support.matrix_kernels import (
    canonical,
    group,
    load_words,
    matrix,
    placed,
    store_words,
)
from support.sparse_kernels import codes_of, spread_out, twice_as_deep

from tests.interpreters.ptx.instructions.dot.test_block_scales import (
    FORMATS,
    SCALES,
    SFA,
    SFB,
    atoms,
    copy,
    packed,
)
from tests.interpreters.ptx.instructions.dot.test_tensor_memory import (
    ALLOCATE,
    BLACKWELL,
    FILL,
    FREE,
    KIND,
    NAMES,
    WAIT,
    run_block,
)
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.block_scales import scale_vector
from tileas_xdsl.target.mma.instruction_descriptor import (
    BlockScaledDescriptor,
    InstructionDescriptor,
)
from tileas_xdsl.target.mma.smem_descriptor import describe
from tileas_xdsl.target.mma.zero_columns import ZeroColumns, decode

LISTED = [0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b0110, 0b1110]
"""The codes of PTX ISA 9.7.16.10.8.2."""

AT = 224
"""The column of the metadata, which have two; A in tensor memory is behind them."""


@dataclass(frozen=True)
class Case:
    d: str
    a: str
    b: str
    m: int = 128
    n: int = 64
    majors: tuple[Any, Any] = ("k", "k")
    selector: int = 0
    lane: int = 0
    pair: bool = False
    ws: bool = False
    sparse: bool = True
    a_in_tensor_memory: bool = False

    @property
    def bits(self) -> int:
        return {"f16": 16, "bf16": 16, "tf32": 32}.get(self.a, 8)

    @property
    def rows(self) -> int:
        """Rows of one CTA."""
        return self.m // (1 + self.pair)

    @property
    def half(self) -> bool:
        return self.rows == 64 and not self.ws

    @property
    def parts(self) -> int:
        return 1 if self.half else 128 // self.rows

    def lanes(self) -> np.ndarray:
        row = np.arange(self.rows)
        return row // 16 * 32 + row % 16 + self.lane if self.half else row


def metadata(codes: np.ndarray, case: Case, bits: int, rng: np.random.Generator) -> np.ndarray:
    """Return the words of two columns (128, 2); the column that is not selected has any."""
    found = rng.integers(0, 1 << 32, (128, 2), dtype=np.uint64).astype(np.uint32)
    mine = slice(None) if bits <= 8 else slice(case.selector, case.selector + 1)
    found[:, mine] = 0
    for part in range(case.parts):
        for (row, chunk), code in np.ndenumerate(codes):
            if bits <= 8:
                at, column, shift = row % 16, chunk // 8, 4 * (chunk % 8)
            else:
                at, column = row % 8 + 8 * (chunk // 4), case.selector
                shift = 16 * (row % 16 // 8) + 4 * (chunk % 4)
            first = case.lanes()[row // 16 * 16] + case.rows * part
            found[first + at, column] |= np.uint32(int(code) << shift)
    return found


@dataclass(frozen=True)
class Inputs:
    memory: np.ndarray
    metadata: np.ndarray
    left: np.ndarray
    """A as tensor memory has it (128, 8)."""
    values: np.ndarray
    """A (rows, K), with its zeros."""
    right: np.ndarray
    words: tuple[int, int]


def inputs(case: Case, seed: int = 3) -> Inputs:
    rng = np.random.default_rng(seed)
    k = (1 + case.sparse) * 256 // case.bits
    columns = case.n // (1 + case.pair)
    kept = matrix(case.a, (case.rows, 256 // case.bits), rng)
    right = matrix(case.b, (columns + 64 * case.ws, k), rng)
    values, words_of_metadata = kept, np.zeros((128, 2), np.uint32)
    if case.sparse:
        codes = codes_of(case.bits, case.rows, k, rng, LISTED)
        values = spread_out(kept, codes, case.bits)
        words_of_metadata = metadata(codes, case, case.bits, rng)
    layouts = [
        canonical("128B", major, case.bits, len(part))
        for major, part in zip(case.majors, (kept, right), strict=True)
    ]
    if case.sparse:
        layouts[1] = twice_as_deep(layouts[1])
    memory = np.concatenate([placed(kept, layouts[0], 32768), placed(right, layouts[1], 32768)])
    first, second = (
        describe(layout, 1024 + 32768 * i, BLACKWELL).encode() for i, layout in enumerate(layouts)
    )
    left = np.zeros((128, 8), np.uint32)
    left[: case.rows] = np.ascontiguousarray(kept).view(np.uint32)
    return Inputs(memory, words_of_metadata, left, values, right, (first, second))


def instruction(case: Case, **fields: Any) -> int:
    names = (NAMES.get(case.a, case.a), NAMES.get(case.b, case.b))
    fields = {"sparse": case.sparse, "sparsity_selector": case.selector} | fields
    return InstructionDescriptor(
        KIND[case.a], *names, case.m, case.n, *case.majors, d=case.d,
        group="2" if case.pair else "ws" if case.ws else "1", **fields,
    ).encode()  # fmt: skip


def program(case: Case, words: tuple[int, int], idesc: int, *, zeros: int | None = None) -> str:
    """D = 2 A B by two products."""
    form = f"{'.ws' * case.ws}{'.sp' * case.sparse}.cta_group::{1 + case.pair}"
    a = "[%v3]" if case.a_in_tensor_memory else "%da"
    meta = "[%v2], " * case.sparse
    mask = "" if zeros is None else ", %zeros"
    mma = f"tcgen05.mma{form}.kind::{KIND[case.a]} [%v1], {a}, %db, {meta}%v0, %p{mask};"
    columns = case.n // case.parts
    commit = "shared::cluster.b64 [bars]"
    issuer, before, after = "%t", "", ""
    if case.pair:
        commit = "shared::cluster.multicast::cluster.b64 [bars], %both"
        issuer = "%far"
        before = after = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
    body = f"""{ALLOCATE}
    .reg .b64 %at, %zeros; .reg .b32 %far; .reg .b16 %both; mov.b16 %both, 3;
    mov.b64 %zeros, {zeros or 0};
    mov.u32 %far, %cluster_ctarank;
    {FILL} {load_words("e", "E", 2)} {load_words("a", "A", 8)} {load_words("d", "D", columns)}
    mul.wide.u32 %at, %far, {128 * columns * 4}; add.u64 %pd, %pd, %at;
    add.u32 %v1, %l, {AT}; tcgen05.st.sync.aligned.32x32b.x2.b32 [%v1], {group("e", 2)};
    add.u32 %v1, %l, {AT + 8}; tcgen05.st.sync.aligned.32x32b.x8.b32 [%v1], {group("a", 8)};
    tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0;
    {before} tcgen05.fence::after_thread_sync;
    add.u32 %v1, %d, {case.lane << 16}; add.u32 %v2, %v1, {AT}; add.u32 %v3, %d, {AT + 8};
    mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]}; mov.u32 %v0, {idesc};
    or.b32 %far, %far, %t; setp.ne.u32 %q, {issuer}, 0; @%q bra COMMIT; setp.ne.u32 %p, %t, %t;
    {mma} setp.eq.u32 %p, %t, %t; {mma}
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.{commit};
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x{columns}.b32 {group("d", columns)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", columns)} {after} {FREE}
    """
    if not case.pair:
        return body
    fill = "ld.param.u64 %m, [M]; mul.wide.u32 %at, %far, 65536; add.u64 %m, %m, %at;"
    loads = "\n".join(
        f"mul.wide.u32 %at, %far, {size}; add.u64 %p{name}, %p{name}, %at;"
        for name, size in (("e", 1024), ("a", 4096))
    )
    body = body.replace("ld.param.u64 %m, [M];", fill)
    for name in "ea":
        line = f"add.u64 %p{name}, %p{name}, %o;"
        body = body.replace(line, line + loads.split("\n")[name == "a"])
    return body.replace("cta_group::1", "cta_group::2")


def run(case: Case, given: list[Inputs], idesc: int, zeros: int | None = None, **options: Any):
    body = program(case, given[0].words, idesc, zeros=zeros)
    stacked = [
        np.stack([getattr(g, name) for g in given]) for name in ("metadata", "left", "memory")
    ]
    outputs = np.zeros((len(given), 128, case.n // case.parts), np.uint32)
    sizes = {"grid": 2, "cluster": 2} if case.pair else {}
    return run_block(body, "DEAM", [outputs, *stacked], **sizes, **options)


def numbers(words: np.ndarray, d: str) -> np.ndarray:
    if d == "f16":
        return (words & 0xFFFF).astype(np.uint16).view(np.float16)
    return words.view({"f32": np.float32, "s32": np.int32}[d])


def check(case: Case, given: list[Inputs], report: Any, right: np.ndarray) -> None:
    for found, one in zip(report.arrays[0], given, strict=True):
        exact = 2 * one.values.astype(np.float64) @ right.astype(np.float64).T
        parts = np.split(exact, case.parts, 1)
        lanes = case.lanes()
        for part, wanted in enumerate(parts):
            mine = numbers(found[lanes + case.rows * part], case.d)
            np.testing.assert_array_equal(mine.astype(np.float64), wanted)


CASES = [
    Case("f32", "f16", "f16"),
    Case("f32", "bf16", "bf16", selector=1, majors=("mn", "mn")),
    Case("f16", "f16", "f16", m=64, selector=1),
    Case("f32", "tf32", "tf32", n=32, selector=1),
    Case("f32", "tf32", "tf32", m=64, n=32, lane=16),
    Case("f32", "e4m3", "e5m2"),
    Case("s32", "s8", "u8", m=64, n=32),
    Case("f32", "bf16", "bf16", selector=1, a_in_tensor_memory=True),
    Case("f32", "e5m2", "e4m3", a_in_tensor_memory=True),
    Case("f32", "f16", "f16", ws=True, selector=1),
    Case("f32", "f16", "f16", m=64, ws=True),
    Case("f32", "tf32", "tf32", m=32, ws=True, selector=1),
    Case("s32", "u8", "s8", m=32, n=128, ws=True),
    Case("f32", "f16", "f16", m=128, pair=True, selector=1),
    Case("f32", "e4m3", "e4m3", m=256, pair=True),
]


def name_of(case: Case) -> str:
    flags = [name for name in ("pair", "ws", "a_in_tensor_memory") if getattr(case, name)]
    return "-".join([case.d, case.a, case.b, f"{case.m}x{case.n}", str(case.selector), *flags])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_products(case: Case) -> None:
    given = [inputs(case, 3 + i) for i in range(1 + case.pair)]
    report = run(case, given, instruction(case), order="lazy", clean=not case.half)
    assert {f.kind for f in report.findings} <= ({"uninitialised"} if case.half else set())
    columns = case.n // (1 + case.pair)
    check(case, given, report, np.concatenate([g.right[:columns] for g in given]))


@needs_ptxas
def test_ptxas_takes_them() -> None:
    for case in CASES[::4]:
        body = REGISTERS + program(case, (0, 0), instruction(case), zeros=0 if case.ws else None)
        text = module(body, pointers("DEAM"), "sm_100a", "8.8")
        assert assemble(text, "sm_100a", name="k.ptx").spills == 0


F16 = CASES[0]


@pytest.mark.parametrize(
    ("m", "selector", "offset", "says"),
    [
        (128, 2, 0, "sparsity selector of 16-bit elements is below 2, not 2"),
        (128, 0, 1, "the metadata of A begin at column 225, not at a pair of columns"),
        (128, 0, 16 << 16, "the metadata of A begin at lane 16"),
        (64, 0, 16 << 16, "the metadata of A begin at lane 16 and D at lane 0"),
    ],
)
def test_where_metadata_cannot_be(m: int, selector: int, offset: int, says: str) -> None:
    case = replace(F16, m=m)
    given = inputs(case)
    body = program(case, given.words, instruction(case, sparsity_selector=selector))
    body = body.replace(f"add.u32 %v2, %v1, {AT}", f"add.u32 %v2, %v1, {AT + offset}")
    arguments = [np.zeros((128, 64), np.uint32), given.metadata, given.left, given.memory]
    report = run_block(body, "DEAM", arguments, clean=False)
    assert any(says in f.message for f in report.findings)


def test_codes_that_the_isa_does_not_list() -> None:
    for case, wrong in ((F16, 0b0001), (F16, 0b1010), (CASES[3], 0b1000)):
        given = inputs(case)
        given.metadata[8, case.selector] = wrong
        report = run(case, [given], instruction(case), clean=False)
        assert any(f"say {wrong:#06b} for chunk" in f.message for f in report.findings)


def test_parts_of_the_lanes_have_the_same_metadata() -> None:
    case = Case("f32", "f16", "f16", m=64, ws=True)
    given = inputs(case)
    given.metadata[70:72] = given.metadata[71:69:-1]
    report = run(case, [given], instruction(case), clean=False)
    assert any("differ between the 2 parts of the lanes" in f.message for f in report.findings)


def test_descriptors_say_whether_a_is_sparse() -> None:
    word = instruction(F16, sparse=False)
    report = run(F16, [inputs(F16)], word, clean=False)
    assert any(
        "descriptor of a dense product at tcgen05.mma.sp" in f.message for f in report.findings
    )
    dense = replace(F16, sparse=False)
    report = run(dense, [inputs(dense)], instruction(F16), clean=False)
    assert any(
        "descriptor of a sparse product at tcgen05.mma" in f.message for f in report.findings
    )


# Block scales


@pytest.mark.parametrize(
    ("kind", "a", "b", "vector", "scale"),
    [
        ("mxf8f6f4", "f8e4m3", "f6e3m2", "", "ue8m0"),
        ("mxf8f6f4", "f4e2m1", "f8e5m2", "block32", "ue8m0"),
        ("mxf4", "f4e2m1", "f4e2m1", "block32", "ue8m0"),
        ("mxf4nvf4", "f4e2m1", "f4e2m1", "scale_vec::4X", "ue4m3"),
    ],
)
def test_block_scaled_products(kind: str, a: str, b: str, vector: str, scale: str) -> None:
    rng = np.random.default_rng(8)
    n, scales = 64, scale_vector(kind, vector.removeprefix("scale_vec::"), scale)
    bits = 4 if kind != "mxf8f6f4" else 8
    k = 512 // bits
    of_elements = {name: np.arange(-3, 4).astype(FORMATS[name][1]) for name in (a, b)}
    kept = rng.choice(of_elements[a], (128, k // 2)).view(np.uint8)
    right = rng.choice(of_elements[b], (n, k)).view(np.uint8)
    codes = rng.choice(LISTED, (128, k // (8 if bits == 4 else 4)))
    values = spread_out(kept, codes, 8) if bits == 8 else in_pairs(kept, codes)
    numbers_of = [values.view(FORMATS[a][1]), right.view(FORMATS[b][1])]
    memory, words = np.zeros(65536, np.uint8), []
    scaled: list[np.ndarray] = []
    for i, (part, name, element) in enumerate(((kept, a, SFA), (right, b, SFB))):
        data = packed(part, name, padded=bits == 8)
        layout = canonical("128B", "k", 8, len(data))
        layout = twice_as_deep(layout) if i else layout
        memory[32768 * i : 32768 * i + 16384] = placed(data, layout, 16384)
        words.append(describe(layout, 1024 + 32768 * i, BLACKWELL).encode())
        of_rows = rng.choice(np.float32([0.5, 1, 2]).astype(SCALES[scale]), (len(part), 4))
        memory[element : element + 512] = atoms(of_rows.view(np.uint8))[:512]
        used = of_rows[:, : scales.count].astype(np.float64)
        factors = np.repeat(used, k // scales.count, axis=1)
        scaled.append(numbers_of[i].astype(np.float64) * factors)
    idesc = BlockScaledDescriptor(kind, a, b, 128, n, "k", "k", scale=scale, sparse=True).encode()
    mma = f"tcgen05.mma.sp.cta_group::1.kind::{kind}.block_scale{'.' * bool(vector)}{vector}"
    operands = "[%d], %da, %db, [%v2], %v0, [%v1], [%v3], %p;"
    body = f"""{ALLOCATE.replace("256;", "512;", 1)} {FILL} {load_words("e", "E", 2)}
    {load_words("d", "D", n)} .reg .b64 %sf;
    add.u32 %v1, %l, 300; tcgen05.st.sync.aligned.32x32b.x2.b32 [%v1], {group("e", 2)};
    tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0;
    tcgen05.fence::after_thread_sync;
    mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]}; mov.u32 %v0, {idesc};
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT; {copy(SFA, 256)} {copy(SFB, 260)}
    add.u32 %v1, %d, 256; add.u32 %v3, %d, 260; add.u32 %v2, %d, 300;
    setp.ne.u32 %p, %t, %t; {mma} {operands} setp.eq.u32 %p, %t, %t; {mma} {operands}
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT} tcgen05.ld.sync.aligned.32x32b.x{n}.b32 {group("d", n)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", n)} {FREE.replace("256", "512")}"""
    meta = metadata(codes, F16, bits, rng)
    arguments = [np.zeros((128, n), np.float32), meta, memory]
    report = run_block(body, "DEM", arguments, version="8.8")
    np.testing.assert_array_equal(report.arrays[0], 2 * scaled[0] @ scaled[1].T)


def in_pairs(kept: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return A (rows, K) whose chunks of 8 elements keep two of four pairs."""
    found = np.zeros((len(kept), 2 * kept.shape[1]), kept.dtype)
    for (row, chunk), code in np.ndenumerate(codes):
        for i, pair in enumerate((code & 3, code >> 2)):
            at, source = 8 * chunk + 2 * pair, 4 * chunk + 2 * i
            found[row, at : at + 2] = kept[row, source : source + 2]
    return found


# Columns of zeros


def bits_of(mask: np.ndarray) -> str:
    """Return the last bits of a mask as the ISA writes them, column 0 on the right."""
    return "".join("01"[int(bit)] for bit in mask[13::-1])


@pytest.mark.parametrize(
    ("m", "starts", "zeros_first", "masks"),
    [
        (128, (0, 0, 0, 0), (0, 0, 0, 0), ["11100001110000"]),
        (64, (0, 0, 0, 0), (1, 0, 0, 0), ["00001110000111", "11100001110000"]),
        (
            32,
            (0, 1, 2, 1),
            (1, 1, 0, 0),
            ["00001110000111", "10000111000011", "00111000011100", "01110000111000"],
        ),
    ],
)
def test_zero_column_masks_of_the_isa(
    m: int, starts: Any, zeros_first: Any, masks: list[str]
) -> None:
    """Examples 2 to 4 of 9.7.16.4.3: skip span 2 and use span 3 are 3 and 4 columns."""
    given = ZeroColumns(4, 3, starts, zeros_first, 2)
    found = decode(given.encode(), m, 16)
    assert found == given
    parts = np.split(found.mask(m, 64), len(masks))
    assert [bits_of(part) for part in parts] == [
        mask[-len(bits_of(part)) :] for mask, part in zip(masks, parts, strict=True)
    ]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("m", [128, 32])
def test_products_with_columns_of_zeros(m: int, sparse: bool) -> None:
    case = Case("f32", "f16", "f16", m=m, ws=True, sparse=sparse)
    zeros = ZeroColumns(3, 2, (1, 0, 2, 0), (False, True, False, True), 5)
    given = inputs(case)
    idesc = instruction(case, max_shift=8)
    report = run(case, [given], idesc, zeros=zeros.encode())
    right = given.right[5 : 5 + case.n].copy()
    right[zeros.mask(m, case.n)] = 0
    assert 0 < zeros.mask(m, case.n).sum() < case.n
    check(case, [given], report, right)


def test_masks_that_there_are_not() -> None:
    with pytest.raises(TargetError, match="reserved bit 36"):
        decode(1 << 36, 128, 0)
    with pytest.raises(TargetError, match="the shift is 17, and at most 16 here"):
        decode(ZeroColumns(shift=17).encode(), 32, 32)
    with pytest.raises(TargetError, match="a start count of 4 leaves nothing"):
        ZeroColumns(4, 3, (4, 0, 0, 0)).mask(128, 64)
    case = Case("f32", "f16", "f16", ws=True)
    word = ZeroColumns(shift=9).encode()
    report = run(case, [inputs(case)], instruction(case, max_shift=8), zeros=word, clean=False)
    assert any("the shift is 9, and at most 8 here" in f.message for f in report.findings)
