"""Capture of numba-cuda's launches: kernels are compiled by Numba to PTX and checked.

Arrays of the host are passed as they are, and hold the results afterwards, as Numba does it;
`cuda.to_device` and its like give arrays of the host with the methods of those of a GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

import numpy as np

from tileas_xdsl.check.capture.launch_capture import (
    CaptureSettings,
    CheckOptions,
    argument,
    extents,
    needed,
    on_host,
    replaced,
    settings_of,
)
from tileas_xdsl.check.reports import CheckReport
from tileas_xdsl.interpreters.ptx import LaunchError, PtxModule, load

TASKS_PER_BLOCK = 128
"""Threads of a block of `kernel.forall(n)`."""


@contextmanager
def numba(target: str = "sm_90a", **options: Unpack[CheckOptions]) -> Generator[list[CheckReport]]:
    """Check every launch of a kernel of numba-cuda (`@cuda.jit`, without a signature).

    No GPU is needed.  Raises `CaptureUnavailableError` if numba-cuda is not installed.
    """
    install = "numba-cuda[cu13]"
    cuda = needed("numba.cuda", "numba", install)
    dispatcher = needed("numba.cuda.dispatcher", "numba", install).CUDADispatcher
    settings = settings_of(target, options)
    kernels: dict[tuple[Any, ...], tuple[str, PtxModule]] = {}

    def configured(kernel: Any, sizes: Sequence[Any]) -> Callable[..., None]:
        grid, block, _, shared = (*sizes, 0, 0)[:4]

        def launch(*values: Any) -> None:
            types = tuple(kernel.typeof_pyval(value) for value in values)
            key = (kernel, types)
            if key not in kernels:
                text = _compiled(cuda, kernel, types, settings)
                kernels[key] = text, load(text, f"{kernel.py_func.__name__}.ptx")
            flat: list[Any] = []
            for value in values:
                _add(flat, value)
            sizes = extents(grid), extents(block)
            settings.check(*kernels[key], None, *sizes, flat, shared=int(shared))

        return launch

    def for_all(kernel: Any, ntasks: int, tpb: int = 0, *_: Any, **__: Any) -> Callable[..., None]:
        block = tpb or TASKS_PER_BLOCK
        return configured(kernel, (-(-ntasks // block), block))

    host = {
        "to_device": on_host(_copied),
        "device_array": on_host(_empty),
        "device_array_like": on_host(np.empty_like),
        "synchronize": _wait,
    }
    with replaced([(dispatcher, {"__getitem__": configured, "forall": for_all}), (cuda, host)]):
        yield settings.reports


def _copied(array: Any, *_: Any, **__: Any) -> Any:
    return np.array(array)


def _empty(shape: Any, dtype: Any = np.float64, **_: Any) -> Any:
    return np.empty(shape, dtype)


def _wait() -> None:
    """Do nothing: launches are executed one after the other."""


def _compiled(cuda: Any, kernel: Any, types: Sequence[Any], settings: CaptureSettings) -> str:
    known = {"fastmath", "forceinline", "launch_bounds"}
    options = {k: v for k, v in kernel.targetoptions.items() if k in known and v is not None}
    text, _ = cuda.compile(
        kernel.py_func, tuple(types), device=False, abi="numba", output="ptx", lineinfo=True,
        cc=settings.capability, **options,
    )  # fmt: skip
    return text.decode() if isinstance(text, bytes) else text


def _add(flat: list[Any], value: Any) -> None:
    """Append the parameters that an argument becomes (`_Kernel._prepare_args` of numba-cuda)."""
    if isinstance(value, np.ndarray):
        array: Any = argument(value)
        flat += [0, 0, array.size, array.itemsize, array, *array.shape, *array.strides]
    elif isinstance(value, tuple):
        for one in value:  # pyright: ignore[reportUnknownVariableType]
            _add(flat, one)
    else:
        number: Any = argument(value)
        if isinstance(number, complex):
            flat += [number.real, number.imag]
        elif isinstance(number, bool | int | float):
            flat.append(number)
        else:
            raise LaunchError(f"an argument of type {type(value).__name__} is not captured")
