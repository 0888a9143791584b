"""The errors that inference of result types raises."""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error


def inference_error(op: Operation, reason: str) -> OpError:
    """Return the error of an operation whose result types cannot be inferred, as MLIR words it.

    The reason stands without the name of the operation, and a second error names it.
    """
    failed = message("cute.inference_failed", op=op.name)
    first, second = (op_error(op, text, prefix=False) for text in (reason, failed))
    return OpError(*first.diagnostics, *second.diagnostics)
