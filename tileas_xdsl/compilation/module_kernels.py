"""The kernels of a module of tiles, of threads or of PTX, and modules of one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.suggest import did_you_mean
from tileas_xdsl.dialects.ptx.structure.entries import EntryOp
from tileas_xdsl.dialects.target_attribute import set_target

KernelOp: TypeAlias = func.FuncOp | EntryOp
"""A kernel on any level from tiles on."""


def kernels_in(module: ModuleOp) -> Sequence[KernelOp]:
    """Return the kernels of a module of tiles, of threads or of PTX."""
    return [
        op
        for op in module.ops
        if isinstance(op, EntryOp) or (isinstance(op, func.FuncOp) and not op.is_declaration)
    ]


def kernel_named(module: ModuleOp, name: str | None) -> KernelOp:
    """Return the kernel of a name, or the only one; raises `OpError` if there is no such one."""
    kernels = kernels_in(module)
    found = [op for op in kernels if name in (None, op.sym_name.data)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"@{op.sym_name.data}" for op in kernels) or "none"
    wanted = (
        "which kernel to compile is not said" if name is None else f"there is no kernel @{name}"
    )
    hint = did_you_mean(name or "", [op.sym_name.data for op in kernels])
    raise op_error(module, f"{wanted}; {hint or f'the module has {names}'}", prefix=False)


def module_of(kernel: KernelOp, module: ModuleOp, target: str) -> ModuleOp:
    """Return a module with a kernel of another one, and with all there that is no kernel."""
    kept = [op for op in module.ops if op is kernel or not isinstance(op, KernelOp)]
    made = ModuleOp([op.clone() for op in kept], dict(module.attributes))
    set_target(made, target)
    return made
