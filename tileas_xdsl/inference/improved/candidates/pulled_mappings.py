"""Mappings of the iterations of a work item to threads that fragments with layouts suggest."""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.fragment_access import FragmentUse
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.candidates.layout_transfer import pulled
from tileas_xdsl.inference.program import Loop


def annotated_mapping(item: WorkItem) -> FragmentMap | None:
    """Return the mapping that an annotation prescribes; None without one."""
    return item.operation.annotation if isinstance(item.operation, Loop) else None


def deciding_uses(item: WorkItem) -> list[FragmentUse]:
    """The accesses that may fix a loop: writes, then those with most elements, each index once."""
    seen: dict[tuple[object, ...], FragmentUse] = {}
    for use in item.uses:
        seen.setdefault((use.name, use.access.indices), use)
    return sorted(
        seen.values(),
        key=lambda use: (
            not use.access.writes,
            len(use.free),
            not use.is_identity,
            -use.buffer_size,
        ),
    )


def following_mappings(item: WorkItem, layout: FragmentMap) -> Iterator[tuple[str, FragmentMap]]:
    """Yield the mapping of each iteration to the owner of its source element."""
    source = item.uses[0]
    runs = pulled(source, layout, [(source, layout)])
    if runs is not None:
        yield f"as {source.name} lies", runs


def pulled_mappings(
    use: FragmentUse,
    layout: FragmentMap,
    known: list[tuple[FragmentUse, FragmentMap]],
    item: WorkItem,
) -> Iterator[tuple[str, FragmentMap]]:
    """Yield, with a description, mappings of iterations to owners of what an access touches.

    Where a fragment has copies, these share the work, or the first of them does all of it.
    """
    description = f"as {use.name} lies"
    ways: list[tuple[str, int, bool]] = [(description, 0, True)]
    if layout.replicas > 1 and not use.access.writes:
        if use.free:
            widest = max((m.alignment for m in item.memory), default=1)
            ways += [
                (f"{description}, its copies sharing the work {n} at a time", n, True)
                for n in dict.fromkeys((widest, 1))
            ]
        ways.append((f"{description}, its first copy", 0, False))
    for text, spread, every_copy in ways:
        runs = pulled(use, layout, known, spread, every_copy)
        if runs is not None:
            yield text, runs
