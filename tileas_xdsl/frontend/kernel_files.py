"""Kernels in Python files: `kernel.py:matmul`."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.inputs import read_input
from tileas_xdsl.diagnostics.parsing.sources import SourceText, remember_source
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.diagnostics.suggest import did_you_mean


def split_reference(text: str) -> tuple[str, str] | None:
    """File and name of `FILE.py:NAME`; the name is empty for `FILE.py`; None for other texts."""
    file, colon, name = text.rpartition(":")
    if colon and file.endswith(".py"):
        return file, name
    return (text, "") if text.endswith(".py") else None


def run_file(file: str) -> ModuleType:
    """The module that running a Python file makes, with what it imports from on `sys.path`.

    Raises `DiagnosticError` at the line of the file that failed, or if it is unreadable.
    """
    source = read_input(file).decode("utf-8", "replace")
    path = Path(file).resolve()
    for name in (file, str(path)):
        remember_source(SourceText(name, source))
    spec = spec_from_file_location(f"_tileas_kernel_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise _error(file, 1, 1, "this is no Python file")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        with _folder_on_path(str(_import_root(path))):
            spec.loader.exec_module(module)
    except SyntaxError as error:
        raise _error(file, error.lineno or 1, error.offset or 1, error.msg) from error
    except (Exception, SystemExit) as error:
        raise _failed(file, path, error) from error
    return module


def find_name(module: ModuleType, file: str, name: str) -> object:
    """What a module calls so; raises `DiagnosticError` naming what there is instead."""
    if hasattr(module, name):
        return getattr(module, name)
    names = [known for known in vars(module) if not known.startswith("_")]
    hint = did_you_mean(name, names)
    text = f"there is no '{name}' in this file"
    raise _error(file, 1, 1, f"{text}; {hint}" if hint else text)


@contextmanager
def _folder_on_path(folder: str) -> Generator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _import_root(path: Path) -> Path:
    """The folder that a file imports from: its own, or that around the package it belongs to."""
    return next(folder for folder in path.parents if not (folder / "__init__.py").exists())


def _failed(file: str, path: Path, error: BaseException) -> DiagnosticError:
    """The error at the last line of the file itself that led to it."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == path]
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    return _error(file, (lines[-1] if lines else None) or 1, 1, f"running this file failed: {text}")


def _error(file: str, line: int, column: int, message: str) -> DiagnosticError:
    return DiagnosticError(diagnostic(Severity.ERROR, message, Location(file, line, column)))
