"""Tensor memory and tcgen05 against numpy."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers
from support.matrix_kernels import (
    DTYPES,
    START,
    canonical,
    group,
    load_words,
    matrix,
    placed,
    store_words,
)

from tileas_xdsl.interpreters.ptx.errors import PtxError
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.mma.instruction_descriptor import InstructionDescriptor
from tileas_xdsl.target.mma.smem_descriptor import describe

BLACKWELL = get_target("sm_100a")
RNG = np.random.default_rng(21)

ALLOCATE = """
.shared .align 1024 .b8 box[65536]; .shared .align 8 .b8 bars[16]; .shared .align 4 .b8 where[4];
.reg .b32 %w, %d, %l; .reg .pred %q, %p; .reg .b64 %m, %da, %db; .reg .b32 %v<4>;
shr.u32 %w, %t, 5; shfl.sync.idx.b32 %w, %w, 0, 31, -1; setp.ne.u32 %q, %w, 0; @%q bra HAVE;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 256;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
HAVE: setp.ne.u32 %q, %t, 0; @%q bra MADE; mbarrier.init.shared::cta.b64 [bars], 1;
fence.mbarrier_init.release.cluster;
MADE: tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
ld.shared.b32 %d, [where]; shl.b32 %l, %w, 21; add.u32 %l, %l, %d;
"""

FREE = """
tcgen05.fence::before_thread_sync; bar.sync 0; setp.ne.u32 %q, %w, 0; @%q ret;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 256; ret;
"""

FILL = """
ld.param.u64 %m, [M]; mov.u32 %s, box; mad.lo.u32 %s, %t, 16, %s;
mul.wide.u32 %o, %t, 16; add.u64 %m, %m, %o; mov.u32 %r0, 0;
FILL: ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%m];
st.shared.v4.b32 [%s], {%v0, %v1, %v2, %v3};
add.u64 %m, %m, 2048; add.u32 %s, %s, 2048; add.u32 %r0, %r0, 1;
setp.lt.u32 %q, %r0, 32; @%q bra FILL;
fence.proxy.async.shared::cta; bar.sync 0;
"""

WAIT = """
COMMIT: bar.warp.sync -1;
W: mbarrier.try_wait.parity.shared::cta.b64 %p, [bars], 0; @!%p bra W;
tcgen05.fence::after_thread_sync;
"""


def run_block(body: str, names: str, arguments: list[Any], **options: Any) -> Any:
    return execute(START + body, pointers(names), arguments, block=128, target="sm_100a", **options)


SHAPES = [("32x32b", 1), ("32x32b", 16), ("16x64b", 4), ("16x128b", 2), ("16x256b", 1),
          ("16x256b", 4)]  # fmt: skip

COUNTS = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4}


def cell(shape: str, lane: int, register: int) -> tuple[int, int]:
    """Lane and column of a thread's register, as the figures of the PTX ISA have them."""
    if shape == "32x32b":
        return lane, register
    if shape == "16x64b":
        return lane // 4 + 8 * (lane % 2), 2 * register + lane % 4 // 2
    if shape == "16x128b":
        return lane // 4 + 8 * (register % 2), 4 * (register // 2) + lane % 4
    row = lane // 4 + 8 * (register // 2 % 2)
    return row, 8 * (register // 4) + 2 * (lane % 4) + register % 2


@pytest.mark.parametrize(("shape", "repetitions"), SHAPES)
def test_loads_and_stores_of_each_shape(shape: str, repetitions: int) -> None:
    """What one shape stores, rows of 32 lanes load; both halves of the lanes with 16."""
    count = COUNTS[shape] * repetitions
    values = RNG.integers(0, 1 << 32, (128, count), dtype=np.uint32)
    columns = count if shape == "32x32b" else count * 2
    body = ALLOCATE + load_words("a", "A", count) + load_words("b", "B", columns)
    body += f"""
    tcgen05.st.sync.aligned.{shape}.x{repetitions}.b32 [%l], {group("a", count)};
    """
    if shape != "32x32b":
        body += f"""
        add.u32 %v0, %l, {16 << 16};
        tcgen05.st.sync.aligned.{shape}.x{repetitions}.b32 [%v0], {group("a", count)};
        """
    body += f"""
    tcgen05.wait::st.sync.aligned;
    tcgen05.ld.sync.aligned.32x32b.x{columns}.b32 {group("b", columns)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("b", columns)} {FREE}
    """
    report = run_block(body, "AB", [values, np.zeros((128, columns), np.uint32)])
    found = report.arrays[1]
    for thread in range(128):
        warp, lane = thread // 32, thread % 32
        for register in range(count):
            row, column = cell(shape, lane, register)
            places = [row] if shape == "32x32b" else [row, row + 16]
            for place in places:
                assert found[32 * warp + place, column] == values[thread, register]


@pytest.mark.parametrize(
    ("shape", "repetitions"),
    [("32x32b", 8), ("16x64b", 8), ("16x128b", 4), ("16x256b", 2), ("16x32bx2", 4)],
)
def test_two_columns_in_a_register(shape: str, repetitions: int) -> None:
    """What `.unpack::16b` stores has a half register in each column; `.pack::16b` reads it back."""
    count = COUNTS.get(shape, 1) * repetitions
    values = RNG.integers(0, 1 << 32, (128, count), dtype=np.uint32)
    half = ", 20" * (shape == "16x32bx2")
    form = f"sync.aligned.{shape}.x{repetitions}"
    a, b, c = group("a", count), group("b", count), group("c", 32)
    body = f"""{ALLOCATE} {load_words("a", "A", count)} {load_words("b", "B", count)}
    {load_words("c", "C", 32)} tcgen05.st.sync.aligned.32x32b.x32.b32 [%l], {c};
    tcgen05.st.{form}.unpack::16b.b32 [%l]{half}, {a};
    tcgen05.wait::st.sync.aligned;
    tcgen05.ld.{form}.pack::16b.b32 {b}, [%l]{half};
    tcgen05.ld.sync.aligned.32x32b.x32.b32 {c}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("b", count)} {store_words("c", 32)} {FREE}
    """
    arguments = [values, np.zeros_like(values), np.zeros((128, 32), np.uint32)]
    report = run_block(body, "ABC", arguments)
    np.testing.assert_array_equal(report.arrays[1], values)
    wanted = np.zeros((4, 32, 32), np.uint32)
    for (thread, register), value in np.ndenumerate(values):
        warp, lane = divmod(thread, 32)
        if half:
            row, column = lane % 16, 2 * register + 20 * (lane // 16)
        else:
            row, column = cell(shape, lane, register)
            column *= 2
        wanted[warp, row, column : column + 2] = value & 0xFFFF, value >> 16
    np.testing.assert_array_equal(report.arrays[2], wanted.reshape(128, 32))


def reduced(values: np.ndarray, operation: str, type_: str, words: str) -> np.ndarray:
    """The least or greatest of each row of words, by Python."""

    def one(row: list[int]) -> int:
        if type_ != "f32":
            chosen = [v - (1 << 32) * (type_ == "s32" and v >> 31) for v in row]
            return (min if operation == "min" else max)(chosen) & 0xFFFFFFFF
        chosen = [v & 0x7FFFFFFF if "abs" in words else v for v in row]
        numbers = [v for v in chosen if v & 0x7FFFFFFF <= 0x7F800000]
        if not numbers or ("NaN" in words and len(numbers) < len(chosen)):
            return 0x7FFFFFFF
        ordered = sorted(numbers, key=lambda v: -(v & 0x7FFFFFFF) - 1 if v >> 31 else v)
        return ordered[0 if operation == "min" else -1]

    return np.array([one(row) for row in values.tolist()], np.uint32)


@pytest.mark.parametrize("shape", ["32x32b", "16x32bx2"])
@pytest.mark.parametrize(
    ("operation", "type_", "words"),
    [("min", "u32", ""), ("max", "s32", ""), ("min", "f32", ""), ("max", "f32", ".abs"),
     ("min", "f32", ".NaN"), ("max", "f32", ".abs.NaN")],
)  # fmt: skip
def test_loads_that_reduce(shape: str, operation: str, type_: str, words: str) -> None:
    """Half of the lanes of `.16x32bx2` are the first 16 lanes' columns further right."""
    values = RNG.integers(0, 1 << 32, (128, 8), dtype=np.uint32)
    values[::3] = RNG.standard_normal((43, 8)).astype(np.float32).view(np.uint32)
    values[:4] = [[0x7FC00000] * 8, [0x80000000, 0] * 4, [0x7F800000] * 8, [0xFFC00001, 5] * 4]
    half = ", 4" * (shape == "16x32bx2")
    body = ALLOCATE + load_words("a", "A", 8) + load_words("b", "B", 5)
    body += f"""
    tcgen05.st.sync.aligned.32x32b.x8.b32 [%l], {group("a", 8)};
    tcgen05.wait::st.sync.aligned;
    tcgen05.ld.red.sync.aligned.{shape}.x4.{operation}{words}.{type_} {group("b", 4)}, %b4,
        [%l]{half};
    tcgen05.wait::ld.sync.aligned; {store_words("b", 5)} {FREE}
    """
    options: dict[str, Any] = {"block": 128, "target": "sm_103a", "version": "8.8"}
    report = execute(
        START + body, pointers("AB"), [values, np.zeros((128, 5), np.uint32)], **options
    )
    found = report.arrays[1]
    rows = values[:, :4]
    if half:
        quarters = values.reshape(4, 32, 8)
        rows = np.concatenate([quarters[:, :16, :4], quarters[:, :16, 4:]], 1).reshape(128, 4)
    np.testing.assert_array_equal(found[:, :4], rows)
    np.testing.assert_array_equal(found[:, 4], reduced(rows, operation, type_, words))


KIND = {"f16": "f16", "bf16": "f16", "tf32": "tf32", "e4m3": "f8f6f4", "e5m2": "f8f6f4",
        "s8": "i8", "u8": "i8"}  # fmt: skip
NAMES = {"e4m3": "f8e4m3", "e5m2": "f8e5m2"}

CASES = [
    ("f32", "bf16", "bf16", 128, 64, "k", "k"),
    ("f16", "f16", "f16", 128, 64, "k", "k"),
    ("f32", "f16", "f16", 128, 128, "mn", "k"),
    ("f32", "bf16", "bf16", 128, 64, "k", "mn"),
    ("f32", "tf32", "tf32", 128, 32, "k", "k"),
    ("f32", "e4m3", "e5m2", 128, 64, "k", "k"),
    ("s32", "s8", "u8", 128, 64, "k", "k"),
    ("f32", "bf16", "bf16", 64, 64, "k", "k"),
]


@pytest.mark.parametrize(("d", "a", "b", "m", "n", "a_major", "b_major"), CASES)
@pytest.mark.parametrize("order", ["eager", "lazy"])
def test_products(
    d: str, a: str, b: str, m: int, n: int, a_major: Any, b_major: Any, order: str
) -> None:
    bits = {"f16": 16, "bf16": 16, "tf32": 32}.get(a, 8)
    k = 256 // bits
    left, right = matrix(a, (m, k), RNG), matrix(b, (n, k), RNG)
    layouts = [canonical("128B", a_major, bits, m), canonical("128B", b_major, bits, n)]
    memory = np.concatenate([placed(left, layouts[0], 32768), placed(right, layouts[1], 32768)])
    words = [describe(lay, 1024 + 32768 * i, BLACKWELL).encode() for i, lay in enumerate(layouts)]
    instruction = InstructionDescriptor(
        KIND[a], NAMES.get(a, a), NAMES.get(b, b), m, n, a_major, b_major, d=d
    ).encode()
    body = ALLOCATE + FILL + load_words("d", "D", n)
    body += f"""
    mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]}; mov.u32 %v0, {instruction};
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT; setp.ne.u32 %p, %t, %t;
    tcgen05.mma.cta_group::1.kind::{KIND[a]} [%d], %da, %db, %v0, %p; setp.eq.u32 %p, %t, %t;
    tcgen05.mma.cta_group::1.kind::{KIND[a]} [%d], %da, %db, %v0, %p;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x{n}.b32 {group("d", n)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", n)} {FREE}
    """
    arguments = [np.zeros((128, n), np.uint32), memory]
    report = run_block(body, "DM", arguments, order=order, clean=m == 128)
    assert {f.kind for f in report.findings} <= ({"uninitialised"} if m == 64 else set())
    found = report.arrays[0]
    lanes = np.arange(128) if m == 128 else np.array([r % 16 + 32 * (r // 16) for r in range(64)])
    rows = found[lanes]
    if d == "f16":
        numbers = (rows & 0xFFFF).astype(np.uint16).view(np.float16)
    else:
        numbers = rows.view(DTYPES[d])
    exact = 2 * left.astype(np.float64) @ right.astype(np.float64).T
    np.testing.assert_array_equal(numbers.astype(np.float64), exact)


@pytest.mark.parametrize(("m", "parts"), [(128, 1), (64, 2), (32, 4)])
def test_weight_stationary_products(m: int, parts: int) -> None:
    """D of M rows fills all lanes: N is cut into parts, one below another."""
    n = 128
    left, right = matrix("f16", (m, 16), RNG), matrix("f16", (n, 16), RNG)
    layouts = [canonical("64B", "k", 16, m), canonical("128B", "k", 16, n)]
    memory = np.concatenate([placed(left, layouts[0], 32768), placed(right, layouts[1], 32768)])
    words = [describe(lay, 1024 + 32768 * i, BLACKWELL).encode() for i, lay in enumerate(layouts)]
    instruction = InstructionDescriptor("f16", "f16", "f16", m, n, group="ws").encode()
    columns = n // parts
    body = ALLOCATE + FILL + load_words("d", "D", columns)
    body += f"""
    mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]}; mov.u32 %v0, {instruction};
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT; setp.ne.u32 %p, %t, %t;
    tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::fill [%d], %da, %db, %v0, %p;
    setp.eq.u32 %p, %t, %t;
    tcgen05.mma.ws.cta_group::1.kind::f16.collector::b0::lastuse [%d], %da, %db, %v0, %p;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x{columns}.b32 {group("d", columns)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", columns)} {FREE}
    """
    report = run_block(body, "DM", [np.zeros((128, columns), np.float32), memory])
    exact = 2 * left.astype(np.float64) @ right.astype(np.float64).T
    stacked = np.concatenate(np.split(exact, parts, 1))
    np.testing.assert_array_equal(report.arrays[0], stacked.astype(np.float32))


def test_d_is_divided_and_lanes_are_kept() -> None:
    """The second product adds D / 8, and leaves D as it is in lanes of the mask."""
    left, right = matrix("f16", (128, 16), RNG), matrix("f16", (64, 16), RNG)
    layouts = [canonical("32B", "k", 16, m) for m in (128, 64)]
    memory = np.concatenate([placed(left, layouts[0], 32768), placed(right, layouts[1], 32768)])
    words = [describe(lay, 1024 + 32768 * i, BLACKWELL).encode() for i, lay in enumerate(layouts)]
    instruction = InstructionDescriptor("f16", "f16", "f16", 128, 64).encode()
    masks = RNG.integers(0, 1 << 32, 4, dtype=np.uint32)
    body = ALLOCATE + FILL + load_words("d", "D", 64)
    body += f"""
    mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]}; mov.u32 %v0, {instruction};
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT; setp.ne.u32 %p, %t, %t;
    tcgen05.mma.cta_group::1.kind::f16 [%d], %da, %db, %v0, %p; setp.eq.u32 %p, %t, %t;
    {" ".join(f"mov.u32 %m{i}, {mask};" for i, mask in enumerate(masks))}
    tcgen05.mma.cta_group::1.kind::f16 [%d], %da, %db, %v0, {{%m0, %m1, %m2, %m3}}, %p, 3;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x64.b32 {group("d", 64)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", 64)} {FREE}
    """
    report = run_block(
        ".reg .b32 %m<4>;" + body, "DM", [np.zeros((128, 64), np.float32), memory], version="8.8"
    )
    once = left.astype(np.float64) @ right.astype(np.float64).T
    kept = np.unpackbits(masks.view(np.uint8), bitorder="little").astype(bool)
    wanted = np.where(kept[:, None], once, once * 1.125)
    np.testing.assert_array_equal(report.arrays[0], wanted.astype(np.float32))


@pytest.mark.parametrize(
    ("form", "tail", "says"),
    [
        (".cta_group::1.kind::f16", "%p, 16", "scale-input-d is 16, not in 0..15"),
        (".cta_group::1.kind::i8", "%p, 1", "scale-input-d is for kind::tf32 and f16, not for i8"),
        (".ws.cta_group::1.kind::f16", "{%r0, %r0, %r0, %r0}, %p", "has no disable-output-lane"),
    ],
)
def test_operands_that_a_product_does_not_have(form: str, tail: str, says: str) -> None:
    with pytest.raises(PtxError, match=says):
        run_block(f"{ALLOCATE} tcgen05.mma{form} [%d], %da, %db, %v0, {tail}; {FREE}", "", [])


def test_the_left_operand_may_be_in_tensor_memory() -> None:
    left, right = matrix("bf16", (128, 16), RNG), matrix("bf16", (64, 16), RNG)
    layout = canonical("128B", "k", 16, 64)
    memory = placed(right, layout, 65536)
    word = describe(layout, 1024, BLACKWELL).encode()
    instruction = InstructionDescriptor("f16", "bf16", "bf16", 128, 64).encode()
    body = ALLOCATE + FILL + load_words("a", "A", 8) + load_words("d", "D", 64)
    body += f"""
    add.u32 %v1, %l, 128; tcgen05.st.sync.aligned.32x32b.x8.b32 [%v1], {group("a", 8)};
    tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0;
    tcgen05.fence::after_thread_sync; add.u32 %v2, %d, 128;
    mov.b64 %db, {word}; mov.u32 %v0, {instruction};
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT; setp.ne.u32 %p, %t, %t;
    tcgen05.mma.cta_group::1.kind::f16 [%d], [%v2], %db, %v0, %p;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x64.b32 {group("d", 64)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", 64)} {FREE}
    """
    words = np.ascontiguousarray(left).view(np.uint32)
    arguments = [words, np.zeros((128, 64), np.float32), memory]
    report = run_block(body, "ADM", arguments)
    exact = left.astype(np.float64) @ right.astype(np.float64).T
    np.testing.assert_array_equal(report.arrays[1], exact.astype(np.float32))


ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [bars + 8];"
ARRIVED = "mbarrier.try_wait.parity.shared::cta.b64 %p, [bars + 8], 0; @!%p bra SPIN;"
BEFORE, AFTER = "tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;"


FLAG = "st.relaxed.cta.shared.b32 [bars + 12], 7;"
POLL = "ld.relaxed.cta.shared.b32 %v1, [bars + 12]; setp.ne.u32 %p, %v1, 7; @%p bra SPIN;"


@pytest.mark.parametrize(
    ("tells", "knows", "kinds"),
    [
        (BEFORE + ARRIVE, ARRIVED + AFTER, []),
        (ARRIVE, ARRIVED + AFTER, ["race-RAW"]),
        (BEFORE + ARRIVE, ARRIVED, ["missing-tcgen05-fence"]),
        (
            BEFORE + FLAG,
            POLL + AFTER,
            [],
        ),
        (f"{BEFORE} {FLAG}", POLL, ["missing-tcgen05-fence"]),
        (FLAG, POLL + AFTER, ["race-RAW"]),
        (FLAG + BEFORE, POLL + AFTER, ["race-RAW"]),
    ],
    ids=[
        *("mbarrier", "unfenced", "unfenced-after"),
        *("flag", "flag-unfenced-after", "flag-unfenced", "flag-too-early"),
    ],
)
def test_one_thread_copies_for_the_product_of_another(
    tells: str, knows: str, kinds: list[str]
) -> None:
    """A pair in order by fences and an mbarrier, or a flag that may be relaxed (9.7.16.11.1)."""
    left, right = matrix("f16", (128, 16), RNG), matrix("f16", (64, 16), RNG)
    layouts = [canonical("none", "k", 16, 128), canonical("32B", "k", 16, 64)]
    memory = np.concatenate([placed(left, layouts[0], 32768), placed(right, layouts[1], 32768)])
    words = [describe(lay, 1024 + 32768 * i, BLACKWELL).encode() for i, lay in enumerate(layouts)]
    instruction = InstructionDescriptor("f16", "f16", "f16", 128, 64).encode()
    initialise = "mbarrier.init.shared::cta.b64 [bars], 1;"
    second = initialise.replace("[bars]", "[bars + 8]") * (ARRIVE in tells)
    body = ALLOCATE.replace(initialise, initialise + second) + FILL + load_words("d", "D", 64)
    body += f"""
    mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]}; mov.u32 %v0, {instruction};
    add.u32 %v2, %d, 128; setp.eq.u32 %q, %t, 32; @%q bra SPIN;
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT;
    tcgen05.cp.cta_group::1.128x256b [%v2], %da; {tells} bra COMMIT;
    SPIN: {knows} setp.ne.u32 %p, %t, %t;
    tcgen05.mma.cta_group::1.kind::f16 [%d], [%v2], %db, %v0, %p;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x64.b32 {group("d", 64)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", 64)} {FREE}
    """
    exact = left.astype(np.float64) @ right.astype(np.float64).T
    for seed in range(4):
        arguments = [np.zeros((128, 64), np.float32), memory]
        report = run_block(body, "DM", arguments, clean=False, order="random", seed=seed)
        found = [f.kind for f in report.findings if f.message.startswith("'tcgen05.mma")]
        assert found == kinds
        if not kinds:
            np.testing.assert_array_equal(report.arrays[0], exact.astype(np.float32))


@pytest.mark.parametrize(
    ("shape", "rows", "chunks", "quarters"),
    [
        ("128x256b", 128, 2, ((0,), (1,), (2,), (3,))),
        ("128x128b", 128, 1, ((0,), (1,), (2,), (3,))),
        ("64x128b.warpx2::02_13", 64, 1, ((0, 2), (1, 3))),
        ("64x128b.warpx2::01_23", 64, 1, ((0, 1), (2, 3))),
        ("32x128b.warpx4", 32, 1, ((0, 1, 2, 3),)),
    ],
)
def test_copies_from_shared_memory(
    shape: str, rows: int, chunks: int, quarters: tuple[tuple[int, ...], ...]
) -> None:
    cells = RNG.integers(0, 1 << 16, (rows, 8 * chunks), dtype=np.uint16)
    layout = canonical("none", "k", 16, rows)
    padded = np.zeros((rows, 16), np.uint16)
    padded[:, : 8 * chunks] = cells
    memory = placed(padded.view(ml_dtypes.bfloat16), layout, 65536)
    word = describe(layout, 1024, BLACKWELL).encode()
    body = ALLOCATE + FILL + load_words("d", "D", 8)
    body += f"""
    mov.b64 %da, {word}; setp.ne.u32 %q, %t, 0; @%q bra COMMIT;
    tcgen05.cp.cta_group::1.{shape} [%d], %da;
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x8.b32 {group("d", 8)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("d", 8)} {FREE}
    """
    report = run_block(body, "DM", [np.zeros((128, 8), np.uint32), memory], clean=False)
    assert {f.kind for f in report.findings} <= {"uninitialised"}
    found = report.arrays[0]
    words = np.ascontiguousarray(cells).view(np.uint32)
    for part, targets in enumerate(quarters):
        for quarter in targets:
            here = found[32 * quarter : 32 * quarter + 32, : 4 * chunks]
            np.testing.assert_array_equal(here, words[32 * part : 32 * part + 32])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 100;", "100 columns"),
        ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 512;", "no allocation to free"),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 32;", "gave up"),
        ("tcgen05.mma.cta_group::2.kind::f16 [%d], %da, %db, %v0, %p;", "a cluster of at least"),
        (
            "add.u32 %l, %l, %t; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%v0}, [%l];",
            "lanes of warp 0 give other addresses",
        ),
    ],
)
def test_rules_of_tensor_memory(text: str, says: str) -> None:
    body = (
        f"{ALLOCATE} mov.b64 %da, 0; mov.b64 %db, 0; mov.u32 %v0, 0; setp.eq.u32 %p, %t, 0;{text}"
    )
    body += FREE
    if "cta_group::2" in text:
        body = body.replace("cta_group::1", "cta_group::2")
    report = run_block(body, "", [], clean=False)
    assert any(says in f.message for f in report.findings)


def test_allocations_do_not_grow() -> None:
    small = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [where], 32;"
    large = small.replace("32;", "64;")
    first = ALLOCATE.replace("tcgen05.alloc", f"{small} {large} tcgen05.alloc", 1)
    report = run_block(first + FREE, "", [], clean=False)
    says = [f.message for f in report.findings if "should not increase" in f.message]
    assert len(says) == 2
    assert "allocates 64 columns after 32" in says[0]


def test_swizzles_of_transposed_operands() -> None:
    """Operands of 32 bits are transposed with atoms of 32 bytes, others without."""
    left, right = (canonical("128B", "mn", 32, rows) for rows in (128, 32))
    words = [
        describe(lay, 1024 + 32768 * i, BLACKWELL).encode() for i, lay in enumerate((left, right))
    ]
    descriptor = InstructionDescriptor("tf32", "tf32", "tf32", 128, 32, "mn", "mn").encode()
    body = f"""{ALLOCATE} mov.b64 %da, {words[0]}; mov.b64 %db, {words[1]};
    mov.u32 %v0, {descriptor}; setp.ne.u32 %q, %t, 0; setp.ne.u32 %p, %t, %t; @%q bra DONE;
    tcgen05.mma.cta_group::1.kind::tf32 [%d], %da, %db, %v0, %p;
    DONE: {FREE}"""
    report = run_block(body, "", [], clean=False)
    says = "MN-major operands of 32 bits have swizzle 128B_BASE32B, not 128B"
    assert any(says in f.message for f in report.findings)


def test_cta_groups_of_a_kernel_are_the_same() -> None:
    text = FREE.replace("cta_group::1", "cta_group::2")
    with pytest.raises(PtxError, match="cta_group::2 stands beside cta_group::1"):
        run_block(ALLOCATE + text, "", [])


@pytest.mark.parametrize(
    ("lane", "fence", "kinds"),
    [
        (
            32,
            "tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;",
            [],
        ),
        (32, "bar.sync 0;", ["missing-tcgen05-fence"]),
        (16, "bar.sync 0;", ["tensor-memory"]),
    ],
)
@pytest.mark.parametrize("order", ["eager", "lazy"])
def test_rows_are_shifted_down(lane: int, fence: str, kinds: list[str], order: str) -> None:
    """Rows of 32 bytes of the lanes of a warp; the first one stays, the last one is lost."""
    values = RNG.integers(0, 1 << 32, (128, 16), dtype=np.uint32)
    body = ALLOCATE + load_words("a", "A", 16) + load_words("b", "B", 16)
    body += f"""
    tcgen05.st.sync.aligned.32x32b.x16.b32 [%l], {group("a", 16)};
    tcgen05.wait::st.sync.aligned; {fence}
    setp.ne.u32 %q, %t, 0; @%q bra COMMIT; add.u32 %v0, %d, {(lane << 16) + 4};
    tcgen05.shift.cta_group::1.down [%v0];
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bars];
    {WAIT}
    tcgen05.ld.sync.aligned.32x32b.x16.b32 {group("b", 16)}, [%l];
    tcgen05.wait::ld.sync.aligned; {store_words("b", 16)} {FREE}
    """
    arguments = [values, np.zeros((128, 16), np.uint32)]
    report = run_block(body, "AB", arguments, order=order, clean=not kinds)
    found = {f.kind for f in report.findings}
    assert found <= set(kinds)
    assert bool(found) == bool(kinds)
    if not kinds:
        wanted = values.copy()
        wanted[33:64, 4:12] = values[32:63, 4:12]
        np.testing.assert_array_equal(report.arrays[1], wanted)
