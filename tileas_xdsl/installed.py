"""Dialects and passes that are installed: xDSL's, ours, and those of other packages.

A package offers them by an entry point `xdsl.universe`.  Looking for entry points reads the
metadata of every installed distribution, 4 ms for a few dozen of them, so a process does it once.
"""

from __future__ import annotations

from functools import cache

from xdsl.context import Context
from xdsl.universe import Universe


@cache
def installed_universe() -> Universe:
    """Return what all installed packages define."""
    return Universe.get_multiverse()


def registered_context(*, allow_unregistered: bool = False) -> Context:
    """Return a new context that knows every installed dialect, and loads those that are used."""
    ctx = Context(allow_unregistered=allow_unregistered)
    for name, factory in installed_universe().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx
