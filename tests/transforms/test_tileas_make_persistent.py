"""CTAs that take one tile block after another compute what one CTA for each computes."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile import Problem, emulated, problems, simulated
from tileas_xdsl.compiler import compile, compile_module
from tileas_xdsl.explanation.compilation.reasons import reasons_in
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import MAX_TILE_BLOCKS, TILE_BLOCKS, Passed, ShortLoop
from tileas_xdsl.transforms.kernels.tileas_make_persistent import MAX_PRODUCT_CYCLES

BATCHED = next(p for p in problems("batched_matmul") if "f16" in str(p))
ATTENTION = next(p for p in problems("attention") if "1x2x100x150x64" in str(p))
"""Its tile blocks count from the last one, by `ct.num_blocks`."""


CASES = ((BATCHED, "sm_90a"), (BATCHED, "sm_100a"), (ATTENTION, "sm_90a"))


@pytest.mark.parametrize(("problem", "target"), CASES, ids=str)
def test_the_result_is_the_same(problem: Problem, target: str) -> None:
    kernel = problem.compiled(target).persistent
    assert kernel.abi.is_persistent
    assert emulated(problem, kernel, order="random", seed=1).is_right
    divided = replace(kernel, source=kernel.module_after("tileas-pipeline-loads"))
    assert simulated(problem, divided).is_right


def test_a_launch_with_few_iterations_runs_the_persistent_kernel() -> None:
    """Arrays know how many columns K has; the kernel, compiled for any, asks a launch for them."""
    kernel = BATCHED.compiled("sm_90a")
    assert not kernel.abi.is_persistent
    most = MAX_PRODUCT_CYCLES // latencies("sm_90a").product(64, 64, 32, "f16")
    assert kernel.abi.short_loop == ShortLoop(most, ((Passed(3), 32),), 2)
    short, long = ([0, 0, 0, 32 * n] for n in (most, most + 1))
    assert kernel.abi.gains_by_persistence(short)
    assert not kernel.abi.gains_by_persistence(long)
    assert not kernel.abi.gains_by_persistence([0, 0, 0, None])  # a number of each launch
    stored = Executable("sm_90a", kernel.abi, kernel.ptx, b"").to_bytes()
    assert Executable.from_bytes(stored).abi == kernel.abi


def test_a_kernel_is_compiled_once_for_a_launch_that_is_known() -> None:
    """What the launch says decides behind the pass, and the form says which launches want it."""
    usual = BATCHED.compiled("sm_90a")
    asked: list[ShortLoop] = []
    module, ctx = usual.tile_ir, usual.ctx
    assert module is not None
    made = compile_module(module, ctx, "sm_90a", choose=lambda loop: asked.append(loop) is None)
    assert asked == [usual.abi.short_loop] == [made.abi.short_loop]
    assert made.abi.is_persistent
    assert made.ptx == usual.persistent.ptx


def test_a_launch_has_as_many_ctas_as_run_at_once() -> None:
    abi = BATCHED.compiled("sm_90a").persistent.abi
    counts = [name for name in abi.parameters if name.startswith(TILE_BLOCKS)]
    assert counts == ["tile blocks 0", "tile blocks 1", "tile blocks 2"]
    assert abi.ctas((8, 8, 64), 132) == (132, 1, 1)
    assert abi.ctas((8, 2, 1), 132) == (16, 1, 1)
    assert abi.ctas((2, 3, 2)) == (4, 1, 1)
    with pytest.raises(TargetError, match="compile with persistent = off"):
        abi.ctas((MAX_TILE_BLOCKS, 2, 1), 132)


@ct.kernel
def counting(a, b, total, n: ct.Constant[int]):
    sums = ct.zeros((64, 64), ct.float32)
    for k in range(n):
        sums = ct.mma(ct.load(a, (ct.bid(0), k), (64, 64)), ct.load(b, (k, 0), (64, 64)), sums)
    ct.atomic_add(total, (0,), ct.sum(sums))


@ct.kernel(num_ctas=2)
def together(a, b, c, n: ct.Constant[int]):
    sums = ct.zeros((128, 64), ct.float32)
    for k in range(n):
        sums = ct.mma(ct.load(a, (ct.bid(0), k), (128, 64)), ct.load(b, (k, 0), (64, 64)), sums)
    ct.store(c, (ct.bid(0), 0), sums)


def test_what_stays_says_why() -> None:
    a, b = np.ones((256, 256), np.float16), np.ones((256, 64), np.float16)
    for kernel, out, why in (
        (counting, np.zeros(1, np.float32), "tile blocks may wait for one another"),
        (together, np.zeros((256, 64), np.float32), "several CTAs take each tile block"),
    ):
        made = compile(kernel, a, b, out, 4, target="sm_90a").persistent
        assert not made.abi.is_persistent
        (found,) = (
            reason
            for reason in reasons_in([made.module_after("tileas-make-persistent")])
            if reason.what == "persistent CTAs"
        )
        assert found.why.startswith(why)
