"""`tileas.compile` of cuTile kernels, of Tile IR text and of bytecode."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.diagnostics.errors import ArgumentError, DiagnosticError

pytest.importorskip("cuda.tile")

from support import cutile_kernels as kernels

from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode

RNG = np.random.default_rng(5)
A, B = (RNG.standard_normal(200).astype(np.float32) for _ in range(2))


def unset() -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.full(200, np.nan, np.float32)


def test_a_kernel_is_compiled_for_arguments() -> None:
    kernel = tileas.compile(kernels.vector_add, A, B, unset())
    assert kernel.name == "vector_add"
    for run in (kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(A, B, unset(), grid=4).arrays[2], A + B)
    assert [stage.name for stage in kernel.stages][:4] == [
        "tileas-attach-target",
        "cudatile-sink-loads",
        "convert-cudatile-to-tileaa",
        "convert-tileaa-to-tileas",
    ]


def test_a_kernel_is_compiled_for_a_signature_and_a_target() -> None:
    text = "c: f32[?], a: f32[?], b: f32[?]"
    kernel = tileas.compile(kernels.vector_add, signature=text, target="sm_100a")
    found = kernel.emulate(A, B, unset(), grid=4)
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_array_equal(found.arrays[2], A + B)
    assert ".target sm_100a" in kernel.ptx


@pytest.mark.parametrize(("target", "unit"), [("sm_90a", "wgmma"), ("sm_100a", "tcgen05.mma")])
def test_a_product_is_one_of_the_target(target: str, unit: str) -> None:
    """Constants are arguments too."""
    a = RNG.standard_normal((40, 24)).astype(np.float16)
    b = RNG.standard_normal((24, 128)).astype(np.float16)
    c = np.full((40, 128), np.nan, np.float32)
    kernel = tileas.compile(kernels.matmul, a, b, c, 64, 64, 32, target=target)
    assert f"{unit}." in kernel.ptx
    found = kernel.emulate(a, b, c, 64, 64, 32, grid=(1, 2)).arrays[2]
    np.testing.assert_allclose(found, a.astype(np.float32) @ b.astype(np.float32), 1e-3, 1e-3)
    with pytest.raises(ArgumentError, match="'tk' is 16; the kernel was compiled for 32"):
        kernel.simulate(a, b, c, 64, 64, 16)


def test_files_of_bytecode_are_compiled(tmp_path: Path) -> None:
    path = tmp_path / "add.tileirbc"
    path.write_bytes(export_bytecode(kernels.vector_add, kernels.SIGNATURES["vector_add"]))
    kernel = tileas.compile(path)
    arguments = [value for array in (A, B, unset()) for value in (array, 200, 1)]
    np.testing.assert_array_equal(kernel.emulate(*arguments, grid=4).arrays[6], A + B)


def test_what_is_no_kernel_is_refused() -> None:
    with pytest.raises(TypeError, match="a kernel is a module, a path, text or"):
        tileas.compile(len, A)


def test_arguments_that_do_not_fit_are_refused_at_the_kernel() -> None:
    with pytest.raises(DiagnosticError, match="3 arguments but 2 were given: a, b, c"):
        tileas.compile(kernels.vector_add, A, B)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_remainders_are_those_of_python(dtype: type[np.generic]) -> None:
    """They have the sign of the divisor; the exact remainder plus the divisor is rounded once."""
    x, y = (RNG.standard_normal(256).astype(dtype) * np.array(s, dtype) for s in (1000, 0.37))
    kernel = tileas.compile(kernels.remainders, x, y, np.zeros_like(x))
    wanted = np.fmod(x, y)
    wanted = np.where((wanted != 0) & ((wanted < 0) != (y < 0)), wanted + y, wanted)
    for run in (kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(x, y, np.zeros_like(x)).arrays[2], wanted)
    np.testing.assert_array_equal(wanted, np.mod(x.astype(np.float64), y).astype(dtype))


def test_arrays_of_truth_values() -> None:
    mask = RNG.random(50) < 0.5
    x, y = A[:50], B[:50]
    kernel = tileas.compile(kernels.chosen, mask, x, y, np.zeros_like(mask))
    for run in (kernel.simulate, kernel.emulate):
        found = run(mask, x, y, np.zeros_like(mask)).arrays[3]
        np.testing.assert_array_equal(found, np.where(mask, x, y) > 0)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int16, np.int64])
def test_absolute_values_of_every_width(dtype: type[np.generic]) -> None:
    x = RNG.integers(-100, 100, 16).astype(dtype)
    kernel = tileas.compile(kernels.magnitudes, x, np.zeros_like(x))
    for run in (kernel.evaluate, kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(x, np.zeros_like(x)).arrays[1], np.abs(x))
