"""Kernels at the level of PTX: compiled from tiles or read as text, run under several orders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from tileas_xdsl.check.tensor_map_files import TensorMapFileError, read_tensor_map
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.inputs import read_input
from tileas_xdsl.diagnostics.parsing.sources import SourceText, remember_source
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic
from tileas_xdsl.dialects.nv_tileas.element_names import canonical_name
from tileas_xdsl.executors import Workers
from tileas_xdsl.frontend.signature import leaves
from tileas_xdsl.interpreters.ptx import (
    Finding,
    LaunchError,
    PtxError,
    PtxModule,
    TensorMapArg,
    load,
    run,
)
from tileas_xdsl.interpreters.ptx.execution.state import SEEDED, Order, order_of_run
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.runtime.array_comparison import first_difference
from tileas_xdsl.target.tma.tensor_map import SWIZZLES, TensorMap, tensor_map_element
from tileas_xdsl.tools.console import print_text
from tileas_xdsl.tools.inputs.arguments import (
    ArraySpec,
    BindingError,
    FileSpec,
    ScalarSpec,
    SpecError,
    bind_arguments,
    make_array,
    parse_spec,
)
from tileas_xdsl.tools.inputs.array_files import ArrayFileError, read_plain_array
from tileas_xdsl.tools.inputs.cutile_parameters import bound, shown
from tileas_xdsl.tools.running.scheduled_runs import Bar, Extents, Progress

_MAP = re.compile(r"map:(?P<argument>\d{1,4}):(?P<box>\d{1,4}(x\d{1,4})*)(:(?P<swizzle>\w+))?")

_MAP_FILE = "map:@"
"""Begins a tensor map that a file describes."""

_FLOATS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
"""What numpy calls the floats that tensor maps know by name."""

MAX_FINDINGS = 5
"""Number of findings of a run that are printed in full."""


class OrderOfEvents(NamedTuple):
    """When asynchronous operations complete, and whether warps fall behind."""

    order: Order
    seed: int = 0

    def __str__(self) -> str:
        """The run that the options specify."""
        return f"--order {self.order}" + (f" --seed {self.seed}" if self.order in SEEDED else "")


def orders_of(count: int, seed: int) -> Sequence[OrderOfEvents]:
    """`count` orders: at once, as late as possible, then random ones from `seed` on, with warps
    that fall behind in every other one."""
    fixed = (OrderOfEvents("eager"), OrderOfEvents("lazy"))
    others = (OrderOfEvents(order_of_run(n + 2), seed + n) for n in range(count - 2))
    return (*fixed, *others)[:count]


@dataclass(frozen=True)
class Argument:
    """An argument of a launch: its name, type and value."""

    name: str
    type: str
    value: Any


@dataclass(frozen=True)
class PtxRun:
    """What a run left in its arguments, and what was found."""

    values: Sequence[Any]
    findings: Sequence[Finding]
    instructions: int
    printed: str = ""


class PtxProgram(Protocol):
    """Something that runs as PTX."""

    @property
    def arguments(self) -> Sequence[Argument]:
        """Its arguments before a run."""
        ...

    def run(
        self, order: OrderOfEvents, jobs: Workers, progress: Progress | None, limit: float = inf
    ) -> PtxRun:
        """One run; raises `LaunchError` or `PtxError`."""
        ...


@dataclass(frozen=True)
class PtxLaunch:
    """How the command line launches a kernel as PTX; `shared` is bytes."""

    kernel: str | None
    grid: Extents
    block: Extents | None
    cluster: Extents | None
    target: str | None
    shared: int
    host_code: bool = False
    """Of a kernel of tiles: whether compiled host code encodes its tensor maps."""
    signature: str | None = None
    """Of a kernel of cuTile."""


# A kernel of tiles, compiled.


@dataclass(frozen=True)
class CompiledProgram:
    """A kernel of tiles that was compiled, with its arguments."""

    kernel: Any
    grid: Extents
    arguments: Sequence[Argument]

    def run(
        self, order: OrderOfEvents, jobs: Workers, progress: Progress | None, limit: float = inf
    ) -> PtxRun:
        """One run of its PTX."""
        found = self.kernel.emulate(
            *(argument.value for argument in self.arguments),
            grid=self.grid,
            order=order.order,
            seed=order.seed,
            jobs=jobs,
            progress=progress,
            limit=limit,
        )
        return PtxRun(found.arrays, found.findings, found.instructions, found.printed)


def compiled_program(path: str, specs: Sequence[str], launch: PtxLaunch) -> CompiledProgram:
    """Compile the kernel of a file; raises `DiagnosticError`, `BindingError`."""
    from tileas_xdsl.compiler import compile_module
    from tileas_xdsl.interpreters.tile.launch import find_kernel
    from tileas_xdsl.runtime.arguments.view_arguments import parameters_of
    from tileas_xdsl.tools.inputs.programs import load_tiles

    program = load_tiles(path, launch.target, launch.signature)
    given, signature = [parse_spec(text) for text in specs], program.parameters
    if signature is None:
        parameters = parameters_of(find_kernel(program.module, launch.kernel))
        values = bind_arguments(given, parameters)
    else:
        parameters, values = [shown(p) for p in leaves(signature)], bound(signature, given)
    made = compile_module(
        program.module,
        program.ctx,
        launch.target,
        kernel=launch.kernel,
        host_code=launch.host_code,
    )
    arguments = [
        Argument(parameter.name, str(parameter.type), value)
        for parameter, value in zip(parameters, values, strict=True)
    ]
    return CompiledProgram(
        replace(made, parameters=signature, tile_ir=program.tile_ir), launch.grid, arguments
    )


# PTX text.


@dataclass(frozen=True)
class TextProgram:
    """A kernel of a PTX text, with its arguments."""

    module: PtxModule
    kernel: str | None
    grid: Extents
    block: Extents | None
    cluster: Extents | None
    target: str | None
    shared: int
    arguments: Sequence[Argument]
    text: str

    def run(
        self, order: OrderOfEvents, jobs: Workers, progress: Progress | None, limit: float = inf
    ) -> PtxRun:
        """One run."""
        report = run(
            self.module,
            self.kernel,
            [argument.value for argument in self.arguments],
            self.grid,
            self.block,
            self.cluster,
            target=self.target,
            dynamic_shared=self.shared,
            order=order.order,
            seed=order.seed,
            jobs=jobs,
            progress=progress,
            limit=limit,
        )
        pairs = zip(self.arguments, report.arrays, strict=True)
        after = [_after(argument.value, array) for argument, array in pairs]
        return PtxRun(after, report.findings, report.instructions, report.printed)


def _after(value: Any, array: Array | None) -> Any:
    """What an argument is after a run; what a tensor map describes is another argument."""
    if isinstance(value, TensorMapArg):
        return 0
    return value if array is None else array


def text_program(path: str, specs: Sequence[str], launch: PtxLaunch) -> TextProgram:
    """The kernel of a `.ptx` file; raises `DiagnosticError` for the file, `BindingError`."""
    try:
        text = read_input(path).decode("utf-8")
        remember_source(SourceText(path, text))
        module = load(text, path)
    except PtxError as error:
        raise located(error) from error
    except UnicodeDecodeError as error:
        place = Location(path, 1, 1)
        raise DiagnosticError(diagnostic(Severity.ERROR, "the file is no text", place)) from error
    values: list[Any] = []
    for position, spec in enumerate(specs):
        values.append(_value(position, spec, values))
    names = _names(module, launch.kernel, len(values))
    arguments = [
        Argument(name, _type_name(value), value) for name, value in zip(names, values, strict=True)
    ]
    return TextProgram(
        module,
        launch.kernel,
        launch.grid,
        launch.block,
        launch.cluster,
        launch.target,
        launch.shared,
        arguments,
        text,
    )


def _names(module: PtxModule, kernel: str | None, count: int) -> Sequence[str]:
    """Names of the parameters, as far as they are known here; a launch reports what is wrong."""
    kernels = module.kernels
    entry = kernels.get(kernel or next(iter(kernels), ""))
    names = [] if entry is None else [parameter.name for parameter in entry.parameters]
    return [*names, *("" for _ in range(count))][:count]


def _type_name(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(cast("Array", value).dtype)
    return type(value).__name__


def check_ptx_spec(text: str) -> None:
    """Raise `SpecError` unless `text` is an argument of a PTX kernel."""
    if not text.startswith("map:"):
        parse_spec(text)
        return
    if text.startswith(_MAP_FILE):
        return
    found = _MAP.fullmatch(text)
    if found is None:
        raise SpecError(
            f"'{text}' is no tensor map: that is map:ARGUMENT:BOX[:SWIZZLE] or map:@FILE.json"
        )
    if (found["swizzle"] or "none") not in SWIZZLES:
        known = ", ".join(SWIZZLES)
        raise SpecError(f"'{text}': unknown swizzle '{found['swizzle']}'; known: {known}")


def _value(position: int, text: str, before: Sequence[Any]) -> Any:
    if text.startswith(_MAP_FILE):
        return _map_of_file(position, text.removeprefix(_MAP_FILE))
    if text.startswith("map:"):
        return _tensor_map(position, text, before)
    match parse_spec(text).meaning:
        case ArraySpec() as spec:
            return make_array(spec, position)
        case ScalarSpec() as spec:
            return spec.value
        case FileSpec() as spec:
            return _file(position, spec.path)


def _file(position: int, path: str) -> Array:
    try:
        return read_plain_array(path)
    except ArrayFileError as error:
        raise BindingError(f"argument {position}: {error}") from error


def _map_of_file(position: int, path: str) -> TensorMapArg:
    """A tensor map of a saved launch, over an array of its own."""
    try:
        made, array = read_tensor_map(Path(path))
        return TensorMapArg(made, _value(position, array, ()))
    except (TensorMapFileError, SpecError) as error:
        raise BindingError(f"argument {position}: {error}") from error


def _tensor_map(position: int, text: str, before: Sequence[Any]) -> TensorMapArg:
    """A tensor map over an array that an earlier argument gives."""
    found = _MAP.fullmatch(text)
    assert found is not None, "the text was checked"
    where = f"argument {position}, '{text}'"
    number = int(found["argument"])
    array = before[number] if number < len(before) else None
    if not isinstance(array, np.ndarray):
        raise BindingError(f"{where}: argument {number} is no array before it")
    data = cast("Array", array)
    box = tuple(int(extent) for extent in found["box"].split("x"))
    if len(box) != data.ndim:
        raise BindingError(f"{where}: the array has rank {data.ndim}, the box {len(box)}")
    name = canonical_name(_FLOATS.get(str(data.dtype), str(data.dtype)))
    element = tensor_map_element(name, 8 * data.dtype.itemsize)
    if element is None:
        raise BindingError(f"{where}: tensor maps have no elements {data.dtype}")
    made = TensorMap(
        element,
        0,
        tuple(reversed(data.shape)),
        tuple(reversed(data.strides))[1:],
        tuple(reversed(box)),
        swizzle=found["swizzle"] or "none",
    )
    return TensorMapArg(made, data)


# Runs.


def run_all(
    program: PtxProgram, orders: Sequence[OrderOfEvents], tolerance: float, jobs: Workers, bar: Bar
) -> PtxRun:
    """The first run; all must find nothing and leave the same.

    Raises `DiagnosticError` with what was found, or where two orders differ.
    """
    first: PtxRun | None = None
    for order in orders:
        found = run_once(program, order, jobs, bar)
        failures = [finding for finding in found.findings if finding.severity.fails]
        if failures:
            print_text(found.printed)
            raise DiagnosticError(*_diagnostics(failures, order))
        first = first or found
        different = first_difference(first.values, found.values, tolerance)
        if different is not None:
            name = program.arguments[different.argument].name
            message = f"'{name}' depends on the order: {different} ({orders[0]} and {order})"
            raise DiagnosticError(diagnostic(Severity.ERROR, message))
    assert first is not None
    return first


def run_once(
    program: PtxProgram, order: OrderOfEvents, jobs: Workers, bar: Bar, limit: float = inf
) -> PtxRun:
    """Run a program under one order; raises `DiagnosticError` and `BindingError`."""
    try:
        return program.run(order, jobs, bar(str(order)), limit)
    except PtxError as error:
        raise located(error) from error
    except LaunchError as error:
        raise BindingError(str(error)) from error


def located(error: PtxError) -> DiagnosticError:
    """An error of the emulator as ours."""
    place = Location(error.path, error.line, error.column)
    return DiagnosticError(diagnostic(Severity.ERROR, error.message, place))


def _diagnostics(findings: Sequence[Finding], order: OrderOfEvents) -> Sequence[Diagnostic]:
    """The first findings in full; the last line has their number, and how to repeat the run."""
    shown = [_diagnostic(finding) for finding in findings[:MAX_FINDINGS]]
    more = len(findings) - len(shown)
    tail = f"{more} more findings; " if more else ""
    end = note(shown[-1].location, f"{tail}found with {order}")
    return [*shown[:-1], replace(shown[-1], notes=(*shown[-1].notes, end))]


def _diagnostic(finding: Finding) -> Diagnostic:
    place = Location(finding.path, finding.line, max(1, finding.column))
    notes = [note(place, line) for line in finding.notes]
    message = f"{finding.message} [{finding.kind}]"
    return diagnostic(Severity.ERROR, message, place, notes=notes)
