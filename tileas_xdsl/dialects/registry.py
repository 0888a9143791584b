"""The definitions of a dialect, collected from the modules of its package.

A module that is added to the package is part of the dialect; no list names its operations again.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType

from xdsl.ir import Attribute, Dialect, Operation


def dialect_of(package: str, name: str) -> Dialect:
    """Return the dialect with every operation, type and attribute that the package defines.

    What is defined has a `name` of its own with the prefix of the dialect; bases have none.
    """
    operations: list[type[Operation]] = []
    attributes: list[type[Attribute]] = []
    for module in _modules(package):
        for definition in _definitions(module, f"{name}."):
            if issubclass(definition, Operation):
                operations.append(definition)
            else:
                attributes.append(definition)
    return Dialect(name, operations, attributes)


def _modules(package: str) -> Iterator[ModuleType]:
    """The modules below a package, in the order of their names."""
    path = import_module(package).__path__
    for found in pkgutil.walk_packages(path, f"{package}."):
        yield import_module(found.name)


def _definitions(module: ModuleType, prefix: str) -> Iterator[type[Operation | Attribute]]:
    """The definitions of a module, in the order of its text."""
    for value in vars(module).values():
        if not isinstance(value, type) or value.__module__ != module.__name__:
            continue
        if not issubclass(value, Operation | Attribute):
            continue
        if str(vars(value).get("name", "")).startswith(prefix):
            yield value
