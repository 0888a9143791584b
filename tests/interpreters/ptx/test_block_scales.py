"""Block-scaled products of tcgen05 against numpy, operands packed as shared memory has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from interpreters.ptx.test_matrices import canonical, group, load_words, placed, store_words
from interpreters.ptx.test_tensor_memory import ALLOCATE, BLACKWELL, FILL, FREE, WAIT, run_block
from support.assembling import needs_ptxas

from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.interpreters.ptx import PtxError
from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.block_scales import (
    ATOM_BYTES,
    ATOM_ROWS,
    ATOM_SCALES,
    SCALE_ATOM,
    scale_layout,
    scale_vector,
)
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.instruction_descriptor import BlockScaledDescriptor
from tileas_xdsl.target.smem_descriptor import SmemDescriptor, describe
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


def inputs(case: Case, seed: int = 5) -> Inputs:
    rng = np.random.default_rng(seed)
    padded = case.kind == "mxf8f6f4"
    vector = scale_vector(case.kind, case.vector.removeprefix("scale_vec::"), case.scale)
    memory = np.zeros(65536, np.uint8)
    operands: list[np.ndarray] = []
    words: list[int] = []
    parts = ((case.a, 128, A, SFA, "128B"), (case.b, case.n, B, SFB, "32B"))
    for (name, rows, place, scales_at, mode), first in zip(parts, case.ids, strict=True):
        codes = numbers(rng, name, (rows, case.k))
        layout = canonical(mode, "k", 8, rows)
        memory[place : place + 16384] = placed(packed(codes, name, padded), layout, 16384)
        words.append(describe(layout, START + place, BLACKWELL).encode())
        of_rows = scales(rng, case.scale, rows)
        copied = atoms(of_rows)
        memory[scales_at : scales_at + len(copied)] = copied
        used = of_rows[:, first : first + vector.count].view(SCALES[case.scale])
        spread = np.repeat(used.astype(np.float64), vector.block, axis=1)
        operands.append(codes.view(FORMATS[name][1]).astype(np.float64) * spread)
    instruction = BlockScaledDescriptor(
        case.kind, case.a, case.b, 128, case.n, "k", "k", scale=case.scale,
        a_scale_id=case.ids[0], b_scale_id=case.ids[1],
    ).encode()  # fmt: skip
    return Inputs(memory, operands[0] @ operands[1].T, (words[0], words[1]), instruction)


def copy(place: int, column: int) -> str:
    """Bring an atom of scales to columns of tensor memory."""
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
    from interpreters.ptx.test_matrices import START as REGISTERS

    body = program(case, inputs(case))
    text = module(REGISTERS + body, pointers("DM"), "sm_100a", "8.8")
    assert assemble(text, "sm_100a", name="k.ptx").spills == 0


MX8 = CASES[0]


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
    report = run(replace(MX8, vector="scale_vec::2X"), inputs(MX8), clean=False)
    assert any("kind::mxf8f6f4 has no scale vector '2X'" in f.message for f in report.findings)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("kind::mxf8f6f4", "kind::f8f6f4", "kind::f8f6f4 has no .block_scale"),
        (".block_scale", "", "kind::mxf8f6f4 needs .block_scale"),
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
