"""Room for recursion: of what reads nested regions, or what values are computed of, one by one.

Python's own limit of 1000 frames ends at some hundred nested loops, or dependent operations.  A
higher one needs a larger stack, which only a new thread can have.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

FRAMES = 20_000
"""Enough for 1000 nested regions: xDSL takes up to a dozen frames for each."""

STACK_BYTES = 512 << 20
"""Reserved addresses, not memory: a page is used once the recursion reaches it."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


def is_deep() -> bool:
    """Return whether work may recurse `FRAMES` deep already."""
    return sys.getrecursionlimit() >= FRAMES


def deep_on_demand(work: Callable[_P, _T]) -> Callable[_P, _T]:
    """Decorate what may begin anew: where it ran out of frames it does, on a deep stack."""

    @wraps(work)
    def done(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return work(*args, **kwargs)
        except RecursionError:
            if is_deep():
                raise
        return with_deep_stack(lambda: work(*args, **kwargs))

    return done


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
