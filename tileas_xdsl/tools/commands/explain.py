"""`tileas explain`: why each buffer and loop of a `tl` kernel has its layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.kernel_options import CompileTargetOption

if TYPE_CHECKING:
    from tileas_xdsl.dialects.tl.kernel import KernelOp
    from tileas_xdsl.inference.decisions import Decisions
    from tileas_xdsl.inference.program import Program

_MODES = ("improved", "parity")


def _known_mode(name: str) -> str:
    if name not in _MODES:
        raise typer.BadParameter(f"'{name}' is no mode: {' or '.join(_MODES)}")
    return name


def explain(
    input_file: Annotated[str, typer.Argument(metavar="FILE", help="A module with tl kernels.")],
    target: CompileTargetOption = None,
    mode: Annotated[
        str, typer.Option(callback=_known_mode, help="improved, or parity with TileLang.")
    ] = "improved",
    svg: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Draw who owns what into this folder, a picture a buffer and loop."
        ),
    ] = None,
) -> None:
    """Explain for each buffer and loop of a tl kernel what fixed its layout, and the alternatives.

    If there is no layout, the error names the two accesses and an element that no thread can reach.
    """
    from tileas_xdsl.dialects.target_attribute import module_target
    from tileas_xdsl.inference.explanation import explanation
    from tileas_xdsl.tools.programs import load_program, reported_errors

    with reported_errors():
        module = load_program(input_file).module
        kernels = list(_kernels(module))
        if not kernels:
            fail(f"{input_file} has no tl.kernel")
        name = module_target(module, target).name
        found = [_laid_out(kernel, name, mode) for kernel in kernels]
    for number, (kernel, (program, decisions)) in enumerate(zip(kernels, found, strict=True)):
        name = _name(kernel)
        gap = "\n" if number else ""
        typer.echo(f"{gap}@{name}: mode {mode}, {explanation(program, decisions)}")
    if svg is not None:
        _draw(svg, [(_name(k), *each) for k, each in zip(kernels, found, strict=True)])


def _kernels(module: object) -> Iterator[KernelOp]:
    from xdsl.dialects.builtin import ModuleOp

    from tileas_xdsl.dialects.tl.kernel import KernelOp

    assert isinstance(module, ModuleOp)
    for op in module.walk():
        if isinstance(op, KernelOp):
            yield op


def _laid_out(kernel: KernelOp, target: str, mode: str) -> tuple[Program, Decisions]:
    from tileas_xdsl.transforms.tl_layout_inference import lay_out

    return lay_out(kernel, target, mode)


def _name(kernel: KernelOp) -> str:
    from xdsl.dialects import func

    parent = kernel.parent_op()
    return parent.sym_name.data if isinstance(parent, func.FuncOp) else "kernel"


def _draw(folder: Path, found: Sequence[tuple[str, Program, Decisions]]) -> None:
    from tileas_xdsl.diagnostics.outputs import write_output
    from tileas_xdsl.inference.explanation import pictures

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for kernel, program, decisions in found:
            for name, picture in pictures(program, decisions):
                path = folder / f"{kernel}-{name}.svg"
                write_output(str(path), picture)
                typer.echo(path)
    except OSError as error:
        fail(f"cannot draw into '{folder}': {error.strerror or error}")
