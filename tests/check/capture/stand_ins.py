"""Modules that are not installed with the project, with the names that captures replace or call."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **attributes: Any) -> ModuleType:
    """A module that can be imported."""
    module = ModuleType(name)
    module.__dict__.update(attributes)
    monkeypatch.setitem(sys.modules, name, module)
    return module
