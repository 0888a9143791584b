"""Tensor maps of saved launches, as JSON: the fields of the map, and the array that it views.

    {"element": "f16", "address": 0, "dims": [320, 128], "strides": [640], "box": [64, 64],
     "swizzle": "128B", "array": "@matmul.0.npy"}

The address counts bytes from the beginning of the array, which is any array that `--arg` takes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, cast

from tileas_xdsl.interpreters.ptx import LaunchError
from tileas_xdsl.target.tma.tensor_map import TensorMap

_FIELDS = {field.name for field in fields(TensorMap)} - {"pixels"}


class TensorMapFileError(Exception):
    """A file that holds no tensor map; the text is a sentence for the user."""


def write_tensor_map(path: Path, tensor_map: TensorMap, array: str) -> None:
    """Write a map over an array, which is an argument as `--arg` takes it."""
    if tensor_map.pixels is not None:
        raise LaunchError("a launch with im2col maps cannot be saved; leave `save` out")
    known = {name: value for name, value in asdict(tensor_map).items() if name in _FIELDS}
    path.write_text(json.dumps({**known, "array": array}) + "\n", encoding="utf-8")


def read_tensor_map(path: Path) -> tuple[TensorMap, str]:
    """Read a map and its array; raise `TensorMapFileError` for what is wrong with the file."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TensorMapFileError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise TensorMapFileError(f"'{path}' is no JSON: {error}") from error
    given = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    array = given.pop("array", None)
    if not isinstance(array, str):
        raise TensorMapFileError(f"'{path}' is no tensor map: it names no array")
    unknown = sorted(set(given) - _FIELDS)
    if unknown:
        known = ", ".join(sorted(_FIELDS))
        raise TensorMapFileError(f"'{path}': unknown key '{unknown[0]}'; known: {known}, array")
    return _tensor_map(path, given), _from_folder(path, array)


def _tensor_map(path: Path, given: Mapping[str, Any]) -> TensorMap:
    values: dict[str, Any] = {
        name: tuple(cast("list[int]", value)) if isinstance(value, list) else value
        for name, value in given.items()
    }
    try:
        return TensorMap(**values)
    except TypeError as error:
        raise TensorMapFileError(f"'{path}' lacks a field: {error}") from error


def _from_folder(path: Path, array: str) -> str:
    return f"@{path.parent / array[1:]}" if array.startswith("@") else array
