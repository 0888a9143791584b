"""Kernels of a PTX text with arguments of the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import Any, cast

import numpy as np

from tileas_xdsl.check.tensor_map_files import TensorMapFileError, read_tensor_map
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.inputs import read_input
from tileas_xdsl.diagnostics.parsing.sources import SourceText, remember_source
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.dialects.nv_tileas.element_names import canonical_name
from tileas_xdsl.executors import Workers
from tileas_xdsl.interpreters.ptx import (
    PtxError,
    PtxModule,
    TensorMapArg,
    load,
    run,
)
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.target.tma.tensor_map import SWIZZLES, TensorMap, tensor_map_element
from tileas_xdsl.tools.inputs.arguments import (
    ArraySpec,
    BindingError,
    FileSpec,
    ScalarSpec,
    SpecError,
    make_array,
    parse_spec,
)
from tileas_xdsl.tools.inputs.array_files import ArrayFileError, read_plain_array
from tileas_xdsl.tools.running.ptx_runs import Argument, OrderOfEvents, PtxLaunch, PtxRun, located
from tileas_xdsl.tools.running.scheduled_runs import Extents, Progress

_MAP = re.compile(r"map:(?P<argument>\d{1,4}):(?P<box>\d{1,4}(x\d{1,4})*)(:(?P<swizzle>\w+))?")


_MAP_FILE = "map:@"
"""Begins a tensor map that a file describes."""


_FLOATS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64"}
"""What numpy calls the floats that tensor maps know by name."""


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
