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
from typing import Any, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

NAMES = {int: "an integer", str: "text"}

Reader: TypeAlias = Callable[[Any], Any]


def read_plain(kind: Any, found: Any) -> Any:
    """Return the value of a type: a data class, a tuple, a union of them with others, a scalar.

    Raises `KeyError` for a field that is not there, and `TypeError` for what is of no such form.
    """
    return _reader(kind)(found)


@cache
def _reader(kind: Any) -> Reader:
    if get_origin(kind) in (Union, types.UnionType):
        return _of_union(get_args(kind))
    if get_origin(kind) is tuple:
        return _tuple(get_args(kind))
    if kind in (int, str):
        return _of_scalar(kind)
    return _data_class(kind) if is_dataclass(kind) else _as_it_is


def _of_scalar(kind: type) -> Reader:
    def read(found: Any) -> Any:
        if not isinstance(found, kind):
            raise TypeError(f"{found!r} instead of {NAMES[kind]}")
        return found

    return read


def _as_it_is(found: Any) -> Any:
    return found


def _of_union(kinds: tuple[Any, ...]) -> Reader:
    """Read a dictionary as the data class of a union, a list as its tuple, the rest as it is."""
    classes = [_reader(kind) for kind in kinds if is_dataclass(kind)]
    tuples = [_reader(kind) for kind in kinds if get_origin(kind) is tuple]

    def read(found: Any) -> Any:
        if classes and isinstance(found, dict):
            return classes[0](found)
        return tuples[0](found) if tuples and isinstance(found, list) else found

    return read


def _tuple(kinds: tuple[Any, ...]) -> Reader:
    first, *others = kinds
    if others == [...]:
        each = _reader(first)
        return lambda found: tuple(map(each, found))
    readers = tuple(map(_reader, kinds))

    def read(found: Any) -> tuple[Any, ...]:
        if len(readers) != len(found):
            raise TypeError(f"{len(found)} values instead of {len(readers)}")
        return tuple(read_each(value) for read_each, value in zip(readers, found, strict=True))

    return read


def _data_class(kind: Any) -> Reader:
    make = cast("Callable[..., Any]", kind)
    fields = [(name, _reader(type_)) for name, type_ in get_type_hints(kind).items()]
    return lambda found: make(**{name: read(found[name]) for name, read in fields})
