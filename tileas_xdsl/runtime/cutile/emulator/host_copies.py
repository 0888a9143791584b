"""Arguments of emulated launches: copies in host memory of what a GPU has, and the way back."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import numpy as np

from tileas_xdsl.runtime.arguments.host_arrays import host_array, write_changes


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


def write_back(value: Any, own: Any, after: Any, name: str) -> None:
    """Write what a launch left of `own`, the argument as it was read, to the argument."""
    if isinstance(own, tuple | list):
        items = zip(value, cast("Any", own), after, strict=True)
        for index, (item, own_item, left) in enumerate(items):
            write_back(item, own_item, left, f"{name}[{index}]")
        return
    if np.isscalar(own) or not hasattr(after, "dtype"):
        return
    if write_changes(host_array(own, name), after, name) and own is not value:
        _to_device(value, own)


def _to_device(value: Any, own: Any) -> None:
    if _is_tensor(value):
        import_module("torch").Tensor.copy_(value.detach(), own)
    else:
        value.set(own)


def _is_tensor(value: object) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "stride")
