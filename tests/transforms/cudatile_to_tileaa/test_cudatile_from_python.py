"""Kernels written in cuTile Python: exported, converted, run as tiles and in threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.support.tile_ir import Array
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.frontend.cutile.tile_ir import kernel_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.conversion.convert_cudatile_to_tileaa import ConvertCudatileToTileaa
from tileas_xdsl.transforms.conversion.convert_tileaa_to_tileas import ConvertTileaaToTileas

pytest.importorskip("cuda.tile")

from support import cutile_kernels as kernels


def lowered(name: str) -> ModuleOp:
    module = kernel_module(getattr(kernels, name), kernels.SIGNATURES[name])
    ctx = registered_context()
    for convert in (ConvertCudatileToTileaa("sm_90a"), ConvertTileaaToTileas()):
        convert.apply(ctx, module)
        verify_module(module)
    return module


@pytest.mark.parametrize("name", sorted(kernels.SIGNATURES))
def test_what_the_front_end_makes_is_converted(name: str) -> None:
    lowered(name)


def array(values: Array) -> Sequence[Any]:
    """What a kernel takes for a row-major array: a pointer, extents, strides."""
    strides = [stride // values.itemsize for stride in values.strides]
    return [values, *values.shape, *strides]


def check(name: str, arrays: Sequence[Array], grid: tuple[int, ...], wanted: Array) -> None:
    """The last array holds what is wanted, as tiles and in threads."""
    module = lowered(name)
    arguments = [argument for values in arrays for argument in array(values)]
    place = len(arguments) - 2 * wanted.ndim - 1
    as_tiles = simulate(module, arguments, grid=grid).arrays[place]
    np.testing.assert_allclose(as_tiles, wanted, 1e-3, 1e-3)
    in_threads = compile(module, "sm_90a").emulate(*arguments, grid=grid).arrays[place]
    np.testing.assert_allclose(in_threads, wanted, 1e-3, 1e-3)


def test_vector_add() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(200).astype(np.float32) for _ in range(2))
    check("vector_add", [a, b, a * 0], (4,), a + b)


def test_softmax() -> None:
    x = np.random.default_rng(2).standard_normal((3, 256)).astype(np.float32)
    powers = np.exp(x - x.max(1, keepdims=True))
    check("softmax", [x, x * 0], (3,), powers / powers.sum(1, keepdims=True))


def test_matmul() -> None:
    rng = np.random.default_rng(3)
    a = rng.standard_normal((140, 70)).astype(np.float16)
    b = rng.standard_normal((70, 128)).astype(np.float16)
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    check("matmul", [a, b, np.zeros((140, 128), np.float32)], (2, 2), wanted)
