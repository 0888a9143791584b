"""Recursive queries of values that ask each question once in a walk.

    %1 = arith.addi %0, %0
    %2 = arith.addi %1, %1          %0 is reached by 4 ways, and a chain of n sums by 2^n

Answers are kept while the outermost call runs, and no longer: between calls passes change the IR.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _Walk(threading.local):
    """What the outermost call of a thread has found, by the arguments of the calls within."""

    answers: dict[Any, Any] | None = None


def memoized_walk(query: Callable[P, R]) -> Callable[P, R]:
    """Decorate a recursive query without effects: calls within a call are answered once.

    All arguments are hashable; those with other effects on the answer, as a depth, are told apart.
    """
    walk = _Walk()

    @wraps(query)
    def answered(*args: P.args, **kwargs: P.kwargs) -> R:
        answers = walk.answers
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
