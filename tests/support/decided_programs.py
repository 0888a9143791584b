"""Small tl programs with hand-written layout decisions, and their index variables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tileas_xdsl.inference.checking import Rule, check
from tileas_xdsl.inference.decisions import Decisions, LoopDecision
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import (
    Access,
    AccessKind,
    Buffer,
    Gemm,
    Loop,
    Program,
    Reduce,
    Scope,
)
from tileas_xdsl.layout.expr.expression import Number, dimension, symbol

I, J, K = (dimension(k) for k in range(3))
COPY = BLOCK = symbol(0)
ZERO = 0


def fragment(name: str, *shape: int, bits: int = 32, **more: Any) -> Buffer:
    return Buffer(name, shape, bits, Scope.FRAGMENT, location=f"{name}.mlir", **more)


def shared(name: str, *shape: int, bits: int = 32, **more: Any) -> Buffer:
    return Buffer(name, shape, bits, Scope.SHARED, location=f"{name}.mlir", **more)


def array(name: str, *shape: int, bits: int = 32) -> Buffer:
    return Buffer(name, shape, bits, Scope.GLOBAL)


def read(buffer: str, *indices: Number | None, guarded: bool = False) -> Access:
    return Access(buffer, indices, AccessKind.READ, f"k.mlir:{buffer}:read", guarded)


def write(buffer: str, *indices: Number | None, guarded: bool = False) -> Access:
    return Access(buffer, indices, AccessKind.WRITE, f"k.mlir:{buffer}:write", guarded)


def update(buffer: str, *indices: Number | None) -> Access:
    return Access(buffer, indices, AccessKind.UPDATE, f"k.mlir:{buffer}:update")


def loop(*extents: int, does: tuple[Access, ...], **more: Any) -> Loop:
    return Loop(extents, does, location="k.mlir:loop", **more)


def program(threads: int, buffers: tuple[Buffer, ...], *operations: Any, **more: Any) -> Program:
    return Program(threads, {b.name: b for b in buffers}, operations, **more)


def owners(
    threads: int, shape: tuple[int, ...], thread: Number, slot: Number, copies: int = 1
) -> FragmentMap:
    return FragmentMap(shape, thread, slot, threads, copies)


def everywhere(threads: int, *shape: int) -> FragmentMap:
    """Return the map that replicates all elements in each thread, in row-major register order."""
    slot: Number = ZERO
    for k, extent in enumerate(shape):
        slot = slot * extent + dimension(k)
    return FragmentMap(shape, COPY, slot, threads, threads)


def rules(asked: Program, answered: Decisions) -> set[Rule]:
    return {finding.rule for finding in check(asked, answered)}


def article() -> tuple[Program, Decisions]:
    """Return the article's worked example: a fragment is fully written, its column 0 stored."""
    asked = program(
        64,
        (array("A", 4, 16), array("B", 4), fragment("f", 4, 16)),
        loop(4, 16, does=(read("A", I, J), write("f", I, J))),
        loop(2, 2, does=(read("f", I * 2 + J, ZERO), write("B", I * 2 + J))),
    )
    whole = owners(64, (4, 16), I * 16 + J, ZERO)
    sparse = owners(64, (2, 2), I * 32 + J * 16, ZERO)
    return asked, Decisions({"f": whole}, {0: LoopDecision(whole), 1: LoopDecision(sparse)})


def rows() -> tuple[Program, Decisions]:
    """Return rows of 8 elements, row sums replicated twice, and stores vectorised by 4."""
    asked = program(
        32,
        (array("A", 16, 8), array("B", 16, 8), fragment("x", 16, 8), fragment("s", 16)),
        loop(16, 8, does=(read("A", I, J), write("x", I, J))),
        Reduce("x", "s", 1, location="k.mlir:reduce"),
        loop(16, 8, does=(read("x", I, J), read("s", I), write("B", I, J))),
    )
    quads = owners(32, (16, 8), I * 2 + J // 4, J % 4)
    sums = owners(32, (16,), I * 2 + COPY, ZERO, copies=2)
    decision = LoopDecision(quads, vector=4)
    return asked, Decisions({"x": quads, "s": sums}, {0: decision, 2: decision})


def copied() -> tuple[Program, Decisions]:
    """Return a loop replicated twice: both replicas write registers, one of them writes memory."""
    asked = program(
        32,
        (array("A", 16), array("B", 16), fragment("x", 16)),
        loop(16, does=(read("A", I), write("x", I), write("B", I))),
    )
    twice = owners(32, (16,), COPY * 16 + I, ZERO, copies=2)
    return asked, Decisions({"x": twice}, {0: LoopDecision(twice, runs_once=True)})


def product() -> tuple[Program, Decisions]:
    """Return a 64 x 64 matrix product on four warps with operand A in registers."""
    asked = program(
        128,
        (
            fragment("a", 64, 16, bits=16),
            shared("b", 16, 64, bits=16),
            fragment("c", 64, 64),
        ),
        Gemm("a", "b", "c", location="k.mlir:gemm"),
    )
    lane = I % 8 * 4 + J % 8 // 2
    slot = J // 8 * 4 + I % 16 // 8 * 2 + J % 2
    a, c = (owners(128, (64, n), I // 16 * 32 + lane, slot) for n in (16, 64))
    return asked, Decisions({"a": a, "c": c}, {})


def with_fragment(decisions: Decisions, **layouts: FragmentMap) -> Decisions:
    return replace(decisions, fragments={**decisions.fragments, **layouts})


def with_loop(decisions: Decisions, number: int, **changes: Any) -> Decisions:
    changed = replace(decisions.loops[number], **changes)
    return replace(decisions, loops={**decisions.loops, number: changed})
