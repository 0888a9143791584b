"""Room for recursion: xDSL parses, verifies and prints nested regions by recursion.

Python's own limit of 1000 frames ends at some hundred nested loops.  A higher one needs a larger
stack, which only a new thread can have.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

FRAMES = 20_000
"""Enough for 1000 nested regions: xDSL takes up to a dozen frames for each."""

STACK_BYTES = 512 << 20
"""Reserved addresses, not memory: a page is used once the recursion reaches it."""

_T = TypeVar("_T")


def with_deep_stack(work: Callable[[], _T]) -> _T:
    """The result of `work`, run where it may recurse `FRAMES` deep; its exceptions come out."""
    outcome: Future[_T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:
            outcome.set_exception(error)

    frames = sys.getrecursionlimit()
    stack = threading.stack_size(STACK_BYTES)
    try:
        thread = threading.Thread(target=run, name="deep stack", daemon=True)
        sys.setrecursionlimit(max(frames, FRAMES))
        thread.start()
        return outcome.result()
    finally:
        threading.stack_size(stack)
        sys.setrecursionlimit(frames)
