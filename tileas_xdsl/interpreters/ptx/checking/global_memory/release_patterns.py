"""Release and acquire patterns on global memory.  Source: PTX ISA 8.7 to 8.9.

A strong write after a release (of its own, or a fence before it) leaves a message at its location;
a strong read of it, with an acquire of its own or a fence after it, orders what was released before
all that follows.  Both pairs, the accesses and the two ends of the patterns, have to be morally
strong: each names a scope that includes the other thread.

    block 0: st x         fence.acq_rel.gpu  st.relaxed.gpu flag     message {block 0: clock}
    block 1: ld.relaxed.gpu flag  fence.acq_rel.gpu  ld x            joined at the fence: ordered

An atomic passes on the message that it finds (observation order, PTX ISA 8.8.3).  Two accesses of
one location make a pattern too: a release and then a strong write, a strong read and an acquire.

    block 0: st x     st.release.gpu flag, 1     st.relaxed.gpu flag, 2     still {block 0: clock}

Tensor memory is ordered by any strong write and the read of it between `tcgen05.fence`s, relaxed or
not (PTX ISA 9.7.16.11.1), so that a message has what its writer fenced.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple, TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.global_memory.foreign_clocks import ForeignClocks, join
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import Clocks, ClockSnapshot
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.memory_order import DEVICE, MemoryOrder

Location: TypeAlias = tuple[int, int]
"""A buffer, or a block of the cluster, and an offset in it."""


@dataclass(frozen=True, slots=True)
class Thread:
    """Where a warp is: its cluster by linear index, its CTA's rank there, and its number."""

    cluster: int
    cta: int
    warp: int

    def distance(self, other: Thread) -> int:
        """Return the narrowest scope that includes both."""
        if self.cluster != other.cluster:
            return DEVICE
        return 1 if self.cta == other.cta else 2


@dataclass(frozen=True, slots=True)
class Release:
    """What a thread had done or knew at a release, and the scope of that."""

    by: Thread
    scope: int
    clocks: ForeignClocks
    at: int


@dataclass(frozen=True, slots=True)
class Message:
    """What a strong write leaves at its location."""

    by: Thread
    scope: int
    at: int
    releases: tuple[Release, ...]
    own: Release | None = None
    """The last release of its writer at the location."""
    tensor: Array | None = field(default=None, compare=False)
    """The accesses of tensor memory in front of the last `fence::before_thread_sync`, if any."""


NO_MESSAGE = Message(Thread(-1, -1, -1), 0, 0, ())


@dataclass(slots=True)
class _Synchronization:
    """Of a warp: its last release fences by scope, and the releases it read but did not acquire."""

    fences: dict[int, Release] = field(default_factory=dict[int, Release])
    pending: dict[int, _Pending] = field(default_factory=dict[int, "_Pending"])


class _Pending(NamedTuple):
    """A release that was read: the scope that both need, and where it was read."""

    far: int
    release: Release
    location: Location


class ReleasePatterns:
    """The release and acquire patterns of the warps of one cluster."""

    def __init__(self, cluster: int, warps_per_cta: int, clocks: Clocks) -> None:
        self._cluster = cluster
        self._per_cta = warps_per_cta
        self._clocks = clocks
        self._warps: dict[int, _Synchronization] = {}
        self.near_misses: dict[tuple[int, int], tuple[str, int]] = {}
        """By warp and other cluster: why the last message from there did not order anything, and
        the instruction that wrote it."""

    def thread(self, warp: int) -> Thread:
        """Return where a warp of this cluster is."""
        return Thread(self._cluster, warp // self._per_cta, warp)

    def fence(self, warp: int, order: MemoryOrder, at: int) -> None:
        """Execute a fence: acquire what was read, then release what is known."""
        state = self._warps.setdefault(warp, _Synchronization())
        if order.acquires:
            self._acquire_pending(warp, state, order.scope)
        if order.releases:
            release = self._release(warp, order.scope, at)
            for scope in range(1, order.scope + 1):
                state.fences[scope] = release

    def acquire_again(self, warp: int, location: Location, order: MemoryOrder) -> None:
        """Acquire what earlier strong reads of a location have read, by an acquire of it."""
        state = self._warps.get(warp)
        if order.acquires and state is not None and state.pending:
            self._acquire_pending(warp, state, order.scope, location)

    def _acquire_pending(
        self, warp: int, state: _Synchronization, scope: int, location: Location | None = None
    ) -> None:
        reached = [
            key
            for key, found in state.pending.items()
            if found.far <= scope and location in (None, found.location)
        ]
        for key in reached:
            self._acquire(warp, state.pending.pop(key).release)

    def observe_barrier(
        self, warp: int, far: int, snapshot: ClockSnapshot, where: Location, at: int
    ) -> None:
        """Observe a phase of an mbarrier by a relaxed wait: a fence of a scope that reaches as far
        as `far` acquires it."""
        self._clocks.join_tensor(warp, snapshot.tensor)
        own = ForeignClocks({self._cluster: snapshot.ordered}, {self._cluster: snapshot.visible})
        clocks = join(own, snapshot.foreign)
        assert clocks is not None
        state = self._warps.setdefault(warp, _Synchronization())
        release = Release(self.thread(warp), DEVICE, clocks, at)
        state.pending[id(release)] = _Pending(far, release, where)

    def fenced(self, warp: int, scope: int) -> ClockSnapshot:
        """Return what a warp had done before its last release fence of a scope, or a wider one."""
        state = self._warps.get(warp)
        release = None if state is None else state.fences.get(scope)
        found = self._clocks.nothing()
        if release is not None:
            own = release.clocks
            found.ordered = own.ordered[self._cluster].copy()
            found.visible = own.visible[self._cluster].copy()
            rest = own.without(self._cluster)
            found.foreign = rest if rest.ordered else None
        return found

    def _release(self, warp: int, scope: int, at: int) -> Release:
        known = self._clocks.release(warp)
        own = ForeignClocks({self._cluster: known.ordered}, {self._cluster: known.visible})
        clocks = join(own, known.foreign)
        assert clocks is not None
        return Release(self.thread(warp), scope, clocks, at)

    def observe(self, warp: int, message: Message, order: MemoryOrder, location: Location) -> None:
        """Read a message at a location with a strong access."""
        me = self.thread(warp)
        if message.by == me:
            return
        far = me.distance(message.by)
        key = (warp, message.by.cluster)
        if min(message.scope, order.scope) < far:
            self.near_misses[key] = "with a scope that does not include both threads", message.at
            return
        if message.tensor is not None and message.by.cluster == self._cluster:
            self._clocks.join_tensor(warp, message.tensor)
        if not message.releases:
            self.near_misses[key] = "without a release before it", message.at
        for release in message.releases:
            self._observe(warp, me.distance(release.by), release, order, location)

    def _observe(
        self, warp: int, far: int, release: Release, order: MemoryOrder, location: Location
    ) -> None:
        key = (warp, release.by.cluster)
        if release.scope < far:
            self.near_misses[key] = "by a release whose scope does not include both", release.at
        elif order.acquires:
            self._acquire(warp, release)
        else:
            self.near_misses[key] = "and read without an acquire after it", release.at
            state = self._warps.setdefault(warp, _Synchronization())
            state.pending[id(release)] = _Pending(far, release, location)

    def _acquire(self, warp: int, release: Release) -> None:
        clocks = self._clocks
        self.near_misses.pop((warp, release.by.cluster), None)
        own = release.clocks.ordered.get(self._cluster)
        if own is not None:
            clocks.join_own(warp, own)
            clocks.join_visible(warp, release.clocks.visible[self._cluster])
        rest = release.clocks.without(self._cluster)
        if rest.ordered:
            clocks.foreign[warp] = join(clocks.foreign[warp], rest)

    def message(
        self,
        warp: int,
        order: MemoryOrder,
        at: int,
        found: Sequence[Message] = (),
        *,
        is_atomic: bool = False,
    ) -> Message:
        """Return what a strong write of a warp leaves where it has `found` messages.

        An atomic passes on all of them, any write what the warp itself has released there.
        """
        me = self.thread(warp)
        releases = [
            release
            for message in (found if is_atomic else ())
            if min(message.scope, order.scope) >= me.distance(message.by)
            for release in message.releases
        ]
        state = self._warps.get(warp)
        own = next((message.own for message in found if message.by == me and message.own), None)
        if order.releases:
            own = self._release(warp, order.scope, at)
        elif state is not None:
            releases += state.fences.values()
        if own is not None:
            releases.append(own)
        tensor = self._clocks.tensor_fenced(warp)
        return Message(me, order.scope, at, _merged(releases), own, tensor)


def _merged(releases: Sequence[Release]) -> tuple[Release, ...]:
    """Return releases with those of device scope joined: who made them no longer matters."""
    wide = [release for release in releases if release.scope == DEVICE]
    rest = {id(release): release for release in releases if release.scope != DEVICE}
    if len(wide) < 2:
        return (*wide, *rest.values())
    clocks: ForeignClocks | None = None
    for release in wide:
        clocks = join(clocks, release.clocks)
    assert clocks is not None
    last = wide[-1]
    return (Release(last.by, DEVICE, clocks, last.at), *rest.values())
