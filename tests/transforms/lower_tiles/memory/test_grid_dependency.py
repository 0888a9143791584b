"""Programmatic dependent launch: what a grid loads behind its wait it loads behind it in PTX."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tileas_xdsl as tileas
from tests.support.plain_checks import TARGETS

ct = pytest.importorskip("cuda.tile")

RNG = np.random.default_rng(12)


def _actions(ptx: str) -> list[str]:
    """The accesses to global memory and the actions on grids, in the order of the text."""
    found = re.findall(
        r"griddepcontrol\.(\w+)|(cp\.async\.bulk\.tensor\.2d\.shared|[ls][dt]\.global)", ptx
    )
    return [action or access for action, access in found]


@ct.kernel
def added(own, produced, total):
    block = ct.bid(0)
    mine = ct.load(own, (block,), (32,))
    ct.grid_dependency_control_wait()
    ct.store(total, (block,), mine + ct.load(produced, (block,), (32,)))
    ct.grid_dependency_control_launch_dependents()


@ct.kernel
def multiplied(a, b, c):
    ct.grid_dependency_control_wait()
    total = ct.zeros((128, 128), ct.float32)
    for k in range(ct.num_tiles(a, 1, (128, 64))):
        x = ct.load(a, (ct.bid(0), k), (128, 64), padding_mode=ct.PaddingMode.ZERO)
        y = ct.load(b, (k, 0), (64, 128), padding_mode=ct.PaddingMode.ZERO)
        total = ct.mma(x, y, total)
    ct.grid_dependency_control_launch_dependents()
    ct.store(c, (ct.bid(0), 0), total)


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_loaded_before_the_wait_and_behind_it(target: str) -> None:
    own, produced = (RNG.standard_normal(64).astype(np.float32) for _ in range(2))
    arguments = (own, produced, np.zeros_like(own))
    kernel = tileas.compile(added, *arguments, target=target)
    assert _actions(kernel.ptx) == [
        "ld.global", "wait", "ld.global", "st.global", "launch_dependents",
    ]  # fmt: skip
    for run in (kernel.simulate, kernel.emulate):
        found = run(*arguments, grid=2).arrays[2]
        np.testing.assert_array_equal(found, own + produced)


@pytest.mark.parametrize("target", TARGETS)
def test_the_producer_of_a_pipeline_waits_too(target: str) -> None:
    """All warps wait before they are divided into agents; TMA copies what was waited for."""
    a, b = (RNG.standard_normal((128, 128)).astype(np.float16) for _ in range(2))
    arguments = (a, b, np.zeros((128, 128), np.float32))
    kernel = tileas.compile(multiplied, *arguments, target=target)
    actions = _actions(kernel.ptx)
    assert actions[:2] == ["wait", "cp.async.bulk.tensor.2d.shared"]
    assert "ld.global" not in actions
    assert kernel.ptx.index("griddepcontrol.wait") < kernel.ptx.index("setmaxnreg")
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    for run in (kernel.simulate, kernel.emulate):
        found = run(*arguments, grid=1)
        np.testing.assert_allclose(found.arrays[2], wanted, 1e-3, 1e-2)
    assert kernel.assemble().spills == 0


@ct.kernel
def multiplied_once(a, b, c):
    ct.grid_dependency_control_wait()
    x = ct.load(a, (0, 0), (128, 64))
    ct.store(c, (0, 0), ct.mma(x, ct.load(b, (0, 0), (64, 128)), ct.zeros((128, 128), ct.float32)))


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_of_no_loop_is_of_what_was_waited_for(target: str) -> None:
    a, b = (RNG.integers(-4, 5, shape).astype(np.float16) for shape in ((128, 64), (64, 128)))
    arguments = (a, b, np.zeros((128, 128), np.float32))
    kernel = tileas.compile(multiplied_once, *arguments, target=target)
    assert _actions(kernel.ptx)[:2] == ["wait", "cp.async.bulk.tensor.2d.shared"]
    found = kernel.emulate(*arguments, grid=1, order="lazy")
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[2], a.astype(np.float32) @ b.astype(np.float32))


ALIASED = """
cuda_tile.module @m {
  entry @k(%p: tile<ptr<i32>>, %q: tile<ptr<i32>>) {
    %t = make_token : token
    %v, %loaded = load_ptr_tko weak %p token=%t : tile<ptr<i32>> -> tile<i32>, token
    %fenced = memory_fence_alias_tko %loaded
    %s = store_ptr_tko weak %q, %v token=%fenced : tile<ptr<i32>>, tile<i32> -> token
    return
  }
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_a_fence_between_aliases(target: str) -> None:
    kernel = tileas.compile(ALIASED, target=target)
    load, fence, store = map(kernel.ptx.index, ("ld.global", "fence.proxy.alias", "st.global"))
    assert load < fence < store
    numbers, zeros = np.array([77], np.int32), np.zeros(1, np.int32)
    for run in (kernel.simulate, kernel.emulate):
        assert run(numbers, zeros, grid=1).arrays[1] == 77
    assert kernel.assemble().spills == 0
