"""Replacement of cuTile's launcher by ours, and back."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from typing import Any

from tileas_xdsl.frontend.cutile.kernels import need_cutile
from tileas_xdsl.runtime.cutile import settings
from tileas_xdsl.runtime.cutile.dispatch import launch, measure
from tileas_xdsl.runtime.cutile.kernel_table import compile_here
from tileas_xdsl.runtime.cutile.settings import EMULATED_TARGET, OnFindings, Settings, Where

_replaced: list[tuple[Any, str, Any]] = []
"""Module, name and original of everything that is replaced now."""


def install(
    on: Where = "auto", *, target: str = EMULATED_TARGET, findings: OnFindings = "raise"
) -> None:
    """Make `cuda.tile.launch` compile and launch here, until `uninstall`.

    Names that other modules have imported already are replaced too.  The settings are those of
    `Settings`; a second call changes them.
    """
    ct = need_cutile()
    settings.current = Settings(on, target, findings, is_installed=True)
    if _replaced:
        return
    extension: Any = import_module("cuda.tile._cext")
    search: Any = import_module("cuda.tile.tune").exhaustive_search
    for original, ours in (
        (ct.launch, launch),
        (search, _search_by_prediction(search)),
        (extension._benchmark, measure),
        (extension._export_ipc_benchmark_payload, _no_payload),
    ):
        for module in [*sys.modules.values()]:
            for name in _names_of(module, original):
                _replace(module, name, ours)
    _replace(ct.kernel, "_compile", compile_here)


def _search_by_prediction(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return what replaces a search; the compiler is imported when it is called."""

    @wraps(original)
    def search(*args: Any, **options: Any) -> Any:
        from tileas_xdsl.tuning.searching import search_by_prediction

        return search_by_prediction(original)(*args, **options)

    return search


def _no_payload(*_args: object) -> None:
    """Return no launch for another process: `cuda.tile.tune` then measures in this one."""


def uninstall() -> None:
    """Restore cuTile's own launcher."""
    while _replaced:
        module, name, original = _replaced.pop()
        setattr(module, name, original)
    settings.current = Settings()


@contextmanager
def installed(
    on: Where = "auto", *, target: str = EMULATED_TARGET, findings: OnFindings = "raise"
) -> Generator[None]:
    """Install within the context; the state before it is restored."""
    before, was_installed = settings.current, bool(_replaced)
    install(on, target=target, findings=findings)
    try:
        yield
    finally:
        if was_installed:
            settings.current = before
        else:
            uninstall()


def _names_of(module: object, value: Callable[..., Any]) -> list[str]:
    """The global names of a module that are bound to a function."""
    names: dict[str, object] = getattr(module, "__dict__", {})
    return [name for name, found in names.items() if found is value]


def _replace(module: Any, name: str, value: Any) -> None:
    _replaced.append((module, name, getattr(module, name)))
    setattr(module, name, value)
