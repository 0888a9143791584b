"""Lower loops and branches at block level, whose conditions are uniform across the block.

Fragments are registers, SSA values at thread level: those that a region writes become loop or
branch results.

    tl.serial %k = %c0 to %c4 {               %r = scf.for %k = %c0 to %c4 iter_args(%f = %f0)
      tl.copy %A[%k] to %f                      %v = cute.ptr.load ... : vector<1xf32>
    }                                           scf.yield %v

A loop is unrolled instead where its variable selects registers (an index of a fragment or local
buffer), because registers have no addresses. Ranges and divisors of the loop variable are
recorded for address arithmetic: they prove bounds and the alignment of vector accesses inside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd
from typing import Any

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.tl.base import scope_of
from tileas_xdsl.dialects.tl.loops import PipelinedOp, SerialOp
from tileas_xdsl.dialects.tl.moves import CopyOp
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.threads.codegen.integer_ops import index_constant
from tileas_xdsl.threads.codegen.known_integers import divisor_of
from tileas_xdsl.threads.index.thread_affine import of_scalar, uniform
from tileas_xdsl.transforms.lower_tl.lowering_state import Handler, State
from tileas_xdsl.transforms.lower_tl.memory_effects import written_in

MAX_UNROLLED = 64
"""Trip count up to which a loop whose variable picks registers is unrolled."""

INDEX = IndexType()


def serial(state: State, op: SerialOp | PipelinedOp) -> None:
    """Lower a serial loop; unroll it where its variable picks registers."""
    picks = register_picks(op.variable)
    loop_values = op.static_bounds
    if picks and ((loop_values is not None and len(loop_values) <= MAX_UNROLLED) or not all(picks)):
        _unroll(state, op)
        return
    step = index_constant(state.e, 1) if op.step is None else state.scalar(op.step)
    bounds = (state.scalar(op.lower), state.scalar(op.upper), step)
    limits = range_of(state, op.lower, op.upper)
    loop(state, op, bounds, op.variable, limits, (), lambda: _run(state, op.body.block))


def _run(state: State, block: Block) -> Sequence[SSAValue]:
    state.run(block)
    return ()


def _unroll(state: State, op: SerialOp | PipelinedOp) -> None:
    loop_values = op.static_bounds
    if loop_values is None or len(loop_values) > MAX_UNROLLED:
        many = (
            "as many rounds as run time says"
            if loop_values is None
            else f"{len(loop_values)} rounds"
        )
        raise op_error(
            op,
            f"picks registers of fragments by its variable and has {many}; at most {MAX_UNROLLED} "
            "are written out",
        )
    for loop_value in loop_values:
        state.values[op.variable] = uniform(loop_value)
        state.run(op.body.block)


def register_picks(variable: SSAValue) -> Sequence[bool]:
    """Return, for each register access whose index depends on a variable, whether it reads a
    fragment.
    """
    pending, seen, found = [variable], {variable}, list[bool]()
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if _is_index_of_registers(op, use.index):
                is_fragment = isinstance(op, memref.LoadOp)
                found.append(is_fragment and scope_of(op.memref.type) is Scope.FRAGMENT)
                continue
            new = [result for result in op.results if result not in seen]
            pending += new
            seen.update(new)
    return found


def _is_index_of_registers(op: Operation, position: int) -> bool:
    registers = (Scope.FRAGMENT, Scope.LOCAL)
    match op:
        case memref.LoadOp():
            return position > 0 and scope_of(op.memref.type) in registers
        case memref.StoreOp():
            return position > 1 and scope_of(op.memref.type) in registers
        case CopyOp():
            offsets = len(op.source_offsets)
            side = op.source if position <= offsets else op.target
            return scope_of(side.type) in registers
        case _:
            return False


def range_of(state: State, lower: SSAValue, upper: SSAValue) -> tuple[int, int] | None:
    """Return the smallest and largest value of a loop variable, if its bounds have ranges."""
    ends = [state.affine(value).range(state.ranges.get) for value in (lower, upper)]
    if ends[0] is None or ends[1] is None:
        return None
    return int(ends[0][0].min()), max(int(ends[1][1].max()) - 1, int(ends[0][0].min()))


def loop(
    state: State,
    op: Operation,
    bounds: tuple[SSAValue, SSAValue, SSAValue],
    variable: SSAValue,
    limits: tuple[int, int] | None,
    carried: Sequence[SSAValue],
    body: Callable[[], Sequence[SSAValue]],
    arguments: Sequence[SSAValue] = (),
) -> Sequence[SSAValue]:
    """Emit a loop that carries values and the registers that its body writes.

    `body` lowers the body and returns the next values of `arguments`.
    """
    e = state.e
    storages = [s for s in written_in(op) if s in state.registers]
    begin = [*carried, *(state.registers[s] for s in storages)]
    block = Block(arg_types=[INDEX, *(value.type for value in begin)])
    made = scf.ForOp(*bounds, begin, Region(block))
    state.values[variable] = of_scalar(block.args[0])
    e.promised[block.args[0]] = gcd(divisor_of(e, bounds[0]), divisor_of(e, bounds[2]))
    if limits is not None:
        state.ranges[block.args[0]] = limits
    count = len(carried)
    state.values.update(zip(arguments, block.args[1 : count + 1], strict=True))
    state.registers.update(zip(storages, block.args[count + 1 :], strict=True))
    with e.within(block):
        given = body()
        e.insert(scf.YieldOp(*given, *(state.registers[s] for s in storages)))
    e.insert(made)
    state.registers.update(zip(storages, made.results[count:], strict=True))
    return made.results[:count]


def counted(state: State, op: scf.ForOp) -> None:
    """Lower an `scf.for` that carries scalars."""
    bounds = state.scalar(op.lb), state.scalar(op.ub), state.scalar(op.step)
    carried = [state.scalar(value) for value in op.iter_args]
    block = op.body.block

    def body() -> Sequence[SSAValue]:
        state.run(block)
        last = block.last_op
        return [] if last is None else [state.scalar(value) for value in last.operands]

    limits = range_of(state, op.lb, op.ub)
    variable, *arguments = block.args
    found = loop(state, op, bounds, variable, limits, carried, body, arguments)
    state.values.update(zip(op.results, found, strict=True))


def branch(state: State, op: scf.IfOp) -> None:
    """Lower an `scf.if` whose condition is uniform across the block."""
    e, condition = state.e, state.scalar(op.cond)
    storages = [s for s in written_in(op) if s in state.registers]
    before = {storage: state.registers[storage] for storage in storages}
    blocks = (Block(), Block())
    for region, block in zip((op.true_region, op.false_region), blocks, strict=True):
        state.registers.update(before)
        with e.within(block):
            given: list[SSAValue] = []
            if region.blocks:
                state.run(region.block)
                last = region.block.last_op
                if op.results and last is not None:
                    given = [state.scalar(value) for value in last.operands]
            e.insert(scf.YieldOp(*given, *(state.registers[s] for s in storages)))
    types = [*(r.type for r in op.results), *(value.type for value in before.values())]
    made = e.insert(scf.IfOp(condition, types, Region(blocks[0]), Region(blocks[1])))
    count = len(op.results)
    state.values.update(zip(op.results, made.results[:count], strict=True))
    state.registers.update(zip(storages, made.results[count:], strict=True))


_TABLE: Any = {SerialOp: serial, scf.ForOp: counted, scf.IfOp: branch}

CONTROL: Mapping[type[Operation], Handler] = _TABLE
"""Control flow at block level."""
