"""Constructors of small tl programs that serve as input to layout inference."""

from __future__ import annotations

from typing import Any

from tests.support.decided_programs import (
    I,
    J,
    K,
    array,
    fragment,
    loop,
    program,
    read,
    shared,
    write,
)
from tileas_xdsl.inference.program import Gemm, Loop, LoopKind, Program, Reduce, WarpPolicy
from tileas_xdsl.layout.expr.expression import Number, symbol

HALF: dict[str, Any] = {"bits": 16, "element": "f16"}
Indices = tuple[Number, ...]


def copied(
    source: str, target: str, *extents: int, at: Indices | None = None, to: Indices | None = None
) -> Loop:
    """Return a copy loop; `at` and `to` override the source and target indices."""
    here = (I, J, K)[: len(extents)]
    return loop(
        *extents,
        does=(read(source, *(at or here)), write(target, *(to or here))),
        kind=LoopKind.COPY,
    )


def filled(target: str, *extents: int) -> Loop:
    return loop(*extents, does=(write(target, *(I, J, K)[: len(extents)]),), kind=LoopKind.FILL)


def loaded(
    threads: int, shape: tuple[int, ...], store: Loop, out: tuple[int, ...], **more: Any
) -> Program:
    """Return a program that copies A to fragment f, then writes O, of shape `out`, by `store`."""
    buffers = (array("A", *shape), array("O", *out), fragment("f", *shape))
    return program(threads, buffers, copied("A", "f", *shape), store, **more)


def softmax(rows: int, columns: int, threads: int) -> Program:
    return program(
        threads,
        (
            array("A", rows, columns, bits=16),
            array("B", rows, columns, bits=16),
            fragment("x", rows, columns),
            fragment("most", rows),
            fragment("total", rows),
        ),
        copied("A", "x", rows, columns),
        Reduce("x", "most", 1),
        loop(rows, columns, does=(read("x", I, J), read("most", I), write("x", I, J))),
        Reduce("x", "total", 1),
        loop(rows, columns, does=(read("x", I, J), read("total", I), write("x", I, J))),
        copied("x", "B", rows, columns),
    )


def flash_attention(
    rows: int = 64, keys: int = 64, head: int = 64, threads: int = 128, blocks: int = 8
) -> Program:
    """Return attention of one block of queries over `blocks` blocks of keys and values."""
    block, step = symbol(0), symbol(1)
    before = [
        copied("Q", "Qs", rows, head, at=(I + block * rows, J)),
        filled("o", rows, head),
        filled("ls", rows),
        filled("mx", rows),
    ]
    body = [
        copied("G", "Ks", keys, head, at=(I + step * keys, J)),
        filled("s", rows, keys),
        Gemm("Qs", "Ks", "s", transpose_b=True, policy=WarpPolicy.FULL_ROW),
        copied("mx", "mp", rows),
        filled("mx", rows),
        Reduce("s", "mx", 1, clear=False),
        loop(rows, does=(read("mp", I), read("mx", I), write("ss", I))),
        loop(rows, keys, does=(read("s", I, J), read("mx", I), write("s", I, J))),
        Reduce("s", "sl", 1),
        loop(rows, does=(read("ls", I), read("ss", I), read("sl", I), write("ls", I))),
        copied("s", "sc", rows, keys),
        loop(rows, head, does=(read("o", I, J), read("ss", I), write("o", I, J))),
        copied("V", "Vs", keys, head, at=(I + step * keys, J)),
        Gemm("sc", "Vs", "o", policy=WarpPolicy.FULL_ROW),
    ]
    after = [
        loop(rows, head, does=(read("o", I, J), read("ls", I), write("o", I, J))),
        copied("o", "O", rows, head, to=(I + block * rows, J)),
    ]
    buffers = (
        *(array(name, 4096, head, bits=16) for name in ("Q", "G", "V", "O")),
        shared("Qs", rows, head, **HALF),
        shared("Ks", keys, head, **HALF),
        shared("Vs", keys, head, **HALF),
        fragment("s", rows, keys),
        fragment("sc", rows, keys, **HALF),
        fragment("o", rows, head),
        *(fragment(name, rows) for name in ("mx", "mp", "ss", "sl", "ls")),
    )
    trip_counts = (*(1 for _ in before), *(blocks for _ in body), *(1 for _ in after))
    return program(threads, buffers, *before, *body, *after, trip_counts=trip_counts)
