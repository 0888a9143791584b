"""Streams of other packages as handles of the driver."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

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
