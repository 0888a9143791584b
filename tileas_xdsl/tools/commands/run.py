"""`tileas run`: compile a kernel, launch it on a GPU, and say what it did to its arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tileas_xdsl.tools.console import fail, print_facts
from tileas_xdsl.tools.kernel_options import (
    ArgOption,
    CompilableInput,
    GridOption,
    KernelOption,
    SignatureOption,
    TargetOption,
)

if TYPE_CHECKING:
    from tileas_xdsl.runtime.device import Device
    from tileas_xdsl.tools.ptx_runs import CompiledProgram


def run(
    input_file: CompilableInput,
    grid: GridOption,
    arg: ArgOption = [],  # noqa: B006
    kernel: KernelOption = None,
    sig: SignatureOption = None,
    target: TargetOption = None,
    device: Annotated[int, typer.Option(min=0, help="Which GPU.")] = 0,
    bench: Annotated[
        bool, typer.Option("--bench", help="Launch it many times too, and say how long it takes.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every array as DIR/arg<N>.npy.")
    ] = None,
) -> None:
    """Launch a kernel on a GPU, and say what it did to its arguments.

    It is compiled for the GPU that is there, unless --target says otherwise.  The arguments are
    those of `tileas simulate`; with --bench each launch finds the cache of the GPU cold.
    """
    from tileas_xdsl.interpreters.ptx import LaunchError
    from tileas_xdsl.interpreters.tile.arguments import ArgumentError
    from tileas_xdsl.runtime.device import gpu
    from tileas_xdsl.runtime.driver import DriverError
    from tileas_xdsl.runtime.launching import target_of
    from tileas_xdsl.tools.deep_stack import with_deep_stack
    from tileas_xdsl.tools.programs import reported_errors
    from tileas_xdsl.tools.ptx_runs import PtxLaunch, compiled_program

    with reported_errors():
        try:
            chosen = gpu(device)
            name = target or target_of(chosen)
            launch = PtxLaunch(kernel, grid, None, None, name, 0, signature=sig)
            program = with_deep_stack(lambda: compiled_program(input_file, arg, launch))
            _run(program, chosen, bench, out)
        except (DriverError, LaunchError, ArgumentError) as error:
            fail(str(error))


def _run(program: CompiledProgram, device: Device, bench: bool, folder: Path | None) -> None:
    from tileas_xdsl.runtime.launching import Launcher, from_device
    from tileas_xdsl.runtime.timing import timed
    from tileas_xdsl.tools.array_table import Shown, print_arrays

    launcher = Launcher(program.kernel, device)
    args = [_on(device, argument.value, argument.name) for argument in program.arguments]
    launcher.launch(args, program.grid)
    device.synchronize()
    shown = [
        Shown(position, given.name, given.type, given.value, from_device(after))
        for position, (given, after) in enumerate(zip(program.arguments, args, strict=True))
        if after is not given.value
    ]
    facts = [("GPU", device.name), ("target", program.kernel.target)]
    if bench:
        timing = timed(lambda: launcher.launch(args, program.grid), device)
        facts.append(("time", str(timing)))
    if folder is not None:
        _write(folder, shown)
    print_facts(facts)
    print_arrays(shown)


def _on(device: Device, value: Any, name: str) -> Any:
    """An array on the GPU, any other value as it is."""
    from tileas_xdsl.runtime.launching import to_device

    return to_device(value, device, name) if getattr(value, "ndim", 0) else value


def _write(folder: Path, arrays: Any) -> None:
    from tileas_xdsl.tools.array_files import Drafts

    try:
        with Drafts() as drafts:
            for array in arrays:
                drafts.array(folder / f"arg{array.position}.npy", array.after)
    except OSError as error:
        fail(f"cannot write '{error.filename}': {error.strerror}")
