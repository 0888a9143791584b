"""Visit conversions, branches, loops and pipeline stages in order, and fold their conversions.

    %a = convert_layout %x : #one to #two           %y = scf.if %c { yield %x } else { yield %z }
    %b = convert_layout %z : #one to #two     ->    %b = convert_layout %y : #one to #two
    %y = scf.if %c { yield %a } else { yield %b }

The values that a branch yields, or a loop carries, have one layout: of those that they are
converted from and to, the one that leaves the fewest conversions (`web.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from xdsl.ir import Attribute, Operation

from tileas_xdsl.analysis.layouts.layout_flow import encoding_of
from tileas_xdsl.analysis.values.liveness.uses import uses_in_order
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.transforms.layout_conversions.failures import Failures
from tileas_xdsl.transforms.layout_conversions.registers import change, rewrite_around
from tileas_xdsl.transforms.layout_conversions.tied_values import TiedValues, ties_around
from tileas_xdsl.transforms.layout_conversions.web import (
    Direction,
    Start,
    as_conversion,
    best_web,
)

EVERYWHERE = Direction(forwards=True, backwards=True, boundaries=True)


def rewrite_layout_sensitive_ops(root: Operation, failures: Failures) -> bool:
    """Visit every operation once, in order; True if the IR changed.

    Those are conversions, `consume_one` of a single stage, `pragma`, `scf.if`, loops, and what
    computes tiles of tiles.
    """
    text = message("remove_layout_conversions.registers")
    changed = False
    for op in operations_in(root):
        if op.parent is None or op in failures:
            continue
        if (conversion := as_conversion(op)) is not None:
            changed |= rewrite_around(conversion, EVERYWHERE, failures, text)
            continue
        for tied in list(ties_around(op)):
            changed |= _unify(tied, failures, text)
    return changed


def _unify(tied: TiedValues, failures: Failures, text: str) -> bool:
    """Give tied values the layout, of those around them, that saves most conversions."""
    starts = [Start(tied, inner) for inner in _layouts_around(tied)]
    webs = (best_web([start], EVERYWHERE, failures) for start in starts)
    found = [web for web in webs if web is not None]
    return bool(found) and change(min(found, key=attrgetter("gain")), tied.op, failures, text)


def _layouts_around(tied: TiedValues) -> Iterator[Attribute]:
    """The layouts that the tiles are converted from on the way in, and to on the way out."""
    found: dict[Attribute | None, None] = {}
    for slot in tied.slots:
        if (conversion := as_conversion(slot.value.owner)) is not None:
            found[encoding_of(conversion.source.type)] = None
    for value in tied.outputs:
        for use in uses_in_order(value):
            if (conversion := as_conversion(use.operation)) is not None:
                outer = encoding_of(conversion.result.type)
                found[None if outer is None else tied.inner(outer)] = None
    return (encoding for encoding in found if encoding is not None)
