"""Memory orders and scopes of accesses and fences.  Source: PTX ISA 8.3 to 8.8."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tileas_xdsl.data_classes import dataclass

WEAK: Final = 0
SCOPES: Final = {"cta": 1, "cluster": 2, "gpu": 3, "sys": 3}
"""Scopes by how far they reach; one device is all there is, so `sys` reaches as far as `gpu`."""

DEVICE: Final = 3

_STRONG = {"volatile", "mmio", "relaxed", "acquire", "release", "acq_rel"}
_LEGACY_FENCES = {"cta": 1, "gl": DEVICE, "sys": DEVICE}


@dataclass(frozen=True, slots=True)
class MemoryOrder:
    """The order of an access: its scope (`WEAK` if it has none), and what it releases, acquires."""

    scope: int = WEAK
    acquires: bool = False
    releases: bool = False
    read_only: bool = False
    """Whether it goes through the read-only cache (`ld.global.nc`), outside of the model."""


WEAK_ACCESS: Final = MemoryOrder()


def order_of_access(modifiers: Collection[str], *, atomic: bool = False) -> MemoryOrder:
    """Return the order of a load, store or atomic; atomics are `.relaxed.gpu` unless they say."""
    nc = "nc" in modifiers
    if not atomic and not _STRONG & {*modifiers}:
        return MemoryOrder(read_only=True) if nc else WEAK_ACCESS
    scope = next((SCOPES[name] for name in modifiers if name in SCOPES), DEVICE)
    both = "acq_rel" in modifiers
    return MemoryOrder(scope, both or "acquire" in modifiers, both or "release" in modifiers, nc)


def order_of_fence(modifiers: Collection[str]) -> MemoryOrder:
    """Return the order of `fence` or `membar`, which are acq_rel unless they say otherwise."""
    scopes = {**_LEGACY_FENCES, **SCOPES}
    scope = next((scopes[name] for name in modifiers if name in scopes), DEVICE)
    return MemoryOrder(scope, "release" not in modifiers, "acquire" not in modifiers)
