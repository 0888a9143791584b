"""What the checker remembers of a memory, against a list of all accesses."""

import numpy as np
import pytest

from tileas_xdsl.interpreters.ptx.checking.shadow_memory import ShadowMemory
from tileas_xdsl.interpreters.ptx.checking.shadow_plane import Access, LaneAccess
from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import Tile
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK, AsyncEvent, Clocks

WARPS = 3


def access(clocks: Clocks, warp: int, at: int) -> Access:
    return Access(warp, clocks.stamp(warp, at), clocks.ordered[warp].copy())


@pytest.mark.parametrize("seed", range(20))
def test_conflicts_are_those_of_a_full_history(seed: int) -> None:
    """Random accesses of granules and bytes, with random hand-overs between warps."""
    rng = np.random.default_rng(seed)
    clocks = Clocks(WARPS)
    shadow = ShadowMemory(4, clocks.no_agent)
    history: list[tuple[int, int, set[int], bool]] = []
    for at in range(60):
        warp = int(rng.integers(WARPS))
        if rng.random() < 0.3:
            clocks.acquire(int(rng.integers(WARPS)), clocks.release(warp))
            continue
        write = bool(rng.integers(2))
        mine = access(clocks, warp, at)
        if rng.random() < 0.5:
            granules = np.unique(rng.integers(0, 4, 2))
            bytes_ = {int(g) * 16 + i for g in granules for i in range(16)}
            found = (shadow.write if write else shadow.read)(granules, mine)
        else:
            start = int(rng.integers(0, 60))
            places = np.arange(start, start + int(rng.integers(1, 5)))
            bytes_ = set(places.tolist())
            found = (shadow.write_bytes if write else shadow.read_bytes)(places, mine)
        unordered = [
            (other, stamp)
            for other, stamp, touched, wrote in history
            if touched & bytes_ and (wrote or write) and stamp >= mine.limits[other]
        ]
        fresh = not write and not bytes_ <= {
            b for _, _, touched, wrote in history if wrote for b in touched
        }
        if found is None:
            assert not unordered
            assert not fresh
        elif found.kind == "uninitialised":
            assert fresh
        else:
            assert (found.other, found.stamp) in unordered
        if found is not None:
            return
        history.append((warp, mine.stamp, bytes_, write))


def test_lanes_that_read_elsewhere_are_no_readers() -> None:
    """Before the first barrier of a kernel: lane 0 read granule 0, lane 1 writes granules 1, 0."""
    clocks = Clocks(WARPS)
    shadow = ShadowMemory(2, clocks.no_agent)

    def by_lane(lane: int, at: int) -> Access:
        keys = LaneAccess(np.array([lane << 5 | 16], np.int32), 0)
        return Access(0, clocks.stamp(0, at), clocks.ordered[0].copy(), lanes=keys)

    assert shadow.write(np.array([0]), by_lane(0, 0)) is None
    assert shadow.read(np.array([0]), by_lane(0, 1)) is None
    assert shadow.write(np.array([1]), by_lane(1, 2)) is None
    found = shadow.write(np.array([0]), by_lane(1, 3))
    assert found is not None
    assert found.kind.startswith("lane-")


@pytest.mark.parametrize("seed", range(30))
def test_tiles_conflict_as_their_granules_do(seed: int) -> None:
    """Copies of tiles, which overlap at random, among accesses of single granules and bytes."""
    rng = np.random.default_rng(seed)
    clocks = Clocks(WARPS)
    by_tiles, by_granules = (ShadowMemory(32, clocks.no_agent) for _ in range(2))
    stages = [Tile(slice(8 * i, 8 * i + 8)) for i in range(3)]
    parts = [Tile(slice(8 * i + 2 * j, 8 * i + 2 * j + 2)) for i in range(3) for j in range(4)]
    odd = [Tile(slice(6, 11)), Tile(np.array([1, 9, 17])), Tile(slice(20, 30))]
    events: list[AsyncEvent] = []
    kept = 0
    for at in range(150):
        warp = int(rng.integers(WARPS))
        if events and rng.random() < 0.8:
            clocks.join_own(warp, events.pop().done())
            clocks.acquire(int(rng.integers(WARPS)), clocks.release(warp))
        write = at < 10 or rng.random() < 0.4
        if rng.random() < 0.01:
            granules = np.unique(rng.integers(0, 32, 2))
            mine = access(clocks, warp, at)
            found, wanted = (
                (shadow.write if write else shadow.read)(granules, mine)
                for shadow in (by_tiles, by_granules)
            )
        else:
            usual = stages if write else parts
            tiles = odd if rng.random() < (0.04 if write else 0.3) else usual
            tile = tiles[int(rng.integers(len(tiles)))]
            event = clocks.start_copy(warp, at)
            events.append(event)
            mine = Access(event.agent, event.stamp, event.limits, event.visible)
            known = by_tiles.tiles.write if write else by_tiles.tiles.read
            found = None
            kept += 1
            if not known(tile, mine.agent, mine.stamp, mine.limits):
                kept -= 1
                found = (by_tiles.write if write else by_tiles.read)(tile.at, mine)
            wanted = (by_granules.write if write else by_granules.read)(tile.at, mine)
        assert (found and found.kind) == (wanted and wanted.kind)
        if found is not None and found.kind in ("RAW", "WAR", "WAW"):
            assert found.stamp >= mine.limits[found.other]
    assert kept


def test_neighbours_in_a_granule_do_not_race() -> None:
    clocks = Clocks(WARPS)
    shadow = ShadowMemory(2, clocks.no_agent)
    assert shadow.write_bytes(np.arange(0, 4), access(clocks, 0, 1)) is None
    assert shadow.write_bytes(np.arange(4, 16), access(clocks, 1, 2)) is None
    found = shadow.read(np.array([0]), access(clocks, 1, 3))
    assert found is not None
    assert (found.kind, found.location, found.other, found.stamp % TICK) == ("RAW", 0, 0, 1)
    clocks.acquire(1, clocks.release(0))
    assert shadow.read(slice(0, 1), access(clocks, 1, 4)) is None


def test_what_is_released_ends_with_the_release() -> None:
    clocks = Clocks(WARPS)
    shadow = ShadowMemory(1, clocks.no_agent)
    clocks.acquire(1, clocks.release(0))
    assert shadow.write(np.array([0]), access(clocks, 0, 1)) is None
    found = shadow.write(np.array([0]), access(clocks, 1, 2))
    assert found is not None
    assert found.kind == "WAW"


def test_generic_writes_need_a_proxy_fence() -> None:
    clocks = Clocks(WARPS)
    shadow = ShadowMemory(1, clocks.no_agent)
    assert shadow.write(np.array([0]), access(clocks, 0, 1)) is None
    started = clocks.start_copy(0, 2)
    mine = Access(started.agent, started.stamp, started.limits, started.visible)
    found = shadow.read(np.array([0]), mine)
    assert found is not None
    assert found.kind == "unfenced"
    clocks.fence_proxy(0)
    started = clocks.start_copy(0, 3)
    mine = Access(started.agent, started.stamp, started.limits, started.visible)
    assert shadow.read(np.array([0]), mine) is None


def test_two_copies_of_one_warp_are_not_ordered() -> None:
    clocks = Clocks(WARPS)
    shadow = ShadowMemory(1, clocks.no_agent)
    first, second = clocks.start_copy(0, 1), clocks.start_copy(0, 2)
    for number, started in enumerate((first, second)):
        mine = Access(started.agent, started.stamp, started.limits, started.visible)
        found = shadow.write(np.array([0]), mine)
        assert (found is not None) == (number == 1)
    clocks.join_own(0, second.done())
    third = clocks.start_copy(0, 3)
    mine = Access(third.agent, third.stamp, third.limits, third.visible)
    assert shadow.write(np.array([0]), mine) is None
