"""What a module must be to be written: functions and globals, of `cuda_tile` operations alone.

Source: `verifySelfContainedModuleAndOperationInvariants`, BytecodeWriter.cpp of NVIDIA/cuda-tile.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, note, op_error
from tileas_xdsl.dialects.cuda_tile.tiles.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.ir_queries import enclosing_ops, is_side_effect_free

_TOP_LEVEL = ("cuda_tile.entry", "cuda_tile.global")


def check_self_contained(module: Operation) -> None:
    """Raise `OpError` for a `cuda_tile.module` with operations that bytecode does not have."""
    for op in module.regions[0].block.ops:
        if op.name not in _TOP_LEVEL:
            raise _refused(module, "only function and global ops are allowed in the body", op)
    for op in module.walk():
        if op.dialect_name() != "cuda_tile":
            raise _refused(module, "only ops from the 'cuda_tile' dialect are allowed", op)
        aggregates = any(isinstance(parent, (ReduceOp, ScanOp)) for parent in enclosing_ops(op))
        if aggregates and not is_side_effect_free(op):
            where = op.parent_op() or module
            raise _refused(where, message("bytecode.only_pure_operations_allowed"), op)


def _refused(where: Operation, text: str, invalid: Operation) -> OpError:
    return op_error(where, text, [note(invalid, message("bytecode.invalid_op", op=invalid.name))])
