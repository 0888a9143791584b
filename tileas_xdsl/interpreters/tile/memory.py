"""Buffers that know who wrote and who read each element, so that a race cannot hide.

A buffer is a numpy array with a shadow: which agent wrote each element last, at which of its steps,
and when each agent last read it.  An access must be ordered after the accesses it conflicts with,
by the vector clock of whoever makes it; memory nobody wrote may not be read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.interpreters.tile.clocks import Clock

Key: TypeAlias = Any
"""What numpy indexes with: a tuple of slices, integers or index arrays."""

NOBODY = -1


class AccessError(Exception):
    """An access that breaks a rule; the message says which element and who else."""


@dataclass
class Agents:
    """Names of agents as small numbers, shared by all buffers of a run."""

    names: list[str] = field(default_factory=list[str])
    _numbers: dict[str, int] = field(default_factory=dict[str, int])

    def number(self, name: str) -> int:
        """The number of an agent; a new name gets the next one."""
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers[name]

    def known_steps(self, clock: Clock) -> NDArray[np.int64]:
        """For each agent the last step that `clock` has seen; one more entry for nobody."""
        known = [clock.known.get(name, 0) for name in self.names]
        return np.array([*known, 0], dtype=np.int64)


class Buffer:
    """Memory of one tile or array; `name` is how stories speak of it.

    `initialised` memory (kernel arguments) may be read at once.
    """

    def __init__(
        self, name: str, data: NDArray[Any], agents: Agents, *, initialised: bool = False
    ) -> None:
        self.name = name
        self.data = data
        self.agents = agents
        self.written = np.full(data.shape, initialised)
        self.writer = np.full(data.shape, NOBODY, dtype=np.int16)
        self.write_step = np.zeros(data.shape, dtype=np.int64)
        self.read_steps: dict[int, NDArray[np.int64]] = {}

    def read(self, key: Key, clock: Clock) -> NDArray[Any]:
        """The elements under `key`, copied; `AccessError` for unordered or unwritten ones."""
        self._check_written(key)
        self._check_writes(key, clock, "reads")
        me, step = self._me(clock)
        if me not in self.read_steps:
            self.read_steps[me] = np.zeros(self.data.shape, dtype=np.int64)
        self.read_steps[me][key] = step
        return np.array(self.data[key])

    def write(self, key: Key, values: Any, clock: Clock) -> None:
        """Put `values` under `key`; raises `AccessError` where others may still read or write."""
        self._check_writes(key, clock, "writes")
        self._check_reads(key, clock)
        me, step = self._me(clock)
        self.data[key] = values
        self.written[key] = True
        self.writer[key] = me
        self.write_step[key] = step

    def _me(self, clock: Clock) -> tuple[int, int]:
        name, step = clock.now()
        return self.agents.number(name), step

    def _check_written(self, key: Key) -> None:
        written = self.written[key]
        if np.all(written):
            return
        place = self._place(key, ~np.asarray(written))
        raise AccessError(f"{self.name}[{place}] is read, and nobody wrote it")

    def _check_writes(self, key: Key, clock: Clock, verb: str) -> None:
        steps = self.write_step[key]
        known = self.agents.known_steps(clock)
        unseen = np.asarray(steps > known[self.writer[key]])
        if not unseen.any():
            return
        place = self._place(key, unseen)
        other = self.agents.names[int(np.asarray(self.writer[key])[unseen].flat[0])]
        raise AccessError(
            f"race on {self.name}[{place}]: {clock.owner} {verb} what {other} wrote, "
            f"and nothing orders the two"
        )

    def _check_reads(self, key: Key, clock: Clock) -> None:
        for agent, steps in self.read_steps.items():
            name = self.agents.names[agent]
            unseen = np.asarray(steps[key] > clock.known.get(name, 0))
            if unseen.any():
                raise AccessError(
                    f"race on {self.name}[{self._place(key, unseen)}]: {clock.owner} overwrites "
                    f"what {name} read, and nothing orders the two"
                )

    def _place(self, key: Key, wrong: NDArray[np.bool_]) -> str:
        """The coordinates of the first element at fault."""
        numbers = np.arange(self.data.size).reshape(self.data.shape)
        first = int(np.asarray(numbers[key])[wrong].flat[0])
        return ", ".join(str(int(i)) for i in np.unravel_index(first, self.data.shape))
