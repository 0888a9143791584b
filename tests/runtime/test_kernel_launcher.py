"""Launches against a stand-in driver: recorded calls, and what is rejected before any call."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
import warnings
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.bindings.driver")
pytest.importorskip("cuda.tile")

import cuda.tile as ct
from cuda.bindings import driver as bindings
from support.recording_driver import RecordingApi, recording_driver

import tileas_xdsl as tileas
from kernels import Gemm, VectorAdd
from kernels.compiled import compiled
from tileas_xdsl.backend.ptxas import Assembled
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.diagnostics.report import Severity, diagnostic
from tileas_xdsl.interpreters.ptx import LaunchError
from tileas_xdsl.runtime import kernel_launcher as launching
from tileas_xdsl.runtime.gpu import driver as driver_module
from tileas_xdsl.runtime.gpu.device import Device
from tileas_xdsl.runtime.gpu.driver import DriverError, MissingDriverError, installed_driver
from tileas_xdsl.runtime.gpu.streams import stream_handle
from tileas_xdsl.runtime.kernel_launcher import (
    MAX_PREPARED,
    CopiedArrayWarning,
    Launcher,
    SlowCodeWarning,
)
from tileas_xdsl.target.tma.tensor_map_bytes import decode

GEMM = Gemm(bm=128, bn=64, bk=64, epilogue="tma")
SIZES = {"m": 130, "n": 72, "k": 144}


@dataclass
class Tensor:
    """What torch offers of a tensor."""

    shape: tuple[int, ...]
    dtype: str = "torch.float16"
    place: int = 0x7F0000000000
    strides: tuple[int, ...] = ()
    device: Any = field(default_factory=lambda: SimpleNamespace(type="cuda", index=0))
    requires_grad: bool = False

    def data_ptr(self) -> int:
        return self.place

    def element_size(self) -> int:
        return np.dtype(self.dtype.removeprefix("torch.")).itemsize

    def stride(self) -> tuple[int, ...]:
        rows = np.empty(self.shape, np.uint8).strides
        return self.strides or rows


def gemm_tensors(**changes: Any) -> list[Tensor]:
    m, n, k = SIZES.values()
    found = [Tensor((m, k)), Tensor((k, n), place=0x7F0001000000)]
    found.append(Tensor((m, n), "torch.float32", 0x7F0002000000))
    for name, value in changes.items():
        setattr(found[0], name, value)
    return found


def launcher(kernel: CompiledKernel | None = None, **options: Any) -> tuple[Launcher, RecordingApi]:
    driver, api = recording_driver(**options)
    return Launcher(compiled(GEMM) if kernel is None else kernel, Device(driver)), api


def test_the_driver_is_told_what_the_kernel_needs() -> None:
    """Parameters in order, hidden tensor maps last, dynamic shared memory opt-in above 48 KB."""
    made, api = launcher()
    made.launch(gemm_tensors(), GEMM.grid(SIZES), stream=77)
    (launched,) = api.launches
    assert launched.grid == (2, 2, 1)
    assert launched.block == (made.abi.threads, 1, 1)
    assert launched.shared == made.abi.shared_bytes > 48 << 10
    assert launched.stream == 77
    which = bindings.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
    assert api.attributes == {which: made.abi.shared_bytes}
    words = dict(zip(made.abi.parameters, range(20), strict=False))
    assert launched.word(words["ptr 1"]) == 0x7F0001000000
    assert launched.word(words["size 0 0"], 4) == 130
    assert launched.word(words["size 2 1"], 4) == 72


def test_tensor_maps_are_those_of_the_recipes_made_by_the_driver_once() -> None:
    made, api = launcher()
    for _ in range(3):
        made.launch(gemm_tensors(), GEMM.grid(SIZES))
    assert api.encoded == 3
    first = made.abi.parameters.index("tensor map 0")
    places = ctypes.cast(api.launches[-1].parameters, ctypes.POINTER(ctypes.c_void_p))
    found = decode(api.launches[-1].parameter(first, 128))
    assert (places[first] or 0) % 64 == 0
    assert (found.address, found.dims, found.strides) == (0x7F0000000000, (144, 130), (288,))
    assert (found.box, found.swizzle) == (made.abi.tensor_maps[0].box, "128B")
    made.launch(gemm_tensors(place=0x7F0000000100), GEMM.grid(SIZES))
    assert api.encoded == 6


def test_arrays_of_numpy_are_copied_and_back_with_a_word() -> None:
    made, api = launcher(tileas.compile(VectorAdd().text()))
    a, b = (np.random.default_rng(k).standard_normal(100).astype(np.float32) for k in range(2))
    c = np.full(100, np.nan, np.float32)

    def add(launched: Any) -> None:
        places = [launched.word(made.abi.parameters.index(f"ptr {k}")) for k in range(3)]
        x, y, z = (np.frombuffer((ctypes.c_float * 100).from_address(p), "f4") for p in places)
        z[:] = x + y

    api.effect = add
    with pytest.warns(CopiedArrayWarning, match="'a', 'b', 'c': arrays of numpy's are copied"):
        made.launch([a, b, c], VectorAdd().grid({"n": 100}))
    np.testing.assert_array_equal(c, a + b)
    assert api.live["memory"] == 0
    a[:], c.flags.writeable = 1, False
    with (
        pytest.warns(CopiedArrayWarning),
        pytest.raises(ArgumentError, match="'c' is a read-only array, and the kernel changed 100"),
    ):
        made.launch([a, b, c], VectorAdd().grid({"n": 100}))


def test_an_array_of_numpy_that_is_given_twice_is_one_on_the_gpu() -> None:
    """What is written to it by one name is read by the other, as of arrays that are there."""
    made, api = launcher(tileas.compile(VectorAdd().text()))
    a, b = np.ones(100, np.float32), np.ones(100, np.float32)
    with pytest.warns(CopiedArrayWarning, match="'a', 'b', 'c': arrays of numpy's are copied"):
        made.launch([a, b, a[:]], VectorAdd().grid({"n": 100}))
    places = [api.launches[0].word(made.abi.parameters.index(f"ptr {k}")) for k in range(3)]
    assert places[0] == places[2] != places[1]


def test_a_kernel_of_cutile_takes_whole_arrays() -> None:
    pytest.importorskip("cuda.tile")
    from kernels.cutile.vector_add import vector_add

    array = np.zeros(1000, np.float32)
    kernel = tileas.compile(vector_add, array, array, array, 256)
    made, api = launcher(kernel)
    tensors = [Tensor((1000,), "torch.float32", 0x7F0000000000 + 4096 * k) for k in range(3)]
    made.launch([*tensors, 256], 4)
    words = [api.launches[0].word(n, 4 if n % 3 else 8) for n in range(9)]
    assert words[3:6] == [0x7F0000001000, 1000, 1]
    with pytest.raises(ArgumentError, match="extent 0 of 'a' is 1001; the kernel was compiled for"):
        made.launch([Tensor((1001,), "torch.float32"), *tensors[1:], 256], 4)


@pytest.mark.parametrize(
    ("alignment", "place", "fits"), [(64, 32, False), (32, 32, True), (4, 4, True), (16, 4, False)]
)
def test_arrays_begin_where_the_signature_promises(alignment: int, place: int, fits: bool) -> None:
    pytest.importorskip("cuda.tile")
    from kernels.cutile.vector_add import vector_add

    text = f"a: f32[?] @{alignment}, b: f32[?], c: f32[?], tile=256"
    made, api = launcher(tileas.compile(vector_add, signature=text))
    places = (0x7F0000000000 + place, 0x7F0000002000, 0x7F0000004000)
    tensors = [Tensor((1000,), "torch.float32", at) for at in places]
    if fits:
        made.launch([*tensors, 256], 4)
    else:
        with pytest.raises(ArgumentError, match=rf"'a' begins at .* no multiple of {alignment} "):
            made.launch([*tensors, 256], 4)
    assert len(api.launches) == fits


WRONG = {
    "another type": (
        {"dtype": "torch.float32"},
        "argument 0 is for .* array of float32",
    ),
    "no type": ({"dtype": "torch.quint4x2"}, "'a' has elements of type quint4x2, which no kernel"),
    "another rank": ({"shape": (130, 144, 1)}, r"argument 0 .* an array of shape \(130, 144, 1\)"),
    "another GPU": (
        {"device": SimpleNamespace(type="cuda", index=3)},
        "'a' is on GPU 3; the launch is on GPU 0",
    ),
    "the host": ({"device": SimpleNamespace(type="cpu")}, r"'a' is a tensor on .*: move it with"),
    "gaps": ({"strides": (160, 1)}, r"'a' has strides of \(320, 2\) bytes; .* rows without gaps"),
    "alignment": ({"place": 0x7F0000000008}, "'a' begins at 0x7f0000000008, which is no multiple"),
    "odd rows": ({"shape": (130, 141)}, "'a': .*16"),
}


@pytest.mark.parametrize(("changes", "text"), WRONG.values(), ids=WRONG)
def test_arguments_that_do_not_fit_are_refused_before_anything_is_launched(
    changes: dict[str, Any], text: str
) -> None:
    made, api = launcher()
    with pytest.raises((ArgumentError, LaunchError), match=text):
        made.launch(gemm_tensors(**changes), GEMM.grid(SIZES))
    assert api.launches == []


def test_numbers_of_arguments_and_grids_that_do_not_fit_are_refused() -> None:
    made, api = launcher(compiled(Gemm(bm=128, bn=64, bk=64, cluster=2)))
    with pytest.raises(ArgumentError, match="takes 3 arguments"):
        made.launch(gemm_tensors()[:2], (2, 2))
    with pytest.raises(LaunchError, match=r"the grid has 3 CTAs along [xy]"):
        made.launch(gemm_tensors(), (3, 3))
    with pytest.raises(ArgumentError, match="a grid has one to three"):
        made.launch(gemm_tensors(), (1, 0))
    with pytest.raises(ArgumentError, match="a stream is one of torch"):
        made.launch(gemm_tensors(), (2, 2), stream="fast")
    assert api.launches == []


def test_arrays_are_taken_by_their_interface() -> None:
    made, api = launcher(tileas.compile(VectorAdd().text()))

    def offering(number: int, **changes: Any) -> Any:
        data = (0x7F0000000000 + 4096 * number, False)
        found = {"version": 3, "shape": (100,), "typestr": "<f4", "data": data, "strides": None}
        return SimpleNamespace(__cuda_array_interface__={**found, **changes})

    made.launch([offering(0), offering(1), offering(2)], 2)
    assert api.launches[0].word(made.abi.parameters.index("ptr 2")) == 0x7F0000002000
    with pytest.raises(ArgumentError, match="'b' has no proper __cuda_array_interface__"):
        made.launch([offering(0), offering(1, data=None), offering(2)], 2)


def test_streams_are_taken_from_whoever_makes_them() -> None:
    assert stream_handle(SimpleNamespace(cuda_stream=5)) == 5
    assert stream_handle(SimpleNamespace(ptr=6)) == 6
    assert stream_handle(SimpleNamespace(__cuda_stream__=lambda: (0, 7))) == 7
    assert stream_handle(None) == 0


def test_the_current_stream_of_torch_is_the_default_for_its_tensors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    current = SimpleNamespace(cuda_stream=9)
    torch = SimpleNamespace(
        cuda=SimpleNamespace(current_stream=lambda device: current),
        version=SimpleNamespace(cuda="13.0"),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    assert stream_handle(None, gemm_tensors()) == 9
    assert stream_handle(None, [np.zeros(3)]) == 0


def test_another_gpu_is_refused() -> None:
    with pytest.raises(DriverError, match=r"sm_90a, .*9\.0; GPU 0 \(Stand-in\) has 10\.0"):
        launcher(capability=(10, 0))


def test_errors_of_the_driver_are_sentences_with_its_log() -> None:
    refused = bindings.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU
    with pytest.raises(DriverError) as found:
        launcher(refuses={"cuModuleLoadDataEx": refused}, jit_log=b"line 3: no such thing")
    assert str(found.value) == (
        "cuModuleLoadDataEx: what the driver says (CUDA_ERROR_NO_BINARY_FOR_GPU); the code is for "
        "another GPU: compile for this one\nline 3: no such thing"
    )


def test_slow_code_is_launched_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    def spilling(kernel: CompiledKernel, *, strict: bool) -> Assembled:
        assert not strict
        return Assembled(b"\x7fELF", {}, (diagnostic(Severity.WARNING, "it spills"),), "")

    monkeypatch.setattr(launching, "find_tool", lambda name: Path(name))
    monkeypatch.setattr(CompiledKernel, "assemble", spilling)
    with pytest.warns(SlowCodeWarning, match="it spills"):
        made, api = launcher()
    made.launch(gemm_tensors(), GEMM.grid(SIZES))
    assert len(api.launches) == 1


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    installed_driver.cache_clear()
    refused = bindings.CUresult.CUDA_ERROR_NO_DEVICE
    monkeypatch.setattr(
        driver_module, "import_module", lambda name: RecordingApi(refuses={"cuInit": refused})
    )
    with pytest.raises(MissingDriverError, match="there is no GPU to be used: cuInit: what the"):
        installed_driver()

    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(driver_module, "import_module", missing)
    with pytest.raises(MissingDriverError, match="cuda-bindings; install it with: pip install"):
        installed_driver()


def test_nothing_is_left_after_many_launches() -> None:
    made, api = launcher()
    warnings.simplefilter("error")
    for k in range(10_000):
        made.launch(
            gemm_tensors(place=0x7F0000000000 + 16 * (k % 40 + 100 * (k % 1000 == 0))),
            GEMM.grid(SIZES),
        )
    assert api.live == {"context": 1, "module": 1}
    assert len(api.launches) == 10_000
    api.launches.clear()
    del made
    gc.collect()
    assert set(api.live.values()) == {0}


def test_threads_launch_one_kernel_with_more_arguments_than_are_kept() -> None:
    """What one thread has found, another one may not forget in the same moment."""
    made, api = launcher(tileas.compile(VectorAdd().text()))
    made._prepared = _SlowDict(made._prepared)

    def run(first: int) -> None:
        for k in range(2 * MAX_PREPARED):
            place = 0x7F0000000000 + 0x1000 * ((first + k) % (MAX_PREPARED + 2))
            made.launch([Tensor((100,), "torch.float32", place)] * 3, 2)

    with ThreadPoolExecutor(4) as executor:
        assert [*executor.map(run, range(0, 64, 16))] == [None] * 4
    assert len(api.launches) == 4 * 2 * MAX_PREPARED


class _SlowDict(OrderedDict[Any, Any]):
    """A dictionary whose threads take turns in front of each change."""

    def move_to_end(self, key: Any, last: bool = True) -> None:
        time.sleep(0)
        super().move_to_end(key, last)


def test_arrays_of_dlpack_must_be_on_a_gpu() -> None:
    pytest.importorskip("cuda.core.utils")
    made, _ = launcher(tileas.compile(VectorAdd().text()))

    class Host:
        def __init__(self) -> None:
            self.array = np.zeros(100, np.float32)

        def __dlpack__(self, **options: Any) -> Any:
            return self.array.__dlpack__()

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    with pytest.raises(ArgumentError, match="'a' is an array in the memory of the host"):
        made.launch([Host(), Host(), Host()], 2)


@ct.kernel
def _gathered(pair, arrays, out, n: ct.Constant[int]):
    found = ct.load(pair[0], (0,), (n,)) + ct.load(pair[1], (0,), (n,))
    for k in range(len(arrays)):
        found = found + ct.load(arrays[k], (0,), (n,))
    ct.store(out, (0,), found)


def test_tuples_and_lists_of_arrays_are_taken_apart() -> None:
    arrays = [np.full(16, k, np.float32) for k in range(5)]
    kernel = tileas.compile(_gathered, tuple(arrays[:2]), arrays[2:4], arrays[4], 16)
    made, api = launcher(kernel)
    a, b, c, d, out = (Tensor((16,), "torch.float32", 0x7F0000000000 + 4096 * k) for k in range(5))
    made.launch([(a, b), [c, d], out, 16], 1)
    words = [api.launches[0].word(n, 4 if n in (1, 4, 7, 9) else 8) for n in range(11)]
    assert words[:6] == [a.place, 16, 1, b.place, 16, 1]
    assert words[7:] == [2, out.place, 16, 1]
    table = np.frombuffer(ctypes.string_at(words[6], 48), np.int64)
    assert table.tolist() == [c.place, 16, 1, d.place, 16, 1]
    with pytest.raises(ArgumentError, match=r"arrays\[1\]' begins at .* no multiple of 16 bytes"):
        made.launch([(a, b), [c, Tensor((16,), "torch.float32", d.place + 4)], out, 16], 1)


def test_arrays_of_numpy_in_lists_are_copied_and_back() -> None:
    arrays = [np.full(16, k, np.float32) for k in range(5)]
    kernel = tileas.compile(_gathered, tuple(arrays[:2]), arrays[2:4], arrays[4], 16)
    made, api = launcher(kernel)
    with pytest.warns(CopiedArrayWarning, match=r"'arrays\[0\]', 'arrays\[1\]', 'out'"):
        made.launch([tuple(arrays[:2]), arrays[2:4], arrays[4], 16], 1)
    assert len(api.launches) == 1


@ct.kernel
def _negated(x, tile: ct.Constant[int]):
    ct.store(x, (0, 0), -ct.load(x, (0, 0), (1, tile)))


def test_rows_of_numpy_with_gaps_are_copied_with_their_strides() -> None:
    """As the kernel was compiled for them; what is in the gaps stays."""
    memory = np.arange(4 * 48, dtype=np.float32).reshape(4, 48)
    rows, before = memory[:, 1:45], memory.copy()
    made, api = launcher(tileas.compile(_negated, rows, 16))

    def negate(launched: Any) -> None:
        words = np.frombuffer((ctypes.c_float * (3 * 48 + 44)).from_address(launched.word(0)), "f4")
        stride = launched.word(3, 4)
        words[stride : stride + 44] *= -1

    api.effect = negate
    with pytest.warns(CopiedArrayWarning, match="'x'"):
        made.launch([rows, 16], 1)
    assert (memory[1, 1:45] == -before[1, 1:45]).all()
    memory[1, 1:45] *= -1
    assert (memory == before).all()
    with pytest.warns(CopiedArrayWarning), pytest.raises(ArgumentError, match="stride 0 of 'x'"):
        made.launch([np.ones((4, 51), np.float32)[:, :44], 16], 1)
