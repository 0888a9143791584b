"""Tensor maps that a program changes, and who may give them to TMA.

A map is changed in generic memory and read by TMA through a proxy of its own: the writer releases it
(`fence.proxy.tensormap::generic.release`, or the copy `tensormap.cp_fenceproxy`), and every warp
that uses it acquires it after that.  Source: PTX ISA 9.7.13.4, fence.proxy.
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

Warp: TypeAlias = tuple[int, int]
"""A cluster and the number of the warp in it."""

KIND = "missing-tensormap-fence"


@dataclass(slots=True)
class Change:
    """The last change of a map."""

    by: Warp
    at: int
    """The instruction."""
    released: bool
    acquired: set[Warp] = field(default_factory=set[Warp])


class ChangedMaps:
    """The maps in global memory that were changed, by address."""

    def __init__(self) -> None:
        self._changes: dict[int, Change] = {}

    def change(self, address: int, warp: Warp, at: int, *, released: bool) -> None:
        """A map has other fields now; who acquired it before has the old ones."""
        self._changes[address] = Change(warp, at, released)

    def release(self, warps: Iterable[Warp]) -> None:
        """What these warps changed can be acquired."""
        wanted = set(warps)
        for change in self._changes.values():
            change.released |= change.by in wanted

    def acquire(self, address: int, warps: Iterable[Warp]) -> None:
        """These warps see what a map is now."""
        if (change := self._changes.get(address)) is not None and change.released:
            change.acquired.update(warps)

    def unseen(self, address: int, warp: Warp) -> Change | None:
        """The change of a map that a warp has not acquired; None where it may use the map."""
        change = self._changes.get(address)
        return None if change is None or warp in change.acquired else change
