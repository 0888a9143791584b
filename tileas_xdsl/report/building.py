"""Put the report of a kernel together: compile it under watch, assemble it, run it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from itertools import pairwise

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.backend.nvidia_tools import find_tool
from tileas_xdsl.backend.ptxas import Assembled
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile_module, kernel_names
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.explanation.compilation.snapshots import LAID_OUT, PLANNED, Snapshots
from tileas_xdsl.explanation.facts import KernelFacts
from tileas_xdsl.explanation.kernel import kernel_facts
from tileas_xdsl.frontend.signature import Parameter
from tileas_xdsl.report.differences import Hunk, differences
from tileas_xdsl.report.layouts import LaidOutTile, LayoutCollector, fragments
from tileas_xdsl.report.levels import LevelText, Recorder
from tileas_xdsl.report.loops import LoopReport, loop_reports
from tileas_xdsl.report.roofline import draw_roofline
from tileas_xdsl.report.runs import (
    Arguments,
    Found,
    Runs,
    diagnosed,
    of_diagnostic,
    runs_of,
)
from tileas_xdsl.report.source_locations import ReadSource, SourceFile, line_of, locations_in


@dataclass(frozen=True)
class Subject:
    """The kernel that a report is about; of a module with several, the one that is named."""

    module: ModuleOp
    """Verified, of any level."""
    ctx: Context
    title: str
    """What the user calls it: its file."""
    target: str | None = None
    kernel: str | None = None
    parameters: Sequence[Parameter] | None = None
    """Those of a kernel of cuTile."""


@dataclass(frozen=True)
class Report:
    """All that the page shows."""

    title: str
    kernel: str
    target: str
    facts: Sequence[tuple[str, str]]
    files: Sequence[SourceFile]
    places: Sequence[Location]
    levels: Sequence[LevelText]
    changes: Sequence[Sequence[Hunk]]
    """By level: how it differs from the one before it."""
    layouts: Sequence[LaidOutTile]
    loops: Sequence[LoopReport]
    explained: KernelFacts | None
    """What bounds it and what it uses; None of a kernel that was refused."""
    roofline: str
    """SVG; empty where nothing is to be shown."""
    runs: Runs


@dataclass
class _Compilation:
    """What a watched compilation left."""

    recorder: Recorder
    layouts: LayoutCollector
    snapshots: Snapshots
    kernel: CompiledKernel | None = None
    assembled: Assembled | None = None
    findings: list[Found] = field(default_factory=list[Found])


def build_report(subject: Subject, read: ReadSource, arguments: Arguments | None) -> Report:
    """Compile a kernel and tell all about it; with arguments, run it too.

    A kernel that is refused has a report as well: of the passes that ran, and of the refusal.
    Raises `ArgumentError` and `LaunchError` for arguments that do not fit.
    """
    target = module_target(subject.module, subject.target).name
    made = _compiled(replace(subject, target=target))
    runs, explained = _runs(made, arguments), _explained(made, arguments)
    planned = made.snapshots.modules.get(PLANNED)
    loops = () if planned is None else loop_reports(planned, target)
    places = made.recorder.places
    places.numbers(locations_in([runs, explained, loops, list(made.layouts.found.values())]))
    files = places.files(read)
    by_name = {file.name: file for file in files}
    kernel = made.kernel
    return Report(
        subject.title,
        kernel.name if kernel else subject.kernel or kernel_names(subject.module)[0],
        target,
        _facts(made),
        files,
        places.places,
        made.recorder.levels,
        _changes(made.recorder.levels),
        [
            *fragments(subject.module, target),
            *made.layouts.tiles(lambda place: line_of(by_name, place)),
        ],
        loops,
        explained,
        "" if explained is None else draw_roofline(explained),
        runs,
    )


def _compiled(subject: Subject) -> _Compilation:
    layouts, snapshots = LayoutCollector(), Snapshots()
    recorder = Recorder(subject.ctx, watches=(layouts.watch, snapshots.keep))
    made = _Compilation(recorder, layouts, snapshots)
    recorder.begin(subject.module)
    try:
        kernel = compile_module(
            subject.module,
            subject.ctx,
            subject.target,
            kernel=subject.kernel,
            after_pass=recorder.after,
        )
        recorder.add_ptx(kernel.ptx)
        made.kernel = replace(kernel, parameters=subject.parameters)
        if find_tool("ptxas") is not None:
            made.assembled = kernel.assemble()
            recorder.add_sass(made.assembled.cubin)
            made.findings += [of_diagnostic("ptxas", one) for one in made.assembled.warnings]
    except DiagnosticError as error:
        made.findings += diagnosed("compiler", error)
    return made


def _runs(made: _Compilation, arguments: Arguments | None) -> Runs:
    runs = Runs()
    if made.kernel is None:
        runs.notes.append("The kernel was refused: nothing ran.")
    elif arguments is None:
        runs.notes.append("Nothing ran: with --grid and --arg the kernel runs on the interpreters.")
    else:
        runs = runs_of(made.kernel, made.snapshots.modules.get(LAID_OUT), arguments)
    runs.findings[:0] = made.findings
    return runs


def _explained(made: _Compilation, arguments: Arguments | None) -> KernelFacts | None:
    if made.kernel is None:
        return None
    grid = None if arguments is None else arguments.extents
    values = None if arguments is None else arguments.values
    return kernel_facts(made.kernel, snapshots=made.snapshots, grid=grid, arguments=values)


def _facts(made: _Compilation) -> Sequence[tuple[str, str]]:
    if made.kernel is None:
        return [("refused", made.findings[0].message)]
    abi, found = made.kernel.abi, made.assembled
    seconds = sum(stage.seconds for stage in made.kernel.stages)
    facts = [
        ("threads", str(abi.threads)),
        ("shared memory", f"{abi.shared_bytes} bytes"),
        ("passes", f"{len(made.kernel.stages)} in {seconds:.2f} s"),
    ]
    if abi.cluster != (1, 1, 1):
        facts.append(("cluster", "x".join(map(str, abi.cluster))))
    if found is not None:
        facts += [("registers", str(found.registers)), ("spills", f"{found.spills} bytes")]
    return facts


def _changes(levels: Sequence[LevelText]) -> Sequence[Sequence[Hunk]]:
    """How each level differs from the one before it; machine code is not compared."""
    pairs = pairwise(levels)
    found = [
        differences(old.lines, new.lines) if new.group != "machine code" else ()
        for old, new in pairs
    ]
    return [(), *found]
