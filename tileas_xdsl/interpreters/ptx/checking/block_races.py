"""Races between blocks: plain accesses to one element of global memory by several clusters.

Nothing orders blocks but atomics, fences and acquire or release accesses of the program, so a
program without them races where two clusters touch an element and one writes another value there.
Programs with them are not checked, nor are copies of the async proxy.  By element, the last cluster
that wrote and the last one that read are kept: of several races of an element, one is found.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.findings import Findings
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction

_ORDERING_OPCODES = {"atom", "red", "membar", "multimem"}
_ORDERING_MODIFIERS = {"acquire", "release", "acq_rel", "volatile", "relaxed"}


def may_order_blocks(code: Iterable[Instruction]) -> bool:
    """Return whether a program has instructions by which its blocks may wait for one another."""
    return any(
        instruction.parts[0] in _ORDERING_OPCODES
        or ("shared" not in instruction.opcode and _ORDERING_MODIFIERS & {*instruction.parts})
        for instruction in code
    )


@dataclass
class _Shadow:
    """By element of a buffer, one more than the number of the last cluster; 0 for none."""

    size: int
    writers: Array
    readers: Array


class BlockRaces:
    """Who has accessed the elements of global memory in a launch."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._shadows: dict[int, _Shadow | None] = {}

    def read(
        self, memory: GlobalMemory, cluster: int, addresses: Array, size: int, count: int, at: int
    ) -> None:
        """Check and note a read of `count` elements of `size` bytes at each address."""
        found = self._find(memory, addresses, size, count)
        if found is None:
            return
        shadow, where, _ = found
        writers = shadow.writers[where]
        races = _others(writers, cluster)
        self._report("race-RAW", at, writers, where, races, cluster)
        shadow.readers[where] = cluster + 1

    def write(
        self,
        memory: GlobalMemory,
        cluster: int,
        addresses: Array,
        values: Array,
        size: int,
        at: int,
    ) -> None:
        """Check and note a write; one that leaves what is there does not race."""
        found = self._find(memory, addresses, size, values.shape[1])
        if found is None:
            return
        shadow, where, view = found
        changed = view[where] != values
        for kind, last in (
            ("race-WAW", shadow.writers[where]),
            ("race-WAR", shadow.readers[where]),
        ):
            self._report(kind, at, last, where, _others(last, cluster) & changed, cluster)
        shadow.writers[where] = cluster + 1

    def _find(
        self, memory: GlobalMemory, addresses: Array, size: int, count: int
    ) -> tuple[_Shadow, Array, Array] | None:
        """Return the shadow, the elements and the memory of an access; None if it is not checked:
        to several buffers at once, or to one whose elements are accessed in several sizes."""
        place = memory.locate(addresses, size, count)
        if place is None:
            return None
        buffer, where = place
        view = buffer.views[size]
        if buffer.base not in self._shadows:
            made = [np.zeros(view.size, np.int32) for _ in range(2)]
            self._shadows[buffer.base] = _Shadow(size, *made)
        shadow = self._shadows[buffer.base]
        if shadow is not None and shadow.size != size:
            shadow = self._shadows[buffer.base] = None
        return None if shadow is None else (shadow, where, view)

    def _report(
        self, kind: str, at: int, last: Array, where: Array, races: Array, cluster: int
    ) -> None:
        """Add a finding where `races` holds any of the elements `where`, last used by `last`."""
        if not races.any():
            return
        does = "reads" if kind == "race-RAW" else "writes"
        did = "read" if kind == "race-WAR" else "wrote"
        count, other = np.unique(where[races]).size, int(last[races][0]) - 1
        what = "an element" if count == 1 else f"{count} elements"
        self._findings.add(
            kind,
            at,
            f"cluster {cluster} {does} {what} of global memory that cluster {other} {did}; nothing "
            "orders the two",
        )


def _others(last: Array, cluster: int) -> Array:
    return (last != 0) & (last != cluster + 1)
