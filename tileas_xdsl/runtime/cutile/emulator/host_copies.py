"""Arguments of emulated launches: copies in host memory of what a GPU has, and the way back."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import numpy as np

from tileas_xdsl.runtime.arguments.host_arrays import host_array
from tileas_xdsl.runtime.arguments.strided_views import Array


def on_host(value: Any) -> Any:
    """Return an argument as the emulator reads it: tensors on a GPU as copies, others unchanged."""
    if type(value) is tuple:
        return tuple(on_host(item) for item in cast("tuple[Any, ...]", value))
    if isinstance(value, list):
        return [on_host(item) for item in cast("list[Any]", value)]
    if _is_tensor(value) and value.device.type != "cpu":
        return value.detach().cpu()
    if hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):
        return value.get()  # of cupy
    return value


def write_back(value: Any, own: Any, after: Any) -> None:
    """Write what a launch left of `own`, the argument as it was read, to the argument.

    Only changed elements are written: what one memory shows through two arguments is not undone.
    """
    if isinstance(own, tuple | list):
        for item in zip(value, cast("Any", own), after, strict=True):
            write_back(*item)
        return
    if np.isscalar(own) or not hasattr(after, "dtype"):
        return
    before = host_array(own, "an argument")
    changed = _changed(before, after)
    if not changed.any():
        return
    np.copyto(before, after.reshape(before.shape), where=changed)
    if own is not value:
        _to_device(value, own)


def _changed(before: Array, after: Array) -> Array:
    """Whether the bytes of each element differ; numbers need not, such as NaNs."""
    pairs = _bytes_of(before) != _bytes_of(after)
    return pairs.any(axis=-1).reshape(before.shape)


def _bytes_of(array: Array) -> Array:
    rows = np.ascontiguousarray(array)
    return rows.reshape(-1).view(np.uint8).reshape(rows.size, rows.itemsize)


def _to_device(value: Any, own: Any) -> None:
    if _is_tensor(value):
        import_module("torch").Tensor.copy_(value.detach(), own)
    else:
        value.set(own)


def _is_tensor(value: object) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "stride")
