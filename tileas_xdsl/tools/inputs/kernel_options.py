"""Options of the commands that run kernels; their texts are checked before anything is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isfinite, prod
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from tileas_xdsl.tools.inputs.arguments import Spec


class Grid(NamedTuple):
    """Extents in blocks."""

    x: int
    y: int
    z: int

    def __str__(self) -> str:
        """As the option takes it."""
        return f"{self.x},{self.y},{self.z}"


_FORM = "that is X, X,Y or X,Y,Z, of positive integers"
MODULE_SUFFIXES = (".mlir", ".tileirbc")
"""Of files with text and with bytecode."""

MAX_BLOCKS = 1 << 22
"""More than that would run for hours."""


def extents(text: str) -> Grid:
    """Parse `X[,Y[,Z]]`; anything else is a wrong command line."""
    parts = text.split(",")
    numbers = [int(p) for p in parts if p.isascii() and p.isdigit() and len(p) <= 10]
    if len(numbers) != len(parts) or len(parts) > 3 or 0 in numbers:
        raise typer.BadParameter(f"'{text}' are no extents: {_FORM}")
    if prod(numbers) > MAX_BLOCKS:
        raise typer.BadParameter(f"{text} are more than {MAX_BLOCKS} blocks")
    return Grid(*(*numbers, 1, 1)[:3])


def given_options(ctx: typer.Context, parameters: Iterable[str]) -> Iterator[str]:
    """Return the options of these parameters that are given on the command line."""
    for name in parameters:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            yield f"--{name.replace('_', '-')}"


def known_target(name: str | None) -> str | None:
    """The name of a target as we call it; an unknown one is a wrong command line."""
    from tileas_xdsl.target.arch import get_target
    from tileas_xdsl.target.errors import TargetError

    try:
        return None if name is None else get_target(name).name
    except TargetError as error:
        raise typer.BadParameter(str(error)) from None


def _targets(incomplete: str) -> list[str]:
    """The names of targets that begin so, for completion on a command line."""
    from tileas_xdsl.target.arch import TARGETS

    return [name for name in TARGETS if name.startswith(incomplete)]


def _specs(texts: list[str]) -> list[str]:
    for text in texts:
        _spec(text)
    return texts


def check_specs(texts: list[str]) -> list[str]:
    """Check arguments of a runnable kernel; a wrong one is a wrong command line."""
    from tileas_xdsl.tools.inputs.arguments import SpecError
    from tileas_xdsl.tools.running.ptx_text_programs import check_ptx_spec

    try:
        for text in texts:
            if text.startswith("map:"):
                check_ptx_spec(text)
            else:
                _spec(text)
    except SpecError as error:
        raise typer.BadParameter(str(error)) from None
    return texts


def _spec(text: str) -> Spec:
    from tileas_xdsl.tools.inputs.arguments import SpecError, parse_spec

    try:
        return parse_spec(text)
    except SpecError as error:
        raise typer.BadParameter(str(error)) from None


def parse_specs(texts: list[str]) -> list[Spec]:
    """Parse the `--arg` options."""
    return [_spec(text) for text in texts]


def _finite(number: float) -> float:
    if not isfinite(number):
        raise typer.BadParameter(f"{number} is no tolerance")
    return number


def _compilable_file(name: str) -> str:
    from tileas_xdsl.frontend.kernel_files import split_reference

    if split_reference(name) is not None or name.endswith(MODULE_SUFFIXES):
        return name
    if not name:
        raise typer.BadParameter("the name of the file is empty")
    raise typer.BadParameter(
        f"'{name}' is no .mlir file and no .tileirbc file, and no kernel FILE.py:NAME"
    )


def _runnable_file(name: str) -> str:
    return name if name.endswith(".ptx") else _compilable_file(name)


def _signature(text: str | None) -> str | None:
    from tileas_xdsl.frontend.signature import SignatureError, parse_signature

    try:
        if text is not None:
            parse_signature(text)
    except SignatureError as error:
        raise typer.BadParameter(str(error)) from None
    return text


def _bytecode_version(text: str | None) -> str | None:
    from tileas_xdsl.frontend.bytecode.layout import version_named

    try:
        return None if text is None else str(version_named(text))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


CompilableInput = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        callback=_compilable_file,
        help=(
            "An .mlir or .tileirbc file with a kernel, or FILE.py:NAME, one of cuTile or TileLang."
        ),
    ),
]
CuTileInput = Annotated[
    str,
    typer.Argument(
        metavar="INPUT", callback=_compilable_file, help="FILE.py:NAME, a kernel of cuTile."
    ),
]
RunnableInput = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        callback=_runnable_file,
        help=(
            "An .mlir, .tileirbc or .ptx file with a kernel, or FILE.py:NAME, one of cuTile or "
            "TileLang."
        ),
    ),
]
SignatureOption = Annotated[
    str | None,
    typer.Option(
        "--sig",
        metavar="SIGNATURE",
        callback=_signature,
        help="The types of the parameters of a cuTile kernel: 'A: f16[?, ?%8], n: i32, tile=64'. "
        "? is any extent, ?%8 a multiple of 8; arrays are packed, unless strides follow a "
        "semicolon. Of a TileLang kernel the arguments of its factory: 'M=1024, N=1024'.",
    ),
]
BytecodeVersionOption = Annotated[
    str | None,
    typer.Option(
        "--bytecode-version",
        callback=_bytecode_version,
        help="The version of Tile IR bytecode, 13.1 to 13.4; by default the newest.",
    ),
]
GridOption = Annotated[
    Grid, typer.Option("--grid", parser=extents, metavar="X[,Y[,Z]]", help="Blocks of the grid.")
]
OptionalGridOption = Annotated[
    Grid | None,
    typer.Option(
        "--grid",
        parser=extents,
        metavar="X[,Y[,Z]]",
        help="Blocks of the grid, if the kernel is to run.",
    ),
]
ClusterOption = Annotated[
    Grid | None,
    typer.Option(
        "--cluster",
        parser=extents,
        metavar="X[,Y[,Z]]",
        help="Blocks of a cluster, instead of what the kernel says.",
    ),
]
BlockOption = Annotated[
    Grid | None,
    typer.Option(
        "--block",
        parser=extents,
        metavar="X[,Y[,Z]]",
        help="With .ptx files: threads of a block, if the kernel does not say.",
    ),
]
DynamicSharedOption = Annotated[
    int, typer.Option(min=0, help="With .ptx files: bytes of dynamic shared memory.")
]
_ARG_HELP = (
    "The next argument of the kernel: @file.npy (the file stays as it is), an array "
    "f16:128x64:random[:NUMBER], or a scalar i32:128. Elements: f64 f32 tf32 f16 bf16 e4m3 "
    "e5m2 ue8m0 e2m3 e3m2 e2m1 i64 i32 i16 i8 i4 i1 index, and MLIR's names. Fills: random is "
    "uniform in [-1, 1) for floats, over all values for integers, below 2^31 for indices; "
    "normal is the standard normal distribution; iota counts 0, 1, 2, ... row by row; zeros; "
    "ones. random and normal take a number, by default the argument's position."
)
ArgOption = Annotated[
    list[str], typer.Option("--arg", metavar="SPEC", callback=_specs, help=_ARG_HELP)
]
RunnableArgOption = Annotated[
    list[str],
    typer.Option(
        "--arg",
        metavar="SPEC",
        callback=check_specs,
        help=f"{_ARG_HELP} Kernels of .ptx files take map:ARGUMENT:BOX[:SWIZZLE] too: a tensor map "
        "over an array before it.",
    ),
]
KernelOption = Annotated[
    str | None,
    typer.Option("--kernel", metavar="NAME", help="The function to run, if there are several."),
]
TargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        callback=known_target,
        autocompletion=_targets,
        show_default=False,
        help="The GPU, for example sm_90a; by default what the module names, else the first one "
        "that has the instructions.",
    ),
]
CompileTargetOption = Annotated[
    str | None,
    typer.Option(
        "--target",
        callback=known_target,
        autocompletion=_targets,
        show_default=False,
        help="The GPU that the kernel is for; by default what the module names, else sm_90a.",
    ),
]


def _known_executor(name: str | None) -> str | None:
    from tileas_xdsl.executors import ExecutorError, check_name

    try:
        check_name(name)
    except ExecutorError as error:
        raise typer.BadParameter(str(error)) from None
    return name


JobsOption = Annotated[
    int, typer.Option("--jobs", min=1, help="Processes that share the blocks of the grid.")
]
ExecutorOption = Annotated[
    str | None,
    typer.Option(
        "--executor",
        metavar="NAME",
        callback=_known_executor,
        help="What runs parts of the grid instead: processes[:COUNT], serial, or dask://HOST:PORT, "
        "a cluster.",
    ),
]
ToleranceOption = Annotated[
    float,
    typer.Option(
        "--tolerance",
        min=0.0,
        callback=_finite,
        help="Floats x and y agree if |x - y| <= TOLERANCE * max(1, |x|); 0: bit for bit, and "
        "NaN with NaN.",
    ),
]
SchedulesOption = Annotated[
    int | None,
    typer.Option(
        "--schedules",
        min=1,
        metavar="K",
        help="Run K schedules, which must agree: round robin, the adversarial one, random ones.",
    ),
]
