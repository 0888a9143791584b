"""Arrays of numpy and tensors of torch as arrays of numpy, and back, for the emulator."""

from __future__ import annotations

from importlib import import_module
from typing import Any, cast

import ml_dtypes
import numpy as np

from tileas_xdsl.interpreters.tile.numerics.element_types import Array

_NARROW = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
}
"""Element types that torch hands to numpy only as integers of their width."""


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor of torch, which is not imported for it."""
    return hasattr(value, "data_ptr") and hasattr(value, "stride")


def host_array(value: Any) -> Array | None:
    """Return an array of numpy for an array or tensor; None for what is neither.

    It shares the memory of what lies in host memory, and is a copy of what does not.
    """
    if isinstance(value, np.ndarray):
        return cast("Array", value)
    if is_tensor(value):
        return _of_tensor(value)
    if hasattr(value, "__array_interface__") and not isinstance(value, np.generic):
        return np.asarray(value)
    return None


def _of_tensor(tensor: Any) -> Array:
    torch: Any = import_module("torch")
    plain: Any = tensor.detach().cpu()
    narrow = _NARROW.get(str(plain.dtype).removeprefix("torch."))
    if narrow is None:
        return plain.numpy()
    words = torch.int16 if plain.element_size() == 2 else torch.int8
    return plain.view(words).numpy().view(narrow)


def write_back(value: Any, before: Array, after: Array) -> None:
    """Write what a launch changed to the array or tensor that `before` was made of.

    Only changed elements are written: what one memory shows through two arguments is not undone.
    """
    changed = _bytes_of(before) != _bytes_of(after)
    if not changed.any():
        return
    mask = changed.reshape(*before.shape, -1).any(axis=-1) if before.ndim else changed.any()
    np.copyto(before, after.reshape(before.shape), where=mask)
    if is_tensor(value) and value.device.type != "cpu":
        _to_device(value, before)


def _bytes_of(array: Array) -> Array:
    rows = np.ascontiguousarray(array)
    return rows.reshape(-1).view(np.uint8).reshape(rows.size, -1)


def _to_device(tensor: Any, array: Array) -> None:
    torch: Any = import_module("torch")
    if array.dtype.type in _NARROW.values():
        words = torch.int16 if array.itemsize == 2 else torch.int8
        numbers = array.view(np.dtype(f"i{array.itemsize}"))
        tensor.detach().view(words).copy_(torch.from_numpy(numbers))
        return
    tensor.detach().copy_(torch.from_numpy(array))
