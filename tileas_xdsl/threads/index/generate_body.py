"""The body of a `generate` as straight-line code, and constant propagation over it.

Both branches of an `scf.if` are executed and selected afterwards, as far as they have no side
effects.  Integers computed from coordinates and constants alone are known at compile time; where
they index a tile or decide a select, the choice is made at compile time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith, scf, tensor
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.threads.index.constant_tables import constant_table, folded
from tileas_xdsl.threads.index.per_thread_tables import Flags, Table

Path: TypeAlias = tuple[tuple[SSAValue, bool], ...]
"""Conditions and the values they must have for a step to be needed."""


@dataclass(frozen=True)
class Step:
    """An operation, and the path on which its result is needed."""

    op: Operation
    path: Path

    @property
    def results(self) -> Sequence[SSAValue]:
        """The values that it gives."""
        return self.op.results


@dataclass(frozen=True)
class Choice:
    """A select between two values by a condition."""

    result: SSAValue
    condition: SSAValue
    taken: SSAValue
    other: SSAValue
    path: Path = ()

    @property
    def results(self) -> Sequence[SSAValue]:
        """The value that is chosen."""
        return (self.result,)


def steps_of(block: Block, path: Path = ()) -> Iterator[Step | Choice]:
    """The steps of a block but for its terminator."""
    for op in block.ops:
        if op is block.last_op:
            return
        if isinstance(op, arith.SelectOp):
            yield Choice(op.result, op.cond, op.lhs, op.rhs, path)
        elif isinstance(op, scf.IfOp) and op.results:
            yield from _branches(op, path)
        else:
            yield Step(op, path)


def _branches(op: scf.IfOp, path: Path) -> Iterator[Step | Choice]:
    arms = op.true_region.block, op.false_region.block
    for arm, holds in zip(arms, (True, False), strict=True):
        yield from steps_of(arm, (*path, (op.cond, holds)))
    ends = [arm.last_op for arm in arms]
    for index, result in enumerate(op.results):
        taken, other = (end.operands[index] for end in ends if end is not None)
        yield Choice(result, op.cond, taken, other, path)


@dataclass(frozen=True)
class GenerateBody:
    """The body of a `generate` with constants propagated, its arguments being known tables."""

    steps: Sequence[Step | Choice]
    known: Mapping[SSAValue, Table]
    """Known values: tables of `(threads, registers)`, or uniform numbers."""
    wanted: Mapping[SSAValue, Flags]
    """Where values are needed; nowhere for those that are dead."""

    @staticmethod
    def of(
        block: Block,
        arguments: Sequence[Table],
        held: Flags,
        outside: Callable[[SSAValue], int | None],
    ) -> GenerateBody:
        """Analyse the body for a tile whose elements are in registers where `held` is set.

        `outside` gives the constants of values defined outside of the body.
        """
        steps = list(steps_of(block))
        known: dict[SSAValue, Table] = dict(zip(block.args, arguments, strict=True))
        for step in steps:
            _fold(step, known, outside)
        last = block.last_op
        assert last is not None
        wanted: dict[SSAValue, Flags] = {last.operands[0]: held}
        for step in reversed(steps):
            _ask(step, known, wanted, held)
        return GenerateBody(steps, known, wanted)

    def flags(self, path: Path) -> Flags | None:
        """Where the known conditions of a path hold; None if that is everywhere."""
        found: Flags | None = None
        for condition, holds in path:
            if condition in self.known:
                here = (self.known[condition] != 0) == holds
                found = here if found is None else found & here
        return found

    def unknown(self, path: Path) -> Path:
        """Return the conditions of a path that are known only at run time."""
        return tuple((value, holds) for value, holds in path if value not in self.known)


def _fold(
    step: Step | Choice,
    known: dict[SSAValue, Table],
    outside: Callable[[SSAValue], int | None],
) -> None:
    if isinstance(step, Choice):
        _fold_choice(step, known, outside)
        return
    if (number := constant_table(step.op)) is not None:
        known[step.op.results[0]] = number
        return
    if isinstance(step.op, tensor.ExtractOp):
        found = {value: _known_of(value, known, outside) for value in step.op.indices}
        known.update({value: table for value, table in found.items() if table is not None})
        return
    operands = [_known_of(value, known, outside) for value in step.op.operands]
    given = [table for table in operands if table is not None]
    if len(given) < len(operands) or not operands:
        return
    if (table := folded(step.op, given)) is not None:
        known[step.op.results[0]] = table


def _fold_choice(
    step: Choice, known: dict[SSAValue, Table], outside: Callable[[SSAValue], int | None]
) -> None:
    condition = _known_of(step.condition, known, outside)
    if condition is None:
        return
    known.setdefault(step.condition, condition)
    taken, other = (_known_of(v, known, outside) for v in (step.taken, step.other))
    if taken is not None and other is not None:
        known[step.result] = np.where(condition != 0, taken, other)


def _known_of(
    value: SSAValue,
    known: Mapping[SSAValue, Table],
    outside: Callable[[SSAValue], int | None],
) -> Table | None:
    if value in known:
        return known[value]
    number = outside(value)
    return None if number is None else np.asarray(number, np.int64)


def _ask(
    step: Step | Choice,
    known: Mapping[SSAValue, Table],
    wanted: dict[SSAValue, Flags],
    held: Flags,
) -> None:
    """Mark the operands of a step as needed where its results are."""
    needed = [wanted[value] for value in step.results if value in wanted]
    if not needed:
        return
    flags = np.logical_or.reduce(needed)
    if isinstance(step, Choice):
        condition = known.get(step.condition)
        chosen = held if condition is None else condition != 0
        refused = held if condition is None else condition == 0
        _add(wanted, step.taken, flags & chosen)
        _add(wanted, step.other, flags & refused)
        _add(wanted, step.condition, flags)
        return
    for inner in step.op.walk():
        for value in inner.operands:
            _add(wanted, value, flags)


def _add(wanted: dict[SSAValue, Flags], value: SSAValue, flags: Flags) -> None:
    wanted[value] = wanted[value] | flags if value in wanted else flags
