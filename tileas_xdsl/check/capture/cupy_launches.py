"""Capture of CuPy's raw kernels: CUDA C++ or PTX is checked, not launched.

Inside of the `with`, CuPy's functions make arrays of the host, by numpy, which has the same ones.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np

from tileas_xdsl.check.capture.cuda_modules import CheckedModule
from tileas_xdsl.check.capture.launch_capture import (
    CaptureSettings,
    CheckOptions,
    HostArray,
    extents,
    needed,
    on_host,
    replaced,
    settings_of,
)
from tileas_xdsl.check.reports import CheckReport


@contextmanager
def cupy(target: str = "sm_90a", **options: Unpack[CheckOptions]) -> Generator[list[CheckReport]]:
    """Check every launch of a `cupy.RawKernel` or of a kernel of a `cupy.RawModule`.

    No GPU is needed.  Raises `CaptureUnavailableError` if CuPy, or NVRTC for CUDA C++, is not
    installed.
    """
    module = needed("cupy", "cupy", "cupy-cuda13x")
    settings = settings_of(target, options)

    class RawModule(_RawModule):
        of = settings

    class RawKernel(_RawKernel):
        of = settings

    known = cast("dict[str, Any]", module.__dict__)
    names = [name for name in known if not name.startswith("_") and hasattr(np, name)]
    functions = {name: getattr(np, name) for name in names}
    host = {name: on_host(f) for name, f in functions.items() if _is_function(f)}
    classes = {"RawKernel": RawKernel, "RawModule": RawModule, "ndarray": HostArray}
    with replaced([(module, {**host, **classes, "asnumpy": np.array})]):
        yield settings.reports
    HostArray.addressed.clear()


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


class _RawModule:
    """`cupy.RawModule`."""

    of: CaptureSettings

    def __init__(
        self, *, code: str | None = None, path: str | None = None, options: Sequence[str] = (),
        **_: Any,
    ) -> None:  # fmt: skip
        text = Path(path or "").read_text(encoding="utf-8") if code is None else code
        self._module = CheckedModule(self.of, text, options, "cupy")

    def get_function(self, name: str) -> _Launched:
        """Return the kernel of a name."""
        return _Launched(self._module, name)


class _RawKernel:
    """`cupy.RawKernel`, compiled at its first launch."""

    of: CaptureSettings

    def __init__(self, code: str, name: str, options: Sequence[str] = (), **_: Any) -> None:
        self._source, self._options = code, options
        self.name = name
        self._made: CheckedModule | None = None

    def __call__(
        self, grid: Any, block: Any, args: Sequence[Any], *, shared_mem: int = 0, **_: Any
    ) -> None:
        """Check a launch."""
        if self._made is None:
            self._made = CheckedModule(self.of, self._source, self._options, "cupy")
        _Launched(self._made, self.name)(grid, block, args, shared_mem=shared_mem)


class _Launched:
    """A kernel of a module."""

    def __init__(self, module: CheckedModule, name: str) -> None:
        self._module, self.name = module, name
        self.max_dynamic_shared_size_bytes = 0

    def __call__(
        self, grid: Any, block: Any, args: Sequence[Any], *, shared_mem: int = 0, **_: Any
    ) -> None:
        """Check a launch."""
        self._module.launch(self.name, extents(grid), extents(block), args, shared=shared_mem)
