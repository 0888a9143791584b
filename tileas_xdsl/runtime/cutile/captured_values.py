"""What a kernel's function takes of its surroundings: kernels that are equal in it share plans.

    SCALE = 2                              captured: the code of double, SCALE, the code of helper
    @ct.kernel
    def double(x):                         double.replace_hints(occupancy=2) in front of each launch
        ... x * SCALE + helper(x) ...      is a new object each time, and the same Tile IR

cuTile's front end takes some 20 ms to make Tile IR, which programs that replace hints where they
launch would wait for each time.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from enum import Enum
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, TypeAlias, cast

Captured: TypeAlias = tuple[Any, ...]
"""Names and values, equal where the Tile IR that is made of them is."""

_IMMUTABLE = (bool, int, float, str, bytes, type(None), Enum, BuiltinFunctionType)

_LIBRARY = "cuda.tile"

_ABSENT = object()


def captured_values(function: FunctionType) -> Captured | None:
    """Return what a function reads of globals, cells, defaults, and of functions that it calls.

    None if some of that may change in place, as a list, so that nobody knows what it was.
    """
    reader = _Reader(function)
    return tuple(reader.found) if reader.is_known else None


class _Reader:
    """A walk over values that code names."""

    def __init__(self, function: FunctionType) -> None:
        self.found: list[tuple[str, Any]] = []
        self.seen: list[object] = []
        self.is_known = True
        self._function("", function)

    def _function(self, name: str, function: FunctionType) -> None:
        self.found.append((name, function.__code__))
        if _is_of_library(function.__module__) or not self._is_new(function):
            return
        names = list(dict.fromkeys(_names(function.__code__)))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        around = vars(builtins) | function.__globals__
        around |= {cell_name: cell.cell_contents for cell_name, cell in cells}
        self._named(around, (*names, *function.__code__.co_freevars), names)
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        self._value("defaults", defaults, names)

    def _named(
        self, around: dict[str, Any], names: Iterable[str], attributes: Iterable[str]
    ) -> None:
        for name in names:
            if (value := around.get(name, _ABSENT)) is not _ABSENT:
                self._value(name, value, attributes)

    def _value(self, name: str, value: Any, attributes: Iterable[str]) -> None:
        """Take a value, of which code may read some attributes."""
        if isinstance(value, FunctionType):
            self._function(name, value)
        elif isinstance(value, ModuleType | type):
            self.found.append((name, value))
            module = value.__name__ if isinstance(value, ModuleType) else value.__module__
            if module != "builtins" and not _is_of_library(module) and self._is_new(value):
                self._named(dict(vars(value)), attributes, attributes)
        elif isinstance(value, tuple):
            items = cast("tuple[Any, ...]", value)
            self.found.append((name, len(items)))
            for item in items:
                self._value(name, item, attributes)
        elif isinstance(value, float):
            self.found.append((name, value.hex()))  # 0.0 and -0.0 are equal numbers
        elif isinstance(value, _IMMUTABLE) or _is_of_library(_module_of(value)):
            self.found.append((name, (value.__class__, value)))
        else:
            self.is_known = False

    def _is_new(self, value: object) -> bool:
        """Whether the walk comes to a value, which it keeps alive, for the first time."""
        is_new = all(value is not one for one in self.seen)
        self.seen.append(value)
        return is_new


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in code, and in that of functions inside."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _module_of(value: object) -> str:
    return type(value).__module__


def _is_of_library(module: str | None) -> bool:
    return (module or "").startswith(_LIBRARY)
