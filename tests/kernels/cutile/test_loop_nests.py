# pyright: basic
"""Loop nests of other shapes: right in any order of completion, or the reason why no agents."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from xdsl.utils.arg_spec import ArgSpec

from tests import cutile_nests as nests
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.pipelines import PIPELINES

HALF, SINGLE = np.float16, np.float32
Made = tuple[Sequence[Any], np.ndarray]


def halves(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (rng.standard_normal(shape) * scale).astype(HALF)


def rounded(x: np.ndarray) -> np.ndarray:
    return x.astype(HALF).astype(SINGLE)


def operands(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A and B, as they are and in f32."""
    a, b = halves(rng, 100, 200), halves(rng, 200, 72)
    return a, b, a.astype(SINGLE), b.astype(SINGLE)


def parts(x: np.ndarray, y: np.ndarray, count: int, size: int) -> list[np.ndarray]:
    """The product of each round."""
    return [x[:, k * size :][:, :size] @ y[k * size :][:size] for k in range(count)]


def guarded(rng: np.random.Generator) -> Made:
    a, b, x, y = operands(rng)
    flags = np.array([1, 0, 2, 1, 0, 0, 1], np.int32)
    found = np.array(parts(x, y, 7, 32))[flags > 0].sum(axis=0)
    return (a, b, flags, found, 64, 64, 32), found


def two_depths(rng: np.random.Generator) -> Made:
    a, b, x, y = operands(rng)
    u, v = halves(rng, 100, 60), halves(rng, 60, 72)
    found = x @ y + u.astype(SINGLE) @ v.astype(SINGLE)
    return (a, b, u, v, found, 64, 64, 64, 16), found


def scan_product(rng: np.random.Generator) -> Made:
    _, b, x, y = operands(rng)
    found = rounded(np.cumsum(x / 16, axis=1)) @ y
    return ((x / 16).astype(HALF), b, found, 64, 64, 32), found


def chain3(rng: np.random.Generator) -> Made:
    x, w, v, u = (
        halves(rng, m, n, scale=0.3) for m, n in ((100, 64), (64, 200), (200, 64), (256, 64))
    )
    found = np.zeros((100, 64), SINGLE)
    for k in range(4):
        part = slice(64 * k, 64 * k + 64)
        first = rounded(x.astype(SINGLE) @ w[:, part].astype(SINGLE))
        found += rounded(first @ v[part].astype(SINGLE)) @ u[part].astype(SINGLE)
    return (x, w, v, u, found, 64, 64, 64), found


def fading(rng: np.random.Generator) -> Made:
    a, b, x, y = operands(rng)
    found = np.zeros((100, 72), SINGLE)
    for one in parts(x, y, 3, 96):
        found = found * 0.5 + one
    return (a, b, found, 64, 64, 32, 3), found


def either(rng: np.random.Generator) -> Made:
    a, b, x, y = operands(rng)
    bias = halves(rng, 100, 72)
    found = sum(parts(x, y, 7, 32)[::2]) + 3 * bias.astype(SINGLE)
    return (a, b, bias, found, 64, 64, 32), found


def triangle(rng: np.random.Generator) -> Made:
    a, b = halves(rng, 200, 256), halves(rng, 256, 72)
    x = a.astype(SINGLE)
    for i in range(4):
        x[64 * i :][:64, 64 * i + 64 :] = 0
    found = x @ b.astype(SINGLE)
    return (a, b, found, 64, 64, 64), found


def linear_attention(rng: np.random.Generator) -> Made:
    given = [halves(rng, 256, 64, scale=0.3) for _ in range(3)]
    q, k, v = (one.astype(SINGLE).reshape(4, 64, 64) for one in given)
    state, found = np.zeros((64, 64), SINGLE), []
    for i in range(4):
        found.append(q[i] @ rounded(state) + rounded(np.tril(q[i] @ k[i].T)) @ v[i])
        state += k[i].T @ v[i]
    result = np.concatenate(found)
    return (*given, result, 64, 64), result


def until(rng: np.random.Generator) -> Made:
    a, b, x, y = operands(rng)
    found = x[:, :128] @ y[:128]
    return (a, b, np.array([3, 2, 1, 4, 0, 1], np.int32), found, 64, 64, 32), found


def two_passes(rng: np.random.Generator) -> Made:
    a, b, x, y = operands(rng)
    powers = np.exp2(x - x.max(axis=1, keepdims=True))
    found = rounded(powers) @ y / powers.sum(axis=1, keepdims=True)
    return (a, b, found, 64, 64, 32), found


def added(rng: np.random.Generator) -> Made:
    a, b, rows = halves(rng, 256, 64), halves(rng, 64, 128), np.array([1, 0, 1, 1], np.int32)
    found = np.zeros((128, 128), SINGLE)
    for k, row in enumerate(rows):
        found[64 * row :][:64] += a[64 * k :][:64].astype(SINGLE) @ b.astype(SINGLE)
    return (a, b, rows, found, 64, 64, 64), found


NESTS: Mapping[str, tuple[Callable[[np.random.Generator], Made], tuple[int, int, int]]] = {
    "guarded": (guarded, (2, 2, 1)),
    "two_depths": (two_depths, (2, 2, 1)),
    "scan_product": (scan_product, (2, 2, 1)),
    "chain3": (chain3, (2, 1, 1)),
    "fading": (fading, (2, 2, 1)),
    "either": (either, (2, 2, 1)),
    "triangle": (triangle, (2, 1, 1)),
    "linear_attention": (linear_attention, (1, 1, 1)),
    "until": (until, (2, 2, 1)),
    "two_passes": (two_passes, (2, 2, 1)),
    "added": (added, (2, 1, 1)),
}
ADDED = {"added"}
"""Those that add to what is there."""

WHY: Mapping[str, str] = {
    "either": "a loop or branch inside of it loads",
    "until": "it is a while loop, and only for loops are divided",
    "added": "a store comes before what it loads",
}
"""Why the loops of a kernel have no producer; those of all others have one."""

SOLVED = ("tileas-generate-schedule", "tileas-assign-buffers")


@cache
def made(name: str) -> Made:
    return NESTS[name][0](np.random.default_rng(1))


def compiled(name: str, target: str, *, solved: bool = False) -> CompiledKernel:
    """A kernel, whose loops have the schedules that are computed for them if that is asked for."""
    passes = list(PIPELINES["tileas-to-ptx"].passes)
    if solved:
        place = [spec.name for spec in passes].index("tileas-materialize-schedule")
        passes[place:place] = [ArgSpec(one, {}) for one in SOLVED]
    return compile(getattr(nests, name), *made(name)[0], target=target, passes=passes)


def check(name: str, kernel: CompiledKernel, order: Any) -> None:
    given, wanted = made(name)
    begin = np.zeros_like(wanted) if name in ADDED else np.full_like(wanted, np.nan)
    arguments = [begin if one is wanted else one for one in given]
    run = kernel.emulate(*arguments, grid=NESTS[name][1], order=order)
    assert not run.findings, run.findings[0]
    place = next(k for k, one in enumerate(given) if one is wanted)
    np.testing.assert_allclose(run.arrays[place], wanted, atol=2e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("name", NESTS)
def test_a_nest_is_right_and_says_why_it_has_no_producer(name: str) -> None:
    kernel = compiled(name, "sm_90a")
    text = kernel.ir("tileas-pipeline-loads")
    why = re.findall(r'nv_tileas\.not_pipelined = "([^"]*)"', text)
    assert ("agent_switch" in text) == (name not in WHY)
    assert name not in WHY or WHY[name] in why
    check(name, kernel, "random")


@pytest.mark.slow
@pytest.mark.parametrize("order", ["lazy", "eager", "random"])
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("name", NESTS)
def test_no_order_of_completion_makes_it_wrong(name: str, target: str, order: str) -> None:
    check(name, compiled(name, target), order)
    check(name, compiled(name, target, solved=True), order)


@pytest.mark.parametrize("name", ["linear_attention", "scan_product", "two_passes"])
def test_stages_that_products_have_read_are_released_before_the_cta_ends(name: str) -> None:
    """A commit behind the wait for the last product would arrive later."""
    check(name, compiled(name, "sm_100a", solved=True), "lazy")


def test_an_operand_in_shared_memory_is_not_carried() -> None:
    """There is one of it: the product of the round before would read it."""
    kernel = compiled("chain3", "sm_100a", solved=True)
    (why,) = re.findall(r'not_rotated = "([^"]*)', kernel.ir("tileas-materialize-schedule"))
    assert "smem>>, of which there is one" in why
    check("chain3", kernel, "random")


def test_what_is_in_branches_has_no_place_of_its_own() -> None:
    kernel = compiled("either", "sm_90a", solved=True)
    (why,) = re.findall(r'not_scheduled = "([^"]*)"', kernel.ir("tileas-generate-schedule"))
    assert why.startswith("what it loads or multiplies is in a branch")
