"""Compile a kernel: from text, a file or a module to PTX, with the IR of every stage at hand.

k = tileas.compile(text, target="sm_90a")
k.ptx; k.ir("cse"); k.simulate(a, b, c, grid=(4, 4))
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.universe import Universe
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.inputs import read_input
from tileas_xdsl.diagnostics.located_parser import parse_module
from tileas_xdsl.diagnostics.verify import verify_module
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.printing import module_text

if TYPE_CHECKING:
    from tileas_xdsl.backend.ptx.abi import KernelAbi
    from tileas_xdsl.interpreters.tile.launch import Simulation

TO_PTX = "tileas-to-ptx"
"""The pipeline of `compile`."""

TARGET_OPTIONS = {
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
    """The module as it was read."""
    module: ModuleOp
    """The module of PTX."""
    target: str
    abi: KernelAbi
    passes: Sequence[ArgSpec]
    stages: Sequence[Stage] = ()
    ctx: Context = field(default_factory=Context)

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.abi.name

    @cached_property
    def ptx(self) -> str:
        """The PTX text."""
        from tileas_xdsl.backend.ptx.printer import ptx_text

        return ptx_text(self.module, self.target)

    def ir(self, stage: str | None = None) -> str:
        """The IR after the last pass of this name; before all of them without one."""
        names = [spec.name for spec in self.passes]
        if stage is not None and stage not in names:
            raise KeyError(f"no pass '{stage}' ran; there were {', '.join(names)}")
        module = self.source.clone()
        last = -1 if stage is None else len(names) - 1 - names[::-1].index(stage)
        for spec in self.passes[: last + 1]:
            _make(spec).apply(self.ctx, module)
        return module_text(module, {}, self.ctx.loaded_dialects)

    def simulate(self, *args: Any, grid: int | Sequence[int] = 1, **options: Any) -> Simulation:
        """Run the kernel on the tile interpreter; the options are those of its `simulate`."""
        from tileas_xdsl.interpreters.tile.launch import simulate

        return simulate(self.source, args, kernel=self.name, grid=grid, **options)


def compile(
    source: str | Path | ModuleOp,
    target: str = "sm_90a",
    *,
    kernel: str | None = None,
    passes: Sequence[ArgSpec] | None = None,
) -> CompiledKernel:
    """Compile the kernel of a module, or the one that is named.

    `source` is a module, the path of a file, or text.  Raises `OpError` with located diagnostics
    for what is wrong or not lowered yet, `TargetError` for an unknown target.
    """
    ctx = _context()
    module = _module(source, ctx)
    verify_module(module)
    function = _kernel(module, kernel)
    original = module.clone() if isinstance(source, ModuleOp) else module
    working = ModuleOp([function.clone()])
    specs = [_for_target(spec, target) for spec in passes or PIPELINES[TO_PTX].passes]
    stages: list[Stage] = []
    abi: KernelAbi | None = None
    for spec in specs:
        if spec.name == "convert-cute-nvgpu-to-ptx":
            abi = _abi(working)
        start = time.perf_counter()
        _make(spec).apply(ctx, working)
        stages.append(Stage(spec.name, time.perf_counter() - start))
    assert abi is not None, "the pipeline does not lower to PTX"
    return CompiledKernel(original, working, target, abi, specs, stages, ctx)


def _context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def _module(source: str | Path | ModuleOp, ctx: Context) -> ModuleOp:
    if isinstance(source, ModuleOp):
        return source
    if isinstance(source, Path) or "\n" not in source:
        return parse_module(ctx, read_input(str(source)), str(source))
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


def _for_target(spec: ArgSpec, target: str) -> ArgSpec:
    option = TARGET_OPTIONS.get(spec.name)
    return spec if option is None else ArgSpec(spec.name, {**spec.parameters, option: (target,)})


def _make(spec: ArgSpec) -> ModulePass:
    return Universe.get_multiverse().all_passes[spec.name]().from_spec(spec)
