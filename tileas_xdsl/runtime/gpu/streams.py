"""Streams of other packages as handles of the driver."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from tileas_xdsl.diagnostics.errors import ArgumentError

_ATTRIBUTES = ("cuda_stream", "ptr")
"""Of streams of torch and of cupy: the handle."""


def stream_reader(stream: Any) -> Callable[[Any], int] | None:
    """Return how the handle of a stream like this is read; None for what is no stream.

    Streams are those of torch, cupy, numba and cuda-core, and handles themselves.
    """
    if isinstance(stream, int):
        return int
    for name in _ATTRIBUTES:
        if isinstance(getattr(stream, name, None), int):
            return attrgetter(name)
    if hasattr(stream, "handle"):
        return _handle_of_numba
    if hasattr(stream, "__cuda_stream__"):
        return _handle_by_protocol
    return None


def _handle_of_numba(stream: Any) -> int:
    handle = stream.handle
    return int(getattr(handle, "value", handle) or 0)


def _handle_by_protocol(stream: Any) -> int:
    return int(stream.__cuda_stream__()[1])


def stream_handle(stream: Any, args: Sequence[Any] = ()) -> int:
    """Return the driver handle of a stream; None is the current one.

    Streams are those of torch, cupy, numba and cuda-core; raises `ArgumentError` for other objects.
    """
    if stream is None:
        return _torch_stream(args)
    if (read := stream_reader(stream)) is not None:
        return read(stream)
    raise ArgumentError(
        f"a stream is one of torch, cupy, numba, cuda-core or a number, not {stream!r}"
    )


def _torch_stream(args: Sequence[Any]) -> int:
    """Return torch's current stream if an argument is its tensor, else the default stream."""
    torch = sys.modules.get("torch")
    tensors = [value for value in args if hasattr(value, "data_ptr")]
    if torch is None or not tensors or torch.version.cuda is None:  # torch for CPUs has no streams
        return 0
    return int(torch.cuda.current_stream(tensors[0].device).cuda_stream)
