"""Compile a kernel: from text, a file or a module to PTX, with the IR of every stage at hand.

k = tileas.compile(text, target="sm_90a")
k.ptx; k.ir("cse"); k.simulate(a, b, c, grid=(4, 4))
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import BytesAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.inputs import read_input
from tileas_xdsl.diagnostics.located_parser import parse_module
from tileas_xdsl.diagnostics.locations import locate_lost
from tileas_xdsl.diagnostics.pass_errors import located_failures
from tileas_xdsl.diagnostics.verify import verify_module
from tileas_xdsl.frontend.inputs import parse_input
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.printing import module_text
from tileas_xdsl.target.arch import get_target

if TYPE_CHECKING:
    from tileas_xdsl.backend.ptx.abi import KernelAbi
    from tileas_xdsl.backend.ptxas import Assembled
    from tileas_xdsl.interpreters.tile.bound_descriptors import HostMaps
    from tileas_xdsl.interpreters.tile.launch import Simulation
    from tileas_xdsl.runtime.emulation import Emulation

TO_PTX = "tileas-to-ptx"
"""The pipeline of `compile`."""

TO_PTX_WITH_HOST_CODE = "tileas-to-ptx-with-host-code"
"""That of `compile` with host code."""

FROM_TILE_IR = "cudatile-to-tileas"
"""What `compile` does with Tile IR before anything else."""

TARGET_OPTIONS = {
    "convert-cudatile-to-tileaa": "compute_capability",
    "lower-tma-load-store-to-async": "target",
    "tileas-assign-load-store-layouts": "target",
    "tileas-attach-tma-desc-args": "target",
    "tileas-attach-tma-descriptor-args": "target",
    "tileas-legalize-tmem-copy": "target",
    "tileas-separate-host-tma": "target",
    "tileas-materialize-convert-layout": "target",
    "convert-tileas-to-cute-nvgpu": "target",
    "convert-cute-nvgpu-to-ptx": "arch",
}
"""Passes that must be told the target, and the name of their option."""


@dataclass(frozen=True)
class Stage:
    """A pass that ran."""

    name: str
    seconds: float


@dataclass
class CompiledKernel:
    """A kernel and what it was compiled to."""

    source: ModuleOp
    """The kernel as it was read."""
    module: ModuleOp
    """What the passes made of it."""
    target: str
    passes: Sequence[ArgSpec]
    stages: Sequence[Stage]
    ctx: Context
    interface: KernelAbi | None
    """Of a kernel whose passes lower it to threads."""
    host_code: bytes | None = None
    """The object that encodes the tensor maps of the kernel, where its passes make one."""

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return _kernel(self.source, None).sym_name.data

    @property
    def abi(self) -> KernelAbi:
        """How it is called; raises `DiagnosticError` if the passes do not lower to PTX."""
        if self.interface is None:
            kernel = _kernel(self.source, None)
            raise op_error(kernel, "the passes do not lower the kernel to PTX", prefix=False)
        return self.interface

    @cached_property
    def ptx(self) -> str:
        """The PTX text."""
        from tileas_xdsl.backend.ptx.printer import ptx_text

        _ = self.abi
        return ptx_text(self.module, self.target)

    @property
    def lowered_ir(self) -> str:
        """The IR after all passes."""
        return module_text(self.module, {}, self.ctx.loaded_dialects)

    def ir(self, stage: str | None = None) -> str:
        """The IR after the last pass of this name; before all of them without one.

        Raises `KeyError` if no such pass ran.
        """
        names = [spec.name for spec in self.passes]
        if stage is not None and stage not in names:
            raise KeyError(f"no pass '{stage}' ran; there were {', '.join(names)}")
        module = self.source.clone()
        last = -1 if stage is None else len(names) - 1 - names[::-1].index(stage)
        for spec in self.passes[: last + 1]:
            _make(spec).apply(self.ctx, module)
        return module_text(module, {}, self.ctx.loaded_dialects)

    def assemble(self) -> Assembled:
        """The machine code and its facts.

        Raises `DiagnosticError` for what ptxas refuses or makes slow, `MissingToolError`.
        """
        from tileas_xdsl.backend.ptxas import assemble

        return assemble(self.ptx, self.target, name=f"{self.name}.ptx")

    def cubin(self) -> bytes:
        """The machine code; raises as `assemble`."""
        return self.assemble().cubin

    def simulate(self, *args: Any, grid: int | Sequence[int] = 1, **options: Any) -> Simulation:
        """Run the kernel on the tile interpreter; the options are those of its `simulate`."""
        from tileas_xdsl.interpreters.tile.launch import simulate

        options.setdefault("host_maps", self._host_maps(args))
        return simulate(self.source, args, kernel=self.name, grid=grid, **options)

    def emulate(self, *args: Any, grid: int | Sequence[int] = 1, **options: Any) -> Emulation:
        """Run the PTX on the emulator; the options are those of `runtime.emulation.emulate`.

        Host code, where there is some, encodes the tensor maps.  Raises `ArgumentError` for
        arguments that are not of the types of the kernel.
        """
        from tileas_xdsl.interpreters.tile.arguments import bind
        from tileas_xdsl.runtime.emulation import emulate

        kernel, maps = _kernel(self.source, None), self._host_maps(args)
        bind(kernel, args, make=lambda array: array, host_maps=maps)
        options.setdefault("host_code", self.host_code)
        return emulate(self.ptx, self.abi, args, grid, **options)

    def _host_maps(self, args: Sequence[Any]) -> HostMaps | None:
        """What host code that the source has encodes."""
        from tileas_xdsl.runtime.host_maps import has_host_code, maps_of_launch

        if not has_host_code(self.source):
            return None
        return lambda: maps_of_launch(self.source, _kernel(self.source, None), args)


AfterPass: TypeAlias = Callable[[Stage, ModuleOp], None]
"""Told of a pass that has run, with what it left."""


def compile(
    source: str | Path | ModuleOp,
    target: str = "sm_90a",
    *,
    kernel: str | None = None,
    passes: Sequence[ArgSpec] | None = None,
    host_code: bool = False,
) -> CompiledKernel:
    """Compile the kernel of a module, or the one that is named.

    `source` is a module, the path of a file, or text.  With `host_code`, an object is compiled too
    that encodes the tensor maps of a launch; llvmlite makes it.  Raises `DiagnosticError` with
    located diagnostics for what is wrong or not lowered, `TargetError` for an unknown target.
    """
    ctx = _context()
    module = _module(source, ctx)
    verify_module(module)
    return compile_module(
        module, ctx, target, kernel=kernel, passes=passes or passes_to_ptx(host_code)
    )


def passes_to_ptx(host_code: bool = False) -> Sequence[ArgSpec]:
    """The passes of `compile`, with or without those that make host code."""
    return PIPELINES[TO_PTX_WITH_HOST_CODE if host_code else TO_PTX].passes


def compile_module(
    module: ModuleOp,
    ctx: Context,
    target: str = "sm_90a",
    *,
    kernel: str | None = None,
    passes: Sequence[ArgSpec] | None = None,
    after_pass: AfterPass = lambda stage, module: None,
) -> CompiledKernel:
    """Compile a kernel of a verified module, which stays as it is; else as `compile`."""
    arch = get_target(target).name
    function = _kernel(as_tiles(module, ctx, arch), kernel)
    source = ModuleOp([function.clone()], dict(module.attributes))
    working = source.clone()
    specs = [for_target(spec, arch) for spec in passes or PIPELINES[TO_PTX].passes]
    stages: list[Stage] = []
    abi: KernelAbi | None = None
    for spec in specs:
        if spec.name == "convert-cute-nvgpu-to-ptx":
            abi = _abi(working)
        start = time.perf_counter()
        with located_failures(f"pass '{spec.name}'", working):
            _make(spec).apply(ctx, working)
        locate_lost(working)
        stages.append(Stage(spec.name, time.perf_counter() - start))
        after_pass(stages[-1], working)
    host_code = _host_code(working)
    return CompiledKernel(source, working, arch, specs, stages, ctx, abi, host_code)


def as_tiles(module: ModuleOp, ctx: Context, target: str) -> ModuleOp:
    """A verified module with its Tile IR converted to tiles; itself if it has none."""
    if not any(op.name == "cuda_tile.module" for op in module.ops):
        return module
    tiles = module.clone()
    for spec in PIPELINES[FROM_TILE_IR].passes:
        with located_failures(f"pass '{spec.name}'", tiles):
            _make(for_target(spec, target)).apply(ctx, tiles)
        locate_lost(tiles)
    verify_module(tiles)
    return tiles


def _host_code(module: ModuleOp) -> bytes | None:
    """The object that a pass has attached."""
    match module.attributes.get("nv_tileas.host-code"):
        case BytesAttr(data=data):
            return data
        case StringAttr(data=text):
            return text.encode()
        case _:
            return None


def _context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def _module(source: str | Path | ModuleOp, ctx: Context) -> ModuleOp:
    if isinstance(source, ModuleOp):
        return source
    if isinstance(source, Path) or "\n" not in source:
        return parse_input(ctx, read_input(str(source)), str(source)).module
    return parse_module(ctx, source, "<text>")


def _kernel(module: ModuleOp, name: str | None) -> func.FuncOp:
    kernels = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    found = [op for op in kernels if name in (None, op.sym_name.data)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"@{op.sym_name.data}" for op in kernels) or "none"
    wanted = (
        "which kernel to compile is not said" if name is None else f"there is no kernel @{name}"
    )
    raise op_error(module, f"{wanted}; the module has {names}", prefix=False)


def _abi(module: ModuleOp) -> KernelAbi:
    from tileas_xdsl.backend.ptx.abi import KernelAbi

    return KernelAbi.of(_kernel(module, None))


def for_target(spec: ArgSpec, target: str) -> ArgSpec:
    """A pass that is told the target, if it has to be."""
    option = TARGET_OPTIONS.get(spec.name)
    return spec if option is None else ArgSpec(spec.name, {**spec.parameters, option: (target,)})


def _make(spec: ArgSpec) -> ModulePass:
    return _passes()[spec.name]().from_spec(spec)


@cache
def _passes() -> Mapping[str, Callable[[], type[ModulePass]]]:
    """Every pass that is installed; finding them takes milliseconds."""
    return Universe.get_multiverse().all_passes
