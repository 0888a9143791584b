"""Launches described by a JSON file, for `tileas check --launch`.

{"kernel": "add", "grid": [4], "block": 128, "cluster": [2], "shared": 0,
 "args": ["@x.npy", "f32:1024:random", "i32:1024"]}

Every key is optional; arguments are those of `--arg`, and files are found from the folder of the
JSON file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from tileas_xdsl.data_classes import dataclass

KEYS = ("kernel", "grid", "block", "cluster", "shared", "args")


class LaunchFileError(Exception):
    """A file that describes no launch; the text is a sentence for the user."""


@dataclass(frozen=True)
class LaunchFile:
    """What a file says of a launch; extents are text, as the options take them."""

    kernel: str | None
    grid: str | None
    block: str | None
    cluster: str | None
    shared: int | None
    args: Sequence[str] | None


def read_launch(path: Path) -> LaunchFile:
    """Read a file; raise `LaunchFileError` for what is wrong with it."""
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LaunchFileError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise LaunchFileError(f"'{path}' is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise LaunchFileError(f"'{path}' is no JSON object")
    given = cast("dict[str, Any]", found)
    unknown = sorted(set(given) - set(KEYS))
    if unknown:
        raise LaunchFileError(f"'{path}': unknown key '{unknown[0]}'; known: {', '.join(KEYS)}")
    sizes = {key: _extents(path, key, given.get(key)) for key in ("grid", "block", "cluster")}
    kernel = _typed(path, "kernel", given.get("kernel"), str, "a name")
    shared = _typed(path, "shared", given.get("shared"), int, "a number of bytes")
    args = _args(path, given.get("args"))
    return LaunchFile(kernel, sizes["grid"], sizes["block"], sizes["cluster"], shared, args)


def _typed(path: Path, key: str, value: Any, type_: type, what: str) -> Any:
    if value is not None and (not isinstance(value, type_) or isinstance(value, bool)):
        raise LaunchFileError(f"'{path}': '{key}' is {what}, not {value!r}")
    return value


def _extents(path: Path, key: str, value: Any) -> str | None:
    if value is None:
        return None
    parts = cast("list[Any]", value if isinstance(value, list) else [value])
    if not all(isinstance(part, int) for part in parts):
        raise LaunchFileError(f"'{path}': '{key}' is one to three numbers, not {value!r}")
    return ",".join(map(str, parts))


def _args(path: Path, value: Any) -> Sequence[str] | None:
    if value is None:
        return None
    _typed(path, "args", value, list, "a list of arguments")
    return [
        _from_folder(path, _typed(path, "args", text, str, "a list of texts")) for text in value
    ]


def _from_folder(path: Path, text: str) -> str:
    """Return an argument whose file, if it has one, is found from here."""
    for start in ("@", "map:@"):
        if text.startswith(start):
            return f"{start}{path.parent / text.removeprefix(start)}"
    return text
