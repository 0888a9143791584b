"""Which passes changed what a line of the source became, and into what.

    tileas-choose-tma
      nv_tileas.tiled_load: atom = #nv_tileas<atom ldg> became atom = #nv_tileas<atom tma_load_2d>

Passes keep locations, so the operations of a line are those whose location it is.  Names of values
do not count: a pass that removes an operation numbers all others anew.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import pairwise

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer

from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import location_of

_VALUE = re.compile(r"%[\w$.-]+(?:[:#]\d+)?")

_UNSHOWN = ("tileas.schedule", "operandSegmentSizes", "resultSegmentSizes")
"""Attributes that are too long for a line, or say nothing of what an operation does."""

_SEPARATOR = "\x1f"
"""Between the parts of an operation as text."""


@dataclass(frozen=True)
class LineChange:
    """What a pass did to a line: operations that were there before, and that are there after."""

    name: str
    """Of the pass."""
    removed: Counter[str]
    added: Counter[str]


def line_changes(compiled: CompiledKernel, file: str, line: int) -> Iterator[LineChange]:
    """Yield the passes that changed the operations of a line, in order; runs all passes again."""
    above = compiled.source if compiled.above is None else compiled.above
    states = [("", _operations(above, file, line))]
    states += [(spec.name, _operations(left, file, line)) for spec, left in compiled.modules()]
    for (_, before), (name, after) in pairwise(states):
        if before != after:
            yield LineChange(name, before - after, after - before)


def lines_of(compiled: CompiledKernel) -> set[tuple[str, int]]:
    """Return the files and lines that operations of the kernel come from."""
    above = compiled.source if compiled.above is None else compiled.above
    found = [location_of(op) for op in above.walk()]
    return {(place.file, place.line) for place in found if place is not None}


def _operations(module: ModuleOp, file: str, line: int) -> Counter[str]:
    """The operations of a line as text, without what is in their regions."""
    found: Counter[str] = Counter()
    for op in module.walk():
        place = location_of(op)
        if place is not None and (place.file, place.line) == (file, line):
            found[_text(op)] += 1
    return found


def _text(op: Operation) -> str:
    """An operation in one line: its name, the types of its results, what it says of itself."""
    kept = {**op.properties, **op.attributes}
    types = ", ".join(map(_printed, op.result_types))
    parts = [f"-> {types}"] if types else []
    parts += [f"{name} = {_printed(kept[name])}" for name in sorted(kept) if name not in _UNSHOWN]
    return _SEPARATOR.join([op.name, *(_VALUE.sub("%", part) for part in parts)])


def _printed(attribute: Attribute) -> str:
    stream = StringIO()
    Printer(stream).print_attribute(attribute)
    return stream.getvalue()


# As text.

SHOWN = 3
"""Operations that are shown of those that a pass removed or made."""

WIDTH = 150


def history_text(changes: Iterable[LineChange]) -> Iterator[str]:
    """Yield the passes, under each what it removed and what it made."""
    for change in changes:
        yield change.name
        removed, added = change.removed.copy(), change.added.copy()
        for old, new in list(_same_kind(removed, added)):
            yield f"  {_cut(_difference(old, new))}"
            del removed[old], added[new]
        yield from _side("-", removed)
        yield from _side("+", added)


def _same_kind(removed: Counter[str], added: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of operations of one name, the only ones of that name on each side."""
    sides = [defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)]
    for side, operations in zip(sides, (removed, added), strict=True):
        for text in operations.elements():
            side[text.split(_SEPARATOR)[0]].append(text)
    for name, before in sides[0].items():
        after = sides[1].get(name, [])
        if len(before) == len(after) == 1:
            yield before[0], after[0]


def _difference(old: str, new: str) -> str:
    """What of an operation is different."""
    name, *before = old.split(_SEPARATOR)
    _, *after = new.split(_SEPARATOR)
    lost = [part for part in before if part not in after]
    won = [part for part in after if part not in before]
    if not lost:
        return f"{name}: now {', '.join(won)}"
    return f"{name}: {', '.join(lost)} became {', '.join(won) or 'nothing'}"


def _side(sign: str, operations: Counter[str]) -> Iterator[str]:
    if len(operations) <= SHOWN:
        for text, count in operations.items():
            times = f"{count} x " if count > 1 else ""
            yield _cut(f"  {sign} {times}{text.replace(_SEPARATOR, ' ')}")
        return
    names: Counter[str] = Counter()
    for text, count in operations.items():
        names[text.split(_SEPARATOR)[0]] += count
    most = [f"{count} x {name}" for name, count in names.most_common(2 * SHOWN)]
    rest = "" if len(names) <= 2 * SHOWN else f" and {len(names) - 2 * SHOWN} more kinds"
    yield f"  {sign} {', '.join(most)}{rest}"


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."
