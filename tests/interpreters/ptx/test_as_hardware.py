"""What kernels on an H200 showed, and the emulator had otherwise before."""

import numpy as np
import pytest
from interpreters.ptx.harness import apply, execute, pointers

from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap


@pytest.mark.parametrize(
    ("text", "a", "wanted"),
    [
        ("abs.ftz.f16", [0x8214, 0x8400], [0, 0x0400]),
        ("neg.ftz.f16", [0x0041, 0xFC00], [0x8000, 0x7C00]),
        ("neg.f16", [0x7F00, 0xFE00], [0x7FFF, 0x7FFF]),
        ("abs.f32", [0xFF800001, 0x80000001], [0x7FFFFFFF, 1]),
        ("sqrt.rn.f32", [0xBF800000], [0x7FFFFFFF]),
        ("cvt.sat.f32.f32", [0x80000000, 0xBF800000, 0x7FC00000], [0, 0, 0]),
        ("cvt.f32.f32", [0x7F800001], [0x7F800001]),
        ("cvt.rna.tf32.f32", [0x7FFFFFFF, 0x3F801000], [0x7FFFE000, 0x3F802000]),
        ("neg.f64", [0xFFF0000000000001], [0xFFF8000000000001]),
    ],
)
def test_of_one_operand(text: str, a: list[int], wanted: list[int]) -> None:
    bits = int(text.rsplit(".", 1)[1][1:])
    given = np.resize(np.array(a, f"u{bits // 8}"), 32)
    (found,) = apply(f"{text} {{x}}, {{a}};", [given], [given.dtype])
    assert found[: len(wanted)].tolist() == wanted


def test_fast_roots_of_doubles_see_their_upper_halves() -> None:
    given = [0x7FF0000000000001, 0xFFF0000000000001, 0x4010000012345678, 0x0000000000000001]
    a = np.resize(np.array(given, np.uint64), 32)
    (found,) = apply("rsqrt.approx.ftz.f64 {x}, {a};", [a], ["u8"])
    wanted = [0, 0x7FFFFFFF00000000, 0x3FE0000000000000, 0x7FF0000000000000]
    assert found[:4].tolist() == wanted


def test_fast_inverses_of_doubles_see_and_have_their_upper_halves() -> None:
    given = [0x4008000000000000, 0x4008000012345678, 0x8000000000000000, 0x7FF0000000000000]
    a = np.resize(np.array(given, np.uint64), 32)
    (found,) = apply("rcp.approx.ftz.f64 {x}, {a};", [a], ["u8"])
    assert found[:4].tolist() == [0x3FD5555500000000] * 2 + [0xFFF0000000000000, 0]


def test_integers_saturate_to_doubles() -> None:
    a = np.resize(np.array([-5, 0, 1, 9], np.int32).view(np.uint32), 32)
    (found,) = apply("cvt.rn.sat.f64.s32 {x}, {a};", [a], ["f8"])
    assert found[:4].tolist() == [0, 0, 1, 1]


def test_nan_of_doubles_is_kept_in_singles() -> None:
    a = np.resize(np.array([0xFFFC000000000000, 0x7FF0000000000001], np.uint64), 32)
    (found,) = apply("cvt.rn.f32.f64 {x}, {a};", [a], ["u4"])
    assert found[:2].tolist() == [0xFFE00000, 0x7FC00000]


def test_halves_are_flushed_and_compared() -> None:
    a, b = (np.resize(np.array(v, np.uint16), 32) for v in ([0x8041, 0x3C00], [0xF882, 0x0004]))
    (found,) = apply("mul.ftz.f16 {x}, {a}, {b};", [a, b], ["u2"])
    assert found[:2].tolist() == [0, 0]
    (equal,) = apply("setp.eq.ftz.f16 {x}, {a}, {b};", [a & 0x83FF, b & 0x03FF], [bool])
    assert equal.all()


@pytest.mark.parametrize(("space", "wanted"), [("global", 0), ("shared", 5)])
def test_only_global_memory_flushes_what_it_adds(space: str, wanted: int) -> None:
    body = f"""
    .reg .b64 %b; .reg .b32 %s, %v; .shared .align 4 .b8 box[4]; ld.param.u64 %b, [B];
    mov.u32 %s, box; st.shared.b32 [%s], 2; mov.b32 %v, 3;
    red.{space}.add.f32 [{"%b" if space == "global" else "%s"}], %v;
    {"ld.shared.b32 %v, [%s]; st.global.b32 [%b], %v;" if space == "shared" else ""} ret;
    """
    report = execute(body, pointers("B"), [np.array([2], np.uint32)], block=1)
    assert report.arrays[0] is not None
    assert report.arrays[0].tolist() == [wanted]


@pytest.mark.parametrize("skipped", range(4))
def test_an_array_begins_as_far_from_16_bytes_as_on_the_host(skipped: int) -> None:
    body = """
    .reg .b64 %b; .reg .b32 %v<4>; ld.param.u64 %b, [B];
    ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%b]; st.global.b32 [%b], %v3; ret;
    """
    whole = np.arange(12, dtype=np.uint32)
    aligned = -whole.ctypes.data % 16 // 4
    array = whole[aligned + skipped :][:4]
    report = execute(body, pointers("B"), [array], block=1, clean=skipped == 0)
    assert [found.kind for found in report.findings] == ["misaligned-address"] * (skipped > 0)


def test_the_first_coordinate_is_a_multiple_of_16_bytes() -> None:
    body = """
    .shared .align 128 .b8 box[256]; .reg .b64 %m; mov.b64 %m, T; cvta.param.u64 %m, %m;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {2, 0}], [box]; ret;
    """
    tensor = TensorMapArg(TensorMap("f32", 0, (8, 8), (32,), (8, 8)), np.ones((8, 8), np.float32))
    parameters = ".param .align 64 .b8 T[128]"
    report = execute(body, parameters, [tensor], block=1, clean=False)
    assert report.findings[0].kind == "misaligned-address"
    assert "is byte 8: that is no multiple of 16" in report.findings[0].message


STORE = """
.shared .align 128 .b8 box[256]; .reg .b64 %m; .reg .b32 %s; mov.u32 %s, box;
mov.b64 %m, T; cvta.param.u64 %m, %m; st.shared.v4.b32 [%s], {{7, 7, 7, 7}};
st.shared.v4.b32 [%s+16], {{8, 8, 8, 8}}; fence.proxy.async.shared::cta;
{copy}.global.shared::cta{how}.tile.bulk_group [%m, {{0, 0}}], [%s];
cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
"""


@pytest.mark.parametrize(("copy", "how"), [("cp", ""), ("cp.reduce", ".add")])
def test_rows_are_stored_in_whole_granules(copy: str, how: str) -> None:
    """Three words of eight are a row of the tensor; the fourth is written too, which is told."""
    body = STORE.format(copy=f"{copy}.async.bulk.tensor.2d", how=how)
    parameters = ".param .align 64 .b8 T[128]"
    words = np.zeros((2, 8), np.int32)
    tensor = TensorMapArg(TensorMap("s32", 0, (3, 2), (32,), (4, 2)), words)
    report = execute(body, parameters, [tensor], block=1, clean=False)
    assert report.arrays[0] is not None
    assert report.arrays[0][:, :5].tolist() == [[7, 7, 7, 7, 0], [8, 8, 8, 8, 0]]
    (finding,) = report.findings
    assert finding.kind == "row-end"
    assert finding.message.startswith("writes 4 bytes beyond the end of rows of 12: ")


def test_what_follows_an_array_is_told_too() -> None:
    """The array ends with its only row; what lies behind belongs to somebody else."""
    body = STORE.format(copy="cp.async.bulk.tensor.1d", how="").replace("{0, 0}", "{0}")
    tensor = TensorMapArg(TensorMap("s32", 0, (3,), (), (4,)), np.zeros(3, np.int32))
    report = execute(body, ".param .align 64 .b8 T[128]", [tensor], block=1, clean=False)
    assert report.arrays[0] is not None
    assert report.arrays[0].tolist() == [7, 7, 7]
    assert [finding.kind for finding in report.findings] == ["row-end"]
