"""Verbatim messages with their values, and the errors that inference of types raises."""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error


def literal(key: str, *values: tuple[str, object]) -> str:
    """A message of the catalogue whose sample texts are replaced by values, left to right."""
    done, rest = "", str(message(key))
    for sample, value in values:
        before, found, rest = rest.partition(sample)
        if not found:
            raise ValueError(f"the message {key} has no '{sample}' left to replace")
        done += before + str(value)
    return done + rest


def inference_error(op: Operation, text: str) -> OpError:
    """The error of an operation whose result types cannot be inferred, and why, as MLIR says it.

    The reason stands without the name of the operation, and a second error names it.
    """
    failed = literal("cute-x-op-failed-to-infer-returned-types", ("cute.X", op.name))
    reason = op_error(op, text, prefix=False)
    return OpError(*reason.diagnostics, *op_error(op, failed, prefix=False).diagnostics)
