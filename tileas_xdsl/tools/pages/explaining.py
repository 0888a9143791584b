"""What `tileas explain` reads and compiles, before there is anything to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile_module, kernel_names
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.target_attribute import located_target
from tileas_xdsl.explanation.bounds.accesses import INSTRUCTIONS, merged
from tileas_xdsl.explanation.bounds.executed_loops import executed_code
from tileas_xdsl.explanation.compilation.line_history import LineChange, line_changes, lines_of
from tileas_xdsl.explanation.compilation.snapshots import Snapshots
from tileas_xdsl.explanation.facts import KernelFacts
from tileas_xdsl.explanation.kernel import kernel_facts
from tileas_xdsl.explanation.ptx.assembly import ptx_assembly, target_of
from tileas_xdsl.explanation.ptx.kernels import PtxKernelFacts, ptx_kernel_facts
from tileas_xdsl.explanation.refused.refusals import Refusal, refusal
from tileas_xdsl.interpreters.ptx import LaunchError, PtxError, run
from tileas_xdsl.interpreters.ptx.launch import pick_kernel
from tileas_xdsl.interpreters.ptx.parsing.syntax import Kernel, PtxModule
from tileas_xdsl.interpreters.tile.launch import find_kernel
from tileas_xdsl.runtime.arguments.view_arguments import parameters_of
from tileas_xdsl.target.arch import shared_memory_of
from tileas_xdsl.tools.inputs.arguments import BindingError, bind_arguments
from tileas_xdsl.tools.inputs.cutile_parameters import bound
from tileas_xdsl.tools.inputs.kernel_options import Grid, parse_specs
from tileas_xdsl.tools.inputs.programs import Program
from tileas_xdsl.tools.inputs.smaller_programs import variants_of
from tileas_xdsl.tools.running.ptx_runs import PtxLaunch, located
from tileas_xdsl.tools.running.ptx_text_programs import TextProgram, text_program


class RefusedError(Exception):
    """A kernel that does not compile, with its explanation."""

    def __init__(self, error: DiagnosticError, explained: Refusal) -> None:
        super().__init__(str(error))
        self.error = error
        self.explained = explained


SHARED_MARGIN = 8 << 10
"""Bytes of shared memory that alignment of variables may take."""


@dataclass(frozen=True)
class Request:
    """What the command line asks for."""

    path: str
    kernel: str | None
    target: str | None
    grid: Grid | None
    specs: Sequence[str]


def explained(program: Program, request: Request) -> Sequence[KernelFacts]:
    """Return the facts of the kernels of a program; raises `RefusedError` at the first refused."""
    names = [request.kernel] if request.kernel else kernel_names(program.module)
    return [_explained(program, request, name) for name in names]


def _explained(program: Program, request: Request, name: str) -> KernelFacts:
    snapshots = Snapshots()
    try:
        made = compile_module(
            program.module, program.ctx, request.target, kernel=name, after_pass=snapshots.keep
        )
    except DiagnosticError as error:
        target = located_target(program.module, request.target)
        variants = variants_of(program, request.path, name, target.name)
        found = refusal(error, program.module, snapshots, target, variants)
        raise RefusedError(error, found) from error
    compiled = replace(made, parameters=program.parameters)
    arguments = _arguments(compiled, request.specs) if request.specs else None
    return kernel_facts(compiled, snapshots=snapshots, grid=request.grid, arguments=arguments)


def _arguments(compiled: CompiledKernel, specs: Sequence[str]) -> Sequence[Any]:
    """The arguments of a launch; raises `BindingError` where they do not fit the kernel."""
    given = parse_specs(list(specs))
    if compiled.parameters is not None:
        return bound(compiled.parameters, given)
    return bind_arguments(given, parameters_of(find_kernel(compiled.source, compiled.name)))


def changes_of_line(
    program: Program, request: Request, line: int
) -> tuple[Location, Sequence[LineChange]]:
    """Return the place of a line of the input, and what passes made of it.

    Raises `UsageError` for a line that nothing comes from.
    """
    names = [request.kernel] if request.kernel else kernel_names(program.module)
    lines: set[int] = set()
    for name in names:
        made = compile_module(program.module, program.ctx, request.target, kernel=name)
        for file, known in sorted(lines_of(made)):
            lines.add(known)
            if known == line:
                return Location(file, line, 1), list(line_changes(made, file, line))
    said = ", ".join(map(str, sorted(lines)))
    raise UsageError(f"nothing of the kernel comes from line {line}; there are {said}")


def explained_ptx(request: Request) -> Sequence[PtxKernelFacts]:
    """Return what a PTX text says of its kernels; of accesses, if there are arguments.

    Raises `DiagnosticError` and `BindingError`.
    """
    launch = PtxLaunch(request.kernel, request.grid or (1, 1, 1), None, None, request.target, 0)
    program = text_program(request.path, request.specs, launch)
    try:
        return list(_explained_ptx(program, request))
    except LaunchError as error:
        raise BindingError(str(error)) from error
    except PtxError as error:
        raise located(error) from error


def _explained_ptx(program: TextProgram, request: Request) -> Iterator[PtxKernelFacts]:
    module = program.module
    if request.grid is None:
        names = [request.kernel] if request.kernel else list(module.kernels)
        unknown = "say --grid, and --arg for each parameter"
        for name in names:
            entry = pick_kernel(module, name)
            found = ptx_assembly(program.text, entry, request.path)
            yield ptx_kernel_facts(module, entry, (), unknown, found)
        return
    entry = pick_kernel(module, request.kernel)
    ran = run(
        module,
        entry.name,
        [argument.value for argument in program.arguments],
        request.grid,
        target=request.target,
        dynamic_shared=_dynamic_shared(module, entry),
        checks=False,
        limit=INSTRUCTIONS,
        count_accesses=1,
    )
    found = ptx_assembly(program.text, entry, request.path)
    assert ran.counter is not None
    loops = executed_code(ran.counter, target_of(program.text)).loops
    yield ptx_kernel_facts(module, entry, merged(ran.accesses), "there are none", found, loops)


def _dynamic_shared(module: PtxModule, entry: Kernel) -> int:
    """Return bytes for shared variables whose size a launch gives: all that is left."""
    shared = [v for v in (*module.variables, *entry.variables) if v.space == "shared"]
    is_open = any(variable.extern or not variable.size for variable in shared)
    left = shared_memory_of(module.target) - sum(variable.size for variable in shared)
    return max(left - SHARED_MARGIN, 0) if is_open else 0
