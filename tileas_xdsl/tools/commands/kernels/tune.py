"""`tileas tune`: the constants of a cuTile kernel that make a launch fast."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.inputs.kernel_options import (
    ArgOption,
    CompileTargetOption,
    CuTileInput,
    SignatureOption,
    parse_specs,
)

if TYPE_CHECKING:
    from tileas_xdsl.tuning.results import TuningResult
    from tileas_xdsl.tuning.space import Space


def _space(texts: list[str]) -> list[str]:
    from tileas_xdsl.tuning.space import SpaceError, parse_space

    try:
        parse_space(texts)
    except SpaceError as error:
        raise typer.BadParameter(str(error)) from None
    return texts


def tune(
    input_file: CuTileInput,
    sig: SignatureOption,
    space: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUES",
            callback=_space,
            help="A constant and its values: tm=64,128,256; or a hint: occupancy=0,1,2 "
            "(0: the compiler's choice), num_worker_warps=0,4,8.",
        ),
    ],
    grid: Annotated[
        str,
        typer.Option(
            metavar="X[,Y[,Z]]",
            help="The grid, which may use constants: 'cdiv(4000, tm), cdiv(512, tn)'.",
        ),
    ],
    arg: ArgOption = [],  # noqa: B006
    target: CompileTargetOption = None,
    top: Annotated[int, typer.Option(min=1, help="Candidates that are compiled.")] = 8,
    executor: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What compiles: processes[:COUNT], serial, or dask://HOST:PORT, a cluster.",
        ),
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Do not take a cached result.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find the constants that make a cuTile kernel fast.

    Every combination of the space is predicted by the timing model, the best are compiled, and on a
    GPU they are measured; without one the prediction decides.  Of arrays only types and shapes
    count: f16:4000x8192:zeros.  The constants of the signature are a candidate too.
    """
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.executors import ExecutorError
    from tileas_xdsl.tools.inputs.grid_expressions import GridError
    from tileas_xdsl.tools.inputs.programs import reported_errors
    from tileas_xdsl.tuning.space import SpaceError, parse_space

    if sig is None:
        fail("tune needs --sig, the types of the parameters of a kernel of cuTile", 2)
    with reported_errors():
        try:
            result = with_deep_stack(
                lambda: _tuned(
                    input_file, sig, parse_space(space), grid, arg, target, top, executor, anew
                )
            )
        except (SpaceError, GridError, ExecutorError) as error:
            fail(str(error), 2)
    _print(result, json=json)


def _tuned(
    path: str,
    sig: str,
    space: Space,
    grid: str,
    specs: list[str],
    target: str | None,
    top: int,
    executor: str | None,
    anew: bool,
) -> TuningResult:
    from tileas_xdsl.frontend.cutile.kernels import in_order, load_kernel
    from tileas_xdsl.frontend.kernel_files import split_reference
    from tileas_xdsl.frontend.signature import parse_signature
    from tileas_xdsl.tools.inputs.cutile_parameters import bound
    from tileas_xdsl.tools.inputs.grid_expressions import grid_function
    from tileas_xdsl.tuning.measuring import gpu_measure, launch_target
    from tileas_xdsl.tuning.tuner import Request
    from tileas_xdsl.tuning.tuner import tune as search

    if split_reference(path) is None:
        fail(f"tune is for kernels of cuTile, FILE.py:NAME, which have constants, not '{path}'", 2)
    kernel = load_kernel(path)
    parameters = in_order(kernel, parse_signature(sig))
    values = bound(parameters, parse_specs(specs))
    named = {one.name: value for one, value in zip(parameters, values, strict=True)}
    where = target or launch_target()
    request = Request(kernel, named, space, lambda config: extents({**named, **config}), where, top)
    extents = grid_function(grid, list(request.constants))
    return search(request, executor=executor, measure=gpu_measure(), cached=not anew)


def _print(result: TuningResult, *, json: bool) -> None:
    if json:
        typer.echo(json_text.dumps(asdict(result), indent=2))
        return
    typer.echo(result.table())
    if not result.works:
        fail("no candidate compiles without spills: 'tileas explain' says what would")
    typer.echo(f"use {_constants(result.best)}")
    if all(one.measured is None for one in result.candidates):
        typer.echo("ranked by prediction: there is no GPU to measure on")


def _constants(config: Mapping[str, int]) -> str:
    return ", ".join(f"{name}={value}" for name, value in config.items())
