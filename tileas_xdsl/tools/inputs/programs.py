"""Input modules of the commands: parsed and verified, with located errors."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

import typer
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.colours import painter
from tileas_xdsl.diagnostics.errors import ArgumentError, DiagnosticError
from tileas_xdsl.diagnostics.parsing.inputs import input_name, read_input
from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
from tileas_xdsl.diagnostics.report import Diagnostic, render
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.target_attribute import located_target
from tileas_xdsl.executors import ExecutorError
from tileas_xdsl.frontend.bytecode.layout import LATEST, V13_3, version_named
from tileas_xdsl.frontend.inputs import load_tile_ir, parse_input
from tileas_xdsl.frontend.kernel_files import split_reference
from tileas_xdsl.frontend.needed_packages import MissingPackageError
from tileas_xdsl.frontend.signature import ConstantParameter, Parameter, parse_signature
from tileas_xdsl.frontend.tilelang.traced.source import imports_tilelang
from tileas_xdsl.installed import registered_context
from tileas_xdsl.printing import module_text
from tileas_xdsl.target.arch import DEFAULT_TARGET
from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.inputs.arguments import BindingError

SIGNATURE_EXAMPLE = "for example --sig 'A: f16[?, ?], n: i32, tile=64'"
"""An array, a number and a constant."""


@dataclass(frozen=True)
class Program:
    """A module, the context it was parsed in, and the aliases of attributes its file defines."""

    module: ModuleOp
    ctx: Context
    aliases: Mapping[str, Attribute]
    parameters: Sequence[Parameter] | None = None
    """Those of a kernel of cuTile, which takes whole arrays."""
    tile_ir: ModuleOp | None = None
    """The Tile IR that the tiles were made of, if they were."""
    factory_arguments: Sequence[ConstantParameter] | None = None
    """Those that `--sig` gives the factory of a kernel of TileLang."""

    def text(self) -> str:
        """The module as MLIR."""
        return module_text(self.module, self.aliases, self.ctx.loaded_dialects)


def load_program(path: str) -> Program:
    """The module in a file; raises `DiagnosticError` if it is unreadable or not valid."""
    return program_of(read_input(path), input_name(path))


def load_tiles(path: str, target: str | None, signature: str | None) -> Program:
    """The module of an input as tiles, which Tile IR becomes for the target.

    Raises as `load_input`.
    """
    from tileas_xdsl.compilation.pass_execution import apply_pass
    from tileas_xdsl.compiler import tiles_of

    program = load_input(path, signature, target, None)
    tiles = tiles_of(
        program.module,
        located_target(program.module, target).name,
        lambda spec, module: apply_pass(spec, program.ctx, module),
    )
    if tiles is program.module:
        return program
    return replace(program, module=tiles, aliases={}, tile_ir=program.module)


def load_input(
    path: str, signature: str | None, target: str | None, version: str | None
) -> Program:
    """The module in a file, or that of a kernel of cuTile, `FILE.py:NAME`, with its signature.

    Bytecode before 13.3, and only that, is for the target alone.

    Raises as `load_program`, `UsageError` for a signature where none is needed or none where one
    is.
    """
    if split_reference(path) is None:
        if signature is not None:
            raise UsageError(f"--sig is for kernels of cuTile, and '{path}' is none")
        return load_program(path)
    if imports_tilelang(path):
        return _of_tilelang(path, signature, target)
    from tileas_xdsl.frontend.cutile.kernels import (
        in_order,
        load_kernel,
        parameter_names,
    )
    from tileas_xdsl.frontend.cutile.tile_ir import kernel_module

    chosen = LATEST if version is None else version_named(version)
    gpu = None if chosen >= V13_3 else (target or DEFAULT_TARGET).removesuffix("a")
    kernel = load_kernel(path)
    if signature is None:
        raise UsageError(
            "a kernel of cuTile needs --sig, the types of its parameters "
            f"{', '.join(parameter_names(kernel))}; {SIGNATURE_EXAMPLE}"
        )
    parameters = in_order(kernel, parse_signature(signature))
    module = kernel_module(kernel, parameters, version=chosen, gpu=gpu)
    verify_module(module)
    ctx = registered_context()
    load_tile_ir(ctx)
    return Program(module, ctx, {}, parameters)


def _of_tilelang(path: str, signature: str | None, target: str | None) -> Program:
    """The module of a kernel of TileLang; `--sig` has the arguments of its factory."""
    from tileas_xdsl.frontend.tilelang.traced.tracing import load_function, tilelang_module

    given = () if signature is None else parse_signature(signature)
    constants = [p for p in given if isinstance(p, ConstantParameter)]
    keywords = {p.name: p.value for p in constants}
    if len(constants) != len(given):
        raise UsageError("--sig of a kernel of TileLang has values alone: 'M=1024, N=1024'")
    function = load_function(path)
    module = tilelang_module(function, keywords=keywords, target=target or DEFAULT_TARGET)
    verify_module(module)
    return Program(module, registered_context(), {}, factory_arguments=constants)


def program_of(content: bytes, name: str) -> Program:
    """The module that text or bytecode contains; raises `DiagnosticError` if it is not valid."""
    ctx = registered_context()
    module, aliases = parse_input(ctx, content, name)
    verify_module(module)
    return Program(module, ctx, aliases)


def print_diagnostics(reports: Iterable[Diagnostic]) -> None:
    """Print diagnostics to stderr as `tileas-opt` does."""
    paint = painter(sys.stderr)
    typer.echo("".join(render(report, paint) for report in reports), err=True, nl=False)


@contextmanager
def reported_errors() -> Generator[None]:
    """Report errors of the user's input or command line, and exit."""
    try:
        yield
    except DiagnosticError as error:
        print_diagnostics(error.diagnostics)
        raise typer.Exit(1) from error
    except (BindingError, ArgumentError, MissingPackageError) as error:
        fail(str(error))
    except (UsageError, ExecutorError) as error:
        fail(str(error), 2)
