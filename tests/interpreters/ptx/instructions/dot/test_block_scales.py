"""Block-scaled products of tcgen05 against numpy, operands packed as shared memory has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.matrix_kernels import canonical, group, load_words, placed, store_words

from tests.interpreters.ptx.instructions.dot.test_tensor_memory import (
    ALLOCATE,
    BLACKWELL,
    FILL,
    FREE,
    WAIT,
    run_block,
)
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.dialects.nv_tileas.compute.block_scaled import BLOCK_SCALED
from tileas_xdsl.interpreters.ptx import PtxError
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import TENSOR_KINDS
from tileas_xdsl.target.mma.block_scales import (
    ATOM_BYTES,
    ATOM_ROWS,
    ATOM_SCALES,
    SCALE_ATOM,
    SCALE_VECTORS,
    scale_layout,
    scale_vector,
)
from tileas_xdsl.target.mma.instruction_descriptor import BlockScaledDescriptor
from tileas_xdsl.target.mma.mma_kinds import KINDS
from tileas_xdsl.target.mma.smem_descriptor import SmemDescriptor, describe
from tileas_xdsl.target.tensor_memory import LANE_STEP, counted

FORMATS: dict[str, tuple[int, Any]] = {
    "f8e4m3": (8, ml_dtypes.float8_e4m3fn),
    "f8e5m2": (8, ml_dtypes.float8_e5m2),
    "f6e2m3": (6, ml_dtypes.float6_e2m3fn),
    "f6e3m2": (6, ml_dtypes.float6_e3m2fn),
    "f4e2m1": (4, ml_dtypes.float4_e2m1fn),
}
SCALES: dict[str, Any] = {"ue8m0": ml_dtypes.float8_e8m0fnu, "ue4m3": ml_dtypes.float8_e4m3fn}
START = 1024
"""Where the box begins in shared memory."""
A, B, SFA, SFB = 0, 32768, 49152, 57344
"""Where operands and scales are in the box."""


@dataclass(frozen=True)
class Case:
    kind: str
    a: str
    b: str
    n: int
    vector: str
    scale: str = "ue8m0"
    ids: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        ids = "".join(map(str, self.ids))
        return f"{self.kind}-{self.a}-{self.b}-{self.n}-{self.vector}-{self.scale}-{ids}"

    @property
    def k(self) -> int:
        return 32 if self.kind == "mxf8f6f4" else 64


CASES = [
    Case("mxf8f6f4", "f8e4m3", "f8e5m2", 64, "", ids=(1, 3)),
    Case("mxf8f6f4", "f8e5m2", "f4e2m1", 256, "scale_vec::1X", ids=(2, 0)),
    Case("mxf8f6f4", "f6e2m3", "f6e3m2", 128, "block32"),
    Case("mxf8f6f4", "f4e2m1", "f8e4m3", 8, "scale_vec::1X", ids=(3, 2)),
    Case("mxf4", "f4e2m1", "f4e2m1", 128, "", ids=(2, 0)),
    Case("mxf4", "f4e2m1", "f4e2m1", 200, "scale_vec::2X", ids=(0, 2)),
    Case("mxf4", "f4e2m1", "f4e2m1", 64, "block32", ids=(2, 2)),
    Case("mxf4nvf4", "f4e2m1", "f4e2m1", 256, "scale_vec::4X", "ue4m3"),
    Case("mxf4nvf4", "f4e2m1", "f4e2m1", 96, "block16", "ue8m0"),
    Case("mxf4nvf4", "f4e2m1", "f4e2m1", 64, "scale_vec::2X", ids=(2, 0)),
]


def numbers(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Random bits of a format, none of them NaN or infinite."""
    bits, dtype = FORMATS[name]
    codes = rng.integers(0, 1 << bits, shape, dtype=np.uint8)
    found = codes.view(dtype)
    wrong = ~np.isfinite(found.astype(np.float32))
    codes[wrong] = 1
    return codes


def packed(codes: np.ndarray, name: str, padded: bool) -> np.ndarray:
    """Rows of elements as bytes: 16 to a granule of 16 bytes if padded, else side by side."""
    width = FORMATS[name][0]
    if width == 8:
        return codes
    bits = (codes[..., None] >> np.arange(width) & 1).astype(np.uint8)
    rows = len(codes)
    data = np.packbits(bits.reshape(rows, -1), axis=1, bitorder="little")
    if not padded:
        return data
    parts = data.reshape(rows, -1, 2 * width)
    return np.pad(parts, ((0, 0), (0, 0), (0, 16 - 2 * width))).reshape(rows, -1)


def scales(rng: np.random.Generator, name: str, rows: int) -> np.ndarray:
    """Random scales `(rows, 4)` as bytes, of which an instruction uses some."""
    if name == "ue8m0":
        return rng.integers(120, 135, (rows, ATOM_SCALES), dtype=np.uint8)
    return rng.integers(0, 0x7F, (rows, ATOM_SCALES), dtype=np.uint8)


def atoms(codes: np.ndarray) -> np.ndarray:
    """Scales as `tcgen05.cp` copies them."""
    rows = -(-len(codes) // ATOM_ROWS) * ATOM_ROWS
    memory = np.zeros(rows // ATOM_ROWS * ATOM_BYTES, np.uint8)
    row, scale = np.indices(codes.shape)
    place = np.asarray(table(SCALE_ATOM)).reshape(ATOM_SCALES, ATOM_ROWS).T
    memory[row // ATOM_ROWS * ATOM_BYTES + place[row % ATOM_ROWS, scale]] = codes
    return memory


@dataclass(frozen=True)
class Inputs:
    """What a product reads, and what it should give."""

    memory: np.ndarray
    expected: np.ndarray
    words: tuple[int, int]
    instruction: int


@dataclass(frozen=True)
class Operand:
    """An operand: its bytes in shared memory, its scales, and its scaled numbers."""

    data: np.ndarray
    scales: np.ndarray
    values: np.ndarray


def operands(case: Case, seed: int) -> list[Operand]:
    rng = np.random.default_rng(seed)
    vector = scale_vector(case.kind, case.vector.removeprefix("scale_vec::"), case.scale)
    found: list[Operand] = []
    for name, rows, first in ((case.a, 128, case.ids[0]), (case.b, case.n, case.ids[1])):
        codes = numbers(rng, name, (rows, case.k))
        of_rows = scales(rng, case.scale, rows)
        used = of_rows[:, first : first + vector.count].view(SCALES[case.scale])
        spread = np.repeat(used.astype(np.float64), vector.block, axis=1)
        values = codes.view(FORMATS[name][1]).astype(np.float64) * spread
        data = packed(codes, name, padded=case.kind == "mxf8f6f4")
        found.append(Operand(data, of_rows, values))
    return found


def inputs(case: Case, seed: int = 5) -> Inputs:
    memory = np.zeros(65536, np.uint8)
    words: list[int] = []
    parts = operands(case, seed)
    places = ((A, SFA, "128B"), (B, SFB, "32B"))
    for part, (place, scales_at, mode) in zip(parts, places, strict=True):
        layout = canonical(mode, "k", 8, len(part.data))
        memory[place : place + 16384] = placed(part.data, layout, 16384)
        words.append(describe(layout, START + place, BLACKWELL).encode())
        copied = atoms(part.scales)
        memory[scales_at : scales_at + len(copied)] = copied
    instruction = BlockScaledDescriptor(
        case.kind, case.a, case.b, 128, case.n, "k", "k", scale=case.scale,
        a_scale_id=case.ids[0], b_scale_id=case.ids[1],
    ).encode()  # fmt: skip
    expected = parts[0].values @ parts[1].values.T
    return Inputs(memory, expected, (words[0], words[1]), instruction)


def copy(place: int, column: int) -> str:
    """Return code that copies an atom of scales to columns of tensor memory."""
    word = SmemDescriptor(BLACKWELL, "none", START + place, 16, 128).encode()
    return f"mov.b64 %sf, {word}; add.u32 %v1, %d, {column};\n" + (
        "tcgen05.cp.cta_group::1.32x128b.warpx4 [%v1], %sf;\n"
    )


WHERE_A, WHERE_B = 256, 260
"""Columns of the scales."""


def program(case: Case, given: Inputs, *, spoil: str = "") -> str:
    """D = 2 * A B, by two products; `spoil` stands before them."""
    allocate = ALLOCATE.replace("256;\ntcgen05.relin", "512;\ntcgen05.relin")
    free = FREE.replace("%d, 256", "%d, 512")
    copies = copy(SFA, WHERE_A) + "".join(
        copy(SFB + ATOM_BYTES * i, WHERE_B + 4 * i) for i in range(-(-case.n // ATOM_ROWS))
    )
    vector = f".{case.vector}" if case.vector else ""
    mma = (
        f"tcgen05.mma.cta_group::1.kind::{case.kind}.block_scale{vector} "
        "[%d], %da, %db, %v0, [%v1], [%v2], %p;"
    )
    reads = "".join(
        f"add.u32 %v3, %l, {first}; tcgen05.ld.sync.aligned.32x32b.x8.b32 {group('d', 8)}, [%v3];\n"
        f"tcgen05.wait::ld.sync.aligned; {store_words('d', 8)} add.u64 %pd, %pd, {128 * 32};\n"
        for first in range(0, case.n, 8)
    )
    return f"""{allocate} {FILL} {load_words("d", "D", 8)} .reg .b64 %sf;
    mov.b64 %da, {given.words[0]}; mov.b64 %db, {given.words[1]}; mov.u32 %v0, {given.instruction};
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT;
    {copies} add.u32 %v1, %d, {WHERE_A}; add.u32 %v2, %d, {WHERE_B}; {spoil}
    setp.ne.u32 %p, %t, %t; {mma} setp.eq.u32 %p, %t, %t; {mma}
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT} {reads} {free}"""


def run(case: Case, given: Inputs, **options: Any) -> Any:
    spoil = options.pop("spoil", "")
    outputs = np.zeros((case.n // 8, 128, 8), np.float32)
    body = program(case, given, spoil=spoil)
    return run_block(body, "DM", [outputs, given.memory], version="8.8", **options)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
def test_products_are_scaled(case: Case, order: str) -> None:
    given = inputs(case)
    report = run(case, given, order=order)
    found = report.arrays[0].transpose(1, 0, 2).reshape(128, case.n)
    expected = 2 * given.expected
    limit = np.abs(expected).max() * 2.0**-20
    np.testing.assert_allclose(found, expected, rtol=2.0**-20, atol=limit)
    assert len(np.unique(found)) > 100


@needs_ptxas
@pytest.mark.parametrize("case", CASES, ids=str)
def test_ptxas_takes_them(case: Case) -> None:
    from interpreters.ptx.harness import module, pointers
    from support.matrix_kernels import START as REGISTERS

    body = program(case, inputs(case))
    text = module(REGISTERS + body, pointers("DM"), "sm_100a", "8.8")
    assert assemble(text, "sm_100a", name="k.ptx").spills == 0


MX8 = CASES[0]


PAIRS = [
    Case("mxf8f6f4", "f8e4m3", "f4e2m1", 64, "scale_vec::1X", ids=(1, 2)),
    Case("mxf4nvf4", "f4e2m1", "f4e2m1", 256, "scale_vec::4X", "ue4m3"),
]


def halves(case: Case) -> tuple[np.ndarray, np.ndarray, Inputs]:
    """The memories of two CTAs, what they should hold, and a product of both.

    Each has half of the rows of A and of B, the scales of its rows of A, and those of all of B.
    """
    half = replace(case, n=case.n // 2)
    given = inputs(half, 5)
    memories = np.stack([given.memory, inputs(half, 6).memory])
    parts = [operands(half, seed) for seed in (5, 6)]
    everything = atoms(np.concatenate([b.scales for _, b in parts]))
    memories[:, SFB : SFB + len(everything)] = everything
    right = np.concatenate([b.values for _, b in parts])
    instruction = BlockScaledDescriptor(
        case.kind, case.a, case.b, 256, case.n, "k", "k", scale=case.scale,
        a_scale_id=case.ids[0], b_scale_id=case.ids[1], group="2",
    ).encode()  # fmt: skip
    expected = np.stack([a.values @ right.T for a, _ in parts])
    return memories, expected, replace(given, instruction=instruction)


@pytest.mark.parametrize("case", PAIRS, ids=str)
@pytest.mark.parametrize("order", ["eager", "lazy"])
def test_products_of_a_pair_of_ctas(case: Case, order: str) -> None:
    memories, expected, given = halves(case)
    body = program(case, given).replace("cta_group::1", "cta_group::2")
    body = body.replace("ld.param.u64 %m, [M];", """
    .reg .b32 %rank; .reg .b64 %far; .reg .b16 %both; mov.u32 %rank, %cluster_ctarank;
    ld.param.u64 %m, [M]; mul.wide.u32 %far, %rank, 65536; add.u64 %m, %m, %far; mov.b16 %both, 3;
    """)  # fmt: skip
    size = 128 * case.n * 4
    body = body.replace(".reg .b64 %sf;", f""".reg .b64 %sf;
    mul.wide.u32 %far, %rank, {size}; add.u64 %pd, %pd, %far;
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
    """)  # fmt: skip
    body = body.replace("setp.ne.u32 %q, %t, 0; @%q bra COMMIT;", """
    or.b32 %v3, %t, %rank; setp.ne.u32 %q, %v3, 0; @%q bra COMMIT;
    """)  # fmt: skip
    body = body.replace(
        "shared::cluster.b64 [bars];", "shared::cluster.multicast::cluster.b64 [bars], %both;"
    )
    closing = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
    body = body.replace(
        "tcgen05.fence::before_thread_sync; bar.sync 0; setp.ne.u32 %q, %w",
        closing + "tcgen05.fence::before_thread_sync; bar.sync 0; setp.ne.u32 %q, %w",
    )
    outputs = np.zeros((2, case.n // 8, 128, 8), np.float32)
    arguments = [outputs, memories]
    report = run_block(body, "DM", arguments, version="8.8", order=order, grid=2, cluster=2)
    found = report.arrays[0].transpose(0, 2, 1, 3).reshape(2, 128, case.n)
    limit = np.abs(expected).max() * 2.0**-19
    np.testing.assert_allclose(found, 2 * expected, rtol=2.0**-19, atol=limit)


def test_scales_of_all_quarters_agree() -> None:
    """What tcgen05.st puts into the first quarter only is no scale of the other rows."""
    spoil = "add.u32 %v1, %d, 300;"
    report = run(MX8, inputs(MX8), spoil=spoil, clean=False)
    assert "uninitialised" in {f.kind for f in report.findings}
    given = inputs(MX8)
    body = program(MX8, given).replace("32x128b.warpx4", "64x128b.warpx2::01_23")
    report = run_block(
        body, "DM", [np.zeros((8, 128, 8), np.float32), given.memory], version="8.8", clean=False
    )
    assert any("all four quarters hold them" in f.message for f in report.findings)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (f"add.u32 %v2, %d, {(1 << 16) * 32};", "scales of B begin at lane 32, not 0"),
        ("add.u32 %v1, %d, 510;", "outside"),
    ],
)
def test_where_scales_cannot_be(spoil: str, says: str) -> None:
    report = run(MX8, inputs(MX8), spoil=spoil, clean=False)
    assert any(says in f.message for f in report.findings)


def test_a_vector_that_the_kind_does_not_have() -> None:
    with pytest.raises(PtxError, match=r"\.kind::mxf8f6f4 is not for \.scale_vec::2X"):
        run(replace(MX8, vector="scale_vec::2X"), inputs(MX8), clean=False)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("kind::mxf8f6f4", "kind::f8f6f4", ".kind::f8f6f4 is not for .block_scale"),
        (".block_scale", "", ".block_scale is missing"),
        (", [%v1], [%v2]", "", "takes 7 operands, not 5"),
    ],
)
def test_what_is_no_instruction(old: str, new: str, says: str) -> None:
    given = inputs(MX8)
    body = program(MX8, given).replace(old, new)
    with pytest.raises(PtxError, match=says.replace("[", r"\[")):
        run_block(body, "DM", [np.zeros((8, 128, 8), np.float32), given.memory], version="8.8")


def test_ids_are_aligned_to_the_scales_of_a_row() -> None:
    """A descriptor of kind mxf4nvf4 may say byte 2, but four scales begin at byte 0."""
    case = Case("mxf4nvf4", "f4e2m1", "f4e2m1", 64, "scale_vec::4X")
    given = replace(
        inputs(case),
        instruction=BlockScaledDescriptor(
            "mxf4nvf4", "f4e2m1", "f4e2m1", 128, 64, a_scale_id=2
        ).encode(),
    )
    report = run(case, given, clean=False)
    assert any("4 scales begin at byte 0, not 2" in f.message for f in report.findings)


def test_an_atom_of_scales_is_four_columns() -> None:
    """What tcgen05.cp does with an atom is what products read."""
    places = np.asarray(table(SCALE_ATOM)).reshape(ATOM_SCALES, ATOM_ROWS).T
    cells = np.asarray(table(counted(scale_layout(ATOM_ROWS, 1), LANE_STEP))).reshape(-1)
    for row in range(ATOM_ROWS):
        lane, column = divmod(int(cells[row]), LANE_STEP)
        assert [int(p) for p in places[row]] == [16 * lane + 4 * column + b for b in range(4)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("f16", "", "ue8m0"), "kind::f16 has no scale vector ''"),
        (("mxf4nvf4", "", "ue8m0"), "kind::mxf4nvf4 has no scale vector ''"),
        (("mxf4nvf4", "2X", "ue4m3"), "kind::mxf4nvf4 takes 2 scales as ue8m0, not ue4m3"),
        (("mxf4", "2X", "ue8m0", 1), "2 scales begin at byte 0, 2, not 1"),
    ],
)
def test_vectors_that_there_are_not(arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(TargetError, match=says):
        scale_vector(*arguments)


STEPS = 4
"""Products along K of a tile whose rows are 128 bytes."""

TILES = [
    Case("mxf8f6f4", "f8e4m3", "f8e5m2", 64, "scale_vec::1X"),
    Case("mxf8f6f4", "f6e3m2", "f4e2m1", 128, "block32"),
    Case("mxf4", "f4e2m1", "f4e2m1", 128, "scale_vec::2X"),
    Case("mxf4nvf4", "f4e2m1", "f4e2m1", 96, "scale_vec::4X", "ue4m3"),
]


@pytest.mark.parametrize("case", TILES, ids=str)
@pytest.mark.parametrize("order", ["eager", "lazy", "random"])
def test_a_tile_along_k(case: Case, order: str) -> None:
    """As the loop of a GEMM has it: operands 32 bytes further on, scales a byte, a half, a word."""
    rng = np.random.default_rng(11)
    vector = scale_vector(case.kind, case.vector.removeprefix("scale_vec::"), case.scale)
    memory = np.zeros(65536, np.uint8)
    values: list[np.ndarray] = []
    copies, starts = "", []
    for side, (name, rows, place, scales_at) in enumerate(
        ((case.a, 128, A, SFA), (case.b, case.n, B, SFB))
    ):
        codes = numbers(rng, name, (rows, STEPS * case.k))
        layout = canonical("128B", "k", 8, rows)
        data = packed(codes, name, padded=case.kind == "mxf8f6f4")
        assert data.shape == (rows, 128)
        memory[place + BYTE_SWIZZLES["128B"](np.arange(data.size))] = data.reshape(-1)
        starts.append(describe(layout, START + place, BLACKWELL))
        parts = [scales(rng, case.scale, rows) for _ in range(vector.count)]
        for number, part in enumerate(parts):
            at = scales_at + ATOM_BYTES * number
            memory[at : at + ATOM_BYTES] = atoms(part)
            copies += copy(at, WHERE_A + 16 * side + 4 * number)
        used = np.concatenate(parts, axis=1).view(SCALES[case.scale]).astype(np.float64)
        spread = np.repeat(used, vector.block, axis=1)
        values.append(codes.view(FORMATS[name][1]).astype(np.float64) * spread)
    products = ""
    for step in range(STEPS):
        atom, byte = divmod(step * vector.count, ATOM_SCALES)
        word = BlockScaledDescriptor(
            case.kind, case.a, case.b, 128, case.n, scale=case.scale, a_scale_id=byte,
            b_scale_id=byte,
        ).encode()  # fmt: skip
        a, b = (start.advance(32 * step).encode() for start in starts)
        products += f"""
        mov.b64 %da, {a}; mov.b64 %db, {b}; mov.u32 %v0, {word}; setp.ne.u32 %p, %t, {0 if step == 0 else 1};
        add.u32 %v1, %d, {WHERE_A + 4 * atom}; add.u32 %v2, %d, {WHERE_A + 16 + 4 * atom};
        tcgen05.mma.cta_group::1.kind::{case.kind}.block_scale.{case.vector} [%d], %da, %db, %v0, [%v1], [%v2], %p;
        """  # noqa: E501
    given = Inputs(memory, values[0] @ values[1].T, (0, 0), 0)
    body = program(case, given)
    first = body.index("tcgen05.cp")
    first = body.rindex("mov.b64 %sf", 0, first)
    last = body.index("tcgen05.commit")
    body = body[:first] + copies + products + body[last:]
    outputs = np.zeros((case.n // 8, 128, 8), np.float32)
    report = run_block(body, "DM", [outputs, memory], version="8.8", order=order)
    found = report.arrays[0].transpose(1, 0, 2).reshape(128, case.n)
    limit = np.abs(given.expected).max() * 2.0**-19
    np.testing.assert_allclose(found, given.expected, rtol=2.0**-19, atol=limit)


def test_tables_of_block_scales_agree() -> None:
    """Those of the instruction, of the tile dialect, and of where scales lie."""
    for kind, vectors in SCALE_VECTORS.items():
        assert set(TENSOR_KINDS[kind].scale_vectors) == set(vectors)
        assert {name for v in vectors.values() for name in v.formats} <= set(KINDS[kind].scales)
        assert all(set(v.ids) <= set(KINDS[kind].scale_ids) for v in vectors.values())
    for row in BLOCK_SCALED.values():
        vector = SCALE_VECTORS[row.kind][row.scale_vector]
        assert (row.vector_size, row.atom_k) == (vector.block, vector.block * vector.count)
