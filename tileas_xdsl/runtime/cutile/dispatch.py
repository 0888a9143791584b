"""`launch`: a kernel is compiled for what its arguments are, once, and run."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast
from weakref import WeakKeyDictionary

from tileas_xdsl.compiler import CompiledKernel, compile_cutile
from tileas_xdsl.diagnostics.emission import DiagnosticError
from tileas_xdsl.frontend.cutile import parameters_of
from tileas_xdsl.frontend.signature import Parameter
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.runtime.cutile.host_arrays import host_array, is_tensor, write_back
from tileas_xdsl.runtime.cutile.settings import Settings
from tileas_xdsl.runtime.cutile.source_lines import SourceLines
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.gpu.device_arrays import DeviceArray, device_array
from tileas_xdsl.runtime.kernel_launcher import stream_handle, target_of

SIGNATURE = "launch(stream, grid, kernel, kernel_args, /, *, programmatic_dependent_launch=False)"
MAX_BLOCKS = (1 << 24) - 1
"""Blocks along an axis of a grid, as cuTile has it."""

Grid: TypeAlias = tuple[int, int, int]
Key: TypeAlias = tuple[str, tuple[Parameter, ...]]

settings = Settings()
"""What `install` was asked for last."""


@dataclass
class _Kernels:
    """What one cuTile kernel was compiled to."""

    compiled: dict[Key, CompiledKernel] = field(default_factory=dict[Key, CompiledKernel])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def of(self, kernel: Any, target: str, parameters: tuple[Parameter, ...]) -> CompiledKernel:
        """Return the kernel for a target and parameters, compiled once."""
        key = target, parameters
        found = self.compiled.get(key)
        if found is None:
            with self.lock:
                found = self.compiled.get(key)
                if found is None:
                    found = self.compiled[key] = _compile(kernel, parameters, target)
        return found


def _compile(kernel: Any, parameters: tuple[Parameter, ...], target: str) -> CompiledKernel:
    """Compile; what cuTile's front end refuses is raised as cuTile raises it."""
    try:
        return compile_cutile(kernel, parameters, target)
    except DiagnosticError as error:
        if isinstance(error.__cause__, Exception):
            raise error.__cause__ from None
        raise


_tables: WeakKeyDictionary[Any, _Kernels] = WeakKeyDictionary()
_tables_lock = threading.Lock()


def launch(
    stream: Any,
    grid: Any,
    kernel: Any,
    kernel_args: Any,
    /,
    *,
    programmatic_dependent_launch: bool = False,
) -> None:
    """Launch a cuTile kernel: `cuda.tile.launch` on this compiler.

    Without a GPU, or where `install` says so, the emulator runs it, and the stream is ignored.
    Raises what cuTile raises for wrong arguments and programs, and `FindingsError` for what the
    checker of the emulator finds.
    """
    blocks = grid_of(grid)
    if not isinstance(kernel_args, tuple):
        kind = type(kernel_args).__name__
        raise TypeError(f"{SIGNATURE} expects a tuple as the fourth argument, got {kind}")
    run = _emulate if settings.emulates else _launch
    run(stream, blocks, kernel, cast("tuple[Any, ...]", kernel_args))


def grid_of(grid: Any) -> Grid:
    """Return three extents; raises as cuTile for more of them, and for too many blocks."""
    if not isinstance(grid, tuple) or len(cast("tuple[int, ...]", grid)) > 3:
        raise TypeError("Grid must be a tuple of up to three integers")
    extents = cast("tuple[int, ...]", grid)
    for axis, extent in enumerate(extents):
        if extent > MAX_BLOCKS:
            raise ValueError(
                f"Grid[{axis}] exceeds 24-bit limit: max={MAX_BLOCKS}, got={extent}. "
                "Use multiple kernel launches for larger workloads."
            )
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z


def _compiled(kernel: Any, target: str, described: Sequence[Any]) -> CompiledKernel:
    parameters = parameters_of(kernel, described, is_dispatched=True)
    with _tables_lock:
        table = _tables.setdefault(kernel, _Kernels())
    return table.of(kernel, target, parameters)


def _launch(stream: Any, grid: Grid, kernel: Any, args: Sequence[Any]) -> None:
    plain = [value.detach() if is_tensor(value) else value for value in args]
    arrays = [device_array(value, f"argument {n}") for n, value in enumerate(plain)]
    pairs = zip(plain, arrays, strict=True)
    described = [value if array is None else array for value, array in pairs]
    number = next((found.device for found in arrays if found is not None), None) or 0
    compiled = _compiled(kernel, target_of(gpu(number)), described)
    compiled.launch(*described, grid=grid, stream=stream_handle(stream, plain), device=number)


def _emulate(_stream: Any, grid: Grid, kernel: Any, args: Sequence[Any]) -> None:
    arrays = [host_array(value) for value in args]
    pairs = zip(args, arrays, strict=True)
    described = [value if array is None else _of_host(array) for value, array in pairs]
    compiled = _compiled(kernel, settings.target, described)
    passed = [v if a is None else a for v, a in zip(args, arrays, strict=True)]
    found = compiled.emulate(*passed, grid=grid)
    for value, before, after in zip(args, arrays, found.arrays, strict=True):
        if before is not None:
            write_back(value, before, after)
    if found.findings:
        source = SourceLines.of(compiled.ptx)
        settings.report([source.moved(finding) for finding in found.findings])


def _of_host(array: Array) -> DeviceArray:
    """An array of numpy, described as one of a GPU is."""
    address: int = array.__array_interface__["data"][0]
    shape, strides = array.shape, array.strides
    return DeviceArray(address, shape, strides, array.dtype, None, False, array)
