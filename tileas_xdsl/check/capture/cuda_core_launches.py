"""Capture of launches through `cuda.core`: programs are compiled to PTX and checked, not launched.

Arguments are arrays of numpy, or the addresses (`array.data.ptr`) of what CuPy's functions make
inside of `check.cupy()`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Unpack

from tileas_xdsl.check.capture.cuda_modules import CheckedModule
from tileas_xdsl.check.capture.launch_capture import (
    CaptureSettings,
    CheckOptions,
    extents,
    needed,
    replaced,
    settings_of,
)
from tileas_xdsl.check.reports import CheckReport


@contextmanager
def cuda_core(
    target: str = "sm_90a", **options: Unpack[CheckOptions]
) -> Generator[list[CheckReport]]:
    """Check every launch by `cuda.core.launch`.

    The names `Device`, `Program`, `ProgramOptions`, `ObjectCode`, `LaunchConfig` and `launch` of
    the package are replaced: take them from `cuda.core` inside of the `with`.  No GPU is needed.
    Raises `CaptureUnavailableError` if `cuda.core`, or NVRTC for CUDA C++, is not installed.
    """
    package = needed("cuda.core", "cuda_core", "cuda-core cuda-bindings nvidia-cuda-nvrtc")
    settings = settings_of(target, options)

    class Device(_Device):
        of = settings

    class Program(_Program):
        of = settings

    class ObjectCode(_ObjectCode):
        of = settings

    names: dict[str, Any] = {"Device": Device, "Program": Program, "ObjectCode": ObjectCode}
    names |= {"launch": _launch, "LaunchConfig": _LaunchConfig}
    with replaced([(package, {**names, "ProgramOptions": SimpleNamespace})]):
        yield settings.reports


class _Device:
    """`cuda.core.Device`: the GPU that code is compiled for."""

    of: CaptureSettings

    def __init__(self, device_id: int | None = None) -> None:
        self.device_id = device_id or 0

    @property
    def compute_capability(self) -> tuple[int, int]:
        """The compute capability."""
        return self.of.capability

    @property
    def arch(self) -> str:
        """The compute capability as a number: `90`."""
        return str(self.of.target.capability)

    def set_current(self) -> None:
        """Do nothing: there is one."""

    def sync(self) -> None:
        """Do nothing: launches are executed one after the other."""

    def create_stream(self, *_: Any, **__: Any) -> Any:
        """Return a stream, which has nothing to wait for."""
        return SimpleNamespace(sync=self.sync, close=self.sync)


class _Program:
    """`cuda.core.Program`."""

    of: CaptureSettings

    def __init__(self, code: str, code_type: str, options: Any = None) -> None:
        self._code = code
        self._options = [
            f"--std={options.std}" for _ in range(1) if getattr(options, "std", None)
        ] + [f"-D{name}" for name in _definitions(getattr(options, "define_macro", None))]

    def compile(self, target_type: str, name_expressions: Sequence[str] = (), **_: Any) -> Any:
        """Return the PTX, whatever is asked for."""
        return _ObjectCode(CheckedModule(self.of, self._code, self._options, "cuda_core"))

    def close(self) -> None:
        """Do nothing."""


def _definitions(given: Any) -> Sequence[str]:
    if given is None:
        return ()
    if isinstance(given, str):
        return (given,)
    if isinstance(given, tuple):
        return ("=".join(map(str, given)),)  # pyright: ignore[reportUnknownArgumentType]
    return [text for one in given for text in _definitions(one)]


class _ObjectCode:
    """`cuda.core.ObjectCode`."""

    of: CaptureSettings

    def __init__(self, module: CheckedModule) -> None:
        self._module = module

    @classmethod
    def from_ptx(cls, module: str | bytes, **_: Any) -> _ObjectCode:
        """Return the kernels of PTX text, or of a file of it."""
        text = module.decode() if isinstance(module, bytes) else module
        if ".version" not in text:
            text = Path(text).read_text(encoding="utf-8")
        return _ObjectCode(CheckedModule(cls.of, text, (), "cuda_core"))

    @property
    def code(self) -> bytes:
        """The PTX."""
        return self._module.text.encode()

    def get_kernel(self, name: str | bytes) -> _Kernel:
        """Return the kernel of a name."""
        return _Kernel(self._module, name.decode() if isinstance(name, bytes) else name)


class _Kernel:
    """`cuda.core.Kernel`."""

    def __init__(self, module: CheckedModule, name: str) -> None:
        self.module, self.name = module, name


class _LaunchConfig:
    """`cuda.core.LaunchConfig`: with a cluster, the grid counts clusters."""

    def __init__(
        self, grid: Any = None, cluster: Any = None, block: Any = None,
        shmem_size: int | None = None, **_: Any,
    ) -> None:  # fmt: skip
        self.cluster = None if cluster is None else _three(cluster)
        self.grid = _three(1 if grid is None else grid)
        self.block = _three(1 if block is None else block)
        self.shmem_size = shmem_size or 0


def _three(value: Any) -> tuple[int, ...]:
    return (*extents(value), 1, 1)[:3]


def _launch(stream: Any, config: _LaunchConfig, kernel: _Kernel, *values: Any) -> None:
    cluster = config.cluster
    together = cluster or (1, 1, 1)
    grid = [g * c for g, c in zip(config.grid, together, strict=True)]
    kernel.module.launch(
        kernel.name, grid, config.block, values, cluster=cluster, shared=config.shmem_size
    )
