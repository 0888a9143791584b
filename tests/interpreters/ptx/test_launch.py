"""Launching: arguments, sizes, and what the report holds."""

import pickle
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import pytest
from interpreters.ptx.harness import execute, module

from tileas_xdsl.interpreters.ptx import (
    FindingsError,
    LaunchError,
    PtxError,
    TensorMapArg,
    load,
    run,
)
from tileas_xdsl.target.tma.tensor_map import TensorMap

STORE = """
.reg .b64 %o; .reg .b32 %r, %n; .reg .b16 %h;
ld.param.u64 %o, [O]; ld.param.f32 %r, [F]; ld.param.s32 %n, [N]; ld.param.b16 %h, [H];
st.global.f32 [%o], %r; st.global.s32 [%o+4], %n; st.global.b16 [%o+8], %h; ret;
"""
PARAMETERS = ".param .u64 O, .param .f32 F, .param .s32 N, .param .f16 H"


def test_scalars_take_the_type_of_their_parameter() -> None:
    given = np.zeros(3, np.uint32)
    report = execute(STORE, PARAMETERS, [given, 1, np.int32(-5), 0.5], block=1)
    found = report.arrays[0]
    assert found is not None
    assert found.view(np.float32)[0] == 1.0
    assert found.view(np.int32)[1] == -5
    assert found.view(np.float16)[4] == 0.5
    assert not given.any()
    assert report.arrays[1:] == [None, None, None]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([1, 2, 3], "kernel 'k' takes 4 arguments, not 3: .u64 O, .f32 F, .s32 N, "),
        ([np.zeros(3), 1, 1 << 40, 1], "argument 2 ('N') is 1099511627776; .s32 holds"),
        ([np.zeros(3), "x", 1, 1], "argument 1 ('F') is 'x'"),
        ([np.zeros(3), 1, 1.5, 1], "argument 2"),
        ([np.zeros(3), np.zeros(3), 1, 1], "argument 1 ('F') is an array; the parameter takes 4"),
        ([np.zeros(3, object), 1, 1, 1], "is an array of objects"),
        ([b"abc", 1, 1, 1], "argument 0 ('O') has 3 bytes; the parameter takes 8"),
    ],
)
def test_arguments_that_do_not_fit(arguments: list[Any], message: str) -> None:
    parsed = load(module(STORE, PARAMETERS), "k.ptx")
    if arguments[2:3] == [1.5]:
        assert run(parsed, "k", arguments, 1, 1).finished
        return
    with pytest.raises(LaunchError) as raised:
        run(parsed, "k", arguments, 1, 1)
    assert message in str(raised.value)


def test_tensor_maps_that_no_driver_makes() -> None:
    parsed = load(module("ret;", ".param .align 64 .b8 T[128]"), "k.ptx")
    wrong = TensorMapArg(TensorMap("f16", 0, (8,), (), (300,)), np.zeros(8, np.float16))
    with pytest.raises(LaunchError, match=r"argument 0 \('T'\): tensor map: box\[0\] is 300"):
        run(parsed, "k", [wrong], 1, 1)
    with pytest.raises(LaunchError, match="needs 128 bytes"):
        run(parsed, "k", [5], 1, 1)


TUNED = module("ret;").replace("k()", "k()\n.reqntid 64, 1, 1\n.reqnctapercluster 2, 1, 1\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"grid": 3}, "the grid has 3 CTAs along x; clusters of the kernel have 2"),
        ({"grid": 0}, "grid 0 is not one to three positive sizes"),
        ({"grid": 2, "block": 32}, "is not the (64, 1, 1) that the kernel requires"),
        ({"grid": 2, "cluster": 1}, "cluster (1, 1, 1) is not the (2, 1, 1)"),
        ({"grid": 2, "dynamic_shared": 300000}, "300000 bytes of shared memory; it has 232448"),
        ({"grid": 2, "dynamic_shared": -1}, "it cannot be negative"),
        ({"grid": 2, "order": "sideways"}, "order 'sideways' is unknown"),
        ({"grid": 2, "kernel": "other"}, "there is no kernel 'other'; the module has: k"),
    ],
)
def test_sizes_that_do_not_fit(options: dict[str, Any], message: str) -> None:
    parsed = load(TUNED, "k.ptx")
    kernel = options.pop("kernel", None)
    with pytest.raises(LaunchError) as raised:
        run(parsed, kernel, [], **options)
    assert message in str(raised.value)


def test_block_sizes_have_to_be_known_and_small() -> None:
    parsed = load(module("ret;"), "k.ptx")
    with pytest.raises(LaunchError, match="say the block size"):
        run(parsed, None, [], 1)
    with pytest.raises(LaunchError, match="a block of 2048 threads has more than 1024"):
        run(parsed, None, [], 1, (64, 32))


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ((1, 65_536), "the grid has 65536 CTAs along y, more than 65535"),
        ((1, 1, 70_000), "the grid has 70000 CTAs along z, more than 65535"),
        (1 << 31, "the grid has 2147483648 CTAs along x, more than 2147483647"),
    ],
)
def test_grids_are_those_that_a_gpu_starts(grid: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        run(load(module("ret;"), "k.ptx"), None, [], grid, 1)


def test_findings_may_be_raised() -> None:
    parsed = load(module("trap;"), "k.ptx")
    with pytest.raises(FindingsError, match=r"k.ptx:6:1: error: the kernel executes trap"):
        run(parsed, None, [], 1, 1, raise_on_findings=True)


def test_a_file_without_a_kernel_is_an_error_at_its_place() -> None:
    with pytest.raises(PtxError, match=r"k.ptx:1:1: error: there is no kernel"):
        run(load(".version 8.0\n.target sm_90a\n", "k.ptx"), None, [], 1, 1)


def test_endless_kernels_meet_a_limit() -> None:
    body = ".reg .b32 %r; mov.u32 %r, 0; L: add.u32 %r, %r, 1; bra L;"
    report = execute(body, "", [], clean=False, limit=10000)
    assert not report.finished
    assert "runs past 10000 instructions" in report.findings[0].message
    assert report.findings[0].notes[0] == "CTA 0 warp 0 is still in the loop of lines 6 to 6"


@pytest.mark.parametrize("jobs", [1, 3])
@pytest.mark.parametrize("by", ["red.global.add.u32", "st.release.gpu.global.u32"])
def test_blocks_that_wait_for_one_another_run_together(jobs: int, by: str) -> None:
    """Block 0 waits for a flag that block 5 sets."""
    body = f"""
    .reg .b64 %o; .reg .b32 %r, %v; .reg .pred %p; ld.param.u64 %o, [O]; mov.u32 %r, %ctaid.x;
    setp.eq.u32 %p, %r, 5; @%p {by} [%o], 1; setp.ne.u32 %p, %r, 0; @%p ret;
    W: ld.acquire.gpu.global.u32 %v, [%o]; setp.eq.u32 %p, %v, 0; @%p bra W;
    st.global.u32 [%o+4], 9; ret;
    """
    report = execute(body, ".param .u64 O", [np.zeros(2, np.uint32)], block=1, grid=6, jobs=jobs)
    assert report.arrays[0] is not None
    assert report.arrays[0].tolist() == [1, 9]


def test_what_is_not_emulated_is_refused_at_its_line() -> None:
    instruction = "tex.2d.v4.f32.f32 {%f, %f, %f, %f}, [%o, {%f, %f}];"
    message = "textures and surfaces are not"
    with pytest.raises(PtxError, match=rf"test.ptx:6:\d+: error: .* is not supported: {message}"):
        execute(f".reg .b64 %o; .reg .f32 %f; {instruction} ret;", "", [])


ACROSS = """
    .reg .b64 %o, %q; .reg .b32 %t, %c, %v, %w; ld.param.u64 %o, [O]; mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x; mad.lo.u32 %w, %c, 32, %t; mul.wide.u32 %q, %w, 4; add.u64 %q, %q, %o;
"""


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        ("st.global.u32 [%o], %c;", {"race-WAW"}),
        ("st.global.u32 [%o], 7;", {"same-value"}),
        ("ld.global.u32 %v, [%o]; st.global.u32 [%q], %v;", {"race-RAW"}),
        ("ld.global.u32 %v, [%q]; st.global.u32 [%q], %v;", set[str]()),
    ],
)
def test_races_between_blocks_of_two_processes_are_found(lines: str, kinds: set[str]) -> None:
    """Each of the two runs one block, so that neither sees what the other does."""
    body, out = f"{ACROSS} {lines} ret;", np.ones(64, np.uint32)
    report = execute(body, ".param .u64 O", [out], grid=2, jobs=2, clean=False)
    assert {finding.kind for finding in report.findings} == kinds


class LateExecutor(Executor):
    """Pickles what is submitted no sooner than somebody waits for it, as a pool may."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        class Late(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                return fn(*pickle.loads(pickle.dumps(args)), **kwargs)

        return Late()


def test_parts_that_start_late_see_memory_before_the_launch() -> None:
    body, out = f"{ACROSS} st.global.u32 [%o], 7; ret;", np.ones(64, np.uint32)
    report = execute(body, ".param .u64 O", [out], grid=2, jobs=LateExecutor(), clean=False)
    assert {finding.kind for finding in report.findings} == {"same-value"}
    assert report.arrays[0] is not None
    assert report.arrays[0][:2].tolist() == [7, 1]
