"""Check that a loop can be sliced: operations that can be cloned, static bounds, carried values.

A slice runs a copy of the loop over a part of its range, so that the body must allow to be copied
(no pipeline or split into agents in it, whose barriers are those of one place in the code), and
the bounds must be known where the slices are: constants, or linear in the variables of the loops
around.  Each check raises the error of the catalogue, with a note at the operation in the way.
"""

from __future__ import annotations

from xdsl.dialects import affine, arith, func, scf
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.ir_queries import constant_integer, owning_op
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyBase
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.base import PipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.transforms.slicing.counted_loop import CountedLoop

COPIED_DIALECTS = frozenset({"arith", "cf", "math", "nv_tileas", "scf", "tensor"})
"""Arithmetic, control flow, and tiles as values."""

COPIED_OPERATIONS = frozenset(
    {
        "affine.apply",
        "affine.min",
        "gpu.block_dim",
        "gpu.block_id",
        "gpu.grid_dim",
        "gpu.thread_id",
        "memref.cast",
        "memref.dim",
        "memref.load",
        "memref.store",
        "memref.subview",
    }
)
"""What else may be in a sliced loop."""

SINGLE = (AgentSwitchOp, CreatePipelineOp)
"""A copy of a split into agents, or of a pipeline, would have barriers of its own."""

TRAVERSED = (func.FuncOp, scf.ForOp, scf.WhileOp, PipelineOp)
"""Operations whose regions begin with values that are known to stay what they are."""


def check_body(loop: CountedLoop) -> None:
    """Every operation of the loop can be copied."""
    for op in loop.op.walk():
        if op is not loop.op and not _is_copied(op):
            culprit = note(op, f"'{name_of(op)}' cannot be copied")
            raise op_error(loop.op, message("slicing.unsupported_op"), [culprit])


def _is_copied(op: Operation) -> bool:
    if isinstance(op, func.CallOp):
        callee = SymbolTable.lookup_symbol(op, op.callee)
        return isinstance(callee, func.FuncOp) and not callee.is_declaration
    if isinstance(op, SINGLE):
        return False
    return op.name in COPIED_OPERATIONS or op.dialect_name() in COPIED_DIALECTS


def check_lower_bound(loop: CountedLoop) -> None:
    """The loop begins at a constant, or at a linear function of induction variables around it."""
    pending, seen = [loop.first], set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        sources = _linear_sources(value)
        if sources is None:
            reason = note(owning_op(value), "it depends on this")
            text = message("slicing.lower_bound")
            raise op_error(loop.op, text, [reason])
        pending += sources


def _linear_sources(value: SSAValue) -> list[SSAValue] | None:
    """What `value` is a linear function of, None if that cannot be seen."""
    owner = value.owner
    match owner:
        case Block():
            return [] if _is_induction_variable(value, owner) else None
        case arith.ConstantOp():
            return []
        case affine.ApplyOp() | arith.AddiOp() | arith.SubiOp() | arith.IndexCastOp():
            return list(owner.operands)
        case arith.MuliOp() if any(constant_integer(v) is not None for v in owner.operands):
            return list(owner.operands)
        case _:
            return None


def _is_induction_variable(value: SSAValue, block: Block) -> bool:
    loop = block.parent_op()
    return isinstance(loop, scf.ForOp | affine.ForOp) and value is block.args[0]


def check_initial(loop: CountedLoop) -> None:
    """Every value that the loop begins with can be given to the first slice."""
    for value in loop.initial:
        if _escapes(value) or not _is_settled(value):
            reason = note(owning_op(value), "the value comes from here")
            text = message("slicing.initial_operand")
            raise op_error(loop.op, text, [reason])


def _escapes(value: SSAValue) -> bool:
    """Whether an operation of the function makes the value and the function returns it as it is."""
    if isinstance(value.owner, Block):
        return False
    return any(isinstance(use.operation, func.ReturnOp) for use in value.uses)


def _is_settled(value: SSAValue) -> bool:
    """Whether no loop carries the value that is not one of ours: of branches, or of other
    dialects."""
    block = value.owner
    if not isinstance(block, Block):
        return True
    region = block.parent
    is_entry = isinstance(region, Region) and region.blocks.first is block
    return is_entry and isinstance(block.parent_op(), TRAVERSED)


def check_inside(loop: CountedLoop, planned: frozenset[Operation]) -> None:
    """What is in the loop now is what was planned, and its copies have concrete atoms."""
    for op in loop.op.walk():
        if op not in planned:
            text = message("slicing.unexpected_op", op=name_of(op))
            raise op_error(loop.op, text, [note(op, "it is here")])
        if isinstance(op, CopyBase) and _is_abstract(op):
            text = message("slicing.copy_atom")
            raise op_error(loop.op, text, [note(op, f"atom {op.atom.data} has no layout yet")])


def _is_abstract(copy: CopyBase) -> bool:
    """Whether layout assignment has neither chosen an atom nor written a layout."""
    return copy.atom.data.keyword == UNKNOWN_COPY and copy.layout is None
