"""Tokens of asynchronous operations: completion, results, and the clock that a wait acquires."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import joined


class AsyncToken:
    """An asynchronous operation that is done when it and all of its `parts` are.

    A wait acquires the vector clocks of those who did the work.  Memory tokens are tokens without
    results.
    """

    def __init__(
        self,
        what: str,
        parts: Sequence[AsyncToken] = (),
        values: Callable[[], tuple[Any, ...]] = tuple,
        *,
        done: bool = True,
    ) -> None:
        self.what = what
        self.parts = list(parts)
        self.time = 0
        self._values = values
        self._done = done
        self._snapshot: Mapping[str, int] = {}

    @property
    def done(self) -> bool:
        """Whether the operation and its parts are done."""
        return self._done and all(part.done for part in self.parts)

    @property
    def ended_at(self) -> int:
        """The virtual time of completion."""
        return max([self.time, *[part.ended_at for part in self.parts]])

    @property
    def values(self) -> tuple[Any, ...]:
        """The results; only once done."""
        return self._values()

    @property
    def snapshot(self) -> Mapping[str, int]:
        """The joined clocks of those who did the work."""
        if not self.parts:
            return self._snapshot
        return joined([self._snapshot, *[part.snapshot for part in self.parts]])

    def complete(
        self, snapshot: Mapping[str, int], time: int, values: tuple[Any, ...] | None = None
    ) -> None:
        """Complete the operation itself."""
        self._done = True
        self._snapshot = snapshot
        self.time = time
        if values is not None:
            self._values = lambda: values

    def unfinished(self) -> Sequence[str]:
        """Return what it still waits for."""
        own = () if self._done else (self.what,)
        return [*own, *[text for part in self.parts if not part.done for text in part.unfinished()]]


def finished(what: str, values: tuple[Any, ...] = ()) -> AsyncToken:
    """Return a token that is done already."""
    return AsyncToken(what, values=lambda: values)
