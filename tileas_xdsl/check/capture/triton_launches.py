"""Capture of Triton's launches: kernels are compiled by Triton and checked, not launched.

Triton reaches the GPU through a driver object that it lets anyone set
(`triton.runtime.driver.set_active`).  The one here says that there is a GPU of the wanted target,
and its launcher gives the PTX that Triton has made to the checker, with the arguments of the
launch.  Tensors stay on the CPU, and hold the results afterwards as on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Unpack

from tileas_xdsl.check.capture.launch_capture import (
    CaptureSettings,
    CaptureUnavailableError,
    CheckOptions,
    settings_of,
)
from tileas_xdsl.check.capture.triton_arguments import TritonArguments
from tileas_xdsl.check.reports import CheckReport
from tileas_xdsl.interpreters.ptx import load
from tileas_xdsl.interpreters.ptx.launch import pick_kernel
from tileas_xdsl.layout.units import WARP


@contextmanager
def triton(target: str = "sm_90a", **options: Unpack[CheckOptions]) -> Generator[list[CheckReport]]:
    """Check every launch of Triton inside of the `with`, which yields the list of their reports.

    The kernels get tensors of the CPU and no GPU is needed; results are those of the first order
    of completion.  Autotuning checks each configuration once and keeps the first.  Raises
    `CaptureUnavailableError` if Triton or PyTorch is not installed.
    """
    driver = _driver_config()
    settings = settings_of(target, options)
    before = driver._active
    driver.set_active(CheckingDriver(settings))
    try:
        yield settings.reports
    finally:
        driver._active = before


def _driver_config() -> Any:
    try:
        import_module("torch")
        return import_module("triton.runtime.driver").driver
    except ImportError as error:
        raise CaptureUnavailableError(
            f"check.triton() needs {error.name}: pip install 'tileas-xdsl[triton]' torch"
        ) from error


class CheckingDriver:
    """What Triton asks of a driver (`triton.backends.driver.DriverBase`), without a GPU."""

    def __init__(self, settings: CaptureSettings) -> None:
        self._settings = settings
        self.utils = _Utilities(settings)
        self.launcher_cls = partial(TritonLauncher, settings)

    def get_current_target(self) -> Any:
        """Return what Triton compiles for."""
        GPUTarget = import_module("triton.backends.compiler").GPUTarget  # noqa: N806
        return GPUTarget("cuda", self._settings.target.capability, WARP)

    def get_current_device(self) -> str:
        """Return the key of Triton's table of compiled kernels: no GPU has one that is a string."""
        return f"check {self._settings.target.name} {id(self._settings)}"

    def set_current_device(self, device: Any) -> None:
        """Accept any device; there is one."""

    def get_current_stream(self, device: Any) -> int:
        """Return the default stream; launches are executed one after the other."""
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """Return the compute capability."""
        return self._settings.capability

    def get_active_torch_device(self) -> Any:
        """Return the device that holds the tensors."""
        return import_module("torch").device("cpu")

    def get_device_interface(self) -> Any:
        """Return what Triton synchronises with."""
        return import_module("torch").cpu

    def get_benchmarker(self) -> Callable[..., Any]:
        """Return a benchmark that runs once, so that each configuration is checked."""
        return _run_once

    def get_empty_cache_for_benchmark(self) -> None:
        """Return nothing: there is no cache to clear."""

    def clear_cache(self, cache: Any) -> None:
        """Do nothing: there is no cache to clear."""


def _run_once(call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any) -> Any:
    call()
    return 1.0 if quantiles is None else [1.0] * len(quantiles)


class _Utilities:
    """The functions of the driver that Triton calls through `driver.utils`."""

    def __init__(self, settings: CaptureSettings) -> None:
        self._settings = settings

    def get_device_properties(self, device: Any) -> dict[str, int]:
        """Return the limits that Triton compares kernels with, and sizes that kernels ask for."""
        return {
            "max_shared_mem": self._settings.target.shared_memory_per_block,
            "multiprocessor_count": 4,
            "max_num_regs": 65536,
            "warpSize": WARP,
            "sm_clock_rate": 1,
            "mem_clock_rate": 1,
            "mem_bus_width": 1,
        }

    def load_binary(self, name: str, binary: Any, shared: int, device: Any) -> tuple[Any, ...]:
        """Return module, function, registers, spills, threads: nothing is loaded."""
        return (SimpleNamespace(name=name), name, 0, 0, 1024)

    def unload_module(self, module: Any) -> None:
        """Do nothing: nothing was loaded."""


class TritonLauncher:
    """Checks the launches of one compiled kernel."""

    def __init__(self, settings: CaptureSettings, source: Any, metadata: Any) -> None:
        self._settings, self._metadata = settings, metadata
        self._signature = list(source.signature.values())
        path = _ptx_file(source, metadata)
        self._text = path.read_text(encoding="utf-8")
        self._module = load(self._text, path.name)
        self._kernel = pick_kernel(self._module, metadata.name)

    def __call__(
        self, x: int, y: int, z: int, stream: Any, function: Any, kernel_metadata: Any,
        launch_metadata: Any, enter_hook: Any, exit_hook: Any, *values: Any,
    ) -> None:  # fmt: skip
        """Check a launch; its arrays hold the results afterwards."""
        if not prod((x, y, z)):
            return
        meta, settings = self._metadata, self._settings
        arguments = TritonArguments(getattr(meta, "tensordesc_meta", None))
        arguments.add_all(values, self._signature)
        together = getattr(meta, "num_ctas", 1)
        blocks = x * y * z * together
        scratch = (meta.global_scratch_size, getattr(meta, "profile_scratch_size", 0))
        missing = len(self._kernel.parameters) - len(arguments.values)
        arguments.add_scratch([size * blocks for size in scratch[:missing]])
        threads = self._kernel.required_threads or (meta.num_warps * WARP,)
        grid, cluster = (x * together, y, z), (together, 1, 1) if together > 1 else None
        settings.check(
            self._text,
            self._module,
            self._kernel.name,
            grid,
            threads,
            arguments.values,
            cluster=cluster,
            shared=meta.shared,
        )


def _ptx_file(source: Any, metadata: Any) -> Path:
    """Return the PTX of a kernel in Triton's cache, where compilation has put it."""
    manager = import_module("triton.runtime.cache").get_cache_manager(metadata.hash)
    for name in dict.fromkeys((source.name[:150], metadata.name[:150])):
        path = manager.get_file(f"{name}.ptx")
        if path is not None:
            return Path(path)
    raise CaptureUnavailableError(
        f"Triton keeps no PTX of '{metadata.name}'; unset TRITON_STORE_BINARY_ONLY"
    )
