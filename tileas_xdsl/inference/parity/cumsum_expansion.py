"""Cumulative sums of fragments through shared memory: copy in, scan, copy back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.parity.copy_dimensions import without_unit_extents
from tileas_xdsl.inference.program import (
    Access,
    AccessKind,
    Buffer,
    CumSum,
    Loop,
    LoopKind,
    Operation,
    Program,
    Scope,
)
from tileas_xdsl.layout.expr.expression import dimension


@dataclass(frozen=True)
class Expanded:
    """A program of loops, reductions and products, and where its operations come from."""

    program: Program
    origins: tuple[int, ...]


def expanded(program: Program) -> Expanded:
    """Return the program with copies around cumulative sums, which are themselves removed."""
    buffers = dict(program.buffers)
    operations: list[Operation] = []
    parts: Sequence[Operation]
    origins: list[int] = []
    for number, operation in enumerate(program.operations):
        match operation:
            case CumSum():
                parts = _copies(buffers, operation)
            case Loop():
                parts = [without_unit_extents(operation)]
            case _:
                parts = [operation]
        operations += parts
        origins += [number] * len(parts)
    before = program.trip_counts
    trip_counts = tuple(before[number] for number in origins) if before else ()
    whole = replace(program, buffers=buffers, operations=tuple(operations), trip_counts=trip_counts)
    return Expanded(whole, tuple(origins))


def _copies(buffers: dict[str, Buffer], sums: CumSum) -> list[Loop]:
    source, target = buffers[sums.source], buffers[sums.target]
    name = f"{sums.source} -> {sums.target}, running sums"
    buffers[name] = replace(source, name=name, scope=Scope.SHARED, storage="")
    result: list[Loop] = []
    if source.scope is Scope.FRAGMENT:
        result.append(_copy(source.name, name, source.shape, sums.location))
    if target.scope is Scope.FRAGMENT:
        result.append(_copy(name, target.name, target.shape, sums.location))
    return result


def _copy(source: str, target: str, shape: tuple[int, ...], location: str) -> Loop:
    variables = tuple(dimension(k) for k in range(len(shape)))
    accesses = (
        Access(source, variables, AccessKind.READ, location),
        Access(target, variables, AccessKind.WRITE, location),
    )
    return without_unit_extents(Loop(shape, accesses, LoopKind.COPY, location=location))
