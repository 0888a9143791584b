"""Execute Tile IR operations: dispatch by type, structured control flow, reductions and scans.

Three tables have the semantics: `PURE` operations compute on numpy arrays, `STATEFUL` ones access
the block's memory, `CONTROL` ones run regions. A region ends at a terminator, or at one nested
inside that leaves it: `Exit` carries which terminator it was, and each construct handles its own:

    for %i { if %c { continue %x } ... yield }     the `continue` passes the `if` unhandled

Reduction bodies of elementwise operations run on whole slices at once; others element by element. A
reduction combines neighbours in a tree, as the specification leaves the order open.
"""

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
"""Operations on elements: they run on arrays of any shape at once."""

PURE: Mapping[type[Any], Pure] = {**ELEMENTWISE, **REINTERPRETED, **SHAPES, **VIEWS}
STATEFUL: Mapping[type[Any], Stateful] = {**MEMORY, **VIEW_ACCESSES, **BLOCK_FACTS}

MAX_ITERATIONS = 1_000_000
"""Iterations of a `loop`: it may wait for a block that runs later."""


def run_region(block: Block, region: Region, arguments: Sequence[Any]) -> Exit:
    """Run the block of a region to its terminator, or to one inside that leaves it."""
    return run_block(block, region.block, arguments)


def run_block(block: Block, body: IRBlock, arguments: Sequence[Any]) -> Exit:
    """Run operations to a terminator, the block's own or a nested one that leaves it."""
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
    """Return the results of an operation, or the exit of the region around it.

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
    """Run a `for`; the induction variable cannot wrap, since Python's integers do not."""
    width = width_of(op.lower_bound.type)
    signedness = Signedness.SIGNED if op.unsigned_cmp is None else Signedness.UNSIGNED
    bounds = (op.lower_bound, op.upper_bound, op.step)
    lower, upper, step = (int(read(block.value(n), width, signedness)) for n in bounds)
    if step <= 0:
        raise Undefined(f"has a step of {step}, which must be positive")
    carried: Sequence[Any] = [block.value(value) for value in op.init_values]
    for index in range(lower, upper, step):
        found = run_region(block, op.body, [wrap(np.asarray(index, object), width), *carried])
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
    """Whether a body of scalar operations can run on arrays of elements at once."""
    return all(type(op) in ELEMENTWISE or isinstance(op, TerminatorOp) for op in body.ops)


def _combine(
    block: Block, body: IRBlock, elements: Sequence[Array], before: Sequence[Array]
) -> Any:
    """Run a combining body; its arguments are pairs (accumulated, next element).

    That order is of the specification's equation of `scan`, `result[j] = f(result[j-1], X[j])`, of
    its example and of cuTile; its prose names the element first.
    """
    arguments = [one for pair in zip(before, elements, strict=True) for one in pair]
    if _is_elementwise(body):
        found = run_block(block, body, arguments).values
        return [np.broadcast_to(value, elements[0].shape) for value in found]
    results = [np.zeros_like(element) for element in elements]
    for position in np.ndindex(elements[0].shape):
        values = run_block(block, body, [np.asarray(one[position]) for one in arguments]).values
        for result, value in zip(results, values, strict=True):
            result[position] = value
    return results


def _slices(block: Block, op: Any) -> list[Array]:
    """Return the operands with the combined dimension first."""
    axis: int = op.dim.value.data
    return [np.moveaxis(block.value(value), axis, 0) for value in op.values]


def _reduced(block: Block, op: reductions.ReduceOp) -> Sequence[Any]:
    """Reduce by a balanced tree of neighbours, which keeps the order of elements.

    The order of combining is not specified; a tree has the smallest rounding errors.
    """
    values = _slices(block, op)
    while len(values[0]) > 1:
        before, after = ([value[n::2] for value in values] for n in (0, 1))
        values = _combine(block, op.body.block, after, before)
    return [np.array(value[0]) for value in values]


def _scanned(block: Block, op: reductions.ScanOp) -> Sequence[Any]:
    """Scan sequentially from the identity; `reverse` begins at the end."""
    values = _slices(block, op)
    reverse = bool(op.reverse.value.data)
    order = range(len(values[0]))
    before = [np.broadcast_to(_identity(op, n), value.shape[1:]) for n, value in enumerate(values)]
    found = [np.zeros_like(value) for value in values]
    for index in reversed(order) if reverse else order:
        before = _combine(block, op.body.block, [value[index] for value in values], before)
        for result, value in zip(found, before, strict=True):
            result[index] = value
    axis = op.dim.value.data
    return [np.ascontiguousarray(np.moveaxis(value, 0, axis)) for value in found]


def _identity(op: Any, number: int) -> Array:
    """Return the identity of an operand, in its element type."""
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
