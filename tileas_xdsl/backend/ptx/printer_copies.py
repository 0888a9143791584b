"""Parallel copies as moves one after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable


def sequential_moves(
    copies: Iterable[tuple[str, str]], fresh: Callable[[], str]
) -> list[tuple[str, str]]:
    """Moves (to, from) that do the `copies` (to, from) as if all happened at once.

    No register is a destination twice; sources may be literals.  A cycle goes through a register
    that `fresh` gives.
    """
    pending = {to: source for to, source in copies if to != source}
    readers = Counter(pending.values())
    ready = [to for to in reversed(pending) if not readers[to]]
    moves: list[tuple[str, str]] = []
    while pending:
        if not ready:
            ready.append(_break_cycle(pending, readers, moves, fresh()))
        to = ready.pop()
        source = pending.pop(to)
        moves.append((to, source))
        readers[source] -= 1
        if not readers[source] and source in pending:
            ready.append(source)
    return moves


def _break_cycle(
    pending: dict[str, str],
    readers: Counter[str],
    moves: list[tuple[str, str]],
    temporary: str,
) -> str:
    """Save one register of a cycle; returns it: it may be overwritten now."""
    saved = next(iter(pending))
    moves.append((temporary, saved))
    for to, source in pending.items():
        if source == saved:
            pending[to] = temporary
            readers[temporary] += 1
    readers[saved] = 0
    return saved
