"""A loop's fragment accesses: one index map per fragment, over its iteration space.

Positions of dimensions: the parallel variables, the inner ones, then one for each index that
depends on data; after them stands the replica.  Symbols are those of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import InferenceError, Note
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.parity.conflicts import LayoutConflict
from tileas_xdsl.inference.program import Access, AccessKind, Loop, Program, Scope
from tileas_xdsl.layout.expr.expression import (
    Number,
    dimension,
    dimensions_of,
    substituted,
    symbol,
    symbols_of,
)
from tileas_xdsl.layout.expr.simplification import simplified


@dataclass(frozen=True)
class FragmentUse:
    """How a loop uses one fragment."""

    buffer: str
    indices: tuple[Number, ...]
    is_read: bool
    is_write: bool
    location: str

    @property
    def is_constant(self) -> bool:
        """Whether every iteration uses the same element."""
        return all(isinstance(index, int) for index in self.indices)


@dataclass(frozen=True)
class LoopUses:
    """A loop and its uses of fragments, in the order in which TileLang visits them."""

    loop: Loop
    uses: tuple[FragmentUse, ...]
    extents: tuple[int, ...]
    stores_memory: bool
    stores_fragments: bool

    @property
    def rank(self) -> int:
        """The number of parallel variables."""
        return len(self.loop.extents)

    @cached_property
    def variables(self) -> tuple[Number, ...]:
        """The parallel variables."""
        return tuple(dimension(k) for k in range(self.rank))

    def is_common(self, use: FragmentUse) -> bool:
        """Whether the loop uses the element of its own coordinates."""
        return use.indices == self.variables

    def thread_at(self, use: FragmentUse, layout: FragmentMap) -> Number:
        """The thread that holds what an iteration uses; the replica is the last dimension."""
        replica = dimension(len(self.extents))
        moved = substituted(layout.thread, use.indices, [replica])
        return simplified(moved, (*self.extents, layout.replicas))

    def thread_of(self, owners: FragmentMap) -> Number:
        """The thread that runs an iteration, with the replica as the last dimension."""
        replica = dimension(len(self.extents))
        return substituted(owners.thread, self.variables, [replica])

    def closed_thread(self, use: FragmentUse, layout: FragmentMap) -> Number:
        """The thread of `thread_at` by parallel variables alone, with the replica as symbol 0.

        Raises LayoutConflict where it varies within an iteration or with the block.
        """
        thread = self.thread_at(use, layout)
        replica = len(self.extents)
        inner = sorted(v for v in dimensions_of(thread) if self.rank <= v < replica)
        symbols = sorted(symbols_of(thread))
        if inner or symbols:
            what = f"inner variable d{inner[0]}" if inner else f"value s{symbols[0]}"
            raise LayoutConflict(
                f"the owner of what the loop takes from '{use.buffer}', thread {thread}, depends "
                f"on {what}, which is none of the parallel variables",
                self.loop.location,
                (Note(use.location, "the access"),),
            )
        arguments = [*self.variables, *([0] * (replica - self.rank))]
        closed = substituted(thread, [*arguments, symbol(0)], [])
        return simplified(closed, self.loop.extents, (layout.replicas,))


def uses_of(program: Program, loop: Loop) -> LoopUses:
    """The uses of fragments in a loop.

    Raises InferenceError where a loop uses one fragment by two index expressions.
    """
    found: dict[str, FragmentUse] = {}
    data_extents: list[int] = []
    first_data = len(loop.extents) + len(loop.inner)
    for access in _in_order(loop):
        buffer = program.buffers[access.buffer]
        if buffer.scope is not Scope.FRAGMENT:
            continue
        indices: list[Number] = []
        for index, extent in zip(access.indices, buffer.shape, strict=True):
            if index is None:
                indices.append(dimension(first_data + len(data_extents)))
                data_extents.append(extent)
            else:
                indices.append(simplified(index, (*loop.extents, *loop.inner)))
        use = FragmentUse(
            access.buffer,
            tuple(indices),
            access.kind is not AccessKind.WRITE,
            access.kind is not AccessKind.READ,
            access.location,
        )
        known = found.get(access.buffer)
        found[access.buffer] = use if known is None else _joined(known, use, loop)
    return LoopUses(
        loop,
        tuple(found.values()),
        (*loop.extents, *loop.inner, *data_extents),
        _stores_to(program, loop, (Scope.GLOBAL, Scope.SHARED)),
        _stores_to(program, loop, (Scope.FRAGMENT,)),
    )


def _in_order(loop: Loop) -> Iterator[Access]:
    """A statement names what it writes before what it reads."""
    pending: list[Access] = []
    for access in loop.accesses:
        if access.kind is AccessKind.READ:
            pending.append(access)
            continue
        yield access
        yield from pending
        pending = []
    yield from pending


def _joined(known: FragmentUse, use: FragmentUse, loop: Loop) -> FragmentUse:
    if known.indices != use.indices:
        raise InferenceError(
            f"one loop uses '{use.buffer}' at [{_listed(known.indices)}] and at "
            f"[{_listed(use.indices)}]: TileLang's inference takes one index expression per buffer",
            loop.location,
            (Note(known.location, "one access"), Note(use.location, "another access")),
        )
    return replace(
        known, is_read=known.is_read or use.is_read, is_write=known.is_write or use.is_write
    )


def _listed(indices: Sequence[Number]) -> str:
    return ", ".join(str(index) for index in indices)


def _stores_to(program: Program, loop: Loop, scopes: tuple[Scope, ...]) -> bool:
    return any(
        access.kind is not AccessKind.READ and program.buffers[access.buffer].scope in scopes
        for access in loop.accesses
    )
