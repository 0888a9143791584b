"""Packages that kernels in Python need, and that may not be installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class MissingPackageError(Exception):
    """A package is not installed; the message has the command that installs it."""


def needed(module: str, package: str, extra: str, purpose: str) -> Any:
    """Return a module of a package that an extra installs; raises `MissingPackageError`."""
    try:
        return import_module(module)
    except ImportError as error:
        command = f"pip install 'tileas-xdsl[{extra}]'"
        text = f"{purpose} need the package {package}; install it with: {command}"
        raise MissingPackageError(text) from error
