"""Capture of launches by CuPy, cuda.core and numba-cuda, with what these show of themselves.

None is installed with the project: the stand-ins have the names that the captures replace or call.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from check.capture.stand_ins import stand_in

from tileas_xdsl import check
from tileas_xdsl.check.capture.cuda_sources import kernel_named
from tileas_xdsl.interpreters.ptx import LaunchError

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"

REVERSE = (
    HEAD
    + """
.visible .entry _Z7reversePKfPf(.param .u64 A, .param .u64 B)
{
    .reg .b32 %t, %s, %r, %v; .reg .b64 %a, %b, %o; .shared .align 4 .b8 cells[256];
    ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;
    add.u64 %a, %a, %o; add.u64 %b, %b, %o; mov.u32 %s, cells; mad.lo.u32 %r, %t, 4, %s;
    ld.global.u32 %v, [%a]; st.shared.u32 [%r], %v; BARRIER
    sub.u32 %r, 63, %t; mad.lo.u32 %r, %r, 4, %s; ld.shared.u32 %v, [%r]; st.global.u32 [%b], %v;
    ret;
}
"""
)
RIGHT, RACY = REVERSE.replace("BARRIER", "bar.sync 0;"), REVERSE.replace("BARRIER", "")

SCALED = (
    HEAD
    + """
.visible .entry scaled(.param .u64 A, .param .f32 F)
{
    .reg .b32 %t; .reg .b64 %a, %o; .reg .f32 %f, %v;
    ld.param.u64 %a, [A]; ld.param.f32 %f, [F]; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4;
    add.u64 %a, %a, %o; ld.global.f32 %v, [%a]; mul.f32 %v, %v, %f; st.global.f32 [%a], %v; ret;
}
"""
)

NUMBA = (
    HEAD
    + """
.visible .entry scaled(.param .u64 M, .param .u64 P, .param .u64 N, .param .u64 I, .param .u64 A,
    .param .u64 S, .param .u64 T, .param .f32 F)
{
    .reg .b32 %t, %b; .reg .b64 %a, %o, %n; .reg .f32 %f, %v; .reg .pred %p;
    ld.param.u64 %a, [A]; ld.param.u64 %n, [S]; ld.param.f32 %f, [F]; mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x; mad.lo.u32 %t, %b, 128, %t; cvt.u64.u32 %o, %t; setp.ge.u64 %p, %o, %n;
    @%p ret; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
    ld.global.f32 %v, [%a]; mul.f32 %v, %v, %f; st.global.f32 [%a], %v; ret;
}
"""
)


def nothing(*_: Any, **__: Any) -> None:
    """What a function of the stand-ins does, which must not be called."""
    raise AssertionError


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    names = ("arange", "zeros", "asnumpy", "RawKernel", "RawModule", "ndarray", "fuse")
    module = stand_in(monkeypatch, "cupy", **dict.fromkeys(names, nothing))
    yield module
    assert all(getattr(module, name) is nothing for name in names)


def test_raw_kernels_of_cupy(cupy: Any) -> None:
    with check.cupy() as reports:
        x, y = cupy.arange(64, dtype=np.float32), cupy.zeros(64, np.float32)
        cupy.RawKernel(RIGHT, "reverse")((1,), (64,), (x, y))
        cupy.RawModule(code=SCALED).get_function("scaled")((1,), (64,), (y, np.float32(2)))
    check.assert_no_findings(reports)
    assert len(reports) == 2
    np.testing.assert_array_equal(y.get(), 2 * np.arange(64, dtype=np.float32)[::-1])


def test_a_race_in_a_raw_kernel_is_found(cupy: Any) -> None:
    with check.cupy(schedules=1) as reports:
        x, y = cupy.arange(64, dtype=np.float32), cupy.zeros(64, np.float32)
        cupy.RawKernel(RACY, "reverse")((1,), (64,), (x, y))
    assert {f.kind for f in reports[0].failures} == {"race-RAW"}


def test_a_wrong_number_of_arguments_is_refused(cupy: Any) -> None:
    with check.cupy(), pytest.raises(LaunchError, match="'scaled' has 2 parameters, not 1"):
        cupy.RawKernel(SCALED, "scaled")((1,), (64,), (cupy.zeros(64, np.float32),))


def test_launches_of_cuda_core(monkeypatch: pytest.MonkeyPatch, cupy: Any) -> None:
    names = ("Device", "Program", "ProgramOptions", "ObjectCode", "LaunchConfig", "launch")
    stand_in(monkeypatch, "cuda")
    core: Any = stand_in(monkeypatch, "cuda.core", **dict.fromkeys(names, nothing))
    with check.cupy(), check.cuda_core("sm_100a") as reports:
        device = core.Device()
        device.set_current()
        assert device.arch == "100"
        program = core.Program(RIGHT, "c++", options=core.ProgramOptions(std="c++17", arch="sm_90"))
        kernel = program.compile("cubin").get_kernel("reverse")
        x, y = cupy.arange(64, dtype=np.float32), cupy.zeros(64, np.float32)
        stream = device.create_stream()
        core.launch(stream, core.LaunchConfig(1, block=64), kernel, x.data.ptr, y.data.ptr)
        stream.sync()
        again = core.ObjectCode.from_ptx(SCALED.encode()).get_kernel("scaled")
        plain = np.ones(64, np.float32)
        core.launch(stream, core.LaunchConfig(grid=(1,), block=64), again, plain, 3.0)
    check.assert_no_findings(reports)
    np.testing.assert_array_equal(y.get(), np.arange(64, dtype=np.float32)[::-1])
    assert (plain == 3).all()


class Dispatcher:
    """The part of `numba.cuda.dispatcher.CUDADispatcher` that a launch uses."""

    def __init__(self, function: Callable[..., None]) -> None:
        self.targetoptions = {"fastmath": True, "device": False}
        self.py_func = function

    def typeof_pyval(self, value: Any) -> str:
        return type(value).__name__

    __getitem__ = forall = nothing


def test_launches_of_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []

    def compile(function: Any, types: Any, **options: Any) -> tuple[str, None]:
        compiled.append((types, options["cc"], options["fastmath"]))
        return NUMBA, None

    stand_in(monkeypatch, "numba")
    cuda: Any = stand_in(monkeypatch, "numba.cuda", compile=compile, to_device=nothing)
    stand_in(monkeypatch, "numba.cuda.dispatcher", CUDADispatcher=Dispatcher)
    scaled: Any = Dispatcher(lambda array, factor: None)
    plain = np.ones(100, np.float32)
    with check.numba() as reports:
        moved = cuda.to_device(np.ones(300, np.float32))
        scaled[1, 128](plain, 2.0)
        scaled[1, 128, 0, 64](plain, 2.0)
        scaled.forall(300)(moved, 5.0)
        with pytest.raises(LaunchError, match="an argument of type str is not captured"):
            scaled[1, 128]("text", 2.0)
    check.assert_no_findings(reports)
    assert (plain == 4).all()
    assert (moved.copy_to_host() == 5).all()
    assert compiled[0] == (("ndarray", "float"), (9, 0), True)
    assert [types for types, *_ in compiled[:2]] == [("ndarray", "float"), ("HostArray", "float")]
    assert Dispatcher.__getitem__ is nothing
    assert cuda.to_device is nothing


@pytest.mark.parametrize(
    ("capture", "module"),
    [
        (check.cupy, "cupy"),
        (check.cuda_core, "cuda.core"),
        (check.numba, "numba.cuda"),
        (check.cute_dsl, "cutlass._mlir.execution_engine"),
    ],
)
def test_what_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, capture: Any, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(check.CaptureUnavailableError, match=r"needs .*: pip install"), capture():
        pass


def test_names_of_kernels_in_the_source() -> None:
    assert kernel_named("reverse", ["_Z7reversePKfPf", "other"]) == "_Z7reversePKfPf"
    assert kernel_named("other", ["_Z7reversePKfPf", "other"]) == "other"
    assert kernel_named("missing", ["other"]) == "missing"


def test_source_is_compiled_by_nvrtc(monkeypatch: pytest.MonkeyPatch, cupy: Any) -> None:
    """CUDA C++ goes to NVRTC for the target, with the options but those of another target."""
    told: list[Any] = []

    def write(program: Any, text: bytearray) -> None:
        text[:] = RIGHT.encode()

    for name in ("cuda", "cuda.bindings"):
        stand_in(monkeypatch, name)
    stand_in(
        monkeypatch,
        "cuda.bindings.nvrtc",
        nvrtcResult=SimpleNamespace(NVRTC_SUCCESS=0),
        nvrtcCreateProgram=lambda source, *_: (0, source),
        nvrtcCompileProgram=lambda program, count, words: (told.append((program, words)) or 0,),
        nvrtcGetPTXSize=lambda program: (0, len(RIGHT)),
        nvrtcGetPTX=write,
    )
    with check.cupy(schedules=1) as reports:
        kernel = cupy.RawKernel("__global__ void reverse() {}", "reverse", ("-DN=1", "-arch=sm_80"))
        kernel((1,), (64,), (cupy.zeros(64, np.float32), cupy.zeros(64, np.float32)))
    check.assert_no_findings(reports)
    assert told[0][1] == [b"--gpu-architecture=compute_90a", b"-lineinfo", b"-DN=1"]
