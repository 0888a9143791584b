"""Numbers of a kernel that a launch computes for all of its blocks: straight-line code of scalars.

    %q = arith.ceildivsi %n, 128           block x; scalar 5; 128; ceildivsi 1 2; floordivsi 0 3
    %t = arith.floordivsi %bid, %q

A step is what a block or a launch knows, a constant, or an operation of MLIR's `arith` on steps
before it.  Numbers outside of 32 bits (of 62 where it is one of i64: `i64 addi 3 4`), divisions by
zero, and negative operands where an operation reads them as unsigned leave the result unknown:
nothing here wraps around.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.int64]
"""One number for each block."""

BLOCK, GRID, SCALAR = "block", "grid", "scalar"
"""Steps that are known: `block x` and `grid x` count tile blocks, `scalar 5` is an argument."""

AXES = "xyz"

MAX_NUMBER = (1 << 31) - 1

WIDE = "i64"
"""The first word of steps whose numbers may be wider, up to `MAX_WIDE`."""

MAX_WIDE = 1 << 62


def _quotient(a: Numbers, b: Numbers) -> Numbers:
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _remainder(a: Numbers, b: Numbers) -> Numbers:
    return a - _quotient(a, b) * b


def _rounded_up(a: Numbers, b: Numbers) -> Numbers:
    return -(-a // b)


SELECT = "select"

OPERATIONS: Mapping[str, Callable[[Numbers, Numbers], NDArray[np.int64 | np.bool_]]] = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "ceildivsi": _rounded_up,
    "floordivsi": np.floor_divide,
    "divsi": _quotient,
    "remsi": _remainder,
    "ceildivui": _rounded_up,
    "divui": np.floor_divide,
    "remui": np.remainder,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": np.minimum,
    "maxui": np.maximum,
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": np.less,
    "ule": np.less_equal,
    "ugt": np.greater,
    "uge": np.greater_equal,
}
"""By name without `arith.`; of comparisons, by predicate.  `select` has three operands."""

_UNSIGNED = frozenset(name for name in OPERATIONS if name.endswith("ui") or name[0] == "u")
_DIVISIONS = frozenset(name for name in OPERATIONS if "div" in name or "rem" in name)


def values_of(
    steps: Sequence[str], args: Sequence[Any], grid: Sequence[int], blocks: Sequence[Numbers]
) -> Sequence[Numbers] | None:
    """Return the numbers of all steps; None where one is unknown.

    `args` are the arguments of the launch, `blocks` the ids of the tile blocks along x, y and z.
    """
    found: list[Numbers] = []
    for step in steps:
        name, *words = step.removeprefix(WIDE).split()
        most = MAX_WIDE if step.startswith(WIDE) else MAX_NUMBER
        if name in OPERATIONS or name == SELECT:
            value = _computed(name, [found[int(word)] for word in words], most)
        else:
            value = _known(name, words, args, grid, blocks)
        if value is None or np.any(np.abs(value) > most):
            return None
        found.append(value)
    return found


def _known(
    name: str,
    words: Sequence[str],
    args: Sequence[Any],
    grid: Sequence[int],
    blocks: Sequence[Numbers],
) -> Numbers | None:
    match name:
        case "block":
            return blocks[AXES.index(words[0])]
        case "grid":
            return np.asarray(grid[AXES.index(words[0])], np.int64)
        case "scalar":
            given = args[int(words[0])] if int(words[0]) < len(args) else None
            return np.asarray(given, np.int64) if isinstance(given, int | np.integer) else None
        case _:
            return np.asarray(int(name), np.int64)


def _computed(name: str, operands: Sequence[Numbers], most: int) -> Numbers | None:
    if name == "muli" and np.any(np.abs(operands[0].astype(np.float64) * operands[1]) > most):
        return None
    if name in _UNSIGNED and any(np.any(value < 0) for value in operands):
        return None
    if name in _DIVISIONS and np.any(operands[1] == 0):
        return None
    if name == SELECT:
        return np.where(*operands)
    left, right = operands
    return OPERATIONS[name](left, right).astype(np.int64)
