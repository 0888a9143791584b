"""`tileas run`: compile a kernel, launch it on a GPU, and show how its arguments changed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tileas_xdsl.tools.console import fail, print_facts
from tileas_xdsl.tools.inputs.kernel_options import (
    BlockOption,
    ClusterOption,
    DynamicSharedOption,
    GridOption,
    KernelOption,
    RunnableArgOption,
    RunnableInput,
    SignatureOption,
    TargetOption,
)

if TYPE_CHECKING:
    from tileas_xdsl.runtime.gpu.device import Device
    from tileas_xdsl.tools.running.ptx_runs import CompiledProgram, PtxLaunch


def run(
    input_file: RunnableInput,
    grid: GridOption,
    arg: RunnableArgOption = [],  # noqa: B006
    kernel: KernelOption = None,
    sig: SignatureOption = None,
    target: TargetOption = None,
    cluster: ClusterOption = None,
    block: BlockOption = None,
    shared: DynamicSharedOption = 0,
    device: Annotated[int, typer.Option(min=0, help="Which GPU.")] = 0,
    bench: Annotated[
        bool, typer.Option("--bench", help="Launch it many times too, and say how long it takes.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every array as DIR/arg<N>.npy.")
    ] = None,
) -> None:
    """Launch a kernel on a GPU, and show how its arguments changed.

    It is compiled for the installed GPU unless --target names another.  The arguments are those of
    `tileas simulate`; with --bench each launch starts with a cold L2 cache.
    """
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.diagnostics.errors import ArgumentError
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
    from tileas_xdsl.interpreters.ptx import LaunchError
    from tileas_xdsl.runtime.gpu.device import gpu
    from tileas_xdsl.runtime.gpu.driver import DriverError
    from tileas_xdsl.runtime.kernel_launcher import target_of
    from tileas_xdsl.tools.inputs.programs import reported_errors
    from tileas_xdsl.tools.running.ptx_runs import PtxLaunch, compiled_program

    is_text = input_file.endswith(".ptx")
    with reported_errors():
        _refuse(is_text, arg, {"--block": block, "--cluster": cluster, "--shared": shared})
        if is_text and sig is not None:
            raise UsageError("--sig has no meaning with .ptx files")
        try:
            chosen = gpu(device)
            if is_text:
                launch = PtxLaunch(kernel, grid, block, cluster, target, shared)
                _run_text(input_file, arg, launch, chosen, bench, out)
                return
            name = target or target_of(chosen)
            launch = PtxLaunch(kernel, grid, None, None, name, 0, signature=sig)
            program = with_deep_stack(lambda: compiled_program(input_file, arg, launch))
            _run(program, chosen, bench, out)
        except (DriverError, LaunchError, ArgumentError) as error:
            fail(str(error))


def _refuse(is_text: bool, specs: list[str], given: dict[str, object]) -> None:
    """Options that only kernels of `.ptx` files have."""
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError

    wrong = [name for name, value in given.items() if value]
    wrong += ["--arg map:"] if any(spec.startswith("map:") for spec in specs) else []
    if wrong and not is_text:
        raise UsageError(f"{wrong[0]} has a meaning with .ptx files only")


def _run_text(
    path: str,
    specs: list[str],
    launch: PtxLaunch,
    device: Device,
    bench: bool,
    folder: Path | None,
) -> None:
    from tileas_xdsl.diagnostics.parsing.inputs import read_input
    from tileas_xdsl.runtime.gpu.timing import timed
    from tileas_xdsl.runtime.ptx_launcher import TextLauncher
    from tileas_xdsl.tools.inputs.array_table import Shown, print_arrays, write_arrays
    from tileas_xdsl.tools.running.ptx_text_programs import text_program

    program = text_program(path, specs, launch)
    text = read_input(path).decode()
    launcher = TextLauncher(text, program.module, device, program.kernel, program.shared)
    values = [argument.value for argument in program.arguments]
    prepared = launcher.prepare(values, program.grid, program.block, program.cluster)
    prepared.start()
    results = prepared.results()
    facts = [("GPU", device.name), ("target", program.module.target)]
    if bench:
        facts.append(("time", str(timed(prepared.start, device))))
    shown = [
        Shown(position, given.name, given.type, given.value, after)
        for position, (given, after) in enumerate(zip(program.arguments, results, strict=True))
        if after is not None and getattr(given.value, "ndim", 0)
    ]
    if folder is not None:
        write_arrays(folder, shown)
    print_facts(facts)
    print_arrays(shown)


def _run(program: CompiledProgram, device: Device, bench: bool, folder: Path | None) -> None:
    from tileas_xdsl.runtime.gpu.array_copies import from_device
    from tileas_xdsl.runtime.gpu.timing import timed
    from tileas_xdsl.runtime.kernel_launcher import Launcher
    from tileas_xdsl.tools.inputs.array_table import Shown, print_arrays, write_arrays

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
        write_arrays(folder, shown)
    print_facts(facts)
    print_arrays(shown)


def _on(device: Device, value: Any, name: str) -> Any:
    """An array on the GPU, any other value as it is."""
    from tileas_xdsl.runtime.gpu.array_copies import to_device

    return to_device(value, device, name) if getattr(value, "ndim", 0) else value
