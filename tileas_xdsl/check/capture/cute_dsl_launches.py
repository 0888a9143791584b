"""Capture of the CuTe DSL's launches: host code runs as it is, kernels are checked.

The DSL compiles the host code of a `@cute.jit` function too.  It runs here; only the functions of
the CUDA runtime that it calls are those of `HostRuntime`.

    with check.cute_dsl("sm_90a") as reports:
        add(from_dlpack(x), from_dlpack(y))       # a @cute.jit function, tensors of the CPU

Source: CuTe DSL documentation (environment variables; tensors of the CPU by DLPack).
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, Unpack

from tileas_xdsl.check.capture.host_memory import HostMemory, show_on_gpu
from tileas_xdsl.check.capture.host_runtime import HostRuntime
from tileas_xdsl.check.capture.launch_capture import CheckOptions, needed, replaced, settings_of
from tileas_xdsl.check.reports import CheckReport

INSTALL = "nvidia-cutlass-dsl"


@contextmanager
def cute_dsl(
    target: str = "sm_90a", **options: Unpack[CheckOptions]
) -> Generator[list[CheckReport]]:
    """Check every launch of functions of the CuTe DSL that are compiled inside of the `with`.

    No GPU is needed: tensors are those of the CPU.  Raises `CaptureUnavailableError` if the DSL is
    not installed, `LaunchError` for launches that cannot be captured.
    """
    engines = needed("cutlass._mlir.execution_engine", "cute_dsl", INSTALL)
    jit = needed("cutlass.base_dsl.jit_executor", "cute_dsl", INSTALL)
    functions = needed("cutlass.cutlass_dsl.cuda_jit_executor", "cute_dsl", INSTALL)
    dsl = needed("cutlass.cutlass_dsl", "cute_dsl", INSTALL).CuTeDSL
    tensors = needed("cutlass.cute.runtime", "cute_dsl", INSTALL)._Tensor
    compiled = functions.CudaDialectJitCompiledFunction
    make_engine, load_library = engines.ExecutionEngine, compiled._load_cuda_library
    arguments, bind = jit.ExecutionArgs.generate_execution_args, dsl._get_function_bound_args
    load_tensor, run = tensors.load_dltensor, jit.JitExecutor.run_compiled_program
    runtime, memory = HostRuntime(settings_of(target, options)), HostMemory()
    calls = runtime.functions

    def engine(*args: Any, **keywords: Any) -> Any:
        """Make host code that calls `HostRuntime`."""
        made = make_engine(*args, **keywords)
        for name, call in calls.items():
            made.raw_register_runtime(name, ctypes.cast(call, ctypes.c_void_p))
        return made

    def loaded(function: Any) -> list[Any]:
        """Get the kernels; no library is kept, as its end would be told to the real runtime."""
        runtime.loading = str(function.__ptx__).rstrip("\0")
        with runtime.in_host_code():
            load_library(function)
        return []

    def wrapped(tensor: Any) -> None:
        """Take the type of a tensor, which is of global memory."""
        if tensor._dltensor_wrapper is None:
            show_on_gpu(tensor._dlpack_data)
        load_tensor(tensor)

    def called(execution: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Call what `cute.compile` made."""
        memory.arrays.clear()
        memory.add_all([*args, *keywords.values()])
        return arguments(execution, args, keywords)

    def bound(of: Any, signature: Any, name: str, *args: Any, **keywords: Any) -> Any:
        """Call a `@cute.jit` function, which compiles it."""
        memory.add_all([*args, *keywords.values()])
        return bind(of, signature, name, *args, **keywords)

    def launched(executor: Any, values: Sequence[Any]) -> Any:
        with runtime.in_host_code():
            result = run(executor, values)
        runtime.check(memory)
        memory.arrays.clear()
        return result

    with TemporaryDirectory() as folder:
        compiles = {"arch": target, "keep_ptx": True, "lineinfo": True, "dump_dir": folder}
        parts = [
            (dsl._get_dsl().envar, compiles),
            (dsl, {"_get_function_bound_args": bound}),
            (tensors, {"load_dltensor": wrapped}),
            (engines, {"ExecutionEngine": engine}),
            (compiled, {"_load_cuda_library": loaded, "num_devices": 1}),
            (jit.ExecutionArgs, {"generate_execution_args": called}),
            (jit.JitExecutor, {"run_compiled_program": launched}),
        ]
        with replaced(parts):
            yield runtime.settings.reports
