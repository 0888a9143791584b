"""Tensor maps that a kernel modifies, and which warps may use them.

A map is modified through the generic proxy and read through the tensormap proxy: a release
(`fence.proxy.tensormap::generic.release`, or `tensormap.cp_fenceproxy`) by the writer, then an
acquire by every warp that uses it.  Source: PTX ISA 9.7.13.4, fence.proxy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TypeAlias

from tileas_xdsl.data_classes import dataclass

Warp: TypeAlias = tuple[int, int]
"""A cluster and the index of a warp in it."""

KIND = "missing-tensormap-fence"


@dataclass(slots=True)
class TensorMapUpdate:
    """The last modification of a map."""

    by: Warp
    at: int
    """The instruction."""
    released: bool
    acquired: set[Warp] = field(default_factory=set[Warp])


class ModifiedTensorMaps:
    """The modified maps in global memory, by address."""

    def __init__(self) -> None:
        self._changes: dict[int, TensorMapUpdate] = {}

    def change(self, address: int, warp: Warp, at: int, *, released: bool) -> None:
        """Record a modification, which no warp has acquired yet."""
        self._changes[address] = TensorMapUpdate(warp, at, released)

    def release(self, warps: Iterable[Warp]) -> None:
        """Release the modifications by some warps."""
        wanted = set(warps)
        for change in self._changes.values():
            change.released |= change.by in wanted

    def acquire(self, address: int, warps: Iterable[Warp]) -> None:
        """Acquire a map for some warps, if it was released."""
        if (change := self._changes.get(address)) is not None and change.released:
            change.acquired.update(warps)

    def unacquired(self, address: int, warp: Warp) -> TensorMapUpdate | None:
        """Return the modification that a warp has not acquired; None where it may use the map."""
        change = self._changes.get(address)
        return None if change is None or warp in change.acquired else change
