"""Lower functions, branches and scalar arithmetic beside `cute` to the `llvm` dialect.

A function is rebuilt block by block. Values whose type says everything (static layouts, tuples
of constants) have no LLVM value: block arguments, branch operands and results of that kind are
dropped, so that signatures shrink to what is known only at run time:

    func.func @k(%c: !cute.shape<"(4,8)">, %a: !cute.int_tuple<"(1,?)">, %i: index)
    llvm.func @k(%a: !llvm.struct<(i32)>, %i: i64)

Several results become one struct, since LLVM functions return one value. Branches are `cf`:
regions of `scf` must be lowered before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, cf, func, llvm
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.types.elements import integer_bits
from tileas_xdsl.transforms.cute_lowering.handlers import Handler, handler_of
from tileas_xdsl.transforms.cute_lowering.llvm_types import Memory, carrier_of, struct
from tileas_xdsl.transforms.cute_lowering.lowering_state import Lowering

_BINARY: Mapping[type[Operation], Callable[[SSAValue, SSAValue], Operation]] = {
    arith.AddiOp: llvm.AddOp,
    arith.SubiOp: llvm.SubOp,
    arith.MuliOp: llvm.MulOp,
    arith.DivSIOp: llvm.SDivOp,
    arith.DivUIOp: llvm.UDivOp,
    arith.RemSIOp: llvm.SRemOp,
    arith.RemUIOp: llvm.URemOp,
    arith.AndIOp: llvm.AndOp,
    arith.OrIOp: llvm.OrOp,
    arith.XOrIOp: llvm.XOrOp,
    arith.ShLIOp: llvm.ShlOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.ShRSIOp: llvm.AShrOp,
    arith.AddfOp: llvm.FAddOp,
    arith.SubfOp: llvm.FSubOp,
    arith.MulfOp: llvm.FMulOp,
    arith.DivfOp: llvm.FDivOp,
}

_CASTS: Mapping[type[Operation], Callable[[SSAValue, Attribute], Operation]] = {
    arith.ExtSIOp: llvm.SExtOp,
    arith.ExtUIOp: llvm.ZExtOp,
    arith.TruncIOp: llvm.TruncOp,
    arith.ExtFOp: llvm.FPExtOp,
    arith.TruncFOp: llvm.FPTruncOp,
    arith.SIToFPOp: llvm.SIToFPOp,
}


def converted(type_: Attribute) -> Attribute:
    """Return the LLVM type of a scalar; indices have 64 bits."""
    return i64 if isinstance(type_, IndexType) else type_


def _binary(op: Operation, low: Lowering) -> None:
    lhs, rhs = (low.of(operand) for operand in op.operands)
    low.values[op.results[0]] = low.insert(_BINARY[type(op)](lhs, rhs))


def _cast(op: Operation, low: Lowering) -> None:
    type_ = converted(op.results[0].type)
    low.values[op.results[0]] = low.insert(_CASTS[type(op)](low.of(op.operands[0]), type_))


def _index_cast(op: Operation, low: Lowering) -> None:
    width = integer_bits(converted(op.results[0].type))
    low.values[op.results[0]] = low.numbers.resized(low.of(op.operands[0]), width)


def _constant(op: arith.ConstantOp, low: Lowering) -> None:
    value, type_ = op.value, converted(op.result.type)
    if isinstance(value, IntegerAttr) and (width := integer_bits(type_)):
        low.values[op.result] = low.number(value.value.data, width)
        return
    if not isinstance(type_, AnyFloat):
        raise op_error(op, f"gives a number, not {type_}")
    low.values[op.result] = low.insert(llvm.ConstantOp(value, type_))


def _compare(op: arith.CmpiOp, low: Lowering) -> None:
    predicate = IntegerAttr(op.predicate.value.data, i64)
    lhs, rhs = low.of(op.lhs), low.of(op.rhs)
    low.values[op.result] = low.insert(llvm.ICmpOp(lhs, rhs, predicate))


def _select(op: arith.SelectOp, low: Lowering) -> None:
    if low.carrier(op.result) is None:
        low.values[op.result] = None
        return
    condition, lhs, rhs = (low.of(operand) for operand in op.operands)
    low.values[op.result] = low.insert(llvm.SelectOp(condition, lhs, rhs))


def _branch(op: cf.BranchOp, low: Lowering) -> None:
    low.effect(llvm.BrOp(low.blocks[op.successors[0]], *_carried(op.operands, low)))


def _cond_branch(op: cf.ConditionalBranchOp, low: Lowering) -> None:
    low.effect(
        llvm.CondBrOp(
            low.of(op.cond),
            low.blocks[op.then_block],
            _carried(op.then_arguments, low),
            low.blocks[op.else_block],
            _carried(op.else_arguments, low),
        )
    )


def _carried(values: Sequence[SSAValue], low: Lowering) -> list[SSAValue]:
    """Return the LLVM values of those operands that have one."""
    found = [low.values[value] for value in values]
    return [value for value in found if value is not None]


def _return(op: func.ReturnOp, low: Lowering) -> None:
    values = _carried(op.operands, low)
    if len(values) > 1:
        type_ = struct([value.type for value in values])
        values = [low.pack(type_, [((n,), value) for n, value in enumerate(values)])]
    low.effect(llvm.ReturnOp(values[0] if values else None))


_HANDLERS: Mapping[type[Operation], Handler] = {
    **dict.fromkeys(_BINARY, _binary),
    **dict.fromkeys(_CASTS, _cast),
    arith.IndexCastOp: _index_cast,
    arith.ConstantOp: _constant,
    arith.CmpiOp: _compare,
    arith.SelectOp: _select,
    cf.BranchOp: _branch,
    cf.ConditionalBranchOp: _cond_branch,
    func.ReturnOp: _return,
}


def lowered_function(function: func.FuncOp, memory: Memory) -> llvm.FuncOp:
    """Lower a function; raise a located error for what cannot be lowered."""
    region = Region()
    low = Lowering(memory, Block())
    for block in function.body.blocks:
        region.add_block(_begun(block, low))
    for block in function.body.blocks:
        low.begin(low.blocks[block])
        for op in block.ops:
            _lower(op, low)
    inputs = [argument.type for argument in region.blocks[0].args]
    output = _result_type(function, memory)
    made = llvm.FuncOp(
        function.sym_name.data,
        llvm.LLVMFunctionType(inputs, output),
        llvm.LinkageAttr("external"),
        body=region,
        extra_attrs=dict(function.attributes),
    )
    made.location = function.location
    made.arg_attrs = _argument_attributes(function, low)
    return made


def _argument_attributes(function: func.FuncOp, low: Lowering) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of the arguments that remain."""
    if function.arg_attrs is None:
        return None
    pairs = zip(function.body.blocks[0].args, function.arg_attrs, strict=True)
    return ArrayAttr([entry for argument, entry in pairs if low.carrier(argument) is not None])


def _begun(block: Block, low: Lowering) -> Block:
    """Create an empty block with arguments for those values that remain."""
    carriers = [low.carrier(argument) for argument in block.args]
    made = Block(arg_types=[carrier.type for carrier in carriers if carrier is not None])
    arguments = iter(made.args)
    for old, carrier in zip(block.args, carriers, strict=True):
        low.values[old] = None if carrier is None else next(arguments)
        if (new := low.values[old]) is not None:
            new.name_hint = old.name_hint
    low.blocks[block] = made
    return made


def _lower(op: Operation, low: Lowering) -> None:
    handler = _HANDLERS.get(type(op)) or handler_of(op)
    if handler is None:
        raise op_error(op, _refusal(op))
    before = low.block.last_op
    handler(op, low)
    _locate(op, before, low.block)
    for result in op.results:
        made = low.values[result]
        if made is not None and made.name_hint is None:
            made.name_hint = result.name_hint


def _locate(op: Operation, before: Operation | None, block: Block) -> None:
    """Give all operations inserted behind `before` the location of `op`."""
    made = block.last_op
    while made is not None and made is not before:
        made.location = op.location
        made = made.prev_op


def _refusal(op: Operation) -> str:
    if op.name.startswith("scf."):
        return "has a region: run convert-scf-to-cf before cute-to-llvm"
    if op.name.startswith("cute."):
        return "is no algebra: the passes of an architecture lower it"
    return "is not lowered by cute-to-llvm"


def _result_type(function: func.FuncOp, memory: Memory) -> Attribute:
    """Return the result type: void, the one result that remains, or a struct."""
    probe: Any = Block(arg_types=list(function.function_type.outputs))
    carriers = [carrier_of(argument, memory) for argument in probe.args]
    types = [carrier.type for carrier in carriers if carrier is not None]
    if not types:
        return llvm.LLVMVoidType()
    return types[0] if len(types) == 1 else struct(types)
