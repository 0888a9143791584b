"""Carry written registers through `scf`: as loop-carried values, or as results of branches.

`cute` writes registers in place, `cute.fragment` has values: promotion to SSA, as mem2reg does, of
whole allocations and through structured control flow, where no dominance frontier is needed: a
loop carries, and a branch gives, every allocation that is written inside and made outside.

    scf.for %i = ... {                          %4 = scf.for %i = ... iter_args(%5 = %3) {
      scf.if %p {                                 %6 = scf.if %p -> (vector<2xf32>) {
        cute.memref.store(%r, %second, %x)   ->     %8 = cute.fragment.make %7, %1
      }                                             scf.yield %8
    }                                             } else { scf.yield %5 }
                                                  scf.yield %6
                                                }
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cute import AddressSpace, PtrType
from tileas_xdsl.dialects.cute.atom.calls import CopyAtomCallOp, ProductCall
from tileas_xdsl.dialects.cute.atom.copy_gemm import CopyOp
from tileas_xdsl.dialects.cute.memory.views import MemRefStoreOp, MemRefStoreVecOp
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import is_registers
from tileas_xdsl.transforms.cute_to_nvgpu.mma.async_waits import awaited


def written_views(op: Operation) -> Sequence[SSAValue]:
    """The views that an operation writes to."""
    match op:
        case CopyOp() | CopyAtomCallOp():
            return op.destinations
        case ProductCall():
            return [op.d]
        case MemRefStoreOp() | MemRefStoreVecOp():
            return [op.destination]
        case _:
            return ()


def _base(conv: Converter, view: SSAValue) -> SSAValue | None:
    """The allocation that a view is of, if it is outside of the operation that is converted."""
    while view not in conv.views:
        owner = view.owner
        if not isinstance(owner, Operation):
            return None
        sources = [operand for operand in owner.operands if _leads_to_registers(operand)]
        if not sources:
            return None
        view = sources[0]
    return conv.views[view].base


def _leads_to_registers(value: SSAValue) -> bool:
    """Whether a value is a view of registers or a pointer to them."""
    if isinstance(value.type, PtrType):
        return value.type.space is AddressSpace.RMEM
    return is_registers(value)


def _written(op: Operation, conv: Converter) -> list[SSAValue]:
    """The allocations from outside that an operation's regions write, in their order."""
    views = [
        view for inner in operations_in(op) for view in written_views(inner) if is_registers(view)
    ]
    found = {_base(conv, view) for view in views}
    return [base for base in conv.registers.held if base in found]


def _carried(op: Operation, conv: Converter) -> list[SSAValue]:
    """Those, and the ones that a wait inside is for."""
    found = {base for inner in operations_in(op) for base in awaited(inner, conv)}
    found.update(_written(op, conv))
    return [base for base in conv.registers.held if base in found]


def convert_for(op: scf.ForOp, conv: Converter) -> None:
    """A loop that carries the registers that it writes."""
    bases = _carried(op, conv)
    body = op.body.block
    if not bases:
        _inside(conv, body)
        return
    before = [conv.registers.held[base] for base in bases]
    arguments = [body.insert_arg(value.type, len(body.args)) for value in before]
    after = _inside(conv, body, dict(zip(bases, arguments, strict=True)))
    _extend(body, [after[base] for base in bases])
    made = scf.ForOp(op.lb, op.ub, op.step, [*op.iter_args, *before], op.detach_region(op.body))
    _give(op, made, bases, conv)


def convert_if(op: scf.IfOp, conv: Converter) -> None:
    """Branches that give the registers that one of them writes."""
    bases = _carried(op, conv)
    if not op.false_region.blocks and bases:
        op.false_region.add_block(Block([scf.YieldOp()]))
    for region in (op.true_region, op.false_region):
        for block in region.blocks:
            after = _inside(conv, block)
            if bases:
                _extend(block, [after[base] for base in bases])
    if not bases:
        return
    types = [*op.result_types, *(conv.registers.held[base].type for base in bases)]
    yes, no = (op.detach_region(region) for region in (op.true_region, op.false_region))
    _give(op, scf.IfOp(op.cond, types, yes, no), bases, conv)


def _inside(
    conv: Converter, block: Block, begins: dict[SSAValue, SSAValue] | None = None
) -> dict[SSAValue, SSAValue]:
    """Convert a block; what registers hold at its end, while outside they hold what they did."""
    outer = conv.registers.held
    conv.registers.held = {**outer, **(begins or {})}
    conv.run(block)
    after, conv.registers.held = conv.registers.held, outer
    return after


def _extend(block: Block, values: Sequence[SSAValue]) -> None:
    end = block.last_op
    assert isinstance(end, scf.YieldOp)
    end.operands = [*end.operands, *values]


def _give(op: Operation, made: Operation, bases: Sequence[SSAValue], conv: Converter) -> None:
    """Replace an operation by one with further results, which registers hold then."""
    conv.effect(made)
    count = len(op.results)
    for old, new in zip(op.results, made.results[:count], strict=True):
        conv.replace(old, new)
    conv.registers.held.update(zip(bases, made.results[count:], strict=True))
    conv.kill(op)


def convert_regions(op: Operation, conv: Converter) -> None:
    """Any other operation with regions: registers from outside are only read there."""
    if _written(op, conv):
        raise op_error(op, "writes registers of outside, which only scf.for and scf.if give on")
    for region in op.regions:
        for block in region.blocks:
            _inside(conv, block)
