"""CTAs that take one tile block after another compute what one CTA for each computes."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile import Problem, emulated, problems, simulated
from kernels.cutile.attention import Attention
from kernels.cutile.matmul import product_problem
from tests.support.orders import in_turns
from tests.support.ptx_edits import Edit, changing
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile, compile_module
from tileas_xdsl.explanation.compilation.reasons import reasons_in
from tileas_xdsl.interpreters.ptx.execution.state import Order
from tileas_xdsl.pipelines import MAKE_PERSISTENT, PIPELINES, with_persistence
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import MAX_TILE_BLOCKS, PERSISTENT_LAUNCHES, TILE_BLOCKS
from tileas_xdsl.target.launches.persistent_launches import ANY_LENGTH, PersistentLaunches
from tileas_xdsl.target.launches.specializations import LaunchPredicate
from tileas_xdsl.transforms.make_persistent.launches_that_gain import MAX_PRODUCT_CYCLES

BATCHED = next(p for p in problems("batched_matmul") if "f16" in str(p))
ATTENTION = next(p for p in problems("attention") if "1x2x100x150x64" in str(p))
"""Its tile blocks count from the last one, by `ct.num_blocks`."""


@cache
def compiled(problem: Problem, target: str = "sm_90a") -> CompiledKernel:
    """The kernel of a problem, once for all tests of it."""
    return problem.compiled(target)


@cache
def dynamic(problem: Problem) -> CompiledKernel:
    """The kernel whose CTAs take over those that have not started."""
    passes = with_persistence(PIPELINES["tileas-to-ptx"].passes, "dynamic")
    return compile(problem.kernel, *problem.arguments(), target="sm_100a", passes=passes)


CASES = ((BATCHED, "sm_90a"), (BATCHED, "sm_100a"), (ATTENTION, "sm_90a"))


@pytest.mark.parametrize(("problem", "target"), CASES, ids=str)
def test_the_result_is_the_same(problem: Problem, target: str) -> None:
    kernel = compiled(problem, target).persistent
    assert kernel.abi.is_persistent
    assert emulated(problem, kernel, order="random", seed=1).is_right
    divided = replace(kernel, source=kernel.module_after("tileas-pipeline-loads"))
    assert simulated(problem, divided).is_right


@pytest.mark.parametrize(
    ("problem", "order"), in_turns([(ATTENTION,), (BATCHED,)], ["random", "lazy", "eager"]), ids=str
)
def test_ctas_that_have_not_started_are_taken_over(problem: Problem, order: Order) -> None:
    """`clusterlaunchcontrol`: the producer asks, and hands the number of the tile block on."""
    kernel = dynamic(problem)
    assert kernel.ptx.count("clusterlaunchcontrol.try_cancel") == 1
    assert emulated(problem, kernel, order=order, seed=1).is_right
    if order == "random":
        divided = replace(kernel, source=kernel.module_after("tileas-pipeline-loads"))
        assert simulated(problem, divided).is_right


TAKEOVER_FAULTS: Mapping[str, tuple[Edit, str]] = {
    "an mbarrier is made again while it lives": (
        changing(r"^.*mbarrier\.inval.*\n", ""),
        "barrier-init",
    ),
    "an mbarrier ends while others wait for it": (
        changing(r"^.*bar\.sync.*\n(?=.*mbarrier\.inval)", ""),
        "barrier-init",
    ),
    "the answer is read before it is there": (
        changing(r"^\$W\d+:\n.*try_wait.*\n.*bra.*\n(?=.*ld\.shared::cta\.v2\.b64)", ""),
        "race-RAW",
    ),
}


@pytest.mark.parametrize("name", TAKEOVER_FAULTS)
def test_faults_of_a_takeover_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = dynamic(BATCHED)
    edit, kind = TAKEOVER_FAULTS[name]
    monkeypatch.setattr(kernel, "ptx", edit(kernel.ptx))
    found = emulated(BATCHED, kernel, order="random", seed=1)
    assert kind in {getattr(one, "kind", "") for one in found.findings}


def test_a_launch_with_few_iterations_runs_the_persistent_kernel() -> None:
    """Arrays know how many columns K has; the kernel, compiled for any, asks a launch for them."""
    kernel = compiled(BATCHED)
    assert not kernel.abi.is_persistent
    most = MAX_PRODUCT_CYCLES // latencies("sm_90a").product(64, 64, 32, "f16")
    asked = kernel.abi.persistent_launches
    assert asked is not None
    assert (asked.most, asked.differ, asked.together) == (MAX_PRODUCT_CYCLES, False, 2)
    short, long = ([0, 0, 0, 32 * n] for n in (most, most + 1))
    assert asked.may_suit(short)
    assert not asked.may_suit(long)
    assert not asked.may_suit([0, 0, 0, None])  # a number of each launch
    stored = Executable("sm_90a", kernel.abi, kernel.ptx, b"").to_bytes()
    assert Executable.from_bytes(stored).abi == kernel.abi


def test_launches_of_ctas_that_are_alone_run_the_persistent_kernel_at_any_length() -> None:
    alone = product_problem("matmul", "bf16", "bf16", (128, 256, 64), (128, 256, 64))
    asked = alone.compiled("sm_90a").abi.persistent_launches
    assert asked is not None
    assert (asked.most, asked.differ, asked.together) == (ANY_LENGTH, False, 1)


def test_a_kernel_is_compiled_once_for_a_launch_that_is_known() -> None:
    """What the launch says decides behind the pass, and the form says which launches want it."""
    usual = compiled(BATCHED)
    asked: list[LaunchPredicate] = []
    module, ctx = usual.tile_ir, usual.ctx
    assert module is not None

    def choose(predicate: LaunchPredicate) -> bool:
        asked.append(predicate)
        return isinstance(predicate, PersistentLaunches)

    made = compile_module(module, ctx, "sm_90a", choose=choose)
    abi = usual.abi
    single = [abi.persistent_launches, made.abi.uneven_waves]
    assert asked == [*abi.few_tile_blocks, abi.divided_sums, *abi.shared_loads, *single]
    others = [*abi.shared_loads, *abi.few_tile_blocks]
    assert made.abi.predicates == [*single, abi.divided_sums, *others]
    assert made.abi.is_persistent
    assert made.ptx == usual.persistent.ptx


def test_a_launch_has_as_many_ctas_as_run_at_once() -> None:
    abi = compiled(BATCHED).persistent.abi
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


def test_what_stays_says_why() -> None:
    a, b = np.ones((256, 256), np.float16), np.ones((256, 64), np.float16)
    made = compile(counting, a, b, np.zeros(1, np.float32), 4, target="sm_90a").persistent
    assert not made.abi.is_persistent
    (found,) = (
        reason
        for reason in reasons_in([made.module_after("tileas-make-persistent")])
        if reason.what == "persistent CTAs"
    )
    assert found.why.startswith("tile blocks may wait for one another")


WIDE = product_problem("matmul", "f16", "f16", (128, 128, 128), (128, 128, 64))


@pytest.mark.parametrize(
    ("problem", "stays"),
    [
        (WIDE, None),
        (Attention(1, 1, 128, 192, 128, tm=128, tn=128).problem(), None),
        (Attention(1, 1, 128, 128, 64, tm=128, tn=128).problem(), None),
        (Attention(1, 1, 128, 128, 128).problem(), "1 CTAs, not 2, would share"),
        (Attention(1, 1, 128, 192, 128, causal=True, tm=128).problem(), None),
        (Attention(1, 1, 128, 128, 128, causal=True).problem(), "1 CTAs, not 2, would share"),
    ],
    ids=str,
)
def test_why_attention_stays(problem: Problem, stays: str | None) -> None:
    """Launches are asked about the others; a product has one CTA then instead of two, and gains."""
    passes = PIPELINES["tileas-to-ptx"].passes
    passes = passes[: passes.index(MAKE_PERSISTENT) + 1]
    kernel = compile(problem.kernel, *problem.arguments(), target="sm_90a", passes=passes)
    (why,) = (one.why for one in reasons_in([kernel.module]) if one.what == "persistent CTAs")
    is_asked = any(PERSISTENT_LAUNCHES in op.attributes for op in kernel.module.ops)
    assert is_asked == (stays is None)
    assert why.startswith(stays or "launches know")


SIZES = Attention(1, 2, 384, 192, 64, tm=128, tn=128)
"""Three tile blocks of a head, whose warpgroups take turns."""
ROUNDS = SIZES.problem()


@pytest.mark.parametrize(
    ("problem", "order"),
    [
        (ROUNDS, "lazy"),
        (replace(SIZES, causal=True).problem(), "eager"),
        (replace(SIZES, d=128, keys=300, sums=True).problem(), "random"),
    ],
    ids=str,
)
def test_queries_are_loaded_a_tile_block_ahead(problem: Problem, order: Order) -> None:
    """Warpgroups meet to exchange sums of rows at most; their turns go on."""
    kernel = compiled(problem).persistent
    if "sums" not in problem.name:
        assert set(re.findall(r"bar\.sync (\d+), 256", kernel.ptx)) == {"14"}  # the last turn
    assert emulated(problem, kernel, order=order, seed=1).is_right


UNEQUAL = Attention(1, 1, 520, 520, 64, causal=True, tm=128, tn=128)
"""Five tile blocks of one to five iterations."""
CAUSAL = UNEQUAL.problem()


@pytest.mark.parametrize(
    ("problem", "order"),
    [
        (CAUSAL, "random"),  # two CTAs, three rounds
        # two CTAs, two rounds
        (replace(UNEQUAL, heads=2, queries=256, keys=300, d=128).problem(), "lazy"),
        (replace(UNEQUAL, heads=2, queries=130, keys=130, tm=64, tn=64).problem(), "eager"),
    ],
    ids=str,
)
def test_every_other_round_goes_backwards(problem: Problem, order: Order) -> None:
    kernel = compiled(problem).persistent
    assert kernel.abi.is_persistent
    assert emulated(problem, kernel, order=order, seed=1).is_right
    divided = replace(kernel, source=kernel.module_after("tileas-pipeline-loads"))
    assert simulated(problem, divided).is_right


SERPENTINE_FAULTS: Mapping[str, Edit] = {
    "no round turns": changing(r"xor\.b32 (%r\d+), \1, 1;", "", every=True),
    "the producer does not turn": changing(r"xor\.b32 (%r\d+), \1, 1;", ""),
}


@pytest.mark.parametrize("name", SERPENTINE_FAULTS)
def test_faults_of_a_serpentine_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compiled(CAUSAL).persistent
    monkeypatch.setattr(kernel, "ptx", SERPENTINE_FAULTS[name](kernel.ptx))
    assert not emulated(CAUSAL, kernel, order="random", seed=1).is_right


def test_a_launch_is_told_how_much_tile_blocks_have_to_do() -> None:
    kernel = compiled(CAUSAL)
    abi = kernel.abi
    assert abi.persistent_launches is not None
    assert not abi.is_persistent
    assert kernel.persistent.abi.persistent_launches == abi.persistent_launches
    long, short = ([0, 1, 64, keys, 64, 0, 0, 0, 0] * 4 for keys in (16384, 1000))
    falling = [1024 * n for n in range(8, 0, -1)]
    assert abi.persistent_launches.lengths(short, (8, 2, 1)).tolist() == falling * 2
    stored = Executable("sm_90a", abi, kernel.ptx, b"").to_bytes()
    assert Executable.from_bytes(stored).abi == abi
    assert kernel.persistent.abi.ctas((4, 256, 1), 132, short) == (132, 1, 1)
    assert kernel.persistent.abi.ctas((128, 16, 1), 132, long) == (128, 1, 1)


STREAM_FAULTS: Mapping[str, Edit] = {
    "the producer does not wait for the stage": changing(r"^\$W1:\n.*try_wait.*\n.*bra.*\n", ""),
    "the consumers do not wait for the tile": changing(
        r"(setmaxnreg\.inc(?:.*\n)*?)\$W\d+:\n.*try_wait.*\n.*bra.*\n", r"\1"
    ),
}


@pytest.mark.parametrize("name", STREAM_FAULTS)
def test_faults_of_a_stream_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = compiled(ROUNDS).persistent
    monkeypatch.setattr(kernel, "ptx", STREAM_FAULTS[name](kernel.ptx))
    found = emulated(ROUNDS, kernel, order="lazy", seed=1)
    assert any(getattr(one, "kind", "").startswith(("race", "barrier")) for one in found.findings)


def _of_two(problem: Problem) -> Problem:
    return replace(problem, kernel=problem.kernel.replace_hints(num_ctas=2))


TOGETHER = _of_two(product_problem("matmul", "f16", "f16", (272, 72, 88), (256, 64, 32)))
"""Two tile blocks of rows by two of columns, each of two CTAs and three iterations."""


@pytest.fixture(scope="module", params=["sm_90a", "sm_100a"])
def together(request: pytest.FixtureRequest) -> CompiledKernel:
    return TOGETHER.compiled(request.param).persistent


@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
def test_ctas_of_a_tile_block_take_the_next_one_together(
    order: Order, together: CompiledKernel
) -> None:
    """They share loads by multicast, and on Blackwell multiply together (`cta_group::2`)."""
    assert together.abi.cluster == (2, 1, 1)
    assert "multicast" in together.ptx
    assert ("cta_group::2" in together.ptx) == (together.target == "sm_100a")
    assert together.abi.ctas((2, 2, 1)) == (4, 1, 1)
    assert together.abi.ctas((40, 40, 1), 132) == (132, 1, 1)
    assert emulated(TOGETHER, together, order=order, seed=1).is_right


FAULTS: Mapping[str, tuple[Edit, str | None]] = {
    "stages are released in one CTA alone": (
        changing(r"(mapa\S* %r\d+, %r\d+), %r\d+;", r"\1, 0;"),
        "deadlock",
    ),
    "each CTA begins with a tile block of its own": (
        changing(
            r"(mov\.u32 (%r\d+), %ctaid\.x;.*?)shr\.u32 (%r\d+), \2, 1;",
            r"\1mov.b32 \3, \2;",
            flags=re.S,
        ),
        None,
    ),
    "tile blocks are as far apart as there are CTAs": (
        changing(
            r"(mov\.u32 (%r\d+), %nctaid\.x;.*?)shr\.u32 (%r\d+), \2, 1;",
            r"\1mov.b32 \3, \2;",
            flags=re.S,
        ),
        None,
    ),
}
"""By what is done: the edit, and the finding; None where only the result is another."""


@pytest.mark.parametrize("together", ["sm_90a"], indirect=True)
@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(
    name: str, order: Order, together: CompiledKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    edit, kind = FAULTS[name]
    monkeypatch.setattr(together, "ptx", edit(together.ptx))
    found = emulated(TOGETHER, together, order=order, seed=1)
    assert not found.is_right
    assert kind is None or kind in {getattr(one, "kind", "") for one in found.findings}


@ct.kernel
def masked(a, b, c):
    """C = A B, whose last columns of A the program masks: `tileas-peel-masks` divides the loop."""
    row, sums = ct.bid(0), ct.zeros((128, 256), ct.float32)
    for k in range(ct.cdiv(a.shape[1], 64)):
        x = ct.load(a, (row, k), (128, 64))
        inside = k * 64 + ct.arange(64, dtype=ct.int32)[None, :] < a.shape[1]
        x = ct.where(inside, x, ct.zeros((128, 64), a.dtype))
        sums = ct.mma(x, ct.load(b, (k, 0), (64, 256), padding_mode=ct.PaddingMode.ZERO), sums)
    ct.store(c, (row, 0), sums)


def test_all_loops_of_a_tile_block_count() -> None:
    """The iterations without masks are one less than `cdiv` says, which no quotient is."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(of).astype(np.float16) for of in ((384, 200), (200, 256)))
    c = np.zeros((384, 256), np.float32)
    kernel = compile(masked, a, b, c, target="sm_90a")
    assert (asked := kernel.abi.persistent_launches) is not None
    assert (asked.differ, len(asked.loops)) == (False, 2)
    assert asked.suits([0, 384, 200, 200, 1, 0, 200, 256, 256, 1], (384, 1, 1), 132)
    found = kernel.persistent.emulate(a, b, c, grid=3)
    assert not found.findings
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(found.arrays[2], expected, rtol=1e-3, atol=1e-3)
