"""Capture of the CuTe DSL's launches: host code runs as it is, kernels are checked.

The DSL compiles the host code of a `@cute.jit` function too.  It runs here; only the functions of
the CUDA runtime that it calls are those of `HostRuntime`.

    with check.cute_dsl("sm_90a") as reports:
        add(from_dlpack(x), from_dlpack(y))       # a @cute.jit function, tensors of the CPU

Source: CuTe DSL documentation (environment variables; tensors of the CPU by DLPack).
"""

from __future__ import annotations

import ctypes
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias, Unpack

from tileas_xdsl.check.capture.host_memory import HostMemory, show_on_gpu
from tileas_xdsl.check.capture.host_runtime import HostRuntime
from tileas_xdsl.check.capture.launch_capture import CheckOptions, needed, replaced, settings_of
from tileas_xdsl.check.reports import CheckReport

INSTALL = "nvidia-cutlass-dsl"

Replacement: TypeAlias = tuple[Any, Mapping[str, Any]]
"""An object and its attributes while launches are captured, as `replaced` takes them."""


@contextmanager
def cute_dsl(
    target: str = "sm_90a", **options: Unpack[CheckOptions]
) -> Generator[list[CheckReport]]:
    """Check every launch of functions of the CuTe DSL that are compiled inside of the `with`.

    No GPU is needed: tensors are those of the CPU.  Raises `CaptureUnavailableError` if the DSL is
    not installed, `LaunchError` for launches that cannot be captured.
    """
    dsl = _needed("cutlass.cutlass_dsl").CuTeDSL
    runtime, memory = HostRuntime(settings_of(target, options)), HostMemory()
    with TemporaryDirectory() as folder:
        compiles = {"arch": target, "keep_ptx": True, "lineinfo": True, "dump_dir": folder}
        parts = [
            (dsl._get_dsl().envar, compiles),
            *_loading(runtime),
            *_arguments(dsl, memory),
            _launching(runtime, memory),
        ]
        with replaced(parts):
            yield runtime.settings.reports


def _needed(module: str) -> Any:
    return needed(module, "cute_dsl", INSTALL)


def _loading(runtime: HostRuntime) -> Iterator[Replacement]:
    """Replace how host code and kernels are loaded."""
    engines = _needed("cutlass._mlir.execution_engine")
    compiled = _needed("cutlass.cutlass_dsl.cuda_jit_executor").CudaDialectJitCompiledFunction
    make_engine, load_library = engines.ExecutionEngine, compiled._load_cuda_library
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

    yield engines, {"ExecutionEngine": engine}
    yield compiled, {"_load_cuda_library": loaded, "num_devices": 1}


def _arguments(dsl: Any, memory: HostMemory) -> Iterator[Replacement]:
    """Note the arrays of calls, by whichever way a function is called."""
    execution = _needed("cutlass.base_dsl.jit_executor").ExecutionArgs
    tensors = _needed("cutlass.cute.runtime")._Tensor
    arguments, bind = execution.generate_execution_args, dsl._get_function_bound_args
    load_tensor = tensors.load_dltensor

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

    yield dsl, {"_get_function_bound_args": bound}
    yield tensors, {"load_dltensor": wrapped}
    yield execution, {"generate_execution_args": called}


def _launching(runtime: HostRuntime, memory: HostMemory) -> Replacement:
    """Run host code, and check the kernels that it launches."""
    executors = _needed("cutlass.base_dsl.jit_executor").JitExecutor
    run = executors.run_compiled_program

    def launched(executor: Any, values: Sequence[Any]) -> Any:
        with runtime.in_host_code():
            result = run(executor, values)
        runtime.check(memory)
        memory.arrays.clear()
        return result

    return executors, {"run_compiled_program": launched}
