"""`tileas cache`: where compiled kernels are kept, how many, and how to remove them."""

from __future__ import annotations

import time

import typer

from tileas_xdsl.cache import FOLDER_VARIABLE, disk_cache
from tileas_xdsl.runtime.cutile.native.build import state
from tileas_xdsl.tools.console import print_table


def cache(
    clear: bool = typer.Option(False, "--clear", help="Remove all entries."),
) -> None:
    """Show the disk cache of compiled kernels, or clear it."""
    found = disk_cache()
    if found is None:
        typer.echo(f"there is no cache: {FOLDER_VARIABLE} is empty")
        return
    if clear:
        typer.echo(f"removed {found.clear()} kernels from {found.folder}")
        return
    entries = found.entries()
    size = sum(entry.size for entry in entries)
    last = max((entry.used for entry in entries), default=None)
    rows = [
        ("folder", str(found.folder)),
        ("kernels", str(len(entries))),
        ("size", f"{_megabytes(size)} of at most {_megabytes(found.limit)}"),
        ("last used", "never" if last is None else time.strftime("%F %T", time.localtime(last))),
        ("launches in C", state()),
    ]
    print_table(("cache", ""), rows)


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.1f} MB"
