"""Whole kernels of Tile IR: text, both conversions, the tile interpreter, numpy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from tests.support.tile_ir import run
from tests.transforms.cudatile_to_tileaa.tile_ir_kernels import Launch, axpy, matmul, softmax
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.conversion.convert_cudatile_to_tileaa import ConvertCudatileToTileaa
from tileas_xdsl.transforms.conversion.convert_tileaa_to_tileas import ConvertTileaaToTileas


def check(launch: Launch) -> None:
    found = run(launch.text, *launch.arguments, grid=launch.grid)[launch.output]
    np.testing.assert_allclose(found, launch.expected, launch.tolerance, launch.tolerance)


@pytest.mark.parametrize("n", [1, 64, 300])
def test_axpy(n: int) -> None:
    check(axpy(np.random.default_rng(n), n))


@pytest.mark.parametrize("shape", [(32, 16, 32), (64, 32, 96), (37, 21, 70), (5, 3, 1)])
def test_matmul(shape: tuple[int, int, int]) -> None:
    check(matmul(np.random.default_rng(shape[0]), *shape))


@pytest.mark.parametrize(("rows", "columns", "width"), [(3, 32, 32), (5, 100, 128)])
def test_softmax(rows: int, columns: int, width: int) -> None:
    check(softmax(np.random.default_rng(rows), rows, columns, width))


@pytest.mark.parametrize("make", [axpy, lambda rng: softmax(rng, 3, 20, 32)])
def test_what_is_made_simpler_in_between_means_the_same(
    make: Callable[[np.random.Generator], Launch],
) -> None:
    launch, ctx = make(np.random.default_rng(9)), registered_context()
    module = parse_module(ctx, launch.text)
    simpler = (CanonicalizePass(), CommonSubexpressionElimination())
    for convert in (ConvertCudatileToTileaa("sm_90a"), ConvertTileaaToTileas()):
        for step in (convert, *simpler):
            step.apply(ctx, module)
            verify_module(module)
    found = simulate(module, launch.arguments, grid=launch.grid).arrays[launch.output]
    np.testing.assert_allclose(found, launch.expected, launch.tolerance, launch.tolerance)
