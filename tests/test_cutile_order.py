"""Reductions and scans of cuTile by functions that do not commute: the earlier operand comes first.

`result[j] = f(result[j - 1], x[j])` (cuda_tile `Ops.td`, `scan`), downwards if it is reversed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tileas_xdsl as tileas

ct = pytest.importorskip("cuda.tile")

Array = NDArray[Any]
RNG = np.random.default_rng(8)


def compose(a1: Any, b1: Any, a2: Any, b2: Any) -> Any:
    """`x -> a1 * x + b1`, then `x -> a2 * x + b2`: a linear recurrence."""
    return a1 * a2, a2 * b1 + b2


@ct.kernel
def recurrence(
    a: Any,
    b: Any,
    p: Any,
    q: Any,
    n: ct.Constant[int],
    m: ct.Constant[int],
    axis: ct.Constant[int],
    backward: ct.Constant[bool],
) -> None:
    x, y = ct.load(a, (0, 0), (n, m)), ct.load(b, (0, 0), (n, m))
    r, s = ct.scan((x, y), axis=axis, func=compose, identity=(1.0, 0.0), reverse=backward)
    ct.store(p, (0, 0), r)
    ct.store(q, (0, 0), s)


@ct.kernel
def composition(
    a: Any,
    b: Any,
    p: Any,
    q: Any,
    n: ct.Constant[int],
    m: ct.Constant[int],
    axis: ct.Constant[int],
) -> None:
    x, y = ct.load(a, (0, 0), (n, m)), ct.load(b, (0, 0), (n, m))
    r, s = ct.reduce((x, y), axis=axis, func=compose, identity=(1.0, 0.0))
    ct.store(p, (0,), r)
    ct.store(q, (0,), s)


@ct.kernel
def ends(x: Any, first: Any, last: Any, axis: ct.Constant[int]) -> None:
    t = ct.load(x, (0, 0), (8, 64))
    ct.store(first, (0,), ct.reduce(t, axis=axis, func=lambda a, b: a, identity=0))
    ct.store(last, (0,), ct.reduce(t, axis=axis, func=lambda a, b: b, identity=0))


def composed(a: Array, b: Array, axis: int, *, backward: bool) -> Sequence[Array]:
    """The running compositions, one after the other."""
    step = -1 if backward else 1
    maps = list(zip(np.moveaxis(a, axis, 0)[::step], np.moveaxis(b, axis, 0)[::step], strict=True))
    found = maps[:1]
    for pair in maps[1:]:
        found.append(compose(*found[-1], *pair))
    return [np.moveaxis(np.stack(list(each))[::step], 0, axis) for each in zip(*found, strict=True)]


def check(kernel: Any, arguments: Sequence[Any], target: str, wanted: Sequence[Array]) -> None:
    """As tiles and in threads, the arguments from the third on become what is wanted."""
    compiled = tileas.compile(kernel, *arguments, target=target)
    first = len(arguments) - sum(not isinstance(v, np.ndarray) for v in arguments) - len(wanted)
    for run in (compiled.simulate, compiled.emulate):
        found = run(*arguments, grid=1).arrays[first : first + len(wanted)]
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, 1e-4, 1e-4)


def maps(shape: tuple[int, int]) -> Sequence[Array]:
    a = RNG.uniform(0.5, 1.2, shape).astype(np.float32)
    return a, RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.sample(3)
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis", "target"),
    [((16, 32), 0, "sm_90a"), ((4, 256), 1, "sm_100a"), ((1, 512), 1, "sm_90a")],
)
def test_a_linear_recurrence(
    shape: tuple[int, int], axis: int, target: str, *, backward: bool
) -> None:
    a, b = maps(shape)
    empty = [np.full(shape, np.nan, np.float32) for _ in range(2)]
    wanted = composed(a, b, axis, backward=backward)
    check(recurrence, (a, b, *empty, *shape, axis, backward), target, wanted)


@pytest.mark.parametrize(
    ("shape", "axis", "target"), [((16, 32), 1, "sm_100a"), ((64, 8), 0, "sm_90a")]
)
def test_a_reduction_that_does_not_commute(shape: tuple[int, int], axis: int, target: str) -> None:
    a, b = maps(shape)
    wanted = [each.take(-1, axis) for each in composed(a, b, axis, backward=False)]
    empty = [np.full(wanted[0].shape, np.nan, np.float32) for _ in range(2)]
    check(composition, (a, b, *empty, *shape, axis), target, wanted)


@pytest.mark.sample(3)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.int64])
def test_the_first_and_the_last_element(dtype: type[Any], axis: int) -> None:
    x = RNG.integers(-99, 99, (8, 64)).astype(dtype)
    first, last = (x.take(k, axis) for k in (0, -1))
    check(ends, (x, first * 0, last * 0, axis), "sm_90a", (first, last))
