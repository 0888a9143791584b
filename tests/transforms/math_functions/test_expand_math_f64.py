"""Functions of f64, written out: one unit of the last place off at most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import math
from xdsl.dialects.builtin import f64, i32
from xdsl.ir import Block

from tests.support.tile_ir import Array, text_of_tiles
from tileas_xdsl.compiler import compile
from tileas_xdsl.dialects.cute import YieldFragmentOp
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import VectorizedBody
from tileas_xdsl.target.math_functions import BOUNDS_F64
from tileas_xdsl.transforms.math_functions.expansions import IN_F64, WHOLE_IN_F64
from tileas_xdsl.transforms.math_functions.expression_builder import Scope

NAMED: dict[str, Callable[..., Any]] = {
    kind.name.removeprefix("math."): function
    for kind, function in {**IN_F64, **WHOLE_IN_F64}.items()
}
BINARY = {"atan2": "arctan2", "fpowi": "power", "powf": "power"}
"""Functions of two arguments, by the names of numpy's."""
SPECIAL = (
    0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.0**-1022, 1.7e308, -1.7e308,
    709.78, 709.79, -745.1, -745.2, 1024.0, 1023.5, -1074.0, -1075.1, 2.0, 10.0, 1e22,
    1 - 2.0**-53, 1 + 2.0**-52,
)  # fmt: skip


def samples(seed: int, size: int) -> Array:
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [
            rng.integers(0, 1 << 64, size, np.uint64).view(np.float64),
            rng.standard_normal(size),
            rng.uniform(-750, 720, size),
            rng.uniform(-1080, 1030, size),
            1 + rng.uniform(-0.5, 0.6, size),
            np.ldexp(rng.standard_normal(size), rng.integers(-60, 3, size)),
            SPECIAL,
        ]
    )


def arguments(name: str, seed: int, size: int) -> list[Array]:
    """One array, or the two of a binary function; of powers most are moderate."""
    x = samples(seed, size)
    if name not in BINARY:
        return [x]
    rng = np.random.default_rng(seed + 100)
    if name == "fpowi":
        return [x, rng.integers(-40, 40, x.size).astype(np.int32)]
    y = rng.permutation(x)
    if name == "powf":
        moderate = rng.random(x.size) < 0.7
        x = np.where(moderate, np.exp(rng.normal(0, 4, x.size)), x)
        y = np.where(moderate, rng.normal(0, 60, x.size), y)
    return [x, y]


def evaluated(name: str, *x: Array) -> Array:
    block = Block(arg_types=[i32 if a.dtype == np.int32 else f64 for a in x])
    scope = Scope(block.add_op, straight=True)
    result = NAMED[name](*(scope.take(argument) for argument in block.args))
    block.add_op(YieldFragmentOp([result.ssa]))
    with np.errstate(all="ignore"):
        return VectorizedBody(block, lambda value: value)(*x)


def distance(name: str, found: Array, *x: Array) -> Array:
    """Units of the last place from the rounded result in extended precision."""
    with np.errstate(all="ignore"):
        exact = getattr(np, BINARY.get(name, name))(*(a.astype(np.longdouble) for a in x))
        wanted = exact.astype(np.float64)
    nan = np.isnan(wanted)
    assert (np.isnan(found) == nan).all()
    assert (np.signbit(found) == np.signbit(wanted))[~nan].all()
    bits = [np.where(nan, 0, a).view(np.int64) for a in (found, wanted)]
    return np.abs(bits[0] - bits[1])


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", NAMED)
def test_errors_are_within_the_bound(name: str) -> None:
    x = arguments(name, 1, 5000)
    assert distance(name, evaluated(name, *x), *x).max() <= BOUNDS_F64[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_errors_of_many_arguments_are_within_the_bound(name: str) -> None:
    for seed in range(8):
        x = arguments(name, seed, 100_000)
        assert distance(name, evaluated(name, *x), *x).max() <= BOUNDS_F64[name]


def test_every_function_has_a_bound() -> None:
    assert set(BOUNDS_F64) == set(NAMED)
    assert math.ErfOp not in {**IN_F64, **WHOLE_IN_F64}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", ["exp", "log2", "tanh", "sinh", "cos", "tan", "atan2", "pow"])
def test_threads_have_the_same_bits(name: str) -> None:
    written = {"pow": "powf"}.get(name, name)
    inputs = [a[-256:].reshape(8, 32) for a in arguments(written, 3, 128)]
    out = np.zeros((8, 32))
    operands = ", ".join(f"%a{k}" for k in range(len(inputs)))
    text = text_of_tiles(f"%r0 = {name} {operands} : tile<8x32xf64>", inputs, [out])
    run = compile(text).emulate(*inputs, out)
    assert [str(finding) for finding in run.findings] == []
    wanted = evaluated(written, *inputs)
    nan = np.isnan(wanted)
    found = run.arrays[-1]
    assert (np.isnan(found) == nan).all()
    assert found[~nan].tobytes() == wanted[~nan].tobytes()
