"""Compile a kernel: from text, a file or a module to PTX, with the IR of every stage at hand.

    k = tileas.compile(text, target="sm_90a")
    k.ptx; k.ir("tileas-cse"); k.simulate(a, b, c, grid=(4, 4))

A kernel of cuTile is compiled for arguments, or for a signature:

    k = tileas.compile(matmul, a, b, c, 128, 128, 64)
    k.emulate(a, b, c, 128, 128, 64, grid=(2, 2))

Modules and text are compiled as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import BytesAttr, ModuleOp, StringAttr, UnitAttr
from xdsl.ir import Operation
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.collection import collected_rarely
from tileas_xdsl.compilation.api_arguments import expect, pass_specs
from tileas_xdsl.compilation.compiled_module import CompiledModule
from tileas_xdsl.compilation.levels import BUFFERS, BUFFERS_BY_TILES, Level, level_of, remaining
from tileas_xdsl.compilation.module_kernels import kernel_named, kernels_in, module_of
from tileas_xdsl.compilation.pass_execution import make_pass
from tileas_xdsl.compilation.reproducers import PassRunner
from tileas_xdsl.compilation.specializing import specializing_pass
from tileas_xdsl.compiled_kernel import CompiledKernel, Stage
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.deep_stack import deep_on_demand
from tileas_xdsl.diagnostics.emission import BrokenPassError, emit_remark, op_error
from tileas_xdsl.diagnostics.environment import VERIFY_EACH, distance
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.inputs import read_input
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ptx.structure.entries import EntryOp
from tileas_xdsl.dialects.target_attribute import located_target, set_target
from tileas_xdsl.frontend.inputs import load_tile_ir, parse_input
from tileas_xdsl.frontend.tilelang.traced.source import is_tilelang
from tileas_xdsl.installed import registered_context
from tileas_xdsl.pipelines import (
    PIPELINES,
    with_persistence,
)
from tileas_xdsl.target.arch import DEFAULT_TARGET
from tileas_xdsl.target.kernel_abi import (
    ANY_ROWS,
    KernelAbi,
)
from tileas_xdsl.target.launches.specializations import (
    ChooseSpecialization,
    unspecialized,
)

if TYPE_CHECKING:
    from tileas_xdsl.frontend.signature import Parameter

ABOVE_TILES = (Level.TILE_IR, Level.TILEAA)
"""Levels that are lowered to tiles first, all kernels of a module at once."""

AfterPass: TypeAlias = Callable[[Stage, ModuleOp], None]
"""Told of a pass that has run, with what it left."""


@overload
def compile(
    source: str | Path | ModuleOp,
    target: str | None = None,
    *,
    kernel: str | None = None,
    passes: str | Sequence[str | ArgSpec] | None = None,
    host_code: bool = False,
) -> CompiledKernel: ...


@overload
def compile(
    source: Callable[..., Any],
    *arguments: Any,
    target: str | None = None,
    signature: str | None = None,
    passes: str | Sequence[str | ArgSpec] | None = None,
    host_code: bool = False,
) -> CompiledKernel: ...


@collected_rarely(as_old=True)
def compile(
    source: Any,
    *arguments: Any,
    target: str | None = None,
    signature: str | None = None,
    kernel: str | None = None,
    passes: str | Sequence[str | ArgSpec] | None = None,
    host_code: bool = False,
) -> CompiledKernel:
    """Compile the kernel of a module, or the one that is named.

    `source` is a module, the path of a file, or text, of tiles or of Tile IR; or a kernel of cuTile
    with the arguments of a launch, or a signature of them (`frontend.signature`); or a PrimFunc of
    TileLang, or what `tilelang.jit` made with the arguments that trace it.  The target is
    by default what the module names (`dialects.target_attribute`), else sm_90a.  With `host_code`,
    an object is compiled too that encodes the tensor maps of a launch; llvmlite makes it.  `passes`
    are those to run instead of what remains to PTX, as `-p` takes them or one by one.  Raises
    `DiagnosticError` with located diagnostics for what is wrong or not lowered, `TargetError` for
    an unknown target, `SignatureError`, `MissingPackageError`, `TypeError` and `ValueError`.
    """
    specs = pass_specs(passes)
    expect("kernel", kernel, str, "the name of a kernel")
    expect("signature", signature, str, "a text such as 'a: f32[?], n: i32'")
    expect("host_code", host_code, bool, "True or False")
    expect("target", target, str, "the name of a GPU such as 'sm_90a'")
    ctx = registered_context()
    parameters: Sequence[Parameter] | None = None
    if isinstance(source, str | Path | ModuleOp):
        target = target or _only_target(arguments, signature)
        module = _module(source, ctx)
    elif is_tilelang(source):
        from tileas_xdsl.frontend.tilelang.traced.tracing import tilelang_module

        module = tilelang_module(source, arguments, target=target or DEFAULT_TARGET)
    else:
        module, parameters = _of_cutile(source, arguments, signature)
        load_tile_ir(ctx)
    verify_module(module)
    made = compile_module(module, ctx, target, kernel=kernel, passes=specs, host_code=host_code)
    return replace(made, parameters=parameters)


def compile_kernels(
    source: str | Path | ModuleOp,
    target: str | None = None,
    *,
    passes: str | Sequence[str | ArgSpec] | None = None,
) -> CompiledModule:
    """Compile every kernel of a module; the parameters, and what is raised, are as of `compile`."""
    specs = pass_specs(passes)
    expect("target", target, str, "the name of a GPU such as 'sm_90a'")
    expect("source", source, (str, Path, ModuleOp), "a module, a path or text")
    ctx = registered_context()
    module = _module(source, ctx)
    verify_module(module)
    found = {
        name: compile_module(module, ctx, target, kernel=name, passes=specs)
        for name in kernel_names(module)
    }
    return CompiledModule(found)


def kernel_names(module: ModuleOp) -> Sequence[str]:
    """Return the names of the kernels of a module on any level; raises `OpError` without one."""
    entries = [op for op in operations_in(module) if op.name == "cuda_tile.entry"]
    found = [op.properties["sym_name"] for op in entries or kernels_in(module)]
    names = [name.data for name in found if isinstance(name, StringAttr)]
    if not names:
        raise op_error(module, "there is no kernel to compile", prefix=False)
    return names


def _only_target(arguments: Sequence[Any], signature: str | None) -> str | None:
    """The target of a module, which takes neither arguments nor a signature."""
    if len(arguments) > 1 or signature is not None:
        given = "a signature" if signature is not None else f"{len(arguments)} arguments"
        raise TypeError(f"a module is compiled for a target alone, not for {given}")
    target = arguments[0] if arguments else None
    expect("target", target, str, "the name of a GPU such as 'sm_90a'")
    return target


def _of_cutile(
    kernel: Any, arguments: Sequence[Any], signature: str | None
) -> tuple[ModuleOp, Sequence[Parameter]]:
    from tileas_xdsl.frontend.cutile.kernels import in_order, is_kernel, parameters_of
    from tileas_xdsl.frontend.cutile.tile_ir import kernel_module
    from tileas_xdsl.frontend.signature import parse_signature

    if not is_kernel(kernel):
        what = f"{kernel!r}, a function without '@ct.kernel'" if callable(kernel) else repr(kernel)
        raise TypeError(f"a kernel is a module, a path, text or '@ct.kernel', not {what}")
    if signature is None:
        parameters = parameters_of(kernel, arguments)
    else:
        parameters = in_order(kernel, parse_signature(signature))
    return kernel_module(kernel, parameters), parameters


def tile_ir_module(content: bytes, name: str) -> ModuleOp:
    """Return the verified module of Tile IR bytecode; raises `DiagnosticError`, in `name`."""
    ctx = registered_context()
    module = parse_input(ctx, content, name).module
    verify_module(module)
    return module


def compile_bytecode(
    kernel: Any, content: bytes, target: str, choose: ChooseSpecialization
) -> CompiledKernel:
    """Compile the Tile IR bytecode of a cuTile kernel for launches; raises as `compile`."""
    from tileas_xdsl.frontend.cutile.tile_ir import bytecode_module

    ctx = registered_context()
    module = bytecode_module(kernel, content)
    load_tile_ir(ctx)
    verify_module(module)
    return compile_module(module, ctx, target, choose=choose)


def passes_to_ptx(host_code: bool = False) -> Sequence[ArgSpec]:
    """The passes on tiles of `compile`, with or without those that make host code."""
    return PIPELINES["tileas-to-ptx-with-host-code" if host_code else "tileas-to-ptx"].passes


def passes_to_tiles(module: ModuleOp) -> Sequence[ArgSpec]:
    """The passes that make tiles of a module before its kernels are compiled, if it has none."""
    is_above = level_of(module.ops) in ABOVE_TILES
    return remaining(module, module.ops).to_tiles if is_above else ()


def default_passes(module: ModuleOp, kernel: str | None = None) -> Sequence[ArgSpec]:
    """The passes that take a kernel of a module from tiles on, or from where it is, to PTX."""
    if level_of(module.ops) in ABOVE_TILES:
        return remaining(module, module.ops).passes
    left = remaining(module, [kernel_named(module, kernel)])
    return [*left.to_tiles, *left.passes]


@dataclass
class _PassSequence:
    """The passes of a compilation that have run, and how long each took."""

    runner: PassRunner
    choose: ChooseSpecialization
    after_pass: AfterPass
    verify_every: int
    """After how many passes the IR is verified, and after the last one; 0 for never."""
    first_verified: int
    specs: list[ArgSpec] = field(default_factory=list[ArgSpec])
    stages: list[Stage] = field(default_factory=list[Stage])

    def run(self, spec: ArgSpec, working: ModuleOp, *, is_last: bool = False) -> None:
        """Run a pass, and once more if a predicate that it leaves selects a specialization."""
        start, every = time.perf_counter(), self.verify_every
        verify = every > 0 and (is_last or (len(self.specs) - self.first_verified) % every == 0)
        self.runner.run(make_pass(spec), working, verify=verify)
        self.specs.append(spec)
        self.stages.append(Stage(spec.name, time.perf_counter() - start))
        self.after_pass(self.stages[-1], working)
        if (again := specializing_pass(working, spec, self.choose)) is not None:
            self.run(again, working, is_last=is_last)

    def run_all(
        self, specs: Sequence[ArgSpec], source: ModuleOp
    ) -> tuple[ModuleOp, KernelAbi | None]:
        """Run passes on a copy of a module; return it, and how its kernel is called."""
        working, abi = source.clone(), None
        self.specs.clear()
        self.runner.begin(source.clone)
        for spec in specs:
            if spec.name == "convert-cute-nvgpu-to-ptx":
                abi = _abi(working)
            self.run(spec, working, is_last=spec is specs[-1])
        is_ptx = any(isinstance(op, EntryOp) for op in source.ops)
        return working, _abi(working) if is_ptx else abi

    def run_chosen(
        self, specs: Sequence[ArgSpec], source: ModuleOp, function: Operation, *, decides: bool
    ) -> tuple[bool, ModuleOp, KernelAbi | None]:
        """As `run_all`, behind whether a kernel over buffers was compiled by way of tiles.

        One that cannot be is lowered buffer by buffer, and a remark says so, if the compiler
        `decides`.
        """
        is_by_tiles = decides and tuple(specs) == PIPELINES[BUFFERS_BY_TILES].passes
        try:
            return is_by_tiles, *self.run_all(specs, source)
        except DiagnosticError as error:
            if not is_by_tiles or isinstance(error, BrokenPassError):
                raise
            reason = error.diagnostics[0].message
        emit_remark(function, f"is not compiled by way of tiles: {reason}", prefix=False)
        self.stages.clear()
        return False, *self.run_all(PIPELINES[BUFFERS].passes, source)


@deep_on_demand
@collected_rarely(as_old=True)
def compile_module(
    module: ModuleOp,
    ctx: Context,
    target: str | None = None,
    *,
    kernel: str | None = None,
    passes: Sequence[ArgSpec] | None = None,
    host_code: bool = False,
    persistent: str | None = None,
    choose: ChooseSpecialization = unspecialized,
    after_pass: AfterPass = lambda stage, module: None,
    verify_each: bool = False,
    crash_reproducer: str | None = None,
) -> CompiledKernel:
    """Compile a kernel of a verified module, which stays as it is; else as `compile`.

    `persistent` is the mode of `tileas-make-persistent`, which without it decides by itself, and
    asks `choose` where a launch knows more; `dynamic` is `tileas-dynamic-persistent` in its place.
    `crash_reproducer` names the file for what shows a bug of a pass again (`reproducers`).
    """
    arch = located_target(module, target).name
    above = module
    runner = PassRunner(ctx, lambda: _targeted(above, arch), crash_reproducer)
    every = 1 if verify_each else distance(VERIFY_EACH)
    # Every pass is behind so many others: another one is the first for another kernel.
    first = len(operations_in(module)) if every > 1 else 0
    passes_run = _PassSequence(runner, choose, after_pass, every, first)
    module = tiles_of(above, arch, passes_run.run)
    to_tiles = tuple(passes_run.specs)
    function = kernel_named(module, kernel)
    left = remaining(module, [function], host_code=host_code)
    specs = passes or [*left.to_tiles, *left.passes]
    if persistent is not None:
        specs = with_persistence(specs, persistent)
    is_own = module is not above and list(module.ops) == [function]
    source = module if is_own else module_of(function, module, arch)
    decides = not passes
    is_by_tiles, working, abi = passes_run.run_chosen(specs, source, function, decides=decides)
    general = partial(_compile_general, source, ctx, arch)
    again = partial(compile_module, above, ctx, arch, kernel=kernel)
    return CompiledKernel(
        source,
        working,
        arch,
        passes_run.specs,
        passes_run.stages,
        ctx,
        abi,
        _host_code(working),
        tile_ir=above if level_of(above.ops) is Level.TILE_IR else None,
        above=None if module is above else above,
        to_tiles=to_tiles,
        compile_general=general if is_by_tiles else None,
        compile_again=again if decides and persistent is None else None,
    )


def _compile_general(module: ModuleOp, ctx: Context, target: str) -> CompiledKernel:
    return compile_module(_for_any_rows(module), ctx, target)


def _for_any_rows(module: ModuleOp) -> ModuleOp:
    """Return the kernel for arrays whose rows begin anywhere."""
    made = module.clone()
    for op in made.ops:
        if isinstance(op, func.FuncOp):
            op.attributes[ANY_ROWS] = UnitAttr()
    return made


def tiles_of(module: ModuleOp, target: str, run: Callable[[ArgSpec, ModuleOp], None]) -> ModuleOp:
    """The module itself, or what `run` makes of it if its kernels are not tiles yet.

    That is Tile IR, and `nv_tileaa` before it is converted.  `run` applies a pass to a module,
    here to one that names the target.
    """
    specs = passes_to_tiles(module)
    if not specs:
        return module
    tiles = _targeted(module, target)
    for spec in specs:
        run(spec, tiles)
    return tiles


def _targeted(module: ModuleOp, target: str) -> ModuleOp:
    made = module.clone()
    set_target(made, target)
    return made


def _host_code(module: ModuleOp) -> bytes | None:
    """The object that a pass has attached."""
    match module.attributes.get("nv_tileas.host-code"):
        case BytesAttr(data=data):
            return data
        case StringAttr(data=text):
            return text.encode()
        case _:
            return None


def _module(source: str | Path | ModuleOp, ctx: Context) -> ModuleOp:
    if isinstance(source, ModuleOp):
        return source
    if isinstance(source, Path) or "\n" not in source:
        return parse_input(ctx, read_input(str(source)), str(source)).module
    return parse_module(ctx, source, "<text>")


def _abi(module: ModuleOp) -> KernelAbi | None:
    from tileas_xdsl.backend.ptx.abi import abi_of, abi_of_entry

    kernel = kernel_named(module, None)
    return abi_of_entry(kernel) if isinstance(kernel, EntryOp) else abi_of(kernel)
