"""Verify a module operation by operation, so that every error has a place.

xDSL's own `Operation.verify` stops at the first error, forgets where it was and prints the whole
module into the exception.  Here the same checks run on each operation alone: those of blocks and
terminators below, those of traits, constraints and `verify_` through `Operation.verify_`.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Block, ErasedSSAValue, Operation
from xdsl.traits import IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.emission import BrokenPassError, OpError, note, op_error
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.diagnostics.parsing.parse_errors import one_line
from tileas_xdsl.diagnostics.pass_errors import INTERNAL, internal_error
from tileas_xdsl.diagnostics.report import Diagnostic, Location
from tileas_xdsl.diagnostics.verification.dominance import dominance_errors
from tileas_xdsl.diagnostics.verification.remembered import remember_structure
from tileas_xdsl.diagnostics.verification.snapshot import is_same, snapshot
from tileas_xdsl.diagnostics.walking import operands_of, operations_inside_out, successors_of

_ISOLATION = "Operation using value defined out of its IsolatedFromAbove parent"
_NOWHERE = Location("", 0, 0)


def verify_errors(module: Operation) -> list[Diagnostic]:
    """Every error in `module`, in the order of its text; none means that it is valid.

    One mistake is reported once: operations around a wrong one are not verified, an error in a user
    of its results is dropped, and dominance is checked where each operation is right by itself.
    """
    errors, wrong = _operation_errors(module)
    if not errors:
        return dominance_errors(module)
    for op in (op for region in module.regions for block in region.blocks for op in block.ops):
        if op.regions and op not in wrong:
            errors += dominance_errors(op)
    return sorted(errors, key=lambda error: error.location or _NOWHERE)


def verify_module(module: Operation, *, after: str | None = None) -> None:
    """Raise an `OpError` with every error in `module`.

    `after` names the pass that ran last, so that a note can say which one broke a valid module.
    What is still as it was when it was last found valid is not looked at again.
    """
    seen = snapshot(module)
    if module.parent is None and is_same(_LAST_VALID[0], seen):
        return
    errors = verify_errors(module)
    if errors and after is not None:
        reason = note(errors[0].location, f"the IR is no longer valid after pass '{after}'")
        errors[0] = replace(errors[0], notes=(*errors[0].notes, reason))
        raise BrokenPassError(*errors)
    if errors:
        raise OpError(*errors)
    _LAST_VALID[0] = seen


_LAST_VALID: list[list[object]] = [[]]
"""Of the module that was found valid last; it is what the next pass gets."""


def _operation_errors(module: Operation) -> tuple[list[Diagnostic], set[Operation]]:
    """The errors, and the operations that are wrong or contain a wrong one."""
    errors: list[Diagnostic] = []
    wrong: set[Operation] = set()
    for op in operations_inside_out(module):
        if op not in wrong:
            if not (found := operation_errors(op)):
                continue
            if not any(operand.owner in wrong for operand in op.operands):
                errors += found
            wrong.add(op)
        if (parent := op.parent_op()) is not None:
            wrong.add(parent)
    return _without_followers(errors), wrong


def _without_followers(errors: list[Diagnostic]) -> list[Diagnostic]:
    """A verifier that fails over another operation, which is wrong itself, says nothing new."""
    plain = [error for error in errors if not error.message.startswith(INTERNAL)]
    return plain or errors


def operation_errors(op: Operation) -> list[Diagnostic]:
    """What is wrong with `op` itself, its blocks included, the operations inside it excluded."""
    try:
        _check_operands(op)
        _check_successors(op)
        _check_blocks(op)
        _check_own_rules(op)
    except DiagnosticError as error:
        return list(error.diagnostics)
    return []


def _check_operands(op: Operation) -> None:
    for index, operand in enumerate(operands_of(op)):
        if type(operand) is ErasedSSAValue:
            raise op_error(op, f"operand #{index} was erased by a pass")


def _check_successors(op: Operation) -> None:
    block = op.parent
    if not successors_of(op) or block is None:
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
    remember_structure(type(op))
    try:
        op.verify_()
    except DiagnosticError:
        raise
    except VerifyException as error:
        raise OpError(*_rule_errors(op, str(error))) from error
    except Exception as error:
        if type(error) is Exception or getattr(error, "is_for_users", False):
            # Verifiers of xDSL's memref raise the former for what is wrong in the text.
            raise OpError(*_rule_errors(op, str(error))) from error
        raise internal_error(f"the verifier of '{name_of(op)}'", op, error) from error


def _rule_errors(op: Operation, message: str) -> list[Diagnostic]:
    """xDSL reports a value from outside at the isolated operation; the place to show is its use."""
    uses = dominance_errors(op) if message.startswith(_ISOLATION) else []
    return uses or list(op_error(op, one_line(message)).diagnostics)
