"""Capture of the CuTe DSL's launches, with what the DSL shows of itself.

The DSL is not installed with the project: the stand-ins have the names that the capture replaces,
and host code that calls the CUDA runtime by address, as compiled code does.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from check.capture.stand_ins import stand_in

from tileas_xdsl import check
from tileas_xdsl.check.capture.host_memory import GPU, show_on_gpu
from tileas_xdsl.interpreters.ptx import LaunchError, PtxError
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import encode

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"
SCALED = (
    HEAD
    + """
.visible .entry scaled(.param .align 8 .b8 A[24], .param .b32 F)
{
    .reg .b32 %t, %c, %n; .reg .b64 %a, %o; .reg .f32 %f, %v;
    ld.param.b64 %a, [A]; ld.param.b32 %n, [A+8]; ld.param.f32 %f, [F];
    mov.u32 %t, %tid.x; mov.u32 %c, %ctaid.x; mad.lo.u32 %t, %c, %n, %t;
    mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
    ld.global.f32 %v, [%a]; mul.f32 %v, %v, %f; st.global.f32 [%a], %v; ret;
}
"""
)
COPY = (
    HEAD
    + """
.visible .entry box(.param .align 64 .b8 M[128], .param .b64 B)
{
    .reg .b32 %t, %s, %v, %r, %rank; .reg .b64 %m, %b, %o; .reg .pred %p, %q;
    .shared .align 128 .b8 tile[264];
    mov.b64 %m, M; ld.param.b64 %b, [B]; mov.u32 %t, %tid.x; mov.u32 %s, tile;
    mov.u32 %rank, %cluster_ctarank; setp.eq.u32 %p, %t, 0;
    @%p mbarrier.init.shared.b64 [%s+256], 1; fence.mbarrier_init.release.cluster; bar.sync 0;
    @!%p bra W; mbarrier.arrive.expect_tx.shared.b64 _, [%s+256], 256;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
        [%s], [%m, {0, %rank}], [%s+256];
W:  mbarrier.try_wait.parity.shared.b64 %q, [%s+256], 0; @!%q bra W;
    mad.lo.u32 %r, %t, 4, %s; ld.shared.u32 %v, [%r]; mad.lo.u32 %t, %rank, 64, %t;
    mul.wide.u32 %o, %t, 4; add.u64 %b, %b, %o; st.global.u32 [%b], %v; ret;
}
"""
)


class Engine:
    """Where functions of the runtime are registered by name."""

    last: ClassVar[Engine]

    def __init__(self, *_: Any, **__: Any) -> None:
        self.found: dict[str, Any] = {}
        Engine.last = self

    def raw_register_runtime(self, name: str, address: ctypes.c_void_p) -> None:
        self.found[name] = address.value

    def call(self, name: str, *values: Any) -> int:
        """Call a function as C does."""
        function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * len(values))
        return function(self.found[name])(*values)


class Function:
    """A compiled function: PTX and host code, which launches the kernel with some parameters."""

    num_devices = 0

    def __init__(self, text: str, kernel: str, shape: Sequence[Any], cluster: int = 1) -> None:
        self.__ptx__, self.kernel, self.shape, self.cluster = text + "\0", kernel, shape, cluster
        self.engine = engines().ExecutionEngine("module", shared_libs=[])
        self.handle = ctypes.c_void_p()

    def _load_cuda_library(self) -> list[Any]:
        assert self.num_devices == 1
        name = ctypes.create_string_buffer(self.kernel.encode())
        library, value = ctypes.c_void_p(), ctypes.c_int32(7)
        call = self.engine.call
        assert call("_cudaLibraryLoadData", ctypes.addressof(library), None, None, None) == 0
        assert call("_cudaDeviceGetAttribute", ctypes.addressof(value), 97, 0) == 0
        assert value.value == 232_448
        assert call("_cudaDeviceGetAttribute", ctypes.addressof(value), 1, 0) == 801
        assert call("_cudaFuncSetAttribute", None, 8, 1024) == 0
        handle = ctypes.addressof(self.handle)
        if call("_cudaLibraryGetKernel", handle, library, ctypes.addressof(name)):
            raise RuntimeError("host code: an error")
        return [library]

    def launch(self, parameters: Sequence[bytes]) -> None:
        """The host code."""
        grid, block = self.shape
        cells = [ctypes.create_string_buffer(data, len(data)) for data in parameters]
        pointers = (ctypes.c_void_p * len(cells))(*map(ctypes.addressof, cells))
        cluster = struct.pack("<ii3I52x", 4, 0, self.cluster, 1, 1)
        attributes = ctypes.create_string_buffer(cluster, len(cluster))
        config = struct.pack("<6IQQQI4x", *grid, *block, 0, 0, ctypes.addressof(attributes), 1)
        made = ctypes.create_string_buffer(config, len(config))
        given = (ctypes.addressof(made), self.handle, ctypes.addressof(pointers))
        assert self.engine.call("_cudaLaunchKernelEx", *given) == 0

    def __call__(self, *values: Any) -> None:
        arguments = jit().ExecutionArgs().generate_execution_args(values, {})
        self._load_cuda_library()
        jit().JitExecutor(self).run_compiled_program(arguments)


class Arguments:
    def generate_execution_args(self, args: Sequence[Any], _: Any) -> Sequence[Any]:
        return [value for value in args if isinstance(value, bytes)]


class Executor:
    def __init__(self, function: Function) -> None:
        self.function = function

    def run_compiled_program(self, values: Sequence[Any]) -> None:
        self.function.launch(values)


class Tensor:
    """A tensor of DLPack."""

    element_type = SimpleNamespace(width=32)

    def __init__(self, array: Any) -> None:
        self._dlpack_data, self._dltensor_wrapper = array.__dlpack__(), None
        self.data_ptr = array.ctypes.data
        self.shape, self.stride = array.shape, tuple(s // array.itemsize for s in array.strides)

    def load_dltensor(self) -> None:
        self._dltensor_wrapper = "made"


class Dsl:
    envar = SimpleNamespace(keep_ptx=False, arch="")

    @classmethod
    def _get_dsl(cls) -> type[Dsl]:
        return cls

    def _get_function_bound_args(self, *args: Any, **_: Any) -> Any:
        return args


def engines() -> Any:
    from cutlass._mlir import execution_engine  # pyright: ignore

    return execution_engine


def jit() -> Any:
    from cutlass.base_dsl import jit_executor  # pyright: ignore

    return jit_executor


@pytest.fixture(autouse=True)
def cutlass(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("cutlass", "cutlass._mlir", "cutlass.base_dsl", "cutlass.cute"):
        stand_in(monkeypatch, name)
    parts: dict[str, dict[str, Any]] = {
        "cutlass._mlir.execution_engine": {"ExecutionEngine": Engine},
        "cutlass.base_dsl.jit_executor": {"ExecutionArgs": Arguments, "JitExecutor": Executor},
        "cutlass.cutlass_dsl": {"CuTeDSL": Dsl},
        "cutlass.cutlass_dsl.cuda_jit_executor": {"CudaDialectJitCompiledFunction": Function},
        "cutlass.cute.runtime": {"_Tensor": Tensor},
    }
    for name, attributes in parts.items():
        module = stand_in(monkeypatch, name, **attributes)
        parent, _, last = name.rpartition(".")
        setattr(sys.modules[parent], last, module)


def test_addresses_within_structures_and_numbers() -> None:
    x = np.arange(80, dtype=np.float32)
    with check.cute_dsl("sm_100a") as reports:
        assert Dsl.envar.arch == "sm_100a"
        given = struct.pack("<Qi12x", x[16:].ctypes.data, 32)
        Function(SCALED, "scaled", [(2, 1, 1), (32, 1, 1)])(Tensor(x), given, struct.pack("f", 3))
    check.assert_no_findings(reports)
    np.testing.assert_array_equal(x, [*range(16), *(3.0 * i for i in range(16, 80))])
    assert Function.num_devices == 0
    assert engines().ExecutionEngine is Engine


def test_findings_are_of_the_launch() -> None:
    x = np.arange(64, dtype=np.float32)
    with check.cute_dsl(schedules=1) as reports:
        given = struct.pack("<Qi12x", x.ctypes.data, 16)
        Function(SCALED, "scaled", [(2, 1, 1), (32, 1, 1)])(Tensor(x), given, struct.pack("f", 3))
    assert {f.kind for f in reports[0].failures} >= {"race-WAW"}


def test_tensor_maps_of_host_code_and_clusters(tmp_path: Path) -> None:
    x, y = np.arange(192, dtype=np.uint32), np.zeros(128, np.uint32)
    made = bytearray(encode(TensorMap("u32", x.ctypes.data, (64, 3), (256,), (64, 1))))
    made[8] |= 2
    made[64:] = b"?" * 64
    with check.cute_dsl(save=tmp_path) as reports:
        function = Function(COPY, "box", [(2, 1, 1), (64, 1, 1)], cluster=2)
        function(Tensor(x), Tensor(y), bytes(made), struct.pack("<Q", y.ctypes.data))
    check.assert_no_findings(reports)
    np.testing.assert_array_equal(y, x[:128])
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [
        ".json",
        ".json",
        ".npy",
        ".npy",
        ".ptx",
    ]


def test_what_the_runtime_raises_is_raised_behind_host_code() -> None:
    with check.cute_dsl(), pytest.raises(PtxError, match=r"expected '\.version'"):
        Function("no PTX", "k", [(1, 1, 1), (32, 1, 1)])()


def test_tensors_are_shown_as_those_of_a_gpu() -> None:
    with check.cute_dsl():
        tensor = Tensor(np.zeros(4, np.float32))
        tensor.load_dltensor()
    assert tensor._dltensor_wrapper == "made"
    with pytest.raises(LaunchError, match="the checker takes those of the CPU"):
        show_on_gpu(tensor._dlpack_data)
    assert GPU == 2
