"""The door through which work fans out: any `concurrent.futures.Executor`, by name or given.

    processes      as many as the machine has cores (the default); processes:4
    serial         in this process, one after another
    dask://HOST:PORT   a cluster of Dask, which distributes and repeats work (extra `distributed`)

What is submitted is a function of a module with arguments that can be pickled.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

PROCESSES, SERIAL, DASK = "processes", "serial", "dask://"

Workers: TypeAlias = "int | str | Executor"
"""Where parts of something run: so many processes of this machine, a name, or an executor."""

PARTS = 8
"""Parts of a launch for an executor, which does not say how many workers it has."""


class ExecutorError(ValueError):
    """A name of no executor, or one whose package or cluster is missing."""


class SerialExecutor(Executor):
    """Runs what is submitted at once, in this process."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a function; the future is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def executor_named(name: str | None) -> Generator[Executor]:
    """Open an executor and close it at the end; raises `ExecutorError`."""
    check_name(name)
    word, _, count = (name or PROCESSES).partition(":")
    if word == SERIAL:
        yield SerialExecutor()
    elif word == PROCESSES:
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork" if "fork" in methods else None)
        processes = int(count or os.cpu_count() or 1)
        with ProcessPoolExecutor(processes, context, _leave_interrupts) as pool:
            yield pool
    else:
        with _dask(str(name).removeprefix(DASK)) as found:
            yield found


def check_name(name: str | None) -> None:
    """Raise `ExecutorError` for a name of no executor; None is that of the default."""
    word, _, count = (name or PROCESSES).partition(":")
    is_count = not count or (count.isdigit() and int(count) > 0)
    is_here = (word == SERIAL and not count) or (word == PROCESSES and is_count)
    if not is_here and not (name or "").startswith(DASK):
        known = f"{PROCESSES}[:COUNT], {SERIAL} and {DASK}HOST:PORT"
        raise ExecutorError(f"there is no executor '{name}'; there are {known}")


def _leave_interrupts() -> None:
    """Let the process that waits handle a keyboard interrupt, which all of a terminal get."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def parts_for(workers: Workers, most: int) -> int:
    """Return in how many parts work is divided that has `most` at most; 1 stays here."""
    if isinstance(workers, int):
        return min(workers, most)
    return 1 if workers == SERIAL else min(PARTS, most)


@contextmanager
def opened(workers: Workers) -> Generator[Executor]:
    """Open what runs parts, unless it is open; raises `ExecutorError`."""
    if isinstance(workers, Executor):
        yield workers
        return
    with executor_named(f"{PROCESSES}:{workers}" if isinstance(workers, int) else workers) as found:
        yield found


@contextmanager
def _dask(address: str) -> Generator[Executor]:
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        text = "dask:// needs the package 'distributed': pip install 'tileas-xdsl[distributed]'"
        raise ExecutorError(text) from error
    try:
        client: Any = distributed.Client(address)
    except (OSError, ValueError) as error:
        raise ExecutorError(f"there is no cluster of Dask at '{address}': {error}") from error
    with client:
        yield client.get_executor()
