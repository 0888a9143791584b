"""`tileas-as`: Tile IR bytecode to machine code, with the command line of the public assembler.

    tileas-as kernel.tileirbc -o kernel.cubin --gpu-name sm_90 -O3 --lineinfo

A frontend of Tile IR that finds it under the name of that assembler (`tileiras`, first in PATH)
compiles here and launches as before: the cubin takes the parameters of the Tile IR entry, declares
its shared memory, and the driver reads the number of threads from it.

Source: `tileiras --help`, CUDA 13.5; how cuda-tile calls it.
"""

from __future__ import annotations

import sys
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.collection import collected_rarely_to_the_end
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.tools.failures import end_of_failure
from tileas_xdsl.tools.inputs.array_files import Drafts

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

PROGRAM = "tileas-as"

GPUS = {"sm_90": "sm_90a", "sm_100": "sm_100a", "sm_120": "sm_120a"}
"""By the name that the command line gives a GPU, the target: the one with all its instructions."""

BAD_USAGE, UNREADABLE, NO_BYTECODE = 2, 1, 3
"""Exit codes for a wrong option, a file that cannot be read, and one that is no bytecode."""

OPT_LEVELS = ("0", "1", "2", "3")
"""What `-O` takes, as ptxas does."""

HOST_ARCHITECTURES, HOST_SYSTEMS = ("x86_64", "aarch64"), ("linux", "windows")
"""What the public command line takes; the cubin is the same for all of them."""

MLIR_MAGIC = b"ML\xefR"
"""How a file of upstream MLIR bytecode begins (MLIR, "MLIR Bytecode Format")."""

_IGNORED = ("--remark-format", "--remarks", "--remarks-output-file")
"""Options with a value that change nothing about the code."""


@collected_rarely_to_the_end()
def main(arguments: Sequence[str] | None = None) -> None:
    """Assemble what the command line names; exit code 0 only if the cubin is written."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: Sequence[str]) -> int:
    """Assemble, report errors on stderr, and return the exit code."""
    options = _parser().parse_args(arguments)
    if options.version:
        sys.stdout.write(_version_text())
        return 0
    if options.list_versions:
        from tileas_xdsl.frontend.bytecode.layout import VERSIONS

        sys.stdout.write("".join(f"{known}\n" for known in VERSIONS))
        return 0
    if options.input is None or options.output is None:
        return _fail("an input file and an output file (-o) are needed", BAD_USAGE)
    if (problem := _wrong_option(options)) is not None:
        return _fail(problem, BAD_USAGE)
    return _assemble(options)


def _wrong_option(options: Namespace) -> str | None:
    """Say which option has a value that nothing can be assembled with; None if all are right."""
    if options.gpu not in GPUS:
        given = "and is not given" if options.gpu is None else f"not '{options.gpu}'"
        known = f"--gpu-name is one of {', '.join(GPUS)}, {given}"
        return f"{message('driver.unsupported_gpu_target')}\nnote: {known}"
    if options.opt_level not in OPT_LEVELS:
        return f"{message('driver.invalid_optimization_level')}: {options.opt_level}"
    if options.device_debug and options.opt_level != "0":
        return message("driver.optimized_debugging_unsupported_change")
    if options.host_arch not in (None, *HOST_ARCHITECTURES):
        return f"{message('driver.unsupported_host_architecture')}: {options.host_arch}"
    if options.host_os not in (None, *HOST_SYSTEMS):
        return f"{message('driver.unsupported_host_operating_system')}: {options.host_os}"
    return None


def _parser() -> ArgumentParser:
    parser = ArgumentParser(PROGRAM, description="Assemble Tile IR bytecode for a GPU.")
    parser.add_argument("input", nargs="?", metavar="FILE", help="Tile IR bytecode")
    parser.add_argument("-o", "--output-file", dest="output", help="the cubin to write")
    parser.add_argument("--gpu-name", "--arch", dest="gpu", help=f"one of {', '.join(GPUS)}")
    parser.add_argument("-O", "--opt-level", default="3", help="that of ptxas (default: 3)")
    parser.add_argument("--lineinfo", action="store_true", help="line numbers (always there)")
    parser.add_argument("-g", "--device-debug", action="store_true", help="ptxas' -g")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--list-versions", action="store_true", help="of the bytecode")
    for name in ("--host-arch", "--host-os", *_IGNORED):
        parser.add_argument(name, help=SUPPRESS)
    return parser


def _version_text() -> str:
    return f"{PROGRAM}: tileas_xdsl, an open Tile IR assembler\nrelease {version('tileas-xdsl')}\n"


def _assemble(options: Namespace) -> int:
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.frontend.bytecode.layout import is_bytecode

    try:
        content = Path(options.input).read_bytes()
    except OSError as error:
        return _fail(f"unable to read input file '{options.input}': {error.strerror}", UNREADABLE)
    if content.startswith(MLIR_MAGIC):
        return _fail(message("bytecode.input_not_correspond_tile"), NO_BYTECODE)
    if not is_bytecode(content):
        return _fail(message("driver.input_not_correspond_tile"), NO_BYTECODE)
    try:
        cubin = with_deep_stack(lambda: assembled(content, options.input, options))
    except DiagnosticError as error:
        sys.stderr.write("".join(f"{_located(found)}\n" for found in error.diagnostics))
        return 1
    except MissingToolError as error:
        return _fail(str(error), 1)
    except Exception as error:
        return end_of_failure(PROGRAM, error)
    try:
        _write(Path(options.output), cubin)
    except OSError as error:
        return _fail(f"unable to write '{options.output}': {error.strerror}", 1)
    return 0


def assembled(content: bytes, name: str, options: Namespace) -> bytes:
    """Return the cubin of a module of Tile IR bytecode, which may be empty; raises as `compile`."""
    from tileas_xdsl.backend.ptxas import assemble
    from tileas_xdsl.compiler import tile_ir_module

    target = GPUS[options.gpu]
    module = tile_ir_module(content, name)
    flags = [f"-O{options.opt_level}", *(["-g"] if options.device_debug else ["-lineinfo"])]
    made = assemble(standalone_ptx(module, target), target, options=flags, name=name, strict=False)
    return made.cubin


def standalone_ptx(module: ModuleOp, target: str) -> str:
    """Return PTX of all entries, whose parameters and grids are those of Tile IR.

    Who launches the cubin starts one CTA for each tile block, whatever `num_cta_in_cga` says.
    """
    from tileas_xdsl.backend.ptx.printer import ptx_text
    from tileas_xdsl.backend.ptx.standalone import merged
    from tileas_xdsl.compiler import compile
    from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp
    from tileas_xdsl.pipelines import PIPELINES

    passes = PIPELINES["tileas-to-standalone-ptx"].passes
    entries = [op for op in module.walk() if isinstance(op, EntryOp)]
    for entry in entries:
        if entry.optimization_hints is not None:
            entry.optimization_hints = entry.optimization_hints.without("num_cta_in_cga")
    names = [entry.sym_name.data for entry in entries]
    kernels = [compile(module, target=target, kernel=name, passes=passes) for name in names]
    size = max((kernel.abi.shared_bytes for kernel in kernels), default=0)
    return ptx_text(merged([kernel.module for kernel in kernels], size), target)


def _write(path: Path, content: bytes) -> None:
    """Write all of a file or nothing: a reader never sees half of it."""
    with Drafts() as drafts:
        drafts.bytes(path, content)


def _located(found: Diagnostic) -> str:
    """Return a diagnostic as the public assembler words it: `loc("file":L:C): error: TEXT`."""
    place = found.location
    where = "loc(unknown)" if place is None else f'loc("{place.file}":{place.line}:{place.column})'
    return f"{where}: {found.severity}: {found.text}"


def _fail(text: str, code: int) -> int:
    sys.stderr.write(f"error: {text}\n")
    return code


if __name__ == "__main__":
    main()
