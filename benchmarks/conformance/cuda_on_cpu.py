"""torch's CUDA on the CPU: programs that say `device="cuda"` get tensors for the emulator.

Tensors are made on the CPU whatever device is asked for, and `torch.cuda` describes the emulated
GPU.  Streams do everything at once; graphs are not recorded, and tests of them are skipped.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Literal, Self

import pytest
import torch
from torch.overrides import TorchFunctionMode

MULTIPROCESSORS = 4
"""Of the emulated GPU: persistent kernels start as many blocks, and emulated blocks are slow."""

MEMORY = 8 << 30
"""Bytes that the emulated GPU has."""

ABSENT = re.compile(
    "'CPU' backend|not implemented for '|No viable backend for|torch._C' has no attribute '_cuda"
)
"""Messages of torch about what its CPU side lacks."""


class CudaOnCpu(TorchFunctionMode):
    """Makes tensors on the CPU where a GPU is asked for."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a function of torch with the devices of its arguments replaced."""
        if func == _IS_CUDA:  # a new object each time
            return True
        if func is torch.Tensor.cuda:
            return args[0]
        named = {name: _on_host(value) for name, value in (kwargs or {}).items()}
        named.pop("pin_memory", None)
        given = [_on_host(value) for value in args]
        if func in _MATRIX_PRODUCTS and torch.backends.cuda.matmul.fp32_precision == "tf32":
            given = [_rounded_to_tf32(value) for value in given]
        return func(*given, **named)


_IS_CUDA: Any = torch.Tensor.is_cuda.__get__  # pyright: ignore[reportAttributeAccessIssue]


_MATRIX_PRODUCTS = (
    *(torch.matmul, torch.mm, torch.bmm, torch.addmm, torch.baddbmm, torch.nn.functional.linear),
    *(torch.Tensor.matmul, torch.Tensor.__matmul__, torch.Tensor.mm, torch.Tensor.bmm),
)
"""What rounds f32 operands on a GPU where a program allows it."""


def _rounded_to_tf32(value: Any) -> Any:
    """Return a tensor of f32 with 10 bits of mantissa, rounded to nearest even."""
    if not isinstance(value, torch.Tensor) or value.dtype is not torch.float32:
        return value
    bits = value.detach().view(torch.int32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & ~0x1FFF
    return torch.where(torch.isfinite(value), rounded.view(torch.float32), value)


def _on_host(value: Any) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type == "cuda" else value
    return "cpu" if isinstance(value, str) and value.startswith("cuda") else value


class HostStream:
    """A stream in which everything is done at once."""

    cuda_stream = 0
    device = torch.device("cpu")

    def __init__(self, *args: object, **options: object) -> None:
        pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HostStream)

    def __hash__(self) -> int:
        return 0

    def wait_stream(self, stream: object) -> None:
        """Nothing is left to wait for."""

    def wait_event(self, event: object) -> None:
        """Nothing is left to wait for."""

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def query(self) -> Literal[True]:
        """All is done."""
        return True

    def record_event(self, event: HostEvent | None = None) -> HostEvent:
        """Return an event of now."""
        event = event or HostEvent()
        event.record()
        return event


class HostEvent:
    """A point in time."""

    def __init__(self, *args: object, **options: object) -> None:
        self.seconds = 0.0

    def record(self, stream: object = None) -> None:
        """Take the time."""
        self.seconds = time.perf_counter()

    def wait(self, stream: object = None) -> None:
        """Nothing is left to wait for."""

    def synchronize(self) -> None:
        """Nothing is left to wait for."""

    def query(self) -> Literal[True]:
        """All is done."""
        return True

    def elapsed_time(self, end: HostEvent) -> float:
        """Return milliseconds to another event."""
        return max(1e3 * (end.seconds - self.seconds), 1e-6)


def _no_graphs(*_: object, **__: object) -> None:
    pytest.skip("CUDA graphs need a GPU")


def _nothing(*_: object, **__: object) -> None:
    pass


def install(capability: tuple[int, int]) -> None:
    """Replace torch's CUDA in this process, for all threads, for good."""
    for name, value in _replacements(capability).items():
        setattr(torch.cuda, name, value)
    for name in _WITHOUT_EFFECT:
        setattr(torch.cuda, name, _nothing)
    for name in ("CUDAGraph", "graph", "make_graphed_callables"):
        setattr(torch.cuda, name, _no_graphs)
    CudaOnCpu().__enter__()
    threading.Thread.run = _under_the_mode(threading.Thread.run)


_WITHOUT_EFFECT = (
    *("synchronize", "empty_cache", "init", "set_device", "set_stream", "_sleep", "ipc_collect"),
    *("reset_peak_memory_stats", "reset_max_memory_allocated", "manual_seed", "manual_seed_all"),
)


def _replacements(capability: tuple[int, int]) -> Mapping[str, object]:
    name = f"emulated sm_{capability[0]}{capability[1]}"
    properties = SimpleNamespace(
        name=name,
        major=capability[0],
        minor=capability[1],
        multi_processor_count=MULTIPROCESSORS,
        total_memory=MEMORY,
        L2_cache_size=1 << 20,
        warp_size=32,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=227 << 10,
        shared_memory_per_multiprocessor=228 << 10,
    )
    return {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_capability": lambda device=None: capability,
        "get_device_name": lambda device=None: name,
        "get_device_properties": lambda device=None: properties,
        "mem_get_info": lambda device=None: (MEMORY, MEMORY),
        "memory_stats": lambda device=None: {},
        "memory_allocated": lambda device=None: 0,
        "max_memory_allocated": lambda device=None: 0,
        "Stream": HostStream,
        "Event": HostEvent,
        "current_stream": HostStream,
        "default_stream": HostStream,
        "stream": lambda stream: stream,
        "device": lambda device=None: HostStream(),
    }


def _under_the_mode(run: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    """Modes are of one thread: return a body of threads that enters one of its own."""

    def body(thread: threading.Thread) -> None:
        with CudaOnCpu():
            run(thread)

    return body
