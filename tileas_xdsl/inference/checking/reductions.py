"""Check of reductions: the owners of a result also own operands of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileas_xdsl.inference.checking.checked_program import CheckedProgram, holders
from tileas_xdsl.inference.checking.findings import Finding, Rule, element, first, threads_text
from tileas_xdsl.inference.program import Buffer, CumSum, Reduce, Scope


def wrong_reductions(question: CheckedProgram) -> Iterator[Finding]:
    """Reductions of other shapes, or with owners that have nothing of the row."""
    for index, operation in enumerate(question.program.operations):
        if isinstance(operation, (Reduce, CumSum)):
            text = _shapes(question, operation)
            if text:
                yield Finding(Rule.REDUCTION, text, operation.location)
            elif isinstance(operation, Reduce):
                yield from first(_strangers(question, index, operation))


def _shapes(question: CheckedProgram, operation: Reduce | CumSum) -> str:
    source, target = (question.program.buffers[n] for n in (operation.source, operation.target))
    rank = len(source.shape)
    if not 0 <= operation.axis < rank:
        return f"{source.name} of rank {rank} has no axis {operation.axis}"
    wanted = source.shape
    if isinstance(operation, Reduce):
        middle = (1,) if operation.keep_dims else ()
        wanted = (*source.shape[: operation.axis], *middle, *source.shape[operation.axis + 1 :])
    if target.shape not in (wanted, wanted or (1,)):
        return f"{target.name} is of shape {list(target.shape)}, the result of {list(wanted)}"
    return ""


def _strangers(question: CheckedProgram, number: int, operation: Reduce) -> Iterator[Finding]:
    buffers = question.program.buffers
    source, target = buffers[operation.source], buffers[operation.target]
    if Scope.FRAGMENT is not source.scope or Scope.FRAGMENT is not target.scope:
        return
    held = holders(question.layout(number, source.name))
    parts = np.any(held.reshape(*source.shape, -1), axis=operation.axis)
    parts = parts.reshape(-1, held.shape[-1])
    owners = holders(question.layout(number, target.name))
    for index, thread in np.argwhere(owners & ~parts)[:1]:
        text = (
            f"{element(target.name, target.shape, int(index))} lives in thread {int(thread)}, "
            f"which has nothing of its row: {_row(source, operation.axis, target, int(index))} "
            f"lies in {threads_text(np.flatnonzero(parts[index]))}"
        )
        yield Finding(Rule.REDUCTION, text, operation.location)


def _row(source: Buffer, axis: int, target: Buffer, index: int) -> str:
    rest = [n for k, n in enumerate(source.shape) if k != axis]
    names = [str(int(c)) for c in np.unravel_index(index, rest)] if rest else []
    return f"{source.name}[{', '.join([*names[:axis], ':', *names[axis:]])}]"
