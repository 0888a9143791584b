"""Tokens of asynchronous work at run time: whether it is done, and what it delivers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import joined


class AsyncToken:
    """Work that ends when it is completed, and when all of `parts` have ended.

    Whoever waits for it learns what those who did the work knew.  Memory tokens are such tokens
    too: work that delivers nothing.
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
        self._knowledge: Mapping[str, int] = {}

    @property
    def done(self) -> bool:
        """Whether all of it has ended."""
        return self._done and all(part.done for part in self.parts)

    @property
    def ended_at(self) -> int:
        """The virtual time at which it ended; it is done."""
        return max([self.time, *[part.ended_at for part in self.parts]])

    @property
    def values(self) -> tuple[Any, ...]:
        """What it delivers; it is done."""
        return self._values()

    @property
    def knowledge(self) -> Mapping[str, int]:
        """What those who did the work knew."""
        if not self.parts:
            return self._knowledge
        return joined([self._knowledge, *[part.knowledge for part in self.parts]])

    def complete(
        self, knowledge: Mapping[str, int], time: int, values: tuple[Any, ...] | None = None
    ) -> None:
        """The work itself has ended."""
        self._done = True
        self._knowledge = knowledge
        self.time = time
        if values is not None:
            self._values = lambda: values

    def unfinished(self) -> Sequence[str]:
        """What it still waits for."""
        own = () if self._done else (self.what,)
        return [*own, *[text for part in self.parts if not part.done for text in part.unfinished()]]


def finished(what: str, values: tuple[Any, ...] = ()) -> AsyncToken:
    """A token of work that is done already."""
    return AsyncToken(what, values=lambda: values)
