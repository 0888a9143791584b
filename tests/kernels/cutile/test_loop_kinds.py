"""Loops of every kind are divided among agents, or say at the operation why they are not.

Kinds are those of kernels that people write: products, attention, decoding, convolutions, rows,
scans and gathers, at sizes that no tile divides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import pytest
from xdsl.utils.arg_spec import ArgSpec

pytest.importorskip("cuda.tile")

from kernels.cutile import (
    cumulative_sum,
    flash_decode,
    grouped_matmul,
    matmul,
    moe,
    persistent,
    reductions,
    softmax,
    split_k,
)
from kernels.cutile.attention import LOG2_E, Attention
from kernels.cutile.attention_backward import Gradients
from kernels.cutile.problem import Problem, emulated
from kernels.elements import ELEMENTS, Array
from kernels.kernel import Reference, tiles_of
from tests import cutile_loops as loops
from tileas_xdsl.compiler import compile
from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.transforms.pipelining.tileas_pipeline_loads import NOT_PIPELINED

ERROR = 4e-3
"""Of results near 1 in f16, of sums of some hundred products."""

PIPELINE = "tileas-pipeline-loads"
Rng = np.random.Generator


def _problem(
    kernel: Any,
    make: Callable[[Rng], Sequence[Any]],
    reference: Callable[..., Array],
    grid: int | tuple[int, int],
) -> Problem:
    """A kernel of `cutile_loops`, whose last array is its result."""

    def references(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        arrays = [a for a in arguments if isinstance(a, np.ndarray)]
        exact = [a.astype(np.float64) if a.dtype == np.float16 else a for a in arrays[:-1]]
        found = reference(*exact)
        return {len(arrays) - 1: Reference(found, ERROR * (1 + np.abs(found)))}

    x, y = grid if isinstance(grid, tuple) else (grid, 1)
    return Problem(reference.__qualname__.partition(".")[0], kernel, make, references, (x, y, 1))


def _halves(rng: Rng, *shapes: tuple[int, ...]) -> list[Array]:
    """Inputs, then the result, which is not set."""
    *inputs, out = shapes
    made = [(0.5 * rng.standard_normal(shape)).astype(np.float16) for shape in inputs]
    return [*made, ELEMENTS["f16"].unset(rng, out)]


def _softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def gated() -> Problem:
    m, n, k = 100, 72, 136

    def reference(x: Array, gate: Array, up: Array) -> Array:
        left = x @ gate
        return left / (1 + np.exp(-left)) * (x @ up)

    return _problem(
        loops.gated,
        lambda rng: [*_halves(rng, (m, k), (k, n), (k, n), (m, n)), 64, 64, 32],
        reference,
        (tiles_of(m, 64), tiles_of(n, 64)),
    )


def windowed() -> Problem:
    length, d, window = 200, 64, 70

    def reference(q: Array, k: Array, v: Array) -> Array:
        i, j = np.indices((length, length))
        scores = np.where((j <= i) & (j > i - window), q @ k.T / math.sqrt(d), -np.inf)
        return _softmax(scores) @ v

    return _problem(
        loops.windowed,
        lambda rng: [*_halves(rng, *[(length, d)] * 4), LOG2_E / math.sqrt(d), window, 64, 64, d],
        reference,
        tiles_of(length, 64),
    )


def paged() -> Problem:
    rows, page, d, pages = 50, 64, 64, (5, 0, 3, 1)

    def make(rng: Rng) -> Sequence[Any]:
        q, k, v, out = _halves(rng, (rows, d), (6, page, d), (6, page, d), (rows, d))
        return [q, k, v, np.array(pages, np.int32), out, LOG2_E / math.sqrt(d), 64, page, d]

    def reference(q: Array, k: Array, v: Array, table: Array) -> Array:
        keys, values = (x[table].reshape(-1, d) for x in (k, v))
        return _softmax(q @ keys.T / math.sqrt(d)) @ values

    return _problem(loops.paged, make, reference, 1)


def sparse() -> Problem:
    t, d = 64, 64
    blocks = np.array([[-1, 2, -1, 0, -1], [3, -1, 1, 2, 0]], np.int32)

    def make(rng: Rng) -> Sequence[Any]:
        q, k, v, bias, out = _halves(
            rng, (2 * t, d), (4 * t, d), (4 * t, d), (2 * t, 4 * t), (2 * t, d)
        )
        return [q, k, v, bias, blocks, out, LOG2_E / math.sqrt(d), t, d]

    def reference(q: Array, k: Array, v: Array, bias: Array, blocks: Array) -> Array:
        listed = np.any(blocks[:, :, None] == np.arange(4), axis=1)
        seen = np.kron(listed, np.ones((t, t), bool))
        scores = q @ k.T / math.sqrt(d) + bias / LOG2_E
        return _softmax(np.where(seen, scores, -np.inf)) @ v

    return _problem(loops.sparse, make, reference, 2)


def latent() -> Problem:
    heads, length, d, r = 60, 150, 256, 64

    def reference(q: Array, turned: Array, kv: Array, rope: Array) -> Array:
        return _softmax((q @ kv.T + turned @ rope.T) / math.sqrt(d)) @ kv

    shapes = (heads, d), (heads, r), (length, d), (length, r), (heads, d)
    return _problem(
        loops.latent,
        lambda rng: [*_halves(rng, *shapes), LOG2_E / math.sqrt(d), 64, 64, d, r],
        reference,
        1,
    )


def convolution() -> Problem:
    height, width, channels, features = 9, 11, 64, 72

    def reference(x: Array, w: Array) -> Array:
        padded = np.pad(x.reshape(height, width, channels), ((1, 1), (1, 1), (0, 0)))
        shifted = (padded[r : r + height, c : c + width] for r in range(3) for c in range(3))
        parts = (s @ w[tap] for tap, s in enumerate(shifted))
        return sum(parts, np.zeros((height, width, features))).reshape(-1, features)

    shapes = (height * width, channels), (9, channels, features), (height * width, features)
    return _problem(
        loops.convolution,
        lambda rng: [*_halves(rng, *shapes), height, width, 64, 64, 64],
        reference,
        (tiles_of(height * width, 64), tiles_of(features, 64)),
    )


def queue(kernel: Any = loops.queue) -> Problem:
    m, n, k, blocks = 200, 136, 72, 3

    def make(rng: Rng) -> Sequence[Any]:
        return [np.zeros(1, np.int32), *_halves(rng, (m, k), (k, n), (m, n)), 64, 64, 32]

    def references(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        x, y = (a.astype(np.float64) for a in arguments[1:3])
        taken = np.array([tiles_of(m, 64) * tiles_of(n, 64) + blocks])
        return {0: Reference(taken), 3: Reference(x @ y, ERROR * (1 + np.abs(x @ y)))}

    return Problem("queue", kernel, make, references, (blocks, 1, 1))


def claims() -> Problem:
    return queue(loops.claimed)


def counted() -> Problem:
    """A product of four iterations, each of which counts itself behind what it has loaded."""
    m, n, k, tiles = 64, 64, 128, (64, 64, 32)

    def make(rng: Rng) -> Sequence[Any]:
        return [np.zeros(1, np.int32), *_halves(rng, (m, k), (k, n), (m, n)), *tiles]

    def references(arguments: Sequence[Any]) -> Mapping[int, Reference]:
        x, y = (a.astype(np.float64) for a in arguments[1:3])
        found = Reference(x @ y, ERROR * (1 + np.abs(x @ y)))
        return {0: Reference(np.array([k // tiles[-1]])), 3: found}

    return Problem("counted", loops.counted, make, references, (1, 1, 1))


ROWS = "multiplies nothing: what it loads"

KINDS: Mapping[str, tuple[Callable[[], Problem], str]] = {
    "product": (lambda: matmul.PROBLEMS[0], ""),
    "product, persistent": (lambda: persistent.PROBLEMS[0], ""),
    "product, tiles of a counter": (queue, ""),
    "product, claims of tiles": (claims, ""),
    "product, counted": (counted, "a store comes before what it loads"),
    "product, grouped": (lambda: grouped_matmul.PROBLEMS[0], ""),
    "product, split along K": (lambda: split_k.PROBLEMS[0], ""),
    "products, two accumulators": (gated, ""),
    "attention, d 64": (lambda: Attention(1, 1, 100, 150, 64).problem(), ""),
    "attention, d 128": (lambda: Attention(1, 1, 100, 150, 128).problem(), ""),
    "attention, d 256": (lambda: Attention(1, 1, 64, 70, 256).problem(), ""),
    "attention, causal": (lambda: Attention(1, 1, 130, 130, 64, causal=True).problem(), ""),
    "attention, grouped heads": (lambda: Attention(1, 2, 70, 100, 64, group=2).problem(), ""),
    "attention, windowed": (windowed, ""),
    "attention, paged": (paged, ""),
    "attention, sparse": (sparse, ""),
    "attention, backward": (lambda: Gradients(1, 1, 130, 64, tn=128, of="all").problem(), ""),
    "flash decoding": (lambda: flash_decode.PROBLEMS[0], ""),
    "decoding, latent": (latent, ""),
    "convolution": (convolution, ""),
    "experts, gathered": (lambda: moe.PROBLEMS[1], ""),
    "rows": (lambda: softmax.PROBLEMS[4], ROWS),
    "rows, persistent": (lambda: softmax.problem(softmax.softmax, "f16", 3, 16384, 1, 16384), ""),
    "sums of columns": (lambda: reductions.PROBLEMS[-1], ROWS),
    "scan": (lambda: cumulative_sum.PROBLEMS[8], ROWS),
}
"""A launch of each kind, and why its loop is not divided; empty where it is, or loads ahead.

Stream-K is in `test_streamk_gemm.py`: its loop is a scheduler of `cutlass`.
"""

UP_TO_AGENTS = [*takewhile(lambda one: one.name != PIPELINE, PIPELINES["tileas-to-ptx"].passes)]
UP_TO_AGENTS.append(ArgSpec(PIPELINE, {}))


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_has_agents_or_says_why_not(kind: str, target: str) -> None:
    make, why = KINDS[kind]
    problem = make()
    made = compile(problem.kernel, *problem.arguments(), target=target, passes=UP_TO_AGENTS)
    text = str(made.module)
    is_ahead = KEPT in text
    assert is_ahead == (kind == "rows, persistent")
    if kind == "rows, persistent":
        return
    assert (AgentSwitchOp.name in text) == (not why)
    assert why in text
    assert not why or NOT_PIPELINED in text


@pytest.mark.sample(2)
@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize(
    "make", [gated, queue, claims, counted, windowed, paged, sparse, latent, convolution]
)
def test_a_loop_is_right_in_any_order_of_completion(
    make: Callable[[], Problem], order: str
) -> None:
    problem = make()
    found = emulated(problem, problem.compiled("sm_90a"), order=order)
    assert found.is_right, str(found)


def test_a_stage_that_threads_only_read_is_released_behind_a_fence() -> None:
    """What is read may still be on its way to registers, and TMA is the next to write there."""
    reads = sparse().compiled("sm_90a").ptx.split("ldmatrix")[1:]
    released = [read.partition("mbarrier.arrive")[0] for read in reads if "mbarrier.arrive" in read]
    assert released
    assert all("fence.proxy.async.shared::cta" in read for read in released)


def test_what_was_read_is_fenced_before_a_stage_is_filled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twice as many rounds as stages; bodies multiply, so that who issues the copies fences."""
    sizes, tiles = (64, 64, 512), (64, 64, 32)
    problem = matmul.product_problem("matmul_tf32", "f32", "f32", sizes, tiles)
    kernel = problem.compiled("sm_90a")
    assert emulated(problem, kernel).is_right
    unfenced = kernel.ptx.replace("fence.proxy.async.shared::cta;", "")
    monkeypatch.setattr(kernel, "ptx", unfenced)
    kinds = {getattr(one, "kind", "") for one in emulated(problem, kernel).findings}
    assert "missing-proxy-fence" in kinds
