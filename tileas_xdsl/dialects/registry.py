"""The definitions of a dialect, collected from the modules of its package.

A module that is added to the package is part of the dialect; no list names its operations again.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from types import ModuleType
from typing import Any, cast

from xdsl.ir import Attribute, Dialect, Operation


class PackageDialect(Dialect):
    """A dialect whose definitions are collected when its operations or attributes are asked for.

    A new process that compiles one kernel defines only what its passes import: to define all
    operations of all dialects takes longer than to compile a kernel.
    """

    def __init__(self, package: str, name: str) -> None:
        super().__init__(name)
        self._package = package

    @cached_property
    def _defined(self) -> tuple[Sequence[type[Operation]], Sequence[type[Attribute]]]:
        operations: list[type[Operation]] = []
        attributes: list[type[Attribute]] = []
        for module in _modules(self._package):
            for definition in _definitions(module, f"{self.name}."):
                if Operation in definition.__mro__:
                    operations.append(cast("type[Operation]", definition))
                else:
                    attributes.append(cast("type[Attribute]", definition))
        return operations, attributes

    @property
    def operations(self) -> Iterator[type[Operation]]:
        """The operations, in the order of modules and of their text."""
        return iter(self._defined[0])

    @property
    def attributes(self) -> Iterator[type[Attribute]]:
        """The types and attributes."""
        return iter(self._defined[1])


def dialect_of(package: str, name: str) -> Dialect:
    """Return the dialect with every operation, type and attribute that the package defines.

    What is defined has a `name` of its own with the prefix of the dialect; bases have none.
    """
    return PackageDialect(package, name)


def _modules(package: str) -> Iterator[ModuleType]:
    """The modules below a package, in the order of their names."""
    path = import_module(package).__path__
    for found in pkgutil.walk_packages(path, f"{package}."):
        yield import_module(found.name)


def _definitions(module: ModuleType, prefix: str) -> Iterator[type[Operation | Attribute]]:
    """The definitions of a module, in the order of its text.

    Bases are looked up in the MRO: `issubclass` of an abstract class asks all its subclasses.
    """
    for value in vars(module).values():
        if not isinstance(value, type) or value.__module__ != module.__name__:
            continue
        if Operation not in value.__mro__ and Attribute not in value.__mro__:
            continue
        if str(vars(value).get("name", "")).startswith(prefix):
            yield value


def names_of(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose modules are loaded for their names, on first use.

    `modules` has the names of each, in words.  Who compiles a kernel loads the operations of it.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def member(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        found = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, found)
        return found

    return member
