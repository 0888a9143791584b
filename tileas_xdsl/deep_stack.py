"""Room for recursion: of what reads nested regions, or what values are computed of, one by one.

Python's own limit of 1000 frames ends at some hundred nested loops, or dependent operations.  A
higher one needs a larger stack, which only a new thread can have.

The limit is one for all threads of a process, so it is raised while any of them has a deep stack:
the first raises it, and the last to end restores what was before, unless the program has set
another limit meanwhile.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from functools import wraps
from typing import ParamSpec, TypeVar

FRAMES = 20_000
"""Enough for 1000 nested regions: xDSL takes up to a dozen frames for each."""

STACK_BYTES = 512 << 20
"""Reserved addresses, not memory: a page is used once the recursion reaches it."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class _Thread(threading.local):
    """What is known of a thread."""

    is_deep = False


_thread = _Thread()
_new_stacks = threading.Lock()
"""Held while new threads get another size of stack than the usual one."""


class _RecursionLimit:
    """The recursion limit of all threads, which the deep stacks in use raise."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before: int | None = None
        """The program's own limit, where that is raised."""

    @contextmanager
    def raised(self) -> Generator[None]:
        """Let all threads recurse `FRAMES` deep until the last of such contexts ends."""
        with self._lock:
            self._users += 1
            if (found := sys.getrecursionlimit()) < FRAMES:
                self._before = found
                sys.setrecursionlimit(FRAMES)
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._restore()

    def _restore(self) -> None:
        if self._before is not None and sys.getrecursionlimit() == FRAMES:
            sys.setrecursionlimit(self._before)
        self._before = None


_recursion_limit = _RecursionLimit()


def is_deep() -> bool:
    """Return whether this thread may recurse `FRAMES` deep already."""
    return _thread.is_deep


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
        _thread.is_deep = True
        try:
            outcome.set_result(context.run(work))
        except BaseException as error:
            outcome.set_exception(error)

    with _recursion_limit.raised():
        _start(threading.Thread(target=run, name="deep stack", daemon=True))
        return outcome.result()


def _start(thread: threading.Thread) -> None:
    """Start a thread with a stack of `STACK_BYTES`; those that others start keep the usual size."""
    with _new_stacks:
        usual = threading.stack_size(STACK_BYTES)
        try:
            thread.start()
        finally:
            threading.stack_size(usual)
