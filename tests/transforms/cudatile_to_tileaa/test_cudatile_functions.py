"""Every element-wise operation on floats of Tile IR in threads: as accurate as promised, or exact.

The modes that operations may have are kept: what the emulator gives is what the interpreter gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.assembling import needs_ptxas
from tests.support.tile_ir import TYPES, Array, text_of_tiles
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.target.arch import TARGETS
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

SHAPE = (8, 32)

UNARY: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "absf": ("", np.abs),
    "negf": ("", np.negative),
    "ceil": ("", np.ceil),
    "floor": ("", np.floor),
    "cos": ("cos", np.cos),
    "cosh": ("cosh", np.cosh),
    "exp": ("exp", np.exp),
    "exp2": ("exp2", np.exp2),
    "log": ("log", np.log),
    "log2": ("log2", np.log2),
    "rsqrt": ("rsqrt", lambda a: 1 / np.sqrt(a)),
    "sin": ("sin", np.sin),
    "sinh": ("sinh", np.sinh),
    "sqrt": ("sqrt", np.sqrt),
    "tan": ("tan", np.tan),
    "tanh": ("tanh", np.tanh),
}
"""By operation: the function whose error is known, empty for exact ones, and numpy's."""

BINARY: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "addf": ("", np.add),
    "subf": ("", np.subtract),
    "mulf": ("", np.multiply),
    "divf": ("", np.divide),
    "minf": ("", np.fmin),
    "maxf": ("", np.fmax),
    "atan2": ("atan2", np.arctan2),
    "fpowf": ("powf", np.power),
}

MODES = (
    "addf %a0, %a1 rounding<zero>",
    "subf %a0, %a1 rounding<negative_inf>",
    "mulf %a0, %a1 rounding<positive_inf>",
    "fma %a0, %a1, %a0 rounding<zero>",
    "divf %a0, %a1 rounding<negative_inf>",
    "sqrt %a0 rounding<positive_inf>",
    "addf %a0, %a1 flush_to_zero",
    "mulf %a0, %a1 rounding<zero> flush_to_zero",
    "fma %a0, %a1, %a1 flush_to_zero",
    "maxf %a0, %a1 flush_to_zero",
    "divf %a0, %a1 flush_to_zero",
)
"""Operations that are exact but for how they round and flush."""

APPROXIMATE: Mapping[str, tuple[str, float]] = {
    "divf %a0, %a1 rounding<approx>": ("div.approx.f32", 2.0**-22),
    "divf %a0, %a1 rounding<full>": ("div.full.f32", 2.0**-22),
    "sqrt %a0 rounding<approx>": ("sqrt.approx.f32", 2.0**-22),
    "tanh %a0 rounding<approx>": ("tanh.approx.f32", 2.0**-10),
    "exp %a0 rounding<approx>": ("ex2.approx.f32", 2.0**-20),
    "rsqrt %a0 flush_to_zero": ("rsqrt.approx.ftz.f32", 2.0**-22),
    "exp2 %a0 flush_to_zero": ("ex2.approx.ftz.f32", 2.0**-22),
}
"""The instruction, and its relative error (PTX ISA 9.7.3) on the numbers of the test."""


def tile(dtype: Any) -> str:
    return f"tile<8x32x{TYPES[np.dtype(dtype).name]}>"


def kernel(
    lines: Sequence[str], inputs: Sequence[Array], target: str = "sm_90a"
) -> tuple[CompiledKernel, Sequence[Array]]:
    """A kernel whose results are those of each line, and its outputs before the run."""
    type_ = tile(inputs[0].dtype)
    body = "\n".join(f"%r{k} = {line} : {type_}" for k, line in enumerate(lines))
    outputs = [np.zeros_like(inputs[0]) for _ in lines]
    return compile(text_of_tiles(body, inputs, outputs), target), outputs


def emulated(made: CompiledKernel, inputs: Sequence[Array], outputs: Sequence[Array]) -> Any:
    run = made.emulate(*inputs, *outputs)
    assert [str(finding) for finding in run.findings] == []
    return run.arrays[len(inputs) :]


def positive(seed: int, dtype: Any) -> Array:
    return np.random.default_rng(seed).uniform(0.1, 8, SHAPE).astype(dtype)


def check(name: str, found: Array, wanted: Array) -> None:
    """Within the units of the last place that are promised, in f32 and rounded."""
    units = MATH_FUNCTIONS[name].bound if name else 0
    finfo: Any = ml_dtypes.finfo(found.dtype)
    single = np.float64(2.0**-23) * units
    error = np.abs(wanted) * (single + float(finfo.eps) / 2 * (1 + 2.0**-10))
    error += float(finfo.smallest_subnormal) / 2
    assert (np.abs(found.astype(np.float64) - wanted) <= error).all(), name


@pytest.mark.parametrize(
    "dtype", [np.float32, ml_dtypes.bfloat16, pytest.param(np.float16, marks=pytest.mark.slow)]
)
def test_functions_are_as_accurate_as_promised(dtype: Any) -> None:
    a, b = positive(1, dtype), (positive(2, dtype) / 4).astype(dtype)
    a[0, :8] = [1, 2, 0.5, 4, 3, 0.25, 7.5, 1.5]
    lines = [f"{name} %a0" for name in UNARY] + [f"{name} %a0, %a1" for name in BINARY]
    made, outputs = kernel(lines, [a, b])
    found = emulated(made, [a, b], outputs)
    wide = a.astype(np.float64), b.astype(np.float64)
    for k, (function, of) in enumerate(UNARY.values()):
        check(function, found[k], of(wide[0]))
    for k, (function, of) in enumerate(BINARY.values()):
        check(function, found[len(UNARY) + k], of(*wide))


def special() -> tuple[Array, Array]:
    """Numbers of all sizes: small ones, that are flushed, and those that are none."""
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 1 << 32, SHAPE, np.uint32).view(np.float32) for _ in range(2))
    a[:2] = rng.standard_normal((2, 32)) * 1e-38
    b[1:3] = rng.standard_normal((2, 32)) * 1e-38
    none = np.isnan(a) | np.isnan(b)
    return np.where(none, np.float32(1e-39), a), np.where(none, np.float32(-1), b)


def test_modes_are_kept() -> None:
    a, b = special()
    made, outputs = kernel(MODES, [a, b])
    for mode in ("add.rz.f32", "sub.rm.f32", "add.rn.ftz.f32", "max.ftz.f32", "fma.rz.f32"):
        assert mode in made.ptx
    found = emulated(made, [a, b], outputs)
    wanted = made.simulate(a, b, *outputs).arrays[2:]
    exact = kernel([mode.partition(" round")[0].partition(" flush")[0] for mode in MODES], [a, b])
    plain = emulated(exact[0], [a, b], exact[1])
    for mode, mine, theirs, other in zip(MODES, found, wanted, plain, strict=True):
        none = np.isnan(mine)
        np.testing.assert_array_equal(none, np.isnan(theirs), mode)
        same = mine.view(np.uint32) == np.asarray(theirs).view(np.uint32)
        assert (same | none).all(), mode
        assert not np.array_equal(mine, other, equal_nan=True), f"{mode} does nothing"


@needs_ptxas
@pytest.mark.parametrize("target", TARGETS)
def test_what_may_be_approximated_is(target: str) -> None:
    a, b = positive(4, np.float32), positive(5, np.float32)
    made, outputs = kernel(list(APPROXIMATE), [a, b], target)
    found = emulated(made, [a, b], outputs)
    wide = a.astype(np.float64), b.astype(np.float64)
    for result, (line, (instruction, error)) in zip(found, APPROXIMATE.items(), strict=True):
        name = line.partition(" ")[0]
        assert instruction in made.ptx, line
        exact = wide[0] / wide[1] if name == "divf" else UNARY[name][1](wide[0])
        np.testing.assert_allclose(result, exact, error)
    assert made.assemble().spills == 0
