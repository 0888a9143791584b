"""Handlers are found by the module that defines an operation, and loaded with it."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects import arith, func

from tileas_xdsl.backend.ptx.lowering.families import HANDLERS as TO_PTX
from tileas_xdsl.dialects.handler_table import HandlerTable
from tileas_xdsl.transforms.lower_tiles.handlers import HANDLERS as TO_THREADS

TABLES = {
    "tileas_xdsl.backend.ptx.lowering": TO_PTX,
    "tileas_xdsl.transforms.lower_tiles": TO_THREADS,
}


def modules_with_handlers(package: str) -> set[str]:
    folder = Path(import_module(package).__path__[0])
    files = [
        path.relative_to(folder).with_suffix("")
        for path in folder.glob("*/**/*.py")
        if re.search(r"^HANDLERS\b", path.read_text("utf-8"), re.MULTILINE)
    ]
    return {".".join(file.parts) for file in files}


@pytest.mark.parametrize("package", TABLES)
def test_every_handler_is_behind_a_row(package: str) -> None:
    modules: Any = TABLES[package].modules
    assert modules_with_handlers(package) <= {name for names in modules.values() for name in names}
    for name in {name for names in modules.values() for name in names}:
        for kind in import_module(f"{package}.{name}").HANDLERS:
            assert name in modules[kind.__module__.removeprefix("tileas_xdsl.dialects.")]
            assert TABLES[package].get(kind) is not None


def test_modules_are_loaded_when_a_handler_is_asked_for() -> None:
    rows = {"xdsl.dialects.func": ("control.control_flow",)}
    table = HandlerTable[Any]("tileas_xdsl.backend.ptx.lowering", rows)
    assert table.get(arith.AddiOp) is None
    assert not table
    assert table.get(func.ReturnOp) is not None


def test_a_handler_that_is_there_stays() -> None:
    rows = {"xdsl.dialects.func": ("control.control_flow",)}
    table = HandlerTable[Any]("tileas_xdsl.backend.ptx.lowering", rows)
    table[func.ReturnOp] = mine = object()
    table.load()
    assert table.get(func.ReturnOp) is mine
