"""Forwards from conversions of registers: consumers take the layout that saves conversions.

A consumer of what a conversion gives may compute in the layout before it, and a consumer of its
source in the layout behind it; either way on through consumers of that, up to operations that fix
their layouts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from tileas_xdsl.analysis.layouts.layout_flow import encoding_of
from tileas_xdsl.analysis.values.liveness.uses import uses_in_order
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.transforms.layout_conversions.failures import Failures
from tileas_xdsl.transforms.layout_conversions.retype import RefusedRetypeError, Retyping
from tileas_xdsl.transforms.layout_conversions.tied_values import Slot, ties_of_result, ties_of_slot
from tileas_xdsl.transforms.layout_conversions.web import (
    Direction,
    Start,
    Web,
    as_conversion,
    best_web,
)

FORWARDS = Direction(forwards=True)


def propagate_register_layouts(root: Operation, failures: Failures) -> bool:
    """Retype the consumers around conversions of registers; True if the IR changed."""
    text = message("remove_layout_conversions.registers")
    changed = False
    for op in operations_in(root):
        if (conversion := as_conversion(op)) is not None and op.parent is not None:
            changed |= rewrite_around(conversion, FORWARDS, failures, text)
    return changed


def rewrite_around(
    conversion: ConvertLayoutOp,
    direction: Direction,
    failures: Failures,
    text: str,
    rewriter: PatternRewriter | None = None,
) -> bool:
    """Change the best web beside a conversion; True if the IR changed."""
    types = conversion.source.type, conversion.result.type
    if conversion in failures or types[0] == types[1]:
        return False
    if any(space_of(type_) is not Space.RMEM for type_ in types):
        return False
    webs = (best_web(starts, direction, failures) for starts in _beside(conversion, direction))
    found = [web for web in webs if web is not None]
    if not found:
        return False
    best = min(found, key=attrgetter("gain"))
    return change(best, conversion, failures, text, rewriter)


def change(
    web: Web,
    op: Operation,
    failures: Failures,
    text: str,
    rewriter: PatternRewriter | None = None,
) -> bool:
    """Change the layouts of a web; if the verifier refuses that, record it at `op`."""
    try:
        web.apply(Retyping(rewriter), op)
    except RefusedRetypeError as refused:
        failures.add(op, text, refused.errors)
        failures.leave(tied.op for tied in web.ties)
        return False
    return True


def _beside(conversion: ConvertLayoutOp, direction: Direction) -> Iterator[Sequence[Start]]:
    """Where to begin: all consumers of the result, all of the source, each alone, the producer."""
    before, behind = (encoding_of(v.type) for v in (conversion.source, conversion.result))
    assert before is not None
    assert behind is not None
    for value, encoding in ((conversion.result, before), (conversion.source, behind)):
        consumers = _consumers(value, encoding, direction)
        if consumers:
            yield consumers
        if len(consumers) > 1:
            yield from ([consumer] for consumer in consumers)
    if direction.backwards:
        tied = ties_of_result(conversion.source, boundaries=direction.boundaries)
        inner = None if tied is None else tied.inner(behind)
        if tied is not None and inner is not None:
            yield [Start(tied, inner)]


def _consumers(value: SSAValue, encoding: Attribute, direction: Direction) -> list[Start]:
    uses = [use for use in uses_in_order(value) if not isinstance(use.operation, ConvertLayoutOp)]
    slots = [Slot(use.operation, use.index) for use in uses]
    ties = [ties_of_slot(slot, boundaries=direction.boundaries) for slot in slots]
    return [Start(tied, encoding) for tied in dict.fromkeys(ties) if tied is not None]
