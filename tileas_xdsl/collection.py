"""Python's cycle collector while kernels are compiled or emulated: it runs rarely.

Operations, blocks and values refer to one another, and nearly all that is made stays until a pass
replaces it. With the usual threshold the collector walks the young ones 435 times in a first
compilation of a product and finds 403 objects to free; that is an eighth of its CPU time. With
one of 100,000 it still walks 200,000 objects, modules among them, in a ninth. It is not switched
off: what a long compilation leaves behind is freed before it fills memory. An emulated product of
1024^3 spends a fifteenth of its time in 430 collections.
"""

from __future__ import annotations

import atexit
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

_left = [0]
"""Objects that compilations have left as old since those were walked."""


@contextmanager
def collected_rarely(*, as_old: bool = False) -> Generator[None]:
    """Collect cycles rarely until the last of such contexts ends, in whatever thread.

    What is young then counts as old with `as_old`: it is walked when there are
    `RARE_THRESHOLD` of such objects, not behind each compilation, and until then takes memory.
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
                if as_old and 0 < before[0] < RARE_THRESHOLD and not _is_frozen():
                    _count_as_old()
                gc.set_threshold(*before)


@contextmanager
def collected_rarely_to_the_end() -> Generator[None]:
    """Collect cycles rarely in a process that is ours alone, and not as it ends.

    The interpreter walks all objects several times on its way out, a third of `tileas compile`.  In
    the process of somebody else files in cycles may wait for that to be written: there it is done.
    """
    atexit.register(gc.freeze)
    with collected_rarely(as_old=True):
        yield


def _count_as_old() -> None:
    """Move what is young to the oldest generation, without a walk, unless that is due.

    Behind a first compilation that is modules which it has loaded, behind others IR, which nothing
    but a walk frees: an eighth of a compilation, as much where many are walked together.
    """
    _left[0] += gc.get_count()[0]
    if _left[0] > RARE_THRESHOLD:
        _left[0] = 0
        gc.collect()
    gc.freeze()
    gc.unfreeze()


@cache
def _is_frozen() -> bool:
    """Whether the program froze something, which stays frozen; asked once, for it is counted."""
    return gc.get_freeze_count() > 0
