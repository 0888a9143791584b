"""Data classes from plain data: dictionaries, lists, numbers and text, as `asdict` makes them.

    {"axis": 0, "loads": [{"bytes": 64, "pitch": 0}]}   ->   SharedLoads(axis=0, loads=(...,))

Descriptions on disk and attributes of operations are such data.  The types of the fields say what
becomes of it, so that a field which is added needs no reader.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Union, cast, get_args, get_origin, get_type_hints


def read_plain(kind: Any, found: Any) -> Any:
    """Return the value of a type: a data class, a tuple, a union of them with others, a scalar.

    Raises `KeyError` for a field that is not there, and `TypeError` for what is of no such form.
    """
    if get_origin(kind) in (Union, types.UnionType):
        return _of_union(get_args(kind), found)
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind), found)
    if not is_dataclass(kind):
        return found
    make = cast("Callable[..., Any]", kind)
    return make(**{name: read_plain(type_, found[name]) for name, type_ in _fields(kind)})


def _of_union(kinds: tuple[Any, ...], found: Any) -> Any:
    """Read a dictionary as the data class of a union, and the rest as it is."""
    if not isinstance(found, dict):
        return found
    return read_plain(next(kind for kind in kinds if is_dataclass(kind)), found)


def _tuple(kinds: tuple[Any, ...], found: Any) -> tuple[Any, ...]:
    if kinds[1:] == (...,):
        return tuple(read_plain(kinds[0], each) for each in found)
    if len(kinds) != len(found):
        raise TypeError(f"{len(found)} values instead of {len(kinds)}")
    return tuple(read_plain(kind, each) for kind, each in zip(kinds, found, strict=True))


@cache
def _fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(get_type_hints(kind).items())
