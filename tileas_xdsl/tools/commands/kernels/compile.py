"""`tileas compile`: a kernel to IR of threads, PTX or machine code."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tileas_xdsl.tools.console import fail
from tileas_xdsl.tools.inputs.kernel_options import (
    BytecodeVersionOption,
    CompilableInput,
    CompileTargetOption,
    KernelOption,
    SignatureOption,
    given_options,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.utils.arg_spec import ArgSpec

    from tileas_xdsl.backend.ptxas import Assembled
    from tileas_xdsl.compiler import CompiledKernel, CompiledModule, Stage
    from tileas_xdsl.tools.inputs.programs import Program


SPIN = 8
"""A loop of so few instructions only waits for a barrier."""


class Persistent(StrEnum):
    """Whether CTAs take one tile block after another."""

    AUTO = "auto"
    ON = "on"
    OFF = "off"
    DYNAMIC = "dynamic"


class Emit(StrEnum):
    """What is written."""

    CUDA_TILE = "cuda_tile"
    BYTECODE = "bytecode"
    IR = "ir"
    PTX = "ptx"
    CUBIN = "cubin"


_SOURCES = (Emit.CUDA_TILE, Emit.BYTECODE)
"""What is written of the kernel as it was read."""
_BINARIES = (Emit.BYTECODE, Emit.CUBIN)

_BY_SUFFIX = {".cubin": Emit.CUBIN, ".ptx": Emit.PTX, ".tileirbc": Emit.BYTECODE}
"""What a file holds by how its name ends."""


EmitOption = Annotated[
    Emit | None,
    typer.Option(
        help="The kernel as it is read, as text or as Tile IR bytecode; the IR after the last "
        "pass, PTX, or what ptxas makes of it.  By default what the name of the file says "
        "(.cubin, .ptx, .tileirbc), else PTX."
    ),
]
OutOption = Annotated[
    str, typer.Option("-o", "--out", metavar="FILE", help="The file to write; - is stdout.")
]
PassesOption = Annotated[
    str | None,
    typer.Option(
        "-p",
        "--passes",
        metavar="PASSES",
        help="The passes, or a pipeline; without it those that lower such a kernel to PTX.",
    ),
]
PersistentOption = Annotated[
    Persistent,
    typer.Option(
        help="Whether CTAs take one tile block after another, as many as run at once, which a "
        "launch passes the grid to (tileas-make-persistent): where that pays, where it can be, "
        "or never; or each takes over CTAs that have not started (tileas-dynamic-persistent)."
    ),
]
FactsOption = Annotated[
    bool, typer.Option("--facts", help="Say on stderr what ptxas and the machine code tell.")
]
TimePassesOption = Annotated[
    bool, typer.Option("--time-passes", help="Say on stderr how long each pass took.")
]
PrintAfterAllOption = Annotated[
    bool, typer.Option("--print-ir-after-all", help="Print the IR after each pass to stderr.")
]
PrintAfterOption = Annotated[
    list[str], typer.Option(metavar="PASS", help="Print the IR after this pass to stderr.")
]
VerifyEachOption = Annotated[
    bool, typer.Option("--verify-each", help="Verify the IR after each pass.")
]
CrashReproducerOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Where to write what shows a crash of a pass again ('tileas-opt "
        "--run-reproducer'); by default in the folder TILEAS_REPRODUCER_DIR, or that for "
        "temporary files.",
    ),
]

_OF_PASSES = (
    *("passes", "persistent", "facts", "time_passes"),
    *("print_ir_after_all", "print_ir_after", "verify_each"),
)
"""Parameters whose options say something of passes."""


def compile(
    ctx: typer.Context,
    input_file: CompilableInput,
    kernel: KernelOption = None,
    target: CompileTargetOption = None,
    emit: EmitOption = None,
    sig: SignatureOption = None,
    bytecode_version: BytecodeVersionOption = None,
    out: OutOption = "-",
    passes: PassesOption = None,
    persistent: PersistentOption = Persistent.AUTO,
    facts: FactsOption = False,
    time_passes: TimePassesOption = False,
    print_ir_after_all: PrintAfterAllOption = False,
    print_ir_after: PrintAfterOption = [],  # noqa: B006
    verify_each: VerifyEachOption = False,
    crash_reproducer: CrashReproducerOption = None,
) -> None:
    """Compile a kernel to PTX or machine code.

    It may be on any level; without --kernel all kernels of a module are compiled.

    What is not lowered is an error at the operation, and nothing is written.  With ptxas (the extra
    'ptxas') cubins can be written, and products that ptxas serialises are errors,
    and spills are warnings.
    """
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.tools.inputs.programs import load_input, reported_errors

    emit = emit or _BY_SUFFIX.get(Path(out).suffix, Emit.PTX)
    if emit in _BINARIES and out == "-" and sys.stdout.isatty():
        fail(f"a {emit} is no text for a terminal: name a file with -o", 2)
    if emit in _SOURCES:
        for option in given_options(ctx, _OF_PASSES):
            fail(f"{option} is of no use with --emit {emit}, for which no pass runs", 2)
        with reported_errors():
            content = _source(input_file, emit, sig, target, bytecode_version)
        _write(out, content)
        return
    with reported_errors():
        named = None if passes is None else _named_passes(passes)
        shown = None if print_ir_after_all else frozenset(print_ir_after)
        program = with_deep_stack(lambda: load_input(input_file, sig, target, bytecode_version))
        _check_shown(program, kernel, named, print_ir_after)
        compiled = with_deep_stack(
            lambda: _compile(
                program,
                target,
                kernel,
                named,
                shown,
                persistent=None if persistent is Persistent.AUTO else persistent.value,
                verify_each=verify_each,
                crash_reproducer=crash_reproducer,
            )
        )
        if time_passes:
            for one in compiled.values():
                _print_times(one)
        assembled = _assembled(compiled, facts=facts) if facts or emit is Emit.CUBIN else None
        content = _content(compiled, emit, assembled)
    _write(out, content)


def _assembled(compiled: CompiledModule, *, facts: bool) -> Assembled:
    """What ptxas makes of the kernels; its warnings are printed, and facts where they are asked."""
    from tileas_xdsl.backend.nvidia_tools import MissingToolError
    from tileas_xdsl.tools.inputs.programs import print_diagnostics

    try:
        assembled = compiled.assemble()
        print_diagnostics(assembled.warnings)
        for one in compiled.values() if facts else ():
            _print_facts(one, assembled)
    except MissingToolError as error:
        fail(str(error))
    return assembled


def _source(
    input_file: str, emit: Emit, sig: str | None, target: str | None, bytecode_version: str | None
) -> bytes:
    """The kernel as it was read, in one of its two forms."""
    from tileas_xdsl.deep_stack import with_deep_stack
    from tileas_xdsl.frontend.bytecode.layout import LATEST, version_named
    from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
    from tileas_xdsl.tools.inputs.programs import load_input

    program = with_deep_stack(lambda: load_input(input_file, sig, target, bytecode_version))
    if emit is Emit.CUDA_TILE:
        return with_deep_stack(program.text).encode()
    version = LATEST if bytecode_version is None else version_named(bytecode_version)
    return with_deep_stack(lambda: write_bytecode(program.module, version))


def _named_passes(text: str) -> Sequence[ArgSpec]:
    """The passes that `-p` names."""
    from tileas_xdsl.diagnostics.parsing.pass_specs import parse_passes
    from tileas_xdsl.installed import installed_universe
    from tileas_xdsl.pipelines import PIPELINES

    passes = parse_passes(text, installed_universe().all_passes, PIPELINES)
    return [made.pipeline_pass_spec() for made in passes]


def _check_shown(
    program: Program, kernel: str | None, named: Sequence[ArgSpec] | None, shown: Sequence[str]
) -> None:
    """Raise `UsageError` where a pass of `--print-ir-after` does not run on any kernel."""
    from tileas_xdsl.compiler import default_passes, kernel_names, passes_to_tiles
    from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError

    specs = [*passes_to_tiles(program.module)]
    for name in [kernel] if kernel else kernel_names(program.module):
        specs += named or default_passes(program.module, name)
    known = {spec.name: None for spec in specs}
    for name in shown:
        if name not in known:
            names = ", ".join(known)
            raise UsageError(f"--print-ir-after: no pass '{name}' runs; there are {names}")


def _compile(
    program: Program,
    target: str | None,
    kernel: str | None,
    specs: Sequence[ArgSpec] | None,
    shown: frozenset[str] | None,
    *,
    persistent: str | None,
    verify_each: bool,
    crash_reproducer: str | None,
) -> CompiledModule:
    """Compile, and print the IR after the passes of these names, or after all of them."""
    from tileas_xdsl.compiler import CompiledModule, compile_module, kernel_names
    from tileas_xdsl.tools.inputs.programs import Program

    def after(stage: Stage, module: ModuleOp) -> None:
        if shown is None or stage.name in shown:
            text = Program(module, program.ctx, {}).text()
            typer.echo(f"// IR after {stage.name}\n{text}", err=True)

    names = [kernel] if kernel else kernel_names(program.module)
    found = [
        compile_module(
            program.module,
            program.ctx,
            target,
            kernel=name,
            passes=specs,
            persistent=persistent,
            after_pass=after,
            verify_each=verify_each,
            crash_reproducer=crash_reproducer,
        )
        for name in names
    ]
    return CompiledModule({made.name: made for made in found})


def _print_times(compiled: CompiledKernel) -> None:
    from tileas_xdsl.tools.console import table_text

    total = sum(stage.seconds for stage in compiled.stages)
    rows = [(stage.name, f"{1000 * stage.seconds:.1f}") for stage in compiled.stages]
    typer.echo(table_text(("pass", "ms"), [*rows, ("all", f"{1000 * total:.1f}")]), err=True)


def _print_facts(compiled: CompiledKernel, assembled: Assembled) -> None:
    from tileas_xdsl.backend.nvidia_tools import find_tool
    from tileas_xdsl.tools.console import table_text

    used = assembled.entries[compiled.name]
    rows = [
        ("threads", str(compiled.abi.threads)),
        ("registers", str(used.registers)),
        ("shared memory", f"{compiled.abi.shared_bytes} bytes"),
        ("spills", f"{used.spills} bytes"),
        ("barriers", str(used.barriers)),
    ]
    if find_tool("nvdisasm") is not None:
        rows += _loops(compiled.name, assembled.cubin)
    typer.echo(table_text((f"@{compiled.name}", compiled.target), rows), err=True)
    typer.echo(compiled.abi.shared_map, err=True)


def _loops(name: str, cubin: bytes) -> list[tuple[str, str]]:
    """The loops of the machine code, with their most frequent instructions."""
    from tileas_xdsl.backend.sass import disassemble

    rows: list[tuple[str, str]] = []
    loops = [loop for loop in disassemble(cubin)[name].loops if len(loop.instructions) > SPIN]
    for index, loop in enumerate(loops):
        counts = loop.counts
        common = ", ".join(f"{count} {opcode}" for opcode, count in counts.most_common(6))
        rows.append((f"loop {index}", f"{sum(counts.values())} instructions: {common}"))
    return rows


def _content(compiled: CompiledModule, emit: Emit, assembled: Assembled | None) -> bytes:
    if emit is Emit.CUBIN and assembled is not None:
        return assembled.cubin
    text = compiled.ptx if emit is Emit.PTX else compiled.lowered_ir
    return text.encode()


def _write(name: str, content: bytes) -> None:
    if name == "-":
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    from tileas_xdsl.tools.inputs.array_files import Drafts

    try:
        with Drafts() as drafts:
            drafts.bytes(Path(name), content)
    except OSError as error:
        fail(f"cannot write '{error.filename}': {error.strerror}")
