"""The door through which work fans out: any `concurrent.futures.Executor`, by name or given.

    processes      as many as the machine has cores (the default); processes:4
    serial         in this process, one after another
    dask://HOST:PORT   a cluster of Dask, which distributes and repeats work (extra `distributed`)

What is submitted is a function of a module with arguments that can be pickled.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Generator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

PROCESSES, SERIAL, DASK = "processes", "serial", "dask://"


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
    word, _, count = (name or PROCESSES).partition(":")
    if word == SERIAL and not count:
        yield SerialExecutor()
    elif word == PROCESSES and (not count or (count.isdigit() and int(count))):
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("fork" if "fork" in methods else None)
        with ProcessPoolExecutor(int(count or os.cpu_count() or 1), context) as pool:
            yield pool
    elif name is not None and name.startswith(DASK):
        with _dask(name.removeprefix(DASK)) as found:
            yield found
    else:
        known = f"{PROCESSES}[:COUNT], {SERIAL} and {DASK}HOST:PORT"
        raise ExecutorError(f"there is no executor '{name}'; there are {known}")


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
