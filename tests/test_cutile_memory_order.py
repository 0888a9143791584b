"""Ordered accesses to tiles: what a block releases another one acquires.

Message passing: block 0 stores a tile and releases a flag; block 1 polls the flag, acquires, and
loads the tile.  Without the order the tile interpreter finds the race.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS
from tileas_xdsl.interpreters.tile.faults import SimulationError

ct = pytest.importorskip("cuda.tile")

DEVICE = ct.MemoryScope.DEVICE
ORDERS = {
    "fenced": (ct.MemoryOrder.RELEASE, ct.MemoryOrder.ACQUIRE),
    "relaxed": (ct.MemoryOrder.RELAXED, ct.MemoryOrder.RELAXED),
}


def messages(order: str) -> Any:
    """The kernel with the orders of the flag."""
    released, acquired = ORDERS[order]

    @ct.kernel
    def passed(data: Any, flag: Any, out: Any, n: ct.Constant[int]) -> None:
        if ct.bid(0) == 0:
            x = ct.load(data, (0, 0), (n, n))
            ct.store(data, (1, 0), x * 2.0 + 1.0)
            one = ct.full((1,), 1, ct.int32)
            ct.store(flag, (0,), one, memory_order=released, memory_scope=DEVICE)
        else:
            found = ct.load(flag, (0,), (1,), memory_order=acquired, memory_scope=DEVICE)
            while found.item() != 1:
                found = ct.load(flag, (0,), (1,), memory_order=acquired, memory_scope=DEVICE)
            ct.store(out, (0, 0), ct.load(data, (1, 0), (n, n)))

    return passed


def compiled(order: str, target: str) -> tuple[Any, list[Any]]:
    """The kernel of an order, and its arguments."""
    data = np.random.default_rng(7).standard_normal((64, 32)).astype(np.float32)
    arguments = [data, np.zeros(1, np.int32), np.zeros((32, 32), np.float32), 32]
    return tileas.compile(messages(order), *arguments, target=target), arguments


@pytest.mark.parametrize("target", TARGETS)
def test_a_tile_is_passed_from_block_to_block(target: str) -> None:
    kernel, arguments = compiled("fenced", target)
    for run in (kernel.simulate, kernel.emulate):
        found = run(*arguments, grid=2).arrays[2]
        np.testing.assert_array_equal(found, arguments[0][:32] * 2 + 1)
    text = kernel.ptx
    stored, loaded = text.index("st.relaxed.gpu"), text.index("ld.relaxed.gpu")
    fence = text.rindex("fence.acq_rel.gpu", 0, stored)
    assert text.rindex("st.global", 0, fence) < text.rindex("bar.sync", 0, fence)
    assert text.index("fence.acq_rel.gpu", loaded) < text.index(
        "bar.sync", text.index("fence", loaded)
    )
    assert kernel.assemble().spills == 0


def test_the_race_of_unordered_flags_is_found() -> None:
    kernel, arguments = compiled("relaxed", TARGETS[0])
    with pytest.raises(SimulationError, match="race"):
        kernel.simulate(*arguments, grid=2)


def updates(order: str) -> Any:
    """The kernel with a tile of flags, which are exchanged and polled by atomic updates."""
    released, acquired = ORDERS[order]

    @ct.kernel
    def passed(data: Any, flags: Any, out: Any, n: ct.Constant[int]) -> None:
        at = ct.arange(32, dtype=ct.int32)
        if ct.bid(0) == 0:
            ct.store(data, (1, 0), ct.load(data, (0, 0), (n, n)) * 2.0)
            ct.atomic_xchg(flags, at, 1, memory_order=released)
        else:
            found = ct.sum(ct.atomic_add(flags, at, 0, memory_order=acquired))
            while found < 32:
                found = ct.sum(ct.atomic_add(flags, at, 0, memory_order=acquired))
            ct.store(out, (0, 0), ct.load(data, (1, 0), (n, n)))

    return passed


def test_a_tile_of_updates_is_fenced_once() -> None:
    """Threads fence in front of what releases and behind what acquires, not at each element."""
    data = np.random.default_rng(8).standard_normal((64, 32)).astype(np.float32)
    arguments = [data, np.zeros(32, np.int32), np.zeros((32, 32), np.float32), 32]
    kernel = tileas.compile(updates("fenced"), *arguments, target=TARGETS[0])
    emulated = kernel.emulate(*arguments, grid=2)
    assert not emulated.findings
    for run in (kernel.simulate(*arguments, grid=2), emulated):
        np.testing.assert_array_equal(run.arrays[2], data[:32] * 2)
    exchanged = kernel.ptx.index("atom.relaxed.gpu.global.exch")
    assert kernel.ptx.rindex("st.global", 0, exchanged) < kernel.ptx.rindex(
        "fence.acq_rel.gpu", 0, exchanged
    )
    assert "atom.acq_rel" not in kernel.ptx


def test_the_race_behind_relaxed_updates_is_found() -> None:
    data = np.random.default_rng(9).standard_normal((64, 32)).astype(np.float32)
    arguments = [data, np.zeros(32, np.int32), np.zeros((32, 32), np.float32), 32]
    kernel = tileas.compile(updates("relaxed"), *arguments, target=TARGETS[0])
    with pytest.raises(SimulationError, match="race"):
        kernel.simulate(*arguments, grid=2)
    found = kernel.emulate(*arguments, grid=2).findings
    assert found
    assert all("race-RAW" in str(one) for one in found)


@ct.kernel
def multiplied_behind_flag(flag: Any, a: Any, b: Any, out: Any, n: ct.Constant[int]) -> None:
    if ct.bid(0) == 0:
        ct.store(a, (0, 0), ct.full((n, n), 2.0, a.dtype))
        ct.atomic_add(flag, 0, 1, memory_order=ct.MemoryOrder.RELEASE)
    else:
        while ct.atomic_cas(flag, 0, 1, 1, memory_order=ct.MemoryOrder.ACQUIRE) != 1:
            pass
    x, y = ct.load(a, (0, 0), (n, n)), ct.load(b, (0, 0), (n, n))
    ct.store(out, (ct.bid(0), 0), ct.mma(x, y, ct.zeros((n, n), ct.float32)))


@pytest.mark.parametrize("target", TARGETS)
def test_operands_are_loaded_behind_a_loop_that_waits_for_a_flag(target: str) -> None:
    """Threads load what other CTAs have written, TMA loads what no CTA writes."""
    b = np.random.default_rng(3).integers(-3, 4, (64, 64)).astype(np.float16)
    out = np.zeros((3 * 64, 64), np.float32)
    arguments = np.zeros(1, np.int32), np.zeros_like(b), b, out, 64
    kernel = tileas.compile(multiplied_behind_flag, *arguments, target=target)
    found = kernel.emulate(*arguments, grid=3, order="drift")
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[3], np.tile(2 * b.sum(0, np.float32), (3 * 64, 1)))
    assert kernel.ptx.count("cp.async.bulk.tensor") == 1
