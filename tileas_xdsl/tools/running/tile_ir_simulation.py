"""`tileas simulate --level tileir`: what a kernel of Tile IR means, run and printed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.deep_stack import with_deep_stack
from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, element_of
from tileas_xdsl.frontend.signature import leaves
from tileas_xdsl.interpreters.cuda_tile.faults import UndefinedError
from tileas_xdsl.interpreters.cuda_tile.launch import Evaluation, entries_of, evaluate, find_entry
from tileas_xdsl.interpreters.tile.arguments import Parameter
from tileas_xdsl.runtime.arguments.cutile_arguments import held, restored
from tileas_xdsl.tools.console import print_facts, print_text
from tileas_xdsl.tools.inputs.arguments import bind_arguments, parse_spec
from tileas_xdsl.tools.inputs.array_table import Shown, print_arrays, write_arrays
from tileas_xdsl.tools.inputs.cutile_parameters import bound, shown
from tileas_xdsl.tools.inputs.programs import load_input, print_diagnostics
from tileas_xdsl.tools.running.scheduled_runs import Extents


@dataclass(frozen=True)
class _Launch:
    """A kernel of Tile IR with the arguments of the command line."""

    module: ModuleOp
    kernel: str
    parameters: Sequence[Parameter]
    values: Sequence[Any]
    signature: Any

    def run(self, grid: Extents) -> Evaluation:
        """One run; of a kernel of cuTile with whole arrays."""
        if self.signature is None:
            return evaluate(self.module, self.values, kernel=self.kernel, grid=grid)
        flat = held(self.signature, self.values)
        found = evaluate(self.module, flat, kernel=self.kernel, grid=grid)
        arrays = restored(self.signature, self.values, found.arrays)
        return Evaluation(arrays, found.operations, found.blocks, found.printed)


def run_tile_ir(
    path: str,
    specs: Sequence[str],
    kernel: str | None,
    signature: str | None,
    grid: Extents,
    folder: Path | None,
) -> None:
    """Run the kernel of a file; arrays go to `folder`.

    Raises `DiagnosticError`, `BindingError`, and `UsageError` for an input that is no Tile IR.
    """
    launch = with_deep_stack(lambda: _prepared(path, specs, kernel, signature))
    start = time.perf_counter()
    try:
        found = with_deep_stack(lambda: launch.run(grid))
    except UndefinedError as error:
        print_text(error.printed)
        print_diagnostics(error.diagnostics)
        raise typer.Exit(1) from error
    seconds = time.perf_counter() - start
    arrays = _arrays(launch, found)
    if folder is not None:
        write_arrays(folder, arrays)
    print_text(found.printed)
    print_facts(
        [
            ("blocks", str(found.blocks)),
            ("operations", str(found.operations)),
            ("wall time", f"{seconds:.3f} s"),
        ]
    )
    print_arrays(arrays)


def _prepared(
    path: str, specs: Sequence[str], kernel: str | None, signature: str | None
) -> _Launch:
    program = load_input(path, signature, None, None)
    if not entries_of(program.module):
        raise UsageError(
            f"--level tileir is for Tile IR and kernels of cuTile, and '{path}' is none"
        )
    entry, given = find_entry(program.module, kernel), [parse_spec(text) for text in specs]
    if program.parameters is None:
        parameters = parameters_of(entry)
        values = bind_arguments(given, parameters)
    else:
        parameters = [shown(parameter) for parameter in leaves(program.parameters)]
        values = bound(program.parameters, given)
    return _Launch(program.module, entry.sym_name.data, parameters, values, program.parameters)


def parameters_of(entry: EntryOp) -> Sequence[Parameter]:
    """The parameters of a kernel: a pointer takes an array of any length."""
    found: list[Parameter] = []
    for argument in entry.body.block.args:
        element, name = element_of(argument.type), argument.name_hint or ""
        if isinstance(element, PtrType):
            extents = (DYNAMIC_INDEX,)
            found.append(Parameter(name, element, element.pointee, extents, fixes_extents=False))
        else:
            found.append(Parameter(name, element, element))
    return found


def _arrays(launch: _Launch, found: Evaluation) -> Sequence[Shown]:
    pairs = zip(launch.parameters, launch.values, found.arrays, strict=True)
    return [
        Shown(n, parameter.name, str(parameter.type), np.asarray(before), np.asarray(after))
        for n, (parameter, before, after) in enumerate(pairs)
        if parameter.shape is not None
    ]
