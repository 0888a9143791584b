"""Recursive queries of values that ask each question once in a walk.

    %1 = arith.addi %0, %0
    %2 = arith.addi %1, %1          %0 is reached by 4 ways, and a chain of n sums by 2^n

Answers are kept while the outermost call runs, and no longer: between calls passes change the IR.
An analysis that asks about value after value says so by `one_walk`: what is computed of a chain of
n values then takes n steps, where each question by itself would follow the chain again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _Walk(threading.local):
    """What the outermost call of a thread has found, by the arguments of the calls within."""

    answers: dict[Any, Any] | None = None


class _Analysis(threading.local):
    """The walks that stay open until an analysis of a thread ends; None outside of one."""

    walks: list[_Walk] | None = None


_analysis = _Analysis()


@contextmanager
def one_walk() -> Generator[None]:
    """Have all memoized queries within keep their answers; nothing there may change the IR."""
    if _analysis.walks is not None:
        yield
        return
    _analysis.walks = []
    try:
        yield
    finally:
        for walk in _analysis.walks:
            walk.answers = None
        _analysis.walks = None


def memoized_walk(query: Callable[P, R]) -> Callable[P, R]:
    """Decorate a recursive query without effects: calls within a call are answered once.

    All arguments are hashable; those with other effects on the answer, as a depth, are told apart.
    """
    walk = _Walk()

    @wraps(query)
    def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        answers = walk.answers
        if answers is None and _analysis.walks is not None:
            _analysis.walks.append(walk)
            answers = walk.answers = {}
        if answers is None:
            walk.answers = {}
            try:
                return query(*args, **kwargs)
            finally:
                walk.answers = None
        key = (*args, *kwargs.items()) if kwargs else args
        if key not in answers:
            answers[key] = query(*args, **kwargs)
        return answers[key]

    return answered
