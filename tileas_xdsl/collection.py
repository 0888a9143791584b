"""Python's cycle collector while kernels are compiled or emulated: it runs rarely.

Operations, blocks and values refer to one another, and nearly all that is made stays until a pass
replaces it. With the usual threshold the collector walks the young ones 435 times in a first
compilation of a product and finds 403 objects to free; that is an eighth of its CPU time. With
one of 100,000 it still walks 200,000 objects, modules among them, in a ninth. It is not switched
off: what a long compilation leaves behind is freed before it fills memory. An emulated product of
1024^3 spends a fifteenth of its time in 430 collections.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from threading import Lock

RARE_THRESHOLD = 500_000
"""Objects that are made, less those that are freed, from one collection to the next."""

_lock = Lock()
_usual: list[tuple[int, int, int]] = []
"""The thresholds before each compilation that runs now; the first ones are those of the program."""


@contextmanager
def collected_rarely() -> Generator[None]:
    """Collect cycles rarely until the last of such contexts ends, in whatever thread.

    Thresholds that are higher already, or 0 (never), stay as they are.
    """
    with _lock:
        _usual.append(gc.get_threshold())
        first, *others = gc.get_threshold()
        if 0 < first < RARE_THRESHOLD:
            gc.set_threshold(RARE_THRESHOLD, *others)
    try:
        yield
    finally:
        with _lock:
            before = _usual[0]
            _usual.pop()
            if not _usual:
                _count_as_old()
                gc.set_threshold(*before)


@cache
def _count_as_old() -> None:
    """Move what is young to the oldest generation, without a walk; once.

    Else the collection after a first compilation would walk the modules that it has loaded.
    Behind others there is IR alone, which nothing but a walk frees.
    """
    if not gc.get_freeze_count():  # what a program froze stays frozen
        gc.freeze()
        gc.unfreeze()
