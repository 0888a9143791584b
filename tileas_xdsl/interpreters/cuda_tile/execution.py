"""Execution of operations: dispatch to their semantics, control flow, reductions and scans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Block as IRBlock
from xdsl.ir import Operation, Region

from tileas_xdsl.dialects.cuda_tile.enums import Signedness
from tileas_xdsl.dialects.cuda_tile.structure import control
from tileas_xdsl.dialects.cuda_tile.structure.regions import TerminatorOp
from tileas_xdsl.dialects.cuda_tile.tiles import constants, reductions
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of
from tileas_xdsl.interpreters.cuda_tile.block import Block, Exit
from tileas_xdsl.interpreters.cuda_tile.faults import Undefined, located
from tileas_xdsl.interpreters.cuda_tile.numerics.elements import Array, dtype_of, width_of
from tileas_xdsl.interpreters.cuda_tile.numerics.integers import read, wrap
from tileas_xdsl.interpreters.cuda_tile.semantics.block_facts import BLOCK_FACTS
from tileas_xdsl.interpreters.cuda_tile.semantics.conversions import CONVERSIONS, REINTERPRETED
from tileas_xdsl.interpreters.cuda_tile.semantics.floats import FLOATS
from tileas_xdsl.interpreters.cuda_tile.semantics.integers import INTEGERS
from tileas_xdsl.interpreters.cuda_tile.semantics.memory import MEMORY, OFFSETS
from tileas_xdsl.interpreters.cuda_tile.semantics.registry import Elementwise, Pure, Stateful
from tileas_xdsl.interpreters.cuda_tile.semantics.shapes import SELECTION, SHAPES, constant
from tileas_xdsl.interpreters.cuda_tile.semantics.views import VIEW_ACCESSES, VIEWS

ELEMENTWISE: Mapping[type[Any], Elementwise] = {
    **FLOATS,
    **INTEGERS,
    **CONVERSIONS,
    **SELECTION,
    **OFFSETS,
    constants.ConstantOp: constant,
}
"""Of one element each: they run on any number of elements at once."""

PURE: Mapping[type[Any], Pure] = {**ELEMENTWISE, **REINTERPRETED, **SHAPES, **VIEWS}
STATEFUL: Mapping[type[Any], Stateful] = {**MEMORY, **VIEW_ACCESSES, **BLOCK_FACTS}

MAX_ITERATIONS = 1_000_000
"""Iterations of a `loop`: it may wait for a block that runs later."""


def run_region(block: Block, region: Region, arguments: Sequence[Any]) -> Exit:
    """Run the block of a region to its terminator, or to one inside that leaves it."""
    return run_block(block, region.block, arguments)


def run_block(block: Block, body: IRBlock, arguments: Sequence[Any]) -> Exit:
    """Run operations until one hands control away."""
    block.values.update(zip(body.args, arguments, strict=True))
    for op in body.ops:
        if isinstance(op, TerminatorOp):
            return Exit(op, [block.value(value) for value in op.values])
        found = run_op(block, op)
        if isinstance(found, Exit):
            return found
        block.values.update(zip(op.results, found, strict=True))
    raise AssertionError("a block ends with a terminator")


def run_op(block: Block, op: Operation) -> Sequence[Any] | Exit:
    """The results of an operation, or what ended the region around it.

    Raises `UndefinedError` at the operation.
    """
    block.operations += 1
    kind: type[Any] = type(op)
    try:
        if (pure := PURE.get(kind)) is not None:
            return (pure(op, *(block.value(operand) for operand in op.operands)),)
        if (stateful := STATEFUL.get(kind)) is not None:
            return stateful(block, op)
        return CONTROL[kind](block, op)
    except Undefined as error:
        raise located(op, error) from None


def _branch(block: Block, op: control.IfOp) -> Sequence[Any] | Exit:
    region = op.then_region if block.value(op.condition) else op.else_region
    if not region.blocks:
        return ()
    found = run_region(block, region, ())
    return found.values if isinstance(found.op, control.YieldOp) else found


def _counted(block: Block, op: control.ForOp) -> Sequence[Any] | Exit:
    """The induction variable does not wrap around: the bound is compared before."""
    width = width_of(op.lower_bound.type)
    signedness = Signedness.SIGNED if op.unsigned_cmp is None else Signedness.UNSIGNED
    numbers = (op.lower_bound, op.upper_bound, op.step)
    lower, upper, step = (int(read(block.value(n), width, signedness)) for n in numbers)
    if step <= 0:
        raise Undefined(f"has a step of {step}, which must be positive")
    carried: Sequence[Any] = [block.value(value) for value in op.init_values]
    for number in range(lower, upper, step):
        found = run_region(block, op.body, [wrap(np.asarray(number, object), width), *carried])
        if not isinstance(found.op, control.ContinueOp):
            return found
        carried = found.values
    return carried


def _repeated(block: Block, op: control.LoopOp) -> Sequence[Any] | Exit:
    carried: Sequence[Any] = [block.value(value) for value in op.init_values]
    for _ in range(MAX_ITERATIONS):
        found = run_region(block, op.body, carried)
        match found.op:
            case control.BreakOp():
                return found.values
            case control.ContinueOp():
                carried = found.values
            case _:
                return found
    raise Undefined(
        f"runs {MAX_ITERATIONS} times in block {block.index}; blocks run one after another here, "
        "so it may not wait for a later one"
    )


def _is_elementwise(body: IRBlock) -> bool:
    """Whether the operations of a body of scalars do the same to any number of elements."""
    return all(type(op) in ELEMENTWISE or isinstance(op, TerminatorOp) for op in body.ops)


def _combine(
    block: Block, body: IRBlock, elements: Sequence[Array], before: Sequence[Array]
) -> Any:
    """Run a body: its arguments are in pairs, what was combined before and the next element.

    So have it the equations of `scan`, `result[j] = f(result[j-1], X[j])`, its example and the
    functions of cuTile; the words beside them name the element first.
    """
    arguments = [one for pair in zip(before, elements, strict=True) for one in pair]
    if _is_elementwise(body):
        found = run_block(block, body, arguments).values
        return [np.broadcast_to(value, elements[0].shape) for value in found]
    results = [np.zeros_like(element) for element in elements]
    for place in np.ndindex(elements[0].shape):
        values = run_block(block, body, [np.asarray(one[place]) for one in arguments]).values
        for result, value in zip(results, values, strict=True):
            result[place] = value
    return results


def _slices(block: Block, op: Any) -> list[Array]:
    """The operands with the dimension in front."""
    axis: int = op.dim.value.data
    return [np.moveaxis(block.value(value), axis, 0) for value in op.values]


def _reduced(block: Block, op: reductions.ReduceOp) -> Sequence[Any]:
    """Neighbours are combined, then neighbours of those: the order of elements is kept.

    The order of combining is not specified; this one has the smallest rounding errors.
    """
    values = _slices(block, op)
    while len(values[0]) > 1:
        before, after = ([value[n::2] for value in values] for n in (0, 1))
        values = _combine(block, op.body.block, after, before)
    return [np.array(value[0]) for value in values]


def _scanned(block: Block, op: reductions.ScanOp) -> Sequence[Any]:
    """One element after another, from the identity on; `reverse` begins at the end."""
    values = _slices(block, op)
    reverse = bool(op.reverse.value.data)
    order = range(len(values[0]))
    before = [np.broadcast_to(_identity(op, n), value.shape[1:]) for n, value in enumerate(values)]
    found = [np.zeros_like(value) for value in values]
    for place in reversed(order) if reverse else order:
        before = _combine(block, op.body.block, [value[place] for value in values], before)
        for result, value in zip(found, before, strict=True):
            result[place] = value
    axis = op.dim.value.data
    return [np.ascontiguousarray(np.moveaxis(value, 0, axis)) for value in found]


def _identity(op: Any, number: int) -> Array:
    """The identity of an operand, in its element type."""
    literal: Any = op.identities.data[number]
    element = element_of(op.values[number].type)
    value = literal.value.data
    if isinstance(value, int):
        return wrap(np.asarray(value, object), width_of(element))
    return np.asarray(value, np.float64).astype(dtype_of(element))


CONTROL: Mapping[type[Any], Callable[[Block, Any], Sequence[Any] | Exit]] = {
    control.IfOp: _branch,
    control.ForOp: _counted,
    control.LoopOp: _repeated,
    reductions.ReduceOp: _reduced,
    reductions.ScanOp: _scanned,
}
