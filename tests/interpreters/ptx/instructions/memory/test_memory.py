"""Loads, stores and atomics in every space, and accesses that miss."""

import numpy as np
import pytest
from interpreters.ptx.harness import execute, pointers

RNG = np.random.default_rng(3)

LANE = """
.reg .b32 %t, %r<8>; .reg .b64 %a, %b, %o, %w; .reg .pred %p<4>;
mov.u32 %t, %tid.x; ld.param.u64 %a, [A]; ld.param.u64 %b, [B];
"""


def at(register: str, size: int) -> str:
    return f"mul.wide.u32 %o, %t, {size}; add.u64 {register}, {register}, %o;\n"


@pytest.mark.parametrize("space", ["global", "generic", "shared", "local"])
@pytest.mark.parametrize("type_", ["u8", "s8", "u16", "s16", "u32", "u64"])
def test_widths_and_signs(space: str, type_: str) -> None:
    bits = int(type_[1:])
    register = max(bits, 32)
    a = RNG.integers(0, 256, 64 * bits // 8, dtype=np.uint8).view(f"u{bits // 8}")
    b = np.zeros(64, f"u{register // 8}")
    through = {
        "global": f"ld.global.{type_} %v, [%a];",
        "generic": f"ld.{type_} %v, [%a];",
        "shared": f"ld.global.b{bits} %v, [%a]; st.shared.b{bits} [%s], %v; mov.b{register} %v, 0;"
        f"ld.shared.{type_} %v, [%s];",
        "local": f"ld.global.b{bits} %v, [%a]; st.local.b{bits} [room+8], %v;"
        f"mov.b{register} %v, 0; ld.local.{type_} %v, [room+8];",
    }[space]
    body = (
        f"{LANE} .reg .b{register} %v; .reg .b32 %s; .shared .align 8 .b8 box[512];"
        f".local .align 8 .b8 room[64];"
        f"mov.u32 %s, box; mad.lo.u32 %s, %t, {bits // 8}, %s;"
        f"{at('%a', bits // 8)}{through}{at('%b', register // 8)}"
        f"st.global.b{register} [%b], %v; ret;"
    )
    report = execute(body, pointers("AB"), [a, b], block=64)
    wide = a.view(f"{'i' if type_[0] == 's' else 'u'}{bits // 8}").astype(f"i{register // 8}")
    assert report.arrays[1] is not None
    np.testing.assert_array_equal(report.arrays[1], wide.view(f"u{register // 8}"))


@pytest.mark.parametrize("count", [2, 4])
def test_vectors_and_all_lanes_alike(count: int) -> None:
    a = RNG.integers(0, 1 << 32, 64 * count, dtype=np.uint32)
    registers = ", ".join(f"%r{i}" for i in range(count))
    body = f"""{LANE}
    ld.global.v{count}.u32 {{{registers}}}, [%a+{4 * count}];
    {at("%b", 4 * count)} st.global.v{count}.b32 [%b], {{{registers}}}; ret;
    """
    report = execute(body, pointers("AB"), [a, np.zeros(32 * count, np.uint32)])
    assert report.arrays[1] is not None
    np.testing.assert_array_equal(
        report.arrays[1].reshape(32, count), np.tile(a[count : 2 * count], (32, 1))
    )


def test_lanes_of_one_instruction_may_reach_different_spaces() -> None:
    a = np.arange(32, dtype=np.uint32)
    body = f"""{LANE} .shared .align 4 .b8 box[128]; .reg .b32 %s;
    mov.u32 %s, box; mad.lo.u32 %s, %t, 4, %s; mul.lo.u32 %r0, %t, 1000; st.shared.u32 [%s], %r0;
    cvt.u64.u32 %w, %s; cvta.shared.u64 %w, %w;
    isspacep.shared %p1, %w; isspacep.global %p2, %w;
    {at("%a", 4)} and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0;
    selp.b64 %w, %w, %a, %p0; ld.u32 %r2, [%w];
    selp.u32 %r3, 1, 0, %p1; selp.u32 %r4, 2, 0, %p2; add.u32 %r2, %r2, %r3; add.u32 %r2, %r2, %r4;
    {at("%b", 4)} st.u32 [%b], %r2; ret;
    """
    report = execute(body, pointers("AB"), [a, np.zeros(32, np.uint32)])
    assert report.arrays[1] is not None
    assert report.arrays[1].tolist() == [(1000 * i if i % 2 == 0 else i) + 1 for i in range(32)]


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("ld.global.u32 %r0, [%a+256];", "illegal-address", "4 bytes past the end of the array"),
        ("st.global.u32 [%a+-4], %r0;", "illegal-address", "are in no array"),
        ("ld.global.u64 %w, [%a+4];", "misaligned-address", "8 bytes at"),
        ("st.shared.u32 [box+16], %r0;", "illegal-address", "outside of the 16 bytes"),
        ("ld.shared.u32 %r0, [1040];", "illegal-address", "outside of the 16 bytes"),
        ("ld.shared.u32 %r0, [box+2];", "misaligned-address", "not aligned to 4"),
        ("ld.local.u32 %r0, [4096];", "illegal-address", "a thread has"),
        ("st.param.u32 [A], %r0;", "illegal-address", "the parameters cannot be written"),
    ],
)
def test_accesses_that_miss(text: str, kind: str, message: str) -> None:
    body = f"{LANE} .shared .align 16 .b8 box[16]; mov.u32 %r0, 0;\n{text} ret;"
    arrays = [np.zeros(64, np.uint32), np.zeros(1, np.uint32)]
    report = execute(body, pointers("AB"), arrays, clean=False)
    assert not report.finished
    finding = report.findings[-1]
    assert (finding.kind, finding.line) == (kind, 10)
    assert message in finding.message
    assert "CTA 0 warp 0" in finding.notes[0]


OPERATIONS = {
    "add": (lambda old, v: old + v, ("u32", "s32", "u64")),
    "min": (min, ("u32", "s32", "u64", "s64")),
    "max": (max, ("u32", "s32", "u64", "s64")),
    "and": (lambda old, v: old & v, ("b32", "b64")),
    "or": (lambda old, v: old | v, ("b32", "b64")),
    "xor": (lambda old, v: old ^ v, ("b32", "b64")),
    "exch": (lambda old, v: v, ("b32", "b64")),
    "inc": (lambda old, v: 0 if old >= v else old + 1, ("u32",)),
    "dec": (lambda old, v: v if old == 0 or old > v else old - 1, ("u32",)),
}

CASES = [(name, type_) for name, (_, types) in OPERATIONS.items() for type_ in types]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("name", "type_"), CASES)
def test_atomics_update_one_lane_after_the_other(space: str, name: str, type_: str) -> None:
    """64 lanes update 8 addresses; each reads the result of the preceding lanes."""
    bits, size = int(type_[1:]), int(type_[1:]) // 8
    a = RNG.integers(0, 1 << min(bits, 63), 64, dtype=np.uint64).astype(f"u{size}")
    a[::5] = 3
    b, c = np.full(8, 5, f"u{size}"), np.zeros(64, f"u{size}")
    place = "%b" if space == "global" else "%w"
    body = f"""{LANE} .reg .b{bits} %v, %d; .reg .b64 %c; .reg .b32 %s;
    .shared .align 8 .b8 box[64];
    ld.param.u64 %c, [C]; {at("%c", size)} {at("%a", size)}
    and.b32 %r0, %t, 7; mul.wide.u32 %o, %r0, {size}; add.u64 %b, %b, %o;
    mov.u32 %s, box; cvt.u64.u32 %w, %s; add.u64 %w, %w, %o;
    setp.lt.u32 %p0, %t, 8; mov.b{bits} %v, 5; @%p0 st.shared.b{bits} [%w], %v;
    bar.sync 0; ld.global.b{bits} %v, [%a];
    atom.{space}.{name}.{type_} %d, [{place}], %v;
    st.global.b{bits} [%c], %d; bar.sync 0;
    """
    copy = f"@%p0 ld.shared.b{bits} %v, [%w]; @%p0 st.global.b{bits} [%b], %v;"
    body += f"{copy if space == 'shared' else ''} ret;"
    report = execute(body, pointers("ABC"), [a, b, c], block=64)
    function = OPERATIONS[name][0]
    read = (lambda v: v - (1 << bits) if v >> (bits - 1) else v) if type_[0] == "s" else int
    memory, seen = [5] * 8, []
    for lane, v in enumerate(a.tolist()):
        old = memory[lane % 8]
        seen.append(old)
        memory[lane % 8] = function(read(old), read(v)) & ((1 << bits) - 1)
    assert report.arrays[1] is not None
    assert report.arrays[1].tolist() == memory
    assert report.arrays[2] is not None
    assert report.arrays[2].tolist() == seen


def test_compare_and_swap_and_floats() -> None:
    a = RNG.standard_normal(32).astype(np.float32)
    b = np.zeros(4, np.float32)
    body = f"""{LANE} {at("%a", 4)} ld.global.f32 %r0, [%a];
    red.global.add.f32 [%b], %r0; mov.b32 %r3, 0x3C004000;
    red.relaxed.gpu.global.add.noftz.f16x2 [%b+4], %r3;
    atom.global.cas.b32 %r1, [%b+8], 0, %r0; ret;
    """
    report = execute(body, pointers("AB"), [a, b])
    total = np.float32(0)
    for v in a:
        total = np.float32(total + v)
    assert report.arrays[1] is not None
    assert report.arrays[1][0] == total
    assert report.arrays[1][1:2].view(np.float16).tolist() == [64.0, 32.0]
    assert report.arrays[1][2] == a[0]


def test_addresses_of_parameters_fit_in_32_bits() -> None:
    """Triton 3.9 passes the addresses of tensor maps through registers of 32 bits."""
    body = """
    .reg .b32 %p, %v; .reg .b64 %a, %w; ld.param.u64 %a, [A];
    mov.b32 %p, S; cvt.u64.u32 %w, %p; cvta.param.u64 %w, %w; ld.u32 %v, [%w];
    st.global.u32 [%a], %v; ret;
    """
    parameters = ".param .u64 A, .param .u32 S"
    report = execute(body, parameters, [np.zeros(1, np.uint32), 77], block=1)
    assert report.arrays[0] is not None
    assert report.arrays[0].tolist() == [77]


def test_bulk_stores_zero_shared_memory_and_no_more() -> None:
    """`st.bulk` of 64 bytes by one thread: 16 words between words that keep what they had."""
    a, b = RNG.integers(1, 1 << 32, 32, dtype=np.uint32), np.zeros(32, np.uint32)
    body = f"""{LANE} .shared .align 16 .b8 box[128]; .reg .b32 %s;
    mov.u32 %s, box; mad.lo.u32 %s, %t, 4, %s; {at("%a", 4)} ld.global.b32 %r0, [%a];
    st.shared.b32 [%s], %r0; bar.sync 0; setp.ne.u32 %p0, %t, 0; @%p0 bra DONE;
    st.bulk.weak.shared::cta [box+32], 64, 0; DONE: bar.sync 0;
    ld.shared.b32 %r1, [%s]; {at("%b", 4)} st.global.b32 [%b], %r1; ret;"""
    report = execute(body, pointers("AB"), [a, b], block=32, target="sm_100a")
    assert report.arrays[1] is not None
    np.testing.assert_array_equal(report.arrays[1], np.r_[a[:8], np.zeros(16, np.uint32), a[24:]])


def test_clocks_advance_between_two_reads() -> None:
    b = np.zeros(4, np.uint64)
    body = """.reg .b64 %b, %x<4>; ld.param.u64 %b, [B];
    mov.u64 %x0, %clock64; mov.u64 %x1, %clock64; mov.u64 %x2, %globaltimer;
    mov.u64 %x3, %globaltimer; sub.u64 %x1, %x1, %x0; sub.u64 %x3, %x3, %x2;
    st.global.v2.b64 [%b], {%x0, %x1}; st.global.v2.b64 [%b+16], {%x2, %x3}; ret;"""
    report = execute(body, pointers("B"), [b], block=1)
    assert report.arrays[0] is not None
    first, cycles, now, waited = (int(value) for value in report.arrays[0])
    assert first > 0
    assert 0 < cycles < 1000
    assert now > 0
    assert waited >= 0
