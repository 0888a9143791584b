"""What a launch asks of a compiled kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from xdsl.dialects import func

from tileas_xdsl.backend.ptxas import Assembled
from tileas_xdsl.dialects.ptx.structure.entries import EntryOp
from tileas_xdsl.frontend.signature import Parameter
from tileas_xdsl.target.kernel_abi import (
    KernelAbi,
)


class CompiledKernel(Protocol):
    """The interface of a compiled kernel that a launch needs (`compiled_kernel.CompiledKernel`)."""

    @property
    def target(self) -> str:
        """The compilation target."""
        ...

    @property
    def host_code(self) -> bytes | None:
        """The object whose functions encode the tensor maps of the kernel."""
        ...

    @property
    def parameters(self) -> Sequence[Parameter] | None:
        """The parameters of a cuTile kernel; None for other kernels."""
        ...

    @property
    def operation(self) -> func.FuncOp | EntryOp:
        """The kernel as it was read: a function, or an entry of PTX."""
        ...

    @property
    def function(self) -> func.FuncOp:
        """The kernel as a function of tiles."""
        ...

    @property
    def abi(self) -> KernelAbi:
        """The kernel parameters in PTX."""
        ...

    @cached_property
    def ptx(self) -> str:
        """The PTX text."""
        ...

    @property
    def is_for_threads(self) -> bool:
        """Whether the kernel is thread-level IR."""
        ...

    def assemble(self, *, strict: bool) -> Assembled:
        """The machine code and its facts; slow code is a warning unless `strict`."""
        ...


def argument_names(kernel: CompiledKernel) -> Sequence[str]:
    """Return the names of a kernel's arguments in the source."""
    if kernel.parameters is not None:
        return [parameter.name for parameter in kernel.parameters]
    arguments = kernel.operation.body.blocks[0].args
    return [argument.name_hint or f"argument {n}" for n, argument in enumerate(arguments)]
