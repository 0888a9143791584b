"""Known layouts during inference, and the worklist of operations to revisit."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import IntEnum
from functools import cached_property
from typing import TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import Considered, LoopDecision
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Program, Scope, touched
from tileas_xdsl.layout.composed import AnyLayout


class Level(IntEnum):
    """The levels of inference: required layouts, propagated ones, free choices."""

    FREE = 0
    COMMON = 1
    STRICT = 2


BufferLayout: TypeAlias = FragmentMap | AnyLayout


@dataclass(frozen=True)
class Update:
    """The layouts that one visit of an operation infers."""

    layouts: Mapping[str, BufferLayout] = field(default_factory=dict[str, BufferLayout])
    loop: LoopDecision | None = None
    rule: str = ""


@dataclass(frozen=True)
class Visit:
    """A visit of an operation that inferred something: the buffers, and whether its own loop."""

    level: Level
    operation: int
    buffers: tuple[str, ...]
    is_decided: bool


@dataclass
class State:
    """The layouts inferred so far; `origins` and `rules` record the operation and the reason."""

    layouts: dict[str, BufferLayout]
    loops: dict[int, LoopDecision] = field(default_factory=dict[int, LoopDecision])
    done: set[int] = field(default_factory=set[int])
    origins: dict[str, int | None] = field(default_factory=dict[str, "int | None"])
    rules: dict[str, str] = field(default_factory=dict[str, str])
    visits: list[Visit] = field(default_factory=list["Visit"])
    considered: dict[int, tuple[Considered, ...]] = field(
        default_factory=dict[int, tuple[Considered, ...]]
    )
    queue: deque[int] = field(default_factory=deque[int])

    def copy(self) -> State:
        """A state that changes apart from this one; its queue is empty."""
        return State(
            dict(self.layouts),
            dict(self.loops),
            set(self.done),
            dict(self.origins),
            dict(self.rules),
            list(self.visits),
            dict(self.considered),
        )

    def push(self, operations: Iterable[int], current: int) -> None:
        """Visit these soon, each once; the last named first."""
        for operation in operations:
            if operation != current and operation not in self.queue:
                self.queue.appendleft(operation)


@dataclass(frozen=True)
class Uses:
    """The operations that access each fragment, and buffers that share storage."""

    program: Program

    @cached_property
    def fragments(self) -> tuple[tuple[str, ...], ...]:
        """By operation, the fragments that it touches."""
        return tuple(
            tuple(name for name in touched(operation) if self._is_fragment(name))
            for operation in self.program.operations
        )

    @cached_property
    def users(self) -> Mapping[str, tuple[int, ...]]:
        """By fragment, the operations that touch it, in order."""
        result: dict[str, list[int]] = {}
        for index, names in enumerate(self.fragments):
            for name in names:
                result.setdefault(name, []).append(index)
        return {name: tuple(numbers) for name, numbers in result.items()}

    @cached_property
    def siblings(self) -> Mapping[str, tuple[str, ...]]:
        """By buffer, the others that are views of the same storage."""
        groups: dict[str, list[str]] = {}
        for name, buffer in self.program.buffers.items():
            groups.setdefault(buffer.storage or name, []).append(name)
        return {
            name: tuple(other for other in group if other != name)
            for group in groups.values()
            for name in group
        }

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Operations connected by fragments, or by views of one, in the order of the program."""
        parent = list(range(len(self.program.operations)))

        def find(member: int) -> int:
            while parent[member] != member:
                member = parent[member]
            return member

        for name, numbers in self.users.items():
            connected = [n for other in self.siblings[name] for n in self.users.get(other, ())]
            for number in (*numbers, *connected):
                first, second = sorted((find(numbers[0]), find(number)))
                parent[second] = first
        groups: dict[int, list[int]] = {}
        for number in range(len(parent)):
            groups.setdefault(find(number), []).append(number)
        return tuple(tuple(group) for group in groups.values())

    def _is_fragment(self, name: str) -> bool:
        return self.program.buffers[name].scope is Scope.FRAGMENT
