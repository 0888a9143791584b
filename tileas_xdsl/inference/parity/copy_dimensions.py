"""Copies without dimensions of one element: TileLang's loop has none, but a plan may use the rest.

    x 64x1 copied by 32 threads:  for i in (64,)  x[i, 0] = A[i, 0]   two elements a thread
                        not:      for i, j in (64, 1)                 no vector along j

Source: TileLang `src/op/copy.cc`, `MakeIterVars`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Access, Loop, LoopKind
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted


def without_unit_extents(loop: Loop) -> Loop:
    """Return a copy over the extents above one, of which it keeps one at least; others as is."""
    kept = _kept(loop.extents)
    if loop.kind is not LoopKind.COPY or len(kept) == len(loop.extents):
        return loop
    variables: list[Number] = [0] * len(loop.extents)
    for position, k in enumerate(kept):
        variables[k] = dimension(position)
    accesses = tuple(_moved(access, variables) for access in loop.accesses)
    annotation = loop.annotation
    if annotation is not None:
        annotation = _over(annotation, tuple(loop.extents[k] for k in kept), variables)
    extents = tuple(loop.extents[k] for k in kept)
    return replace(loop, extents=extents, accesses=accesses, annotation=annotation)


def with_unit_extents(owners: FragmentMap, extents: tuple[int, ...]) -> FragmentMap:
    """Return the layout of a loop of `without_unit_extents` over all extents again."""
    if owners.shape == extents:
        return owners
    return _over(owners, extents, [dimension(k) for k in _kept(extents)])


def _kept(extents: Sequence[int]) -> list[int]:
    return [k for k, extent in enumerate(extents) if extent > 1] or [0]


def _moved(access: Access, variables: Sequence[Number]) -> Access:
    indices = tuple(
        None if index is None else substituted(index, variables) for index in access.indices
    )
    return replace(access, indices=indices)


def _over(layout: FragmentMap, shape: tuple[int, ...], variables: Sequence[Number]) -> FragmentMap:
    thread, slot = (substituted(e, variables) for e in (layout.thread, layout.slot))
    return FragmentMap(shape, thread, slot, layout.threads, layout.replicas)
