"""What workers do for one candidate: predict it, and compile it.

Both take Tile IR bytecode and give plain data, so that any executor can carry them.
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.backend.nvidia_tools import MissingToolError
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile_module, registered_context, tile_ir_module
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.launches.specializations import LaunchPredicate, suits
from tileas_xdsl.tuning.prediction.launch_time import Predicted
from tileas_xdsl.tuning.prediction.module_prediction import predict_module


@dataclass(frozen=True)
class Task:
    """A candidate as Tile IR, and the launch that it is for."""

    content: bytes
    target: str
    arguments: tuple[int | None, ...]
    """Those of the lowered function that are numbers."""
    grid: tuple[int, int, int]

    def wants(self, predicate: LaunchPredicate) -> bool:
        """Whether a predicate holds for the launch, on a usual GPU."""
        of_clusters = latencies(self.target).multiprocessors_of_clusters
        return suits(predicate, self.arguments, self.grid, of_clusters)


@dataclass(frozen=True)
class Built:
    """What became of a candidate; `problem` says why it is none."""

    problem: str = ""
    registers: int | None = None
    spills: int | None = None
    shared_bytes: int = 0
    code: bytes = b""
    """What a launch needs, as `Executable.from_bytes` reads it."""


def predict(task: Task) -> Predicted | str:
    """Predict a launch from the passes up to pipelining; or say why the kernel is refused."""
    try:
        module = tile_ir_module(task.content, "<candidate>")
        found = predict_module(module, task.target, task.arguments, task.grid)
        return found or "its tiles are laid out already"
    except DiagnosticError as error:
        return _said(error)


def build(task: Task) -> Built:
    """Compile the specialization that the launch selects: to machine code, or to PTX alone."""
    try:
        module = tile_ir_module(task.content, "<candidate>")
        made = compile_module(module, registered_context(), task.target, choose=task.wants)
        shared = made.abi.shared_bytes
        try:
            assembled = made.assemble()
        except MissingToolError:
            return Built(shared_bytes=shared, code=_code(made, b""))
    except DiagnosticError as error:
        return Built(_said(error))
    used = assembled.entries[made.name]
    problem = f"{used.spills} bytes are spilled" if used.spills else ""
    code = _code(made, assembled.cubin)
    return Built(problem, used.registers, used.spills, shared, code)


def _code(made: CompiledKernel, cubin: bytes) -> bytes:
    return Executable(made.target, made.abi, made.ptx, cubin).to_bytes()


def _said(error: DiagnosticError) -> str:
    reports: Sequence[str] = [one.text for one in error.diagnostics]
    return reports[0] if reports else "the kernel is refused"
