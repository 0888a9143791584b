"""Verify a module operation by operation, so that every error has a place.

xDSL's own `Operation.verify` stops at the first error, forgets where it was and prints the whole
module into the exception.  Here the same checks run on each operation alone: those of blocks and
terminators below, those of traits, constraints and `verify_` through `Operation.verify_`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from xdsl.ir import Block, ErasedSSAValue, Operation
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.dominance import dominance_errors
from tileas_xdsl.diagnostics.emission import DiagnosticError, OpError, op_error
from tileas_xdsl.diagnostics.parse_errors import one_line
from tileas_xdsl.diagnostics.report import Diagnostic

_ISOLATION = "Operation using value defined out of its IsolatedFromAbove parent"


def verify_errors(module: Operation) -> list[Diagnostic]:
    """Every error in `module`, in the order of its text; none means that it is valid.

    One mistake is reported once: operations around a wrong one, and users of its results, are not
    verified, and dominance is checked only if each operation is right by itself, as in MLIR.
    """
    errors = _operation_errors(module)
    return errors or dominance_errors(module)


def verify_module(module: Operation) -> None:
    """Raise an `OpError` with every error in `module`."""
    if errors := verify_errors(module):
        raise OpError(*errors)


def _operation_errors(module: Operation) -> list[Diagnostic]:
    errors: list[Diagnostic] = []
    wrong: set[Operation] = set()
    for op in module.walk(region_first=True):
        if op not in wrong and not (found := operation_errors(op)):
            continue
        if op not in wrong and not any(operand.owner in wrong for operand in op.operands):
            errors += found
        wrong.add(op)
        if (parent := op.parent_op()) is not None:
            wrong.add(parent)
    return errors


def operation_errors(op: Operation) -> list[Diagnostic]:
    """What is wrong with `op` itself, its blocks included, the operations inside it excluded."""
    for check in (_check_operands, _check_successors, _check_blocks, _check_own_rules):
        try:
            check(op)
        except DiagnosticError as error:
            return list(error.diagnostics)
    return []


def _check_operands(op: Operation) -> None:
    for index, operand in enumerate(op.operands):
        if isinstance(operand, ErasedSSAValue):
            raise op_error(op, f"operand #{index} was erased by a pass")


def _check_successors(op: Operation) -> None:
    block = op.parent
    if not op.successors or block is None:
        return
    if block.last_op is not op:
        message = "operation with block successors must terminate its parent block"
        raise op_error(op, message, prefix=False)
    if any(successor.parent is not block.parent for successor in op.successors):
        raise op_error(op, "branching to block of a different region")


def _check_blocks(op: Operation) -> None:
    for region in op.regions:
        first = region.blocks.first
        is_only_block = first is region.blocks.last
        for block in region.blocks:
            if block.parent is not region:
                raise op_error(op, "holds a block that belongs to another region")
            if not (is_only_block and op.has_trait(NoTerminator)):
                _check_terminator(op, block)
            if block.last_op is not None and first in block.last_op.successors:
                raise op_error(op, "entry block of region may not have predecessors", prefix=False)


def _check_terminator(op: Operation, block: Block) -> None:
    if (last := block.last_op) is None:
        raise op_error(op, "empty block: expect at least a terminator", prefix=False)
    if not last.has_trait(IsTerminator):
        message = f"block with no terminator, has '{name_of(last)}'"
        raise op_error(last, message, prefix=False)


def _check_own_rules(op: Operation) -> None:
    """Constraints, traits and `verify_`; an exception of another kind is a bug in the verifier."""
    try:
        op.verify_()
    except DiagnosticError:
        raise
    except VerifyException as error:
        if not (message := str(error)).startswith(_ISOLATION):
            raise op_error(op, one_line(message)) from error
        raise OpError(*dominance_errors(op)) from error
    except Exception as error:
        if tracebacks_wanted():
            raise
        raise op_error(op, internal_error("verifier", error)) from error
