"""What a compilation gives: a kernel with its PTX, its interface and the IR of every stage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec

from tileas_xdsl.compilation.api_arguments import expect, expect_options
from tileas_xdsl.compilation.levels import THREADS_KERNEL
from tileas_xdsl.compilation.module_kernels import KernelOp, kernel_named
from tileas_xdsl.compilation.pass_execution import make_pass, run_pass
from tileas_xdsl.compilation.passes_again import PassesAgain
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.suggest import did_you_mean
from tileas_xdsl.dialects.ptx.structure.entries import EntryOp
from tileas_xdsl.dialects.target_attribute import set_target
from tileas_xdsl.printing import module_text
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.specializations import Grid, LaunchPredicate

if TYPE_CHECKING:
    from tileas_xdsl.backend.ptxas import Assembled
    from tileas_xdsl.backend.waiting_ptxas import WaitingPtxas
    from tileas_xdsl.frontend.signature import Parameter
    from tileas_xdsl.interpreters.cuda_tile.launch import Evaluation
    from tileas_xdsl.interpreters.tile.launch import Simulation
    from tileas_xdsl.interpreters.tile.launch_descriptors import HostMaps
    from tileas_xdsl.runtime.emulation import Emulation
    from tileas_xdsl.runtime.kernel_launcher import Launcher
    from tileas_xdsl.runtime.levels import LevelResult
    from tileas_xdsl.runtime.specializations import Specializations
    from tileas_xdsl.target.kernel_abi import KernelAbi

ROW_BITS = 128
"""What rows of arrays are multiples of that a kernel makes promises of: TMA moves 16 bytes."""


@dataclass(frozen=True)
class Stage:
    """A pass that ran."""

    name: str
    seconds: float


MOST_CHOSEN = 256
"""Launches whose specialization is kept."""


@dataclass
class CompiledKernel:
    """A kernel and what it was compiled to."""

    source: ModuleOp
    """The kernel as tiles: as it was read, or as Tile IR became it."""
    module: ModuleOp
    """What the passes made of it."""
    target: str
    passes: Sequence[ArgSpec]
    """Those that ran on the source."""
    stages: Sequence[Stage]
    """Those, and before them the ones that made tiles of Tile IR."""
    ctx: Context
    interface: KernelAbi | None
    """Of a kernel whose passes lower it to threads."""
    host_code: bytes | None = None
    """The object that encodes the tensor maps of the kernel, where its passes make one."""
    parameters: Sequence[Parameter] | None = None
    """Those of a kernel of cuTile, which takes whole arrays."""
    tile_ir: ModuleOp | None = None
    """The Tile IR that the tiles were made of, if they were."""
    above: ModuleOp | None = None
    """What the tiles were made of: Tile IR, or `nv_tileaa`."""
    to_tiles: Sequence[ArgSpec] = ()
    """The passes that made tiles of it."""
    compile_general: Callable[[], CompiledKernel] | None = None
    """Compiles a kernel that assumes something of its arrays once more without that."""
    compile_again: Callable[..., CompiledKernel] | None = None
    """Compiles the kernel once more as `compile_module`, specialized for launches that gain."""
    _launchers: dict[int, Launcher] = field(default_factory=dict[int, "Launcher"])
    """By the number of the GPU."""
    _chosen: dict[object, CompiledKernel] = field(default_factory=dict[object, "CompiledKernel"])
    """Specializations of recent launches, by what predicates read: GPU, grid, extents, strides."""
    _texts: dict[int, str] = field(default_factory=dict[int, str])
    """The IR after passes, by their position, where somebody asked."""

    def __repr__(self) -> str:
        """One line: the name, the target, and what it was compiled by."""
        last = self.stages[-1].name if self.stages else "no pass"
        return (
            f"<CompiledKernel @{self.name} for {self.target}, "
            f"{len(self.stages)} stages up to {last}>"
        )

    @property
    def name(self) -> str:
        """The name of the kernel."""
        return self.operation.sym_name.data

    @property
    def operation(self) -> KernelOp:
        """The kernel as the module had it, on whatever level that was."""
        return kernel_named(self.source, None)

    @property
    def function(self) -> func.FuncOp:
        """The kernel as a function; raises `DiagnosticError` if it was read as PTX."""
        if not isinstance(found := self.operation, func.FuncOp):
            raise op_error(found, "the kernel is read as PTX: there is no function", prefix=False)
        return found

    @property
    def is_for_threads(self) -> bool:
        """Whether the kernel is no function of tiles: it is written for the threads of a block."""
        found = self.operation
        return isinstance(found, EntryOp) or THREADS_KERNEL in found.attributes

    @property
    def abi(self) -> KernelAbi:
        """How it is called; raises `DiagnosticError` if the passes do not lower to PTX."""
        if self.interface is None:
            text = "the passes do not lower the kernel to PTX"
            if isinstance(self.operation, EntryOp):
                text = "the entry has no 'tileas.parameters', by which a launch passes arguments"
            raise op_error(self.operation, text, prefix=False)
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
        return self._text(self.module)

    def ir(self, stage: str | None = None) -> str:
        """The IR after the last pass of this name; the tiles before those on tiles without one.

        `stages` has the names, from the passes on Tile IR on.  The passes run once more, as far
        as somebody asks.  Raises `KeyError` if no such pass ran.
        """
        if stage is None:
            return self._text(self.source)
        last = self._last(stage)
        if last not in self._texts:
            self._texts[last] = self._text(self._again.after(last))
        return self._texts[last]

    def module_after(self, stage: str | None) -> ModuleOp:
        """What the last pass of this name left, made anew; the source without one; as `ir`."""
        if stage is None:
            return self.source.clone()
        last = self._last(stage)
        return next(left for number, (_, left) in enumerate(self.modules()) if number == last)

    def _text(self, module: ModuleOp) -> str:
        return module_text(module, {}, self.ctx.loaded_dialects)

    def _last(self, stage: str) -> int:
        """Return the position of the last pass of this name; raises `KeyError`."""
        names = [spec.name for spec in (*self.to_tiles, *self.passes)]
        if stage not in names:
            hint = did_you_mean(str(stage), names) or f"there were {', '.join(names)}"
            raise KeyError(f"no pass '{stage}' ran; {hint}")
        return max(number for number, name in enumerate(names) if name == stage)

    @cached_property
    def _again(self) -> PassesAgain:
        return PassesAgain(self.modules)

    def modules(self) -> Iterator[tuple[ArgSpec, ModuleOp]]:
        """Run the passes again; the same module after each one, then that of the kernel alone."""
        if self.above is not None:
            module = self.above.clone()
            set_target(module, self.target)
            for spec in self.to_tiles:
                run_pass(make_pass(spec), self.ctx, module)
                yield spec, module
        module = self.source.clone()
        for spec in self.passes:
            run_pass(make_pass(spec), self.ctx, module)
            yield spec, module

    def assemble(self, *, strict: bool = True, waiting: WaitingPtxas | None = None) -> Assembled:
        """The machine code and its facts; a process that is `waiting` for the text is given it.

        Raises `DiagnosticError` for what ptxas refuses and, if `strict`, for products that it
        serialises (spills are warnings among its messages), `MissingToolError`.
        """
        from tileas_xdsl.backend.ptxas import assemble

        name = f"{self.name}.ptx"
        return assemble(self.ptx, self.target, name=name, strict=strict, waiting=waiting)

    def cubin(self) -> bytes:
        """The machine code; raises as `assemble`."""
        return self.assemble().cubin

    def simulate(self, *args: Any, grid: int | Sequence[int] = 1, **options: Any) -> Simulation:
        """Run the kernel on the tile interpreter; the options are those of its `simulate`."""
        from tileas_xdsl.interpreters.tile.launch import simulate

        expect_options("simulate", simulate, options, hidden=("kernel",))
        flat = self._held(args)
        options.setdefault("host_maps", self._host_maps(flat))
        found = simulate(self.source, flat, kernel=self.name, grid=grid, **options)
        return replace(found, arrays=self._restored(args, found.arrays))

    def evaluate(self, *args: Any, grid: int | Sequence[int] = 1, **options: Any) -> Evaluation:
        """What Tile IR says that the kernel computes, whatever the passes make of it.

        The options are those of `interpreters.cuda_tile`.  Raises `UndefinedError` at what Tile IR
        leaves undefined, `DiagnosticError` if the kernel is not made of Tile IR.
        """
        from tileas_xdsl.interpreters.cuda_tile.launch import evaluate
        from tileas_xdsl.runtime.arguments.cutile_arguments import with_tables

        if self.tile_ir is None:
            raise op_error(self.operation, "the kernel is not made of Tile IR", prefix=False)
        expect_options("evaluate", evaluate, options, hidden=("kernel",))
        flat = with_tables(self._held(args))
        found = evaluate(self.tile_ir, flat, kernel=self.name, grid=grid, **options)
        return replace(found, arrays=self._restored(args, found.arrays))

    def validate(
        self, *args: Any, grid: int | Sequence[int] = 1, tolerance: float | None = None
    ) -> Sequence[LevelResult]:
        """Run the kernel on every level, and compare each with the first (`runtime.levels`)."""
        from tileas_xdsl.runtime.levels import compare_levels

        expect("tolerance", tolerance, (int, float), "a number")
        return list(compare_levels(self, args, grid, tolerance))

    @cached_property
    def general(self) -> CompiledKernel:
        """A `tl` kernel by way of tiles once more, for arrays whose rows begin anywhere."""
        return self if self.compile_general is None else self.compile_general()

    @cached_property
    def persistent(self) -> CompiledKernel:
        """The kernel once more, whose CTAs take one tile block after another."""
        return self._made_again(persistent="on")

    def divided(self, count: int) -> CompiledKernel:
        """The kernel once more, whose tile blocks `count` CTAs divide, if they can."""

        def choose(predicate: LaunchPredicate) -> bool:
            return isinstance(predicate, FewTileBlocks) and predicate.count == count

        return self._made_again(choose=choose)

    def _made_again(self, **options: Any) -> CompiledKernel:
        if self.compile_again is None:
            return self
        return replace(self.compile_again(**options), parameters=self.parameters)

    def _specialized(self, launcher: Launcher, args: Sequence[Any], grid: Grid) -> CompiledKernel:
        """The specialization that a launch selects, compiled once."""
        from tileas_xdsl.runtime.cutile.gpu.flat_arguments import flat_arguments

        if self.interface is None or not self.interface.predicates or self.compile_again is None:
            return self
        flat = flat_arguments(self.parameters, args)
        asked = flat if self.parameters is not None else map(_asked_of, flat)
        key = (launcher.device.number, grid, *asked)
        if (found := self._chosen.get(key)) is None:
            suits = partial(launcher.suits, args=flat, grid=grid)
            found = self._specializations.chosen(suits, partial(self._made_again, choose=suits))
            if len(self._chosen) == MOST_CHOSEN:
                self._chosen.clear()
            self._chosen[key] = found
        return found

    @cached_property
    def _specializations(self) -> Specializations[CompiledKernel]:
        from tileas_xdsl.runtime.specializations import Specializations

        return Specializations([self])

    def _taking(self, args: Sequence[Any]) -> CompiledKernel:
        """The kernel for the arrays of a launch: itself, or `general` where rows break promises."""
        return self if self._takes(args) else self.general

    def _takes(self, args: Sequence[Any]) -> bool:
        return all(
            len(shape := getattr(args[n], "shape", ())) == 0 or shape[-1] * bits % ROW_BITS == 0
            for n, bits in self._promised_rows
            if n < len(args)
        )

    @cached_property
    def _promised_rows(self) -> Sequence[tuple[int, int]]:
        """The arguments with rows that are promised to be whole 16 bytes, and their bits."""
        from tileas_xdsl.transforms.tl_to_tiles.choice import promised_rows

        return () if self.compile_general is None else promised_rows(self.function)

    def emulate(self, *args: Any, grid: int | Sequence[int] = 1, **options: Any) -> Emulation:
        """Run the PTX on the emulator; the options are those of `runtime.emulation.emulate`.

        Host code, where there is some, encodes the tensor maps.  Raises `ArgumentError` for
        arguments that are not of the types of the kernel.
        """
        from tileas_xdsl.interpreters.tile.arguments import bind
        from tileas_xdsl.runtime.arguments.view_arguments import check_views
        from tileas_xdsl.runtime.emulation import emulate

        expect_options("emulate", emulate, options, hidden=())
        if (other := self._taking(args)) is not self:
            return other.emulate(*args, grid=grid, **options)
        flat = self._held(args)
        maps = self._host_maps(flat)
        if self.is_for_threads:
            check_views(self.operation, flat)
        else:
            bind(self.function, flat, make=lambda array: array, host_maps=maps)
        options.setdefault("host_code", self.host_code)
        options.setdefault("names", self._flat_names(args))
        found = emulate(self.ptx, self.abi, flat, grid, **options)
        return replace(found, arrays=self._restored(args, found.arrays))

    def launch(
        self, *args: Any, grid: int | Sequence[int] = 1, stream: Any = None, device: int = 0
    ) -> None:
        """Launch on a GPU: arrays of torch, cupy and others there, or numpy's, which are copied.

        It runs the specialization that the launch selects (`KernelAbi.predicates`).
        Raises `MissingDriverError` without a GPU, `DriverError` for what the driver refuses, and
        `ArgumentError` or `LaunchError`, before the launch, for arguments that do not fit.
        """
        from tileas_xdsl.interpreters.tile.launch import grid_of

        expect("device", device, int, "the number of a GPU")
        if (other := self._taking(args)) is not self:
            other.launch(*args, grid=grid, stream=stream, device=device)
            return
        chosen = self._specialized(self._launcher(device), args, grid_of(grid))
        chosen._launcher(device).launch(args, grid, stream)

    def _launcher(self, device: int) -> Launcher:
        if device not in self._launchers:
            from tileas_xdsl.runtime.gpu.device import gpu
            from tileas_xdsl.runtime.kernel_launcher import Launcher

            self._launchers[device] = Launcher(self, gpu(device))
        return self._launchers[device]

    def _flat_names(self, args: Sequence[Any]) -> Sequence[str]:
        """What the arguments of the function are called in the source."""
        from tileas_xdsl.runtime.arguments.cutile_arguments import flat_names

        if self.parameters is not None:
            return flat_names(self.parameters, args)
        arguments = self.operation.body.blocks[0].args
        return [argument.name_hint or str(n) for n, argument in enumerate(arguments)]

    def _held(self, args: Sequence[Any]) -> Sequence[Any]:
        """The same, arrays of cuTile as the memory that they lie in."""
        from tileas_xdsl.runtime.arguments.cutile_arguments import held

        return args if self.parameters is None else held(self.parameters, args)

    def _restored(self, args: Sequence[Any], arrays: Sequence[Any]) -> Sequence[Any]:
        from tileas_xdsl.runtime.arguments.cutile_arguments import restored

        return arrays if self.parameters is None else restored(self.parameters, args, arrays)

    def _host_maps(self, args: Sequence[Any]) -> HostMaps | None:
        """What host code that the source has encodes."""
        from tileas_xdsl.runtime.host_tensor_maps import has_host_code, maps_of_launch

        if not has_host_code(self.source):
            return None
        return lambda: maps_of_launch(self.source, self.function, args)


def _asked_of(value: Any) -> object:
    """What predicates may read of an argument: extents and strides, or a number."""
    from tileas_xdsl.frontend.array_arguments import array_facts

    facts = array_facts(value)
    return value if facts is None else (facts.shape, facts.strides)
